//! How much the store holds.

use serde::{Deserialize, Serialize};

use crate::history::{HistoryError, Reader};

/// What the store is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overview {
    /// How many events it holds: as many as have been numbered since the oldest that is still there.
    pub events: u64,
    /// How many sessions.
    pub sessions: u64,
    /// How large the database is, in bytes, with what is still to be moved into it.
    pub bytes: u64,
    /// The time of the oldest event, in milliseconds since the Unix epoch.
    pub oldest_ts: Option<i64>,
    /// The time of the latest event.
    pub latest_ts: Option<i64>,
}

/// Looks at both ends of the log, and counts nothing that can be many.
pub fn overview(reader: &Reader) -> Result<Overview, HistoryError> {
    let ends = "SELECT ifnull(max(id) - min(id) + 1, 0) AS events,
                    (SELECT ts FROM tma1_hook_events ORDER BY id LIMIT 1) AS oldest,
                    (SELECT ts FROM tma1_hook_events ORDER BY id DESC LIMIT 1) AS latest,
                    (SELECT count(*) FROM tma1_sessions) AS sessions
                FROM (SELECT min(id) AS id FROM tma1_hook_events
                      UNION ALL SELECT max(id) FROM tma1_hook_events)";
    let bytes = reader.bytes();
    reader
        .connection
        .query_row(ends, (), |row| {
            Ok(Overview {
                events: row.get("events")?,
                sessions: row.get("sessions")?,
                bytes,
                oldest_ts: row.get("oldest")?,
                latest_ts: row.get("latest")?,
            })
        })
        .map_err(|error| reader.failed(error))
}
