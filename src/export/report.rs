//! How the export is, for the user.

use serde::{Deserialize, Serialize};

/// What the daemon tells of the export.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The server.
    pub url: String,
    /// The database there.
    pub database: String,
    /// The name of this machine in its rows.
    pub host: String,
    /// How many rows are not there yet.
    pub rows_behind: u64,
    /// When the oldest of them was logged, in milliseconds since the Unix epoch.
    pub behind_since: Option<i64>,
    /// How many rows were sent since the export began.
    pub rows_sent: u64,
    /// When rows were sent last, in milliseconds since the Unix epoch.
    pub sent_at: Option<i64>,
    /// How many rows the server would not take; they were set aside.
    pub rows_set_aside: u64,
    /// Why, of the last of them since the daemon started.
    pub set_aside: Option<String>,
    /// How many rows were older than the tables keep, and not sent.
    pub rows_expired: u64,
    /// How many rows the log forgot before they were sent.
    pub rows_missing: u64,
    /// What keeps the export from going on.
    pub error: Option<String>,
    /// When it is tried again, in milliseconds since the Unix epoch.
    pub next_attempt: Option<i64>,
}
