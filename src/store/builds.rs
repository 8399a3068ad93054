//! What commands did that `tma1 build` runs, in the log.

use rusqlite::{Row, named_params};

use crate::clock::Timestamp;
use crate::store::{Database, StoreError};

/// What stands for the agent where a person has run the command.
pub const WRAPPER: &str = "tma1-build";

/// Something that a wrapped command did, as the log keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildEntry {
    /// When the daemon was told.
    pub at: Timestamp,
    /// The root of the project.
    pub project_root: String,
    /// The session that runs it; empty if that is not known.
    pub session_id: String,
    /// What tells this run from others.
    pub build_id: String,
    /// `start`, `lines`, or how it ended or stands: `passed`, `failed`, `interrupted`. One that stands so
    /// and goes on has neither exit status nor signal.
    pub event: String,
    /// What the user calls it, else `build` or `test`.
    pub tag: String,
    /// The command, quoted for a shell.
    pub command: String,
    /// Where it runs.
    pub cwd: String,
    /// Its exit status.
    pub exit_code: Option<i64>,
    /// The signal that ended it.
    pub signal: Option<i64>,
    /// For how many milliseconds it had been running.
    pub duration_ms: i64,
    /// How many lines it had written.
    pub lines: i64,
    /// What it said that matters, in lines.
    pub said: Option<String>,
}

impl BuildEntry {
    /// How much memory it takes while it waits, as good as all of it.
    pub(super) fn size(&self) -> usize {
        self.command.len() + self.cwd.len() + self.said.as_ref().map_or(0, String::len)
    }

    pub(super) fn insert(&self, connection: &rusqlite::Connection) -> rusqlite::Result<()> {
        connection
            .prepare_cached(
                "INSERT INTO tma1_build_events (ts, agent_source, session_id, project_root,
                     build_id, event_type, tag, command, cwd, exit_code, signal, duration_ms,
                     lines, error_summary)
                 VALUES (:ts, :agent_source, :session_id, :project_root, :build_id, :event_type,
                     :tag, :command, :cwd, :exit_code, :signal, :duration_ms, :lines,
                     :error_summary)",
            )?
            .execute(named_params! {
                ":ts": self.at.as_unix_millis(),
                ":agent_source": WRAPPER,
                ":session_id": self.session_id,
                ":project_root": self.project_root,
                ":build_id": self.build_id,
                ":event_type": self.event,
                ":tag": self.tag,
                ":command": self.command,
                ":cwd": self.cwd,
                ":exit_code": self.exit_code,
                ":signal": self.signal,
                ":duration_ms": self.duration_ms,
                ":lines": self.lines,
                ":error_summary": self.said,
            })?;
        Ok(())
    }

    fn from_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            at: Timestamp::from_unix_millis(row.get("ts")?),
            project_root: row.get("project_root")?,
            session_id: row.get("session_id")?,
            build_id: row.get("build_id")?,
            event: row.get("event_type")?,
            tag: row.get("tag")?,
            command: row.get("command")?,
            cwd: row.get("cwd")?,
            exit_code: row.get("exit_code")?,
            signal: row.get("signal")?,
            duration_ms: row.get("duration_ms")?,
            lines: row.get("lines")?,
            said: row.get("error_summary")?,
        })
    }
}

impl Database {
    /// The latest `most` entries of builds since `since`, the earliest first, without those that only
    /// have lines.
    pub fn builds_since(&self, since: Timestamp, most: i64) -> Result<Vec<BuildEntry>, StoreError> {
        let read = || {
            let mut statement = self.connection.prepare(
                "SELECT * FROM (SELECT * FROM tma1_build_events
                     WHERE ts >= ?1 AND agent_source = ?2 AND event_type <> 'lines'
                     ORDER BY ts DESC, id DESC LIMIT ?3)
                 ORDER BY ts, id",
            )?;
            let rows = statement
                .query_map((since.as_unix_millis(), WRAPPER, most), BuildEntry::from_row)?;
            // A row that can't be read is damage of this row, and of no other.
            Ok(rows.filter_map(Result::ok).collect())
        };
        read().map_err(|source| StoreError::Database { path: self.path.clone(), source })
    }
}
