//! The log: every event as it came, append-only, in SQLite.
//!
//! The world is rebuilt from it after a restart. One thread writes; it groups what has queued up
//! into one transaction and acknowledges an event when it is in the database.

mod builds;
mod entry;
mod inspection;
mod recovery;
mod retention;
mod rows;
mod schema;
mod search;
mod sessions;
mod upkeep;
mod writer;

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;

pub use builds::{BuildEntry, WRAPPER};
pub use entry::Entry;
pub use inspection::{Inspection, inspect};
pub use recovery::Opened;
pub use retention::Retention;
pub use schema::{VERSION, version};
pub use search::{agent_facet, facets, is_word_of_its_own, kind_facet, project_facet, segmented};
pub use sessions::{Memory, Recalled};
pub use writer::EventLog;

use crate::clock;
use crate::platform;

/// How long a statement waits for another process that holds the database.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// How much of the file beside the database is kept once all of it was carried over, in bytes.
const WAL_KEPT: i64 = 4 * 1024 * 1024;

/// Why the log can't be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file can't be created or opened.
    #[error("failed to open the event log")]
    File(#[from] std::io::Error),
    /// The file is not a database that we can read and write.
    #[error("failed to use the event log `{path}`")]
    Database {
        /// The database.
        path: PathBuf,
        /// What SQLite says.
        source: rusqlite::Error,
    },
    /// A newer version of tma1 has written the file.
    #[error("the event log `{path}` has schema {found}, this version of tma1 knows up to {known}")]
    Newer {
        /// The database.
        path: PathBuf,
        /// Its schema version.
        found: i64,
        /// The newest schema version of this program.
        known: i64,
    },
}

impl StoreError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::File(_) => "check that the directory exists and is yours to write".to_owned(),
            Self::Database { path, .. } => {
                format!(
                    "if the file is damaged, move `{}` aside; a new one is begun",
                    path.display()
                )
            }
            Self::Newer { .. } => {
                "use the version of tma1 that wrote it, or a newer one".to_owned()
            }
        }
    }
}

/// The open database.
#[derive(Debug)]
pub struct Database {
    connection: Connection,
    path: PathBuf,
}

impl Database {
    /// Opens the database at `path`, or begins a new one that only this user can read.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        // SQLite gives its side files the mode of the database, which it would create for everyone.
        drop(platform::open_private_file(path)?);
        let failed = |source| StoreError::Database { path: path.to_owned(), source };
        let connection = Connection::open(path).map_err(failed)?;
        connection.busy_timeout(BUSY_TIMEOUT).map_err(failed)?;
        // Only a file without tables takes it: what is deleted then gives its room back to the disk.
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL").map_err(failed)?;
        // In write-ahead mode a commit needs no sync to survive the death of the process; only a
        // loss of power can take the last ones.
        connection.pragma_update(None, "journal_mode", "WAL").map_err(failed)?;
        connection.pragma_update(None, "synchronous", "NORMAL").map_err(failed)?;
        // The writer carries it over itself, when it has acknowledged what it wrote.
        connection.pragma_update(None, "wal_autocheckpoint", 0).map_err(failed)?;
        connection.pragma_update(None, "journal_size_limit", WAL_KEPT).map_err(failed)?;
        let mut database = Self { connection, path: path.to_owned() };
        database.bring_up_to_date()?;
        if database.connection.is_readonly("main").map_err(failed)? {
            let error = std::io::Error::from(std::io::ErrorKind::PermissionDenied);
            return Err(StoreError::File(error));
        }
        Ok(database)
    }

    fn bring_up_to_date(&mut self) -> Result<(), StoreError> {
        let path = || self.path.clone();
        let brought = schema::bring_up_to_date(&mut self.connection, clock::now());
        match brought.map_err(|source| StoreError::Database { path: path(), source })? {
            schema::Version::Current => Ok(()),
            schema::Version::Newer(found) => {
                Err(StoreError::Newer { path: path(), found, known: VERSION })
            }
        }
    }

    /// Notes a fact of this database.
    fn note(&self, name: &str, value: i64) -> rusqlite::Result<()> {
        let note = "INSERT INTO tma1_log VALUES (?1, ?2)
                    ON CONFLICT (name) DO UPDATE SET value = excluded.value";
        self.connection.prepare_cached(note)?.execute((name, value)).map(drop)
    }

    /// Whether the last daemon that wrote it ended in order, or none did yet.
    fn has_ended_clean(&self) -> bool {
        let asked = "SELECT value FROM tma1_log WHERE name = 'clean_end'";
        self.connection.query_row(asked, [], |row| row.get(0)).unwrap_or(1) == 1
    }
}

#[cfg(test)]
mod tests;
