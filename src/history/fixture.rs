//! A store that tests fill row by row.

use std::path::PathBuf;
use std::time::Duration;

use jiff::tz::TimeZone;
use rusqlite::{Connection, params};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::clock::{Local, Timestamp};
use crate::history::Reader;
use crate::store::{Database, facets, segmented};

/// The project that everything happens in unless a test says otherwise.
pub const ROOT: &str = "/home/dev/shop";

pub struct Store {
    folder: TempDir,
    connection: Connection,
}

impl Store {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        drop(Database::open(&folder.path().join("tma1.db")).unwrap());
        let connection = Connection::open(folder.path().join("tma1.db")).unwrap();
        Self { folder, connection }
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path().join("tma1.db")
    }

    pub fn reader(&self) -> Reader {
        Reader::open(&self.path(), Some(Duration::from_secs(60))).unwrap().unwrap()
    }

    pub fn execute(&self, sql: &str) {
        self.connection.execute_batch(sql).unwrap();
    }

    /// A session that lasted from its number to this many milliseconds later.
    pub fn session(&self, agent: &str, id: &str, root: &str, first: i64, last: i64) {
        self.connection
            .execute(
                "INSERT INTO tma1_sessions (agent_source, session_id, project_root, title,
                     first_ts, last_ts, events, tool_calls, failures)
                 VALUES (?1, ?2, ?3, 'Fix the ' || ?2, ?4, ?5, 12, 5, 1)",
                params![agent, id, root, first, last],
            )
            .unwrap();
    }

    pub fn message(&self, ts: i64, kind: &str, content: &str) {
        self.message_in("claude-code", "s1", ROOT, ts, kind, content);
    }

    pub fn message_in(
        &self,
        agent: &str,
        session: &str,
        root: &str,
        ts: i64,
        kind: &str,
        content: &str,
    ) {
        self.connection
            .execute(
                "INSERT INTO tma1_messages (ts, agent_source, session_id, project_root,
                     message_type, role, content)
                 VALUES (?1, ?2, ?3, ?4, ?5, 'tool', ?6)",
                params![ts, agent, session, root, kind, content],
            )
            .unwrap();
        self.connection
            .execute(
                "INSERT INTO tma1_messages_fts (rowid, content, facets) VALUES (?1, ?2, ?3)",
                params![
                    self.connection.last_insert_rowid(),
                    segmented(content),
                    facets(agent, kind, Some(root))
                ],
            )
            .unwrap();
    }

    /// An event of the session `s1`.
    pub fn event(&self, ts: i64, name: &str, more: &Value) {
        let mut payload = json!({"hook_event_name": name, "session_id": "s1", "cwd": ROOT});
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.connection
            .execute(
                "INSERT INTO tma1_hook_events (ts, agent_source, session_id, event_type,
                     tool_use_id, payload)
                 VALUES (?1, 'claude-code', 's1', ?2, ?3, ?4)",
                params![ts, name, payload["tool_use_id"].as_str(), payload.to_string()],
            )
            .unwrap();
    }

    pub fn anomaly(&self, ts: i64, kind: &str, severity: &str) {
        self.connection
            .execute(
                "INSERT INTO tma1_anomaly_emits (ts, agent_source, session_id, project_root, kind,
                     severity, channel, suggestion, evidence)
                 VALUES (?1, 'claude-code', 's1', ?2, ?3, ?4, 'prompt', 'Look again.', 'It failed.')",
                params![ts, ROOT, kind, severity],
            )
            .unwrap();
    }
}

/// Noon, in Greenwich.
pub fn local() -> Local {
    Local { now: Timestamp::from_unix_millis(43_200_000), zone: TimeZone::UTC }
}
