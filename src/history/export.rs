//! Every row of the store, for other programs.

use rusqlite::Statement;
use serde_json::{Map, Value};

use crate::clock::Timestamp;
use crate::history::sql::Cell;
use crate::history::{HistoryError, Reader};

/// How many rows are read at once, and about how many bytes of text. Between two batches nothing of
/// the store is held, however slowly they are taken.
const BATCH: i64 = 500;
const BATCH_BYTES: usize = 4 * 1024 * 1024;

/// A table that is exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum ExportTable {
    /// The events as they came.
    HookEvents,
    /// Prompts, answers, commands, errors.
    Messages,
    /// Builds and tests that ended.
    BuildEvents,
    /// Changes of files from outside.
    ExternalChanges,
    /// What projects are like.
    ProjectState,
    /// The anomalies that agents were told of.
    AnomalyEmits,
    /// The sessions.
    Sessions,
}

impl ExportTable {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::HookEvents,
        Self::Messages,
        Self::BuildEvents,
        Self::ExternalChanges,
        Self::ProjectState,
        Self::AnomalyEmits,
        Self::Sessions,
    ];

    /// The name in the store.
    pub const fn name(self) -> &'static str {
        match self {
            Self::HookEvents => "tma1_hook_events",
            Self::Messages => "tma1_messages",
            Self::BuildEvents => "tma1_build_events",
            Self::ExternalChanges => "tma1_external_changes",
            Self::ProjectState => "tma1_project_state",
            Self::AnomalyEmits => "tma1_anomaly_emits",
            Self::Sessions => "tma1_sessions",
        }
    }

    /// The column that has the time of a row; of a session, that of its last event.
    const fn time(self) -> &'static str {
        match self {
            Self::Sessions => "last_ts",
            _ => "ts",
        }
    }
}

/// Hands each row of `table` to `visit`, oldest first: its columns, and the name of the table as
/// `table`. What is added meanwhile may or may not be among them.
pub fn export<E: From<HistoryError>>(
    reader: &Reader,
    table: ExportTable,
    since: Option<Timestamp>,
    mut visit: impl FnMut(&Map<String, Value>) -> Result<(), E>,
) -> Result<(), E> {
    let failed = |error| E::from(reader.failed(error));
    let batch = format!(
        "SELECT * FROM {} WHERE id > ?1 AND {} >= ?2 ORDER BY id LIMIT {BATCH}",
        table.name(),
        table.time()
    );
    let since = since.map_or(i64::MIN, Timestamp::as_unix_millis);
    let mut statement = reader.connection.prepare(&batch).map_err(failed)?;
    let mut last = i64::MIN;
    loop {
        let rows = read(&mut statement, table, last, since).map_err(failed)?;
        for row in &rows {
            visit(row)?;
        }
        match rows.last().and_then(|row| row.get("id")).and_then(Value::as_i64) {
            Some(id) => last = id,
            None => return Ok(()),
        }
    }
}

fn read(
    statement: &mut Statement<'_>,
    table: ExportTable,
    after: i64,
    since: i64,
) -> rusqlite::Result<Vec<Map<String, Value>>> {
    let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let mut rows = statement.query([after, since])?;
    let (mut batch, mut bytes) = (Vec::new(), 0);
    while bytes < BATCH_BYTES
        && let Some(row) = rows.next()?
    {
        let mut fields = Map::new();
        fields.insert("table".to_owned(), table.name().into());
        for (index, column) in columns.iter().enumerate() {
            let value = Cell::of(row.get_ref(index)?).into_json();
            bytes += column.len() + value.as_str().map_or(0, str::len);
            fields.insert(column.clone(), value);
        }
        batch.push(fields);
    }
    Ok(batch)
}
