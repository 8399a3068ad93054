//! What of the log is to be sent: its rows in order, from where the export has come to.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Row};
use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::export::event;
use crate::export::literal::Value;
use crate::export::schema::{Kind, TABLES, Table};

/// How many bytes a statement may have; a longer row goes alone.
const MAX_BYTES: usize = 1024 * 1024;

/// The times that a column of nanoseconds can hold, in milliseconds, with room for the row's digits.
const LAST_MILLIS: i64 = 9_222_000_000_000;

/// How many rows of one millisecond are told apart.
const PER_MILLI: i64 = 1_000_000;

/// How long a statement waits for the thread that writes the log.
const BUSY_TIMEOUT: Duration = Duration::from_secs(2);

/// How far the export to one target has come. It is kept in the log itself: a new log starts anew.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Progress {
    /// What this machine was called when the export began: it is part of the primary key, so that a
    /// later name would make other rows of the same.
    pub host: String,
    /// The last row that is done with, by table.
    pub cursors: BTreeMap<String, i64>,
    /// How many rows were sent.
    pub shipped: u64,
    /// How many rows the server would not take.
    pub set_aside: u64,
    /// How many rows were too old for the server to keep.
    pub expired: u64,
    /// How many rows the log forgot before they were sent.
    pub gaps: u64,
    /// When rows were sent last, in milliseconds since the Unix epoch.
    pub shipped_at: Option<i64>,
}

impl Progress {
    pub(super) fn cursor(&self, table: &Table) -> i64 {
        self.cursors.get(table.name).copied().unwrap_or(0)
    }
}

/// Rows of one table, as they are sent.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// The rows in parentheses.
    pub tuples: Vec<String>,
    /// Where the cursor is after them.
    pub last: i64,
    /// How many rows before the last one are too old.
    pub expired: u64,
    /// How many rows before the last one are not there any more.
    pub gaps: u64,
}

/// The log, and what it says of itself.
#[derive(Debug)]
pub(super) struct Outbox {
    connection: Connection,
    /// The random id of the log.
    id: String,
    /// Under what the progress is kept.
    name: String,
}

