//! The one thread that writes.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::{ErrorCode, TransactionBehavior};
use tokio::sync::oneshot;

use crate::clock::{self, Tally};
use crate::store::recovery::{Opened, is_damage};
use crate::store::rows::Rows;
use crate::store::upkeep::{self, Upkeep};
use crate::store::{BuildEntry, Database, Entry, Retention};

/// How many entries may wait for the writer, and how many bytes of payload. Beyond it entries are
/// dropped and counted: memory is bounded, and an agent never waits for a disk that has stalled.
const MAX_QUEUED: usize = 1024;
const MAX_QUEUED_BYTES: usize = 64 * 1024 * 1024;

/// How many entries share a transaction at most.
const MAX_GROUP: usize = 256;

/// How long a statement waits for another process that holds the database, and the pause before the
/// next attempt.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_millis(250);
const RETRY_PAUSE: Duration = Duration::from_millis(50);

/// How much of a log that can't be written is kept in memory, in bytes.
const MAX_IN_MEMORY: u64 = 64 * 1024 * 1024;

const WAL_IS_HELD: &str = "another program reads the event log and does not end, so that the file \
                           `tma1.db-wal` grows";

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
    /// Whether the last attempt to write has failed.
    stalled: AtomicBool,
    /// What was found wrong with the file, for the writer to do something about.
    damage: Mutex<Option<String>>,
    /// What the user is to be told.
    problem: Mutex<Option<String>>,
}

impl Counts {
    fn tell(&self, problem: Option<String>) {
        *self.problem.lock().unwrap_or_else(PoisonError::into_inner) = problem;
    }
}

/// What goes into the log.
enum Item {
    Event(Entry),
    Build(BuildEntry),
}

impl Item {
    fn size(&self) -> usize {
        match self {
            Self::Event(entry) => entry.size(),
            Self::Build(entry) => entry.size(),
        }
    }
}

/// An entry on its way into the database. Dropped before it is there, for whatever reason, it counts
/// as lost.
struct Queued {
    item: Item,
    written: Option<oneshot::Sender<()>>,
    counts: Arc<Counts>,
}

impl Queued {
    fn new(item: Item, written: oneshot::Sender<()>, counts: &Arc<Counts>) -> Self {
        counts.queued.fetch_add(1, Ordering::Relaxed);
        counts.queued_bytes.fetch_add(item.size(), Ordering::Relaxed);
        Self { item, written: Some(written), counts: Arc::clone(counts) }
    }

    fn acknowledge(mut self) {
        // The receiver is gone if nobody waited that long.
        let _ = self.written.take().map(|written| written.send(()));
    }
}

