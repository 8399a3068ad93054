//! The one thread that writes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::{ErrorCode, TransactionBehavior};
use tokio::sync::oneshot;

use crate::clock::{self, Tally};
use crate::store::rows::Rows;
use crate::store::{Database, Entry};

/// How many entries may wait for the writer, and how many bytes of payload. Beyond it entries are
/// dropped and counted: memory is bounded, and an agent never waits for a disk that has stalled.
const MAX_QUEUED: usize = 1024;
const MAX_QUEUED_BYTES: usize = 64 * 1024 * 1024;

/// How many entries share a transaction at most.
const MAX_GROUP: usize = 256;

/// How long a statement waits for another process that holds the database, and the pause before the
/// next attempt.
const BUSY_TIMEOUT: Duration = Duration::from_millis(250);
const RETRY_PAUSE: Duration = Duration::from_millis(50);

/// How long the writer may take at the end to write what is still queued.
const LAST_WRITES: Duration = Duration::from_secs(5);
const LOOK_PAUSE: Duration = Duration::from_millis(2);

/// The end of the log where entries go in.
///
/// Dropping it waits, not for ever, until everything queued is written.
#[derive(Debug)]
pub struct EventLog {
    queue: Option<SyncSender<Queued>>,
    writer: JoinHandle<()>,
    counts: Arc<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    queued: AtomicU64,
    queued_bytes: AtomicUsize,
    lost: AtomicU64,
}

/// An entry on its way into the database. Dropped before it is there, for whatever reason, it counts
/// as lost.
struct Queued {
    entry: Entry,
    written: Option<oneshot::Sender<()>>,
    counts: Arc<Counts>,
}

impl Queued {
    fn new(entry: Entry, written: oneshot::Sender<()>, counts: &Arc<Counts>) -> Self {
        counts.queued.fetch_add(1, Ordering::Relaxed);
        counts.queued_bytes.fetch_add(entry.size(), Ordering::Relaxed);
        Self { entry, written: Some(written), counts: Arc::clone(counts) }
    }

    fn acknowledge(mut self) {
        // The receiver is gone if nobody waited that long.
        let _ = self.written.take().map(|written| written.send(()));
    }
}

impl Drop for Queued {
    fn drop(&mut self) {
        self.counts.queued.fetch_sub(1, Ordering::Relaxed);
        self.counts.queued_bytes.fetch_sub(self.entry.size(), Ordering::Relaxed);
        if self.written.is_some() {
            self.counts.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl EventLog {
    /// Starts the writer of `database`.
    pub fn start(database: Database) -> std::io::Result<Self> {
        // It fails only for a value that is out of range.
        drop(database.connection.busy_timeout(BUSY_TIMEOUT));
        let (queue, entries) = sync_channel(MAX_QUEUED);
        let writer = std::thread::Builder::new()
            .name("store writer".to_owned())
            .spawn(move || write_until_closed(database, &entries))?;
        Ok(Self { queue: Some(queue), writer, counts: Arc::default() })
    }

    /// Queues an entry, without waiting.
    ///
    /// The receiver completes when the entry is in the database, and fails if it is lost.
    pub fn append(&self, entry: Entry) -> oneshot::Receiver<()> {
        let (written, acknowledged) = oneshot::channel();
        let queued = Queued::new(entry, written, &self.counts);
        if self.counts.queued_bytes.load(Ordering::Relaxed) <= MAX_QUEUED_BYTES
            && let Some(queue) = &self.queue
        {
            drop(queue.try_send(queued));
        }
        acknowledged
    }

    /// How many entries were lost since the start: the queue was full, the database refused them, or
    /// the writer is gone.
    pub fn lost(&self) -> u64 {
        self.counts.lost.load(Ordering::Relaxed)
    }
}

impl Drop for EventLog {
    fn drop(&mut self) {
        drop(self.queue.take());
        let deadline = clock::monotonic() + LAST_WRITES;
        while !self.writer.is_finished() {
            if clock::monotonic() > deadline {
                let events = self.counts.queued.load(Ordering::Relaxed);
                tracing::warn!(events, "the last events were not written to the log in time");
                return;
            }
            std::thread::sleep(LOOK_PAUSE);
        }
    }
}

fn write_until_closed(mut database: Database, entries: &Receiver<Queued>) {
    let refused = Tally::default();
    while let Ok(first) = entries.recv() {
        let mut group = vec![first];
        group.extend(entries.try_iter().take(MAX_GROUP - 1));
        if write(&mut database, &group).is_ok() {
            group.into_iter().for_each(Queued::acknowledge);
            continue;
        }
        // One that can't be written must not take the others with it.
        for queued in group {
            match write(&mut database, std::slice::from_ref(&queued)) {
                Ok(()) => queued.acknowledge(),
                Err(error) => {
                    if let Some(events) = refused.count(clock::now()) {
                        tracing::warn!(%error, events, "events were not written to the log");
                    }
                }
            }
        }
    }
}

/// Writes a group, as often as it takes if what stands in the way can pass.
fn write(database: &mut Database, group: &[Queued]) -> rusqlite::Result<()> {
    loop {
        match try_write(database, group) {
            Err(error) if passes(&error) => std::thread::sleep(RETRY_PAUSE),
            result => return result,
        }
    }
}

/// Whether an error has nothing to do with what is written: another process holds the database, or
/// the disk is full or fails.
fn passes(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(
            ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                | ErrorCode::DiskFull
                | ErrorCode::SystemIoFailure
        )
    )
}

fn try_write(database: &mut Database, group: &[Queued]) -> rusqlite::Result<()> {
    let transaction =
        database.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for queued in group {
        queued.entry.insert(&transaction)?;
        Rows::derive(&queued.entry).insert(&transaction)?;
    }
    transaction.commit()
}
