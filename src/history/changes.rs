//! The files of a project that were changed outside of its sessions.

use rusqlite::params;

use crate::clock::Timestamp;
use crate::history::{HistoryError, Reader};

/// A file that was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    /// Its absolute path.
    pub path: String,
    /// Whether it is gone by the last change.
    pub removed: bool,
    /// When it was changed last.
    pub at: Timestamp,
    /// How often it was since.
    pub times: u64,
}

/// The files in the project at `root` that were changed from outside since, the latest first.
pub fn external_changes(
    reader: &Reader,
    root: &str,
    since: Timestamp,
    most: usize,
) -> Result<Vec<ChangedFile>, HistoryError> {
    // Of the columns that are not summed up SQLite takes those of the row with the highest `ts`.
    let list = "SELECT path, change_type, max(ts) AS at, count(*) AS times
                FROM tma1_external_changes
                WHERE project_root = ?1 AND ts >= ?2 AND source = 'external'
                GROUP BY path ORDER BY at DESC, path LIMIT ?3";
    let read = || {
        let mut statement = reader.connection.prepare(list)?;
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let rows = statement.query_map(params![root, since.as_unix_millis(), most], |row| {
            let change: String = row.get("change_type")?;
            Ok(ChangedFile {
                path: row.get("path")?,
                removed: change == "removed",
                at: Timestamp::from_unix_millis(row.get("at")?),
                times: row.get("times")?,
            })
        })?;
        rows.collect::<rusqlite::Result<Vec<_>>>()
    };
    read().map_err(|error| reader.failed(error))
}
