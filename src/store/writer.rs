//! The one thread that writes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use rusqlite::TransactionBehavior;
use tokio::sync::oneshot;

use crate::store::{Database, Entry};

/// How many entries may wait for the writer. Beyond it entries are dropped and counted: memory is
/// bounded, and an agent never waits for a disk that has stalled.
const MAX_QUEUED: usize = 1024;

/// How many entries share a transaction at most.
const MAX_GROUP: usize = 256;

/// The end of the log where entries go in.
///
/// Dropping it waits until everything queued is written.
#[derive(Debug)]
pub struct EventLog {
    queue: Option<SyncSender<Queued>>,
    writer: Option<JoinHandle<()>>,
    lost: Arc<AtomicU64>,
}

struct Queued {
    entry: Entry,
    written: oneshot::Sender<()>,
}

impl EventLog {
    /// Starts the writer of `database`.
    pub fn start(database: Database) -> std::io::Result<Self> {
        let (queue, entries) = sync_channel(MAX_QUEUED);
        let lost = Arc::new(AtomicU64::new(0));
        let writer = std::thread::Builder::new().name("store writer".to_owned()).spawn({
            let lost = Arc::clone(&lost);
            move || write_until_closed(database, &entries, &lost)
        })?;
        Ok(Self { queue: Some(queue), writer: Some(writer), lost })
    }

    /// Queues an entry, without waiting.
    ///
    /// The receiver completes when the entry is in the database, and fails if it is lost.
    pub fn append(&self, entry: Entry) -> oneshot::Receiver<()> {
        let (written, acknowledged) = oneshot::channel();
        let queued = self
            .queue
            .as_ref()
            .is_some_and(|queue| queue.try_send(Queued { entry, written }).is_ok());
        if !queued {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
        acknowledged
    }

    /// How many entries were lost since the start: the queue was full, or the database refused them.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }
}

impl Drop for EventLog {
    fn drop(&mut self) {
        drop(self.queue.take());
        if let Some(writer) = self.writer.take() {
            drop(writer.join());
        }
    }
}

fn write_until_closed(mut database: Database, entries: &Receiver<Queued>, lost: &AtomicU64) {
    while let Ok(first) = entries.recv() {
        let mut group = vec![first];
        group.extend(entries.try_iter().take(MAX_GROUP - 1));
        match write(&mut database, &group) {
            Ok(()) => {
                for queued in group {
                    // The receiver is gone if nobody waited that long.
                    let _ = queued.written.send(());
                }
            }
            Err(error) => {
                lost.fetch_add(group.len() as u64, Ordering::Relaxed);
                tracing::warn!(%error, events = group.len(), "events were not written to the log");
            }
        }
    }
}

fn write(database: &mut Database, group: &[Queued]) -> rusqlite::Result<()> {
    let transaction =
        database.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for queued in group {
        queued.entry.insert(&transaction)?;
    }
    transaction.commit()
}