impl Drop for Queued {
    fn drop(&mut self) {
        self.counts.queued.fetch_sub(1, Ordering::Relaxed);
        self.counts.queued_bytes.fetch_sub(self.item.size(), Ordering::Relaxed);
        if self.written.is_some() {
            self.counts.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl EventLog {
    /// Starts the writer of a database that was opened.
    ///
    /// If the last one did not end in order, the file is looked through meanwhile.
    pub fn start(opened: Opened, mut retention: Retention) -> std::io::Result<Self> {
        let Opened { database, problem } = opened;
        // It fails only for a value that is out of range.
        drop(database.connection.busy_timeout(BUSY_TIMEOUT));
        if database.is_in_memory() {
            retention.bytes = retention.bytes.min(MAX_IN_MEMORY);
        }
        let counts = Arc::new(Counts { problem: Mutex::new(problem), ..Counts::default() });
        if !database.has_ended_clean() && !database.is_in_memory() {
            let (path, counts) = (database.path.clone(), Arc::clone(&counts));
            let look = move || {
                *counts.damage.lock().unwrap_or_else(PoisonError::into_inner) =
                    upkeep::check(&path);
            };
            std::thread::Builder::new().name("store check".to_owned()).spawn(look)?;
        }
        let (queue, entries) = sync_channel(MAX_QUEUED);
        let upkeep = Upkeep::new(&database, retention);
        let writer = Writer { database, counts: Arc::clone(&counts), upkeep, is_held: false };
        let writer = std::thread::Builder::new()
            .name("store writer".to_owned())
            .spawn(move || writer.run(&entries))?;
        Ok(Self { queue: Some(queue), writer, counts })
    }

    /// Whether what is appended has to wait because the last attempt to write has failed.
    pub fn is_stalled(&self) -> bool {
        self.counts.stalled.load(Ordering::Relaxed)
    }

    /// What the user is to be told of the log; nothing if all is well.
    pub fn problem(&self) -> Option<String> {
        self.counts.problem.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Queues an entry, without waiting.
    ///
    /// The receiver completes when the entry is in the database, and fails if it is lost.
    pub fn append(&self, entry: Entry) -> oneshot::Receiver<()> {
        self.queue(Item::Event(entry))
    }

    /// The same with an entry of a build.
    pub fn append_build(&self, entry: BuildEntry) -> oneshot::Receiver<()> {
        self.queue(Item::Build(entry))
    }

    fn queue(&self, item: Item) -> oneshot::Receiver<()> {
        let (written, acknowledged) = oneshot::channel();
        let queued = Queued::new(item, written, &self.counts);
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

/// The thread that writes.
struct Writer {
    database: Database,
    counts: Arc<Counts>,
    upkeep: Upkeep,
    /// Whether a reader keeps the file beside the database from getting smaller.
    is_held: bool,
}

impl Writer {
    fn run(mut self, entries: &Receiver<Queued>) {
        let refused = Tally::default();
        // Until it ends in order, it has not.
        drop(self.database.note("clean_end", 0));
        loop {
            match entries.recv_timeout(self.upkeep.pause()) {
                Ok(first) => {
                    let mut group = vec![first];
                    group.extend(entries.try_iter().take(MAX_GROUP - 1));
                    self.write_group(group, &refused);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.repair();
            self.upkeep.work(&mut self.database);
            self.look_at_wal();
        }
        drop(self.database.note("clean_end", 1));
    }

    /// Tells the user of a reader that keeps what was written from being carried over, while it does.
    fn look_at_wal(&mut self) {
        let is_held = self.upkeep.wal_bytes() > upkeep::WAL_TOO_LARGE;
        if is_held != self.is_held {
            self.is_held = is_held;
            self.counts.tell(is_held.then(|| WAL_IS_HELD.to_owned()));
        }
    }

    fn write_group(&mut self, group: Vec<Queued>, refused: &Tally) {
        let written = self.write(&group);
        if written.is_ok() {
            group.into_iter().for_each(Queued::acknowledge);
            return;
        }
        if let Err(error) = written
            && is_damage(&error)
        {
            self.replace(&error.to_string());
        }
        // One that can't be written must not take the others with it.
        for queued in group {
            match self.write(std::slice::from_ref(&queued)) {
                Ok(()) => queued.acknowledge(),
                Err(error) => {
                    if let Some(events) = refused.count(clock::now()) {
                        tracing::warn!(%error, events, "events were not written to the log");
                    }
                }
            }
        }
    }

    /// Writes a group, as often as it takes if what stands in the way can pass.
    fn write(&mut self, group: &[Queued]) -> rusqlite::Result<()> {
        loop {
            let result = try_write(&mut self.database, group);
            match result {
                Err(error) if passes(&error) => {
                    let was_stalled = self.counts.stalled.swap(true, Ordering::Relaxed);
                    if !was_stalled {
                        tracing::warn!(%error, "the event log can't be written now; events wait");
                    }
                    let problem =
                        format!("the event log can't be written now ({error}); events wait");
                    self.counts.tell(Some(problem));
                    std::thread::sleep(RETRY_PAUSE);
                }
                result => {
                    if self.counts.stalled.swap(false, Ordering::Relaxed) {
                        self.counts.tell(None);
                    }
                    return result;
                }
            }
        }
    }

    /// Begins a new file if the check has found this one damaged.
    fn repair(&mut self) {
        let found = self.counts.damage.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(damage) = found {
            self.replace(&damage);
        }
    }

    fn replace(&mut self, damage: &str) {
        match Database::replace(&self.database.path, damage) {
            Ok(Opened { database, problem }) => {
                drop(database.connection.busy_timeout(BUSY_TIMEOUT));
                self.database = database;
                drop(self.database.note("clean_end", 0));
                self.counts.tell(problem);
            }
            Err(error) => self.counts.tell(Some(error.to_string())),
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
        match &queued.item {
            Item::Event(entry) => {
                entry.insert(&transaction, None)?;
                Rows::derive(entry).insert(&transaction)?;
            }
            Item::Build(entry) => entry.insert(&transaction)?,
        }
    }
    transaction.commit()
}