impl Outbox {
    /// Opens the log at `path` for the export to the target of this `key`.
    pub(super) fn open(path: &Path, key: &str) -> rusqlite::Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        // To carry the write-ahead log over is the writer's.
        connection.pragma_update(None, "wal_autocheckpoint", 0)?;
        let id =
            connection
                .query_row("SELECT value FROM tma1_log WHERE name = 'id'", [], |row| row.get(0))?;
        Ok(Self { connection, id, name: format!("export {key}") })
    }

    /// Whether both are of the same log.
    pub(super) fn is_of(&self, other: &Self) -> bool {
        self.id == other.id
    }

    /// How far the export has come.
    pub(super) fn progress(&self) -> rusqlite::Result<Progress> {
        let asked = "SELECT value FROM tma1_log WHERE name = ?1";
        let kept: Option<String> =
            self.connection.query_row(asked, [&self.name], |row| row.get(0)).optional()?;
        Ok(kept.and_then(|kept| serde_json::from_str(&kept).ok()).unwrap_or_default())
    }

    /// Keeps how far it has come.
    pub(super) fn keep(&self, progress: &Progress) -> rusqlite::Result<()> {
        let note = "INSERT INTO tma1_log VALUES (?1, ?2)
                    ON CONFLICT (name) DO UPDATE SET value = excluded.value";
        let value = serde_json::to_string(progress)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
        self.connection.prepare_cached(note)?.execute((&self.name, value)).map(drop)
    }

    /// Changes when another connection has written.
    pub(super) fn version(&self) -> rusqlite::Result<i64> {
        self.connection.pragma_query_value(None, "data_version", |row| row.get(0))
    }

    /// How many rows of a table wait after `cursor`, and since when the first of them does.
    pub(super) fn waiting(
        &self,
        table: &Table,
        cursor: i64,
    ) -> rusqlite::Result<(u64, Option<i64>)> {
        let sql = format!(
            "SELECT id, ts, (SELECT max(id) FROM {name}) FROM {name} WHERE id > ?1
             ORDER BY id LIMIT 1",
            name = table.name
        );
        let found = self
            .connection
            .prepare_cached(&sql)?
            .query_row([cursor], |row| Ok((row.get::<_, i64>(0)?, row.get(1)?, row.get(2)?)))
            .optional()?;
        let Some((first, since, last)) = found else {
            return Ok((0, None));
        };
        let last: i64 = last;
        Ok((u64::try_from(last - first + 1).unwrap_or(0), Some(since)))
    }

    /// The last row of a table; 0 if it has none.
    pub(super) fn last(&self, table: &Table) -> rusqlite::Result<i64> {
        let sql = format!("SELECT coalesce(max(id), 0) FROM {}", table.name);
        self.connection.prepare_cached(&sql)?.query_row([], |row| row.get(0))
    }

    /// Up to `limit` rows after `cursor`, none of them from before `oldest`.
    pub(super) fn batch(
        &self,
        table: &Table,
        cursor: i64,
        limit: usize,
        oldest: Option<Timestamp>,
        host: &str,
    ) -> rusqlite::Result<Batch> {
        let sql = format!(
            "SELECT id, ts, {} FROM {} AS row WHERE id > ?1 ORDER BY id LIMIT ?2",
            table.source, table.name
        );
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut statement = self.connection.prepare_cached(&sql)?;
        let mut rows = statement.query([cursor, limit])?;
        let mut batch = Batch { last: cursor, ..Batch::default() };
        let mut bytes = 0;
        while let Some(row) = rows.next()? {
            let (id, ts): (i64, i64) = (row.get(0)?, row.get(1)?);
            let is_old = oldest.is_some_and(|oldest| ts < oldest.as_unix_millis());
            if !is_old {
                let tuple = self.tuple(table, row, (id, ts), host)?;
                bytes += tuple.len();
                if bytes > MAX_BYTES && !batch.tuples.is_empty() {
                    break;
                }
                batch.tuples.push(tuple);
            }
            batch.expired += u64::from(is_old);
            batch.gaps += u64::try_from(id - batch.last - 1).unwrap_or(0);
            batch.last = id;
        }
        Ok(batch)
    }

    fn tuple(
        &self,
        table: &Table,
        row: &Row<'_>,
        (id, ts): (i64, i64),
        host: &str,
    ) -> rusqlite::Result<String> {
        let nanos = ts.clamp(0, LAST_MILLIS) * PER_MILLI + id % PER_MILLI;
        let group = text(row.get_ref(2)?).unwrap_or_default();
        let mut values = vec![
            Value::Integer(nanos),
            Value::text(host),
            Value::text(group),
            Value::text(format!("{}-{id}", self.id)),
        ];
        if table.name == "tma1_hook_events" {
            let of = |index| row.get_ref(index).map(text);
            let (agent, payload) = (of(3)?.unwrap_or_default(), of(5)?.unwrap_or_default());
            values.extend(event::columns(&agent, of(4)?, &payload));
        } else {
            for (index, column) in (3..).zip(table.columns) {
                let found = row.get_ref(index)?;
                values.push(match (column.kind, found) {
                    (Kind::Integer, ValueRef::Integer(number)) => Value::Integer(number),
                    (Kind::Integer | Kind::Boolean, _) => Value::Null,
                    (Kind::Text, found) if column.name == "lines" => {
                        Value::optional(text(found).and_then(|payload| event::last_lines(&payload)))
                    }
                    (Kind::Text, found) => Value::optional(text(found)),
                });
            }
        }
        let literals: Vec<_> = values.iter().map(Value::to_string).collect();
        Ok(format!("({})", literals.join(", ")))
    }
}

/// What a column of the log has, as valid text.
fn text(value: ValueRef<'_>) -> Option<String> {
    match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            Some(String::from_utf8_lossy(bytes).into_owned())
        }
        ValueRef::Integer(number) => Some(number.to_string()),
        ValueRef::Real(number) => Some(number.to_string()),
        ValueRef::Null => None,
    }
}

/// All tables, each with its place.
pub(super) fn tables() -> impl Iterator<Item = (usize, &'static Table)> {
    static ALL: [Table; 6] = TABLES;
    ALL.iter().enumerate()
}
