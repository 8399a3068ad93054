//! The log: every event as it came, append-only, in SQLite.
//!
//! The world is rebuilt from it after a restart. One thread writes; it groups what has queued up
//! into one transaction and acknowledges an event when it is in the database.

mod entry;
mod inspection;
mod rows;
mod schema;
mod search;
mod writer;

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;

pub use entry::Entry;
pub use inspection::{Inspection, inspect};
pub use schema::{VERSION, version};
pub use search::{agent_facet, facets, is_word_of_its_own, kind_facet, project_facet, segmented};
pub use writer::EventLog;

use crate::clock::{self, Timestamp};
use crate::platform;

/// How long a statement waits for another process that holds the database.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

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
        let mut connection = Connection::open(path).map_err(failed)?;
        connection.busy_timeout(BUSY_TIMEOUT).map_err(failed)?;
        // Only a file without tables takes it: what is deleted then gives its room back to the disk.
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL").map_err(failed)?;
        // In write-ahead mode a commit needs no sync to survive the death of the process; only a
        // loss of power can take the last ones.
        connection.pragma_update(None, "journal_mode", "WAL").map_err(failed)?;
        connection.pragma_update(None, "synchronous", "NORMAL").map_err(failed)?;
        match schema::bring_up_to_date(&mut connection, clock::now()).map_err(failed)? {
            schema::Version::Current => Ok(Self { connection, path: path.to_owned() }),
            schema::Version::Newer(found) => {
                Err(StoreError::Newer { path: path.to_owned(), found, known: VERSION })
            }
        }
    }

    /// Hands every entry since `since` to `visit`, in the order in which they were appended.
    ///
    /// A row that no longer reads as an entry is left out.
    pub fn entries_since(
        &self,
        since: Timestamp,
        visit: impl FnMut(Entry),
    ) -> Result<(), StoreError> {
        entry::read_since(&self.connection, since, visit)
            .map_err(|source| StoreError::Database { path: self.path.clone(), source })
    }
}

#[cfg(test)]
mod tests;
