//! The store, opened for reading beside whoever writes it.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};

use crate::clock;
use crate::history::HistoryError;
use crate::store;

/// How often SQLite asks whether it may go on, in steps of its machine: some thousand times a second.
const STEPS: i32 = 10_000;

/// How long a statement waits for a lock. A reader of a write-ahead log waits for nobody but a
/// process that repairs the log after a crash.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// The longest text, row or statement, in bytes; the longest text of an event is far below.
const MAX_LENGTH: i32 = 64 * 1024 * 1024;

/// A connection that reads the store and can change nothing in it.
#[derive(Debug)]
pub struct Reader {
    pub(super) connection: Connection,
    pub(super) path: PathBuf,
}

impl Reader {
    /// Opens the store at `path`. Whatever is asked of it may take `patience` from now on, in all, if
    /// that has an end.
    ///
    /// There is none, if nothing was written yet.
    pub fn open(path: &Path, patience: Option<Duration>) -> Result<Option<Self>, HistoryError> {
        if let Err(error) = fs_err::metadata(path) {
            let is_absent = error.kind() == ErrorKind::NotFound;
            return if is_absent { Ok(None) } else { Err(error.into()) };
        }
        let failed = |source| HistoryError::Database { path: path.to_owned(), source };
        let reader = Self::connect(path, patience).map_err(failed)?;
        match store::version(&reader.connection).map_err(failed)? {
            // The daemon makes the tables when it starts.
            0 => Ok(None),
            store::VERSION => Ok(Some(reader)),
            found => Err(HistoryError::Version { path: path.to_owned(), found }),
        }
    }

    fn connect(path: &Path, patience: Option<Duration>) -> rusqlite::Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
        connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_LENGTH)?;
        connection.pragma_update(None, "query_only", true)?;
        if let Some(patience) = patience {
            let deadline = clock::monotonic() + patience;
            connection.progress_handler(STEPS, Some(move || clock::monotonic() > deadline))?;
        }
        Ok(Self { connection, path: path.to_owned() })
    }

    /// How large the database is, in bytes, with its write-ahead log.
    pub(super) fn bytes(&self) -> u64 {
        let mut log = self.path.as_os_str().to_owned();
        log.push("-wal");
        let size = |path: &Path| fs_err::metadata(path).map_or(0, |file| file.len());
        size(&self.path) + size(Path::new(&log))
    }

    /// What an error of SQLite means to whoever asked.
    pub(super) fn failed(&self, source: rusqlite::Error) -> HistoryError {
        match source.sqlite_error_code() {
            Some(rusqlite::ErrorCode::OperationInterrupted) => HistoryError::TookTooLong,
            _ => HistoryError::Database { path: self.path.clone(), source },
        }
    }
}
