//! A log that can't be used as it is: what is damaged is moved aside, what can't be written is left.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use crate::clock::{self, Timestamp};
use crate::store::entry::{self, Entry};
use crate::store::rows::Rows;
use crate::store::{Database, StoreError};

/// How long events are taken out of a damaged log, and how many bytes of them at most: the daemon is
/// to answer meanwhile.
const PATIENCE: Duration = Duration::from_millis(250);
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// A log that events can be appended to.
#[derive(Debug)]
pub struct Opened {
    /// The log.
    pub database: Database,
    /// What the user is to be told of it.
    pub problem: Option<String>,
}

impl Database {
    /// Opens the database at `path` whatever state it is in, but for one of a newer version.
    ///
    /// A damaged one is moved aside and a new one begun with what could be read. If nothing can be
    /// written there, the log is in memory, for as long as the daemon runs.
    pub fn open_in_any_state(path: &Path) -> Result<Opened, StoreError> {
        match Self::open(path) {
            Ok(database) => Ok(Opened { database, problem: None }),
            Err(error) if error.is_damage() => Self::replace(path, &error.cause()),
            Err(error) if error.is_refusal_to_write() => Self::in_memory(path, &error),
            Err(error) => Err(error),
        }
    }

    /// Moves the damaged database at `path` aside, and begins a new one with what can be read of it.
    pub fn replace(path: &Path, reason: &str) -> Result<Opened, StoreError> {
        let aside = match move_aside(path, clock::now()) {
            Ok(aside) => aside,
            Err(error) => return Self::in_memory(path, &StoreError::File(error)),
        };
        let mut database = match Self::open(path) {
            Ok(database) => database,
            Err(error) if error.is_refusal_to_write() => return Self::in_memory(path, &error),
            Err(error) => return Err(error),
        };
        let kept = salvage(&aside, &mut database).unwrap_or_default();
        let problem = format!(
            "the event log was damaged ({}); it was moved to `{}`, and {kept} events were kept",
            reason,
            aside.display()
        );
        tracing::warn!("{problem}");
        Ok(Opened { database, problem: Some(problem) })
    }

    fn in_memory(path: &Path, reason: &StoreError) -> Result<Opened, StoreError> {
        let problem = format!(
            "the event log `{}` can't be written ({}): events are kept until the daemon ends; make it \
             writable and run `tma1 restart`",
            path.display(),
            reason.cause()
        );
        tracing::warn!("{problem}");
        let failed = |source| StoreError::Database { path: path.to_owned(), source };
        let connection = Connection::open_in_memory().map_err(failed)?;
        let mut database = Self { connection, path: path.to_owned() };
        database.bring_up_to_date()?;
        // What can be read is remembered all the same.
        drop(salvage(path, &mut database));
        Ok(Opened { database, problem: Some(problem) })
    }

    /// Whether its events end with the daemon.
    pub fn is_in_memory(&self) -> bool {
        self.connection.path().is_none_or(str::is_empty)
    }
}

impl StoreError {
    /// Whether the file is damaged, or no database at all.
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Database { source, .. } if is_damage(source))
    }

    fn is_refusal_to_write(&self) -> bool {
        use std::io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem, StorageFull};

        match self {
            Self::File(error) => {
                matches!(error.kind(), PermissionDenied | ReadOnlyFilesystem | StorageFull)
            }
            _ => matches!(
                self.code(),
                Some(
                    ErrorCode::ReadOnly
                        | ErrorCode::CannotOpen
                        | ErrorCode::PermissionDenied
                        | ErrorCode::DiskFull
                        | ErrorCode::SystemIoFailure
                )
            ),
        }
    }

    fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Database { source, .. } => source.sqlite_error_code(),
            Self::File(_) | Self::Newer { .. } => None,
        }
    }

    pub(crate) fn cause(&self) -> String {
        match self {
            Self::Database { source, .. } => source.to_string(),
            Self::File(error) => error.to_string(),
            Self::Newer { .. } => self.to_string(),
        }
    }
}

/// Whether SQLite says that the file is damaged.
pub(super) fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}

/// Renames the database and the files beside it, of which the new one must not take any for its own.
fn move_aside(path: &Path, now: Timestamp) -> std::io::Result<PathBuf> {
    let with = |path: &Path, suffix: &str| {
        let mut name = OsString::from(path);
        name.push(suffix);
        PathBuf::from(name)
    };
    let aside = with(path, &format!(".damaged-{}", now.as_unix_millis()));
    fs_err::rename(path, &aside)?;
    for suffix in ["-wal", "-shm"] {
        let beside = with(path, suffix);
        if beside.exists() {
            fs_err::rename(beside, with(&aside, suffix))?;
        }
    }
    Ok(aside)
}

/// Takes over the newest events of the log at `from`, and says how many.
fn salvage(from: &Path, to: &mut Database) -> rusqlite::Result<usize> {
    let mut entries = read(from)?;
    let failed = to.connection.transaction_with_behavior(TransactionBehavior::Immediate);
    let transaction = failed?;
    entries.sort_by_key(|(id, _)| *id);
    entries.dedup_by_key(|(id, _)| *id);
    for (id, entry) in &entries {
        // A part of a row may be what is damaged.
        if entry.insert(&transaction, Some(*id)).is_ok() {
            Rows::derive(entry).insert(&transaction)?;
        }
    }
    transaction.commit()?;
    Ok(entries.len())
}

fn read(from: &Path) -> rusqlite::Result<Vec<(i64, Entry)>> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    // Nobody else has it, so it needs no files beside it, for which there may be no room or right.
    let unchanging = format!("file:{}?immutable=1", uri_path(from));
    let connection = Connection::open_with_flags(from, flags)
        .and_then(|connection| {
            connection.query_row("SELECT 1 FROM sqlite_master", [], |_| Ok(()))?;
            Ok(connection)
        })
        .or_else(|_| Connection::open_with_flags(&unchanging, flags))?;
    let deadline = clock::monotonic() + PATIENCE;
    let (mut entries, mut bytes) = (Vec::new(), 0);
    // From both ends, as far as it goes until the place that is damaged.
    for order in ["DESC", "ASC"] {
        let ended = entry::read_by_id(&connection, order, |id, entry| {
            bytes += entry.size();
            entries.push((id, entry));
            bytes < MAX_BYTES && clock::monotonic() < deadline
        });
        if ended.is_ok() {
            break;
        }
    }
    Ok(entries)
}

/// A path as a URI has it.
fn uri_path(path: &Path) -> String {
    let text = path.to_string_lossy();
    let mut uri = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '%' => uri.push_str("%25"),
            '?' => uri.push_str("%3f"),
            '#' => uri.push_str("%23"),
            character => uri.push(character),
        }
    }
    uri
}
