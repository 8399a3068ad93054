//! A look at the log that changes nothing in it, beside a daemon that writes.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use crate::clock::{self, Timestamp};
use crate::store::{StoreError, schema};

/// How often SQLite asks whether it may go on, in steps of its machine: some hundred times a second.
const STEPS: i32 = 100_000;

/// What a log is like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspection {
    /// What SQLite finds wrong with the file; nothing if it is sound as far as it was looked at.
    pub damage: Option<String>,
    /// Whether the whole of it was looked at in the time that there was.
    pub is_complete: bool,
    /// The time of the newest event.
    pub latest: Option<Timestamp>,
}

/// Looks at the log at `path` for `patience` at most.
pub fn inspect(path: &Path, patience: Duration) -> Result<Inspection, StoreError> {
    let failed = |source| StoreError::Database { path: path.to_owned(), source };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    connection.busy_timeout(patience).map_err(failed)?;
    let found = schema::version(&connection).map_err(failed)?;
    if found > schema::VERSION {
        return Err(StoreError::Newer { path: path.to_owned(), found, known: schema::VERSION });
    }
    let latest = "SELECT max(ts) FROM tma1_hook_events";
    let latest = match connection.query_row(latest, [], |row| row.get::<_, Option<i64>>(0)) {
        Ok(latest) => latest.map(Timestamp::from_unix_millis),
        // The daemon makes the tables when it starts.
        Err(_) if found == 0 => None,
        Err(error) => return Err(failed(error)),
    };
    let deadline = clock::monotonic() + patience;
    connection
        .progress_handler(STEPS, Some(move || clock::monotonic() > deadline))
        .map_err(failed)?;
    let checked = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
    let (damage, is_complete) = match checked {
        Ok(word) if word == "ok" => (None, true),
        Ok(damage) => (Some(damage), true),
        Err(error)
            if error.sqlite_error_code() == Some(rusqlite::ErrorCode::OperationInterrupted) =>
        {
            (None, false)
        }
        Err(error) => return Err(failed(error)),
    };
    Ok(Inspection { damage, is_complete, latest })
}
