//! What the writer does for the database while nothing waits for it.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};

use crate::clock;
use crate::store::retention::Step;
use crate::store::{Database, Retention};

/// How large the file beside the database may get before it is carried over, in bytes.
const WAL_CARRIED_OVER: u64 = 4 * 1024 * 1024;

/// How large it may get at all. A reader that never ends keeps it from being emptied; beyond this
/// the user is told.
pub(super) const WAL_TOO_LARGE: u64 = 256 * 1024 * 1024;

/// How often is looked whether something is to be forgotten.
const INTERVAL: Duration = Duration::from_secs(60);

/// The pause after a step, so that events come first.
pub(super) const PAUSE: Duration = Duration::from_millis(5);

/// When what is to be done.
#[derive(Debug)]
pub(super) struct Upkeep {
    retention: Retention,
    wal: PathBuf,
    /// When to look next whether something is to be forgotten.
    next: Instant,
    /// How large the file beside was when it could not be emptied.
    stuck_at: u64,
}

impl Upkeep {
    pub(super) fn new(database: &Database, retention: Retention) -> Self {
        let mut wal = database.path.clone().into_os_string();
        wal.push("-wal");
        Self { retention, wal: wal.into(), next: clock::monotonic(), stuck_at: 0 }
    }

    /// How long until there is something to do, if no event comes.
    pub(super) fn pause(&self) -> Duration {
        self.next.saturating_duration_since(clock::monotonic())
    }

    /// Does a little of what is due. What fails is tried again later.
    pub(super) fn work(&mut self, database: &mut Database) {
        self.carry_over(database);
        let now = clock::monotonic();
        if now < self.next {
            return;
        }
        let step = self.retention.step(&mut database.connection, clock::now());
        self.next = now + if matches!(step, Ok(Step::More)) { PAUSE } else { INTERVAL };
    }

    /// The size of the file beside the database, in bytes.
    pub(super) fn wal_bytes(&self) -> u64 {
        fs_err::metadata(&self.wal).map_or(0, |file| file.len())
    }

    /// Carries what was written over into the database. It waits for no reader.
    fn carry_over(&mut self, database: &Database) {
        let size = self.wal_bytes();
        // One that could not be emptied is tried again when it has grown by as much.
        if size < WAL_CARRIED_OVER + self.stuck_at {
            return;
        }
        let connection = &database.connection;
        drop(connection.busy_timeout(Duration::ZERO));
        let emptied =
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0));
        drop(connection.busy_timeout(super::writer::BUSY_TIMEOUT));
        self.stuck_at = if matches!(emptied, Ok(0)) { 0 } else { size };
    }
}

/// Looks through the database at `path`, on a connection of its own, and says what is wrong.
pub(super) fn check(path: &Path) -> Option<String> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).ok()?;
    let checked = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
    match checked {
        Ok(word) if word == "ok" => None,
        Ok(damage) => Some(damage),
        Err(error) if super::recovery::is_damage(&error) => Some(error.to_string()),
        Err(_) => None,
    }
}
