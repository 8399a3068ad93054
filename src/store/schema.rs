//! The tables, and how an older database gets them.
//!
//! Ids are row ids, `ts` is in milliseconds since the Unix epoch. Steps are only ever added.

use rusqlite::{Connection, TransactionBehavior, params};

use crate::clock::Timestamp;

/// The newest schema version of this program, kept in `user_version`.
pub const VERSION: i64 = 4;

/// What brings a database from each version to the next, from an empty one on.
///
/// In `tma1_hook_events`, `payload` is what the hook sent, with over-long strings cut, `project_root`
/// where the session was then, and `observed` what was seen just before: directories, files and
/// transcripts change. The other columns repeat what is looked for.
pub(super) const STEPS: [(i64, &str); 4] =
    [(0, TABLES), (1, PROJECT_ROOT), (2, OBSERVED), (3, HISTORY)];

const TABLES: &str = "
    CREATE TABLE tma1_hook_events (
        id INTEGER PRIMARY KEY,
        ts INTEGER NOT NULL,
        agent_source TEXT NOT NULL,
        session_id TEXT NOT NULL,
        event_type TEXT NOT NULL,
        tool_name TEXT,
        tool_use_id TEXT,
        agent_id TEXT,
        cwd TEXT,
        transcript_path TEXT,
        payload TEXT NOT NULL
    ) STRICT;
    CREATE INDEX tma1_hook_events_by_time ON tma1_hook_events (ts);
    CREATE INDEX tma1_hook_events_by_session ON tma1_hook_events (session_id, id);
";

const PROJECT_ROOT: &str = "ALTER TABLE tma1_hook_events ADD COLUMN project_root TEXT;";

const OBSERVED: &str = "ALTER TABLE tma1_hook_events ADD COLUMN observed TEXT;";

/// What is read without unfolding events. Of the events of an older version only the sessions are
/// taken over.
const HISTORY: &str = "
    CREATE TABLE tma1_migrations (
        version INTEGER PRIMARY KEY,
        applied_at INTEGER NOT NULL,
        program TEXT NOT NULL
    ) STRICT;
    CREATE TABLE tma1_log (name TEXT PRIMARY KEY, value ANY) STRICT, WITHOUT ROWID;
    INSERT INTO tma1_log VALUES ('id', lower(hex(randomblob(4))));
    CREATE TABLE tma1_messages (
        id INTEGER PRIMARY KEY,
        ts INTEGER NOT NULL,
        agent_source TEXT NOT NULL,
        session_id TEXT NOT NULL,
        project_root TEXT,
        message_type TEXT NOT NULL,
        role TEXT NOT NULL,
        model TEXT,
        content TEXT NOT NULL,
        tool_name TEXT,
        tool_use_id TEXT,
        input_tokens INTEGER,
        output_tokens INTEGER,
        cache_read_tokens INTEGER,
        cache_creation_tokens INTEGER,
        duration_ms INTEGER
    ) STRICT;
    CREATE INDEX tma1_messages_by_time ON tma1_messages (ts);
    CREATE INDEX tma1_messages_by_session ON tma1_messages (session_id, id);
    CREATE VIRTUAL TABLE tma1_messages_fts
        USING fts5 (content, facets, content='', contentless_delete=1, tokenize='unicode61');
    CREATE TABLE tma1_build_events (
        id INTEGER PRIMARY KEY,
        ts INTEGER NOT NULL,
        agent_source TEXT NOT NULL,
        session_id TEXT NOT NULL,
        project_root TEXT,
        build_id TEXT,
        event_type TEXT NOT NULL,
        tag TEXT NOT NULL,
        command TEXT NOT NULL,
        cwd TEXT,
        exit_code INTEGER,
        signal INTEGER,
        duration_ms INTEGER,
        lines INTEGER,
        error_summary TEXT
    ) STRICT;
    CREATE INDEX tma1_build_events_by_time ON tma1_build_events (ts);
    CREATE INDEX tma1_build_events_by_session ON tma1_build_events (session_id, id);
    CREATE INDEX tma1_build_events_by_project ON tma1_build_events (project_root, ts);
    CREATE TABLE tma1_external_changes (
        id INTEGER PRIMARY KEY,
        ts INTEGER NOT NULL,
        project_root TEXT,
        session_id TEXT,
        path TEXT NOT NULL,
        change_type TEXT NOT NULL,
        source TEXT NOT NULL,
        file_count INTEGER NOT NULL,
        detail TEXT
    ) STRICT;
    CREATE INDEX tma1_external_changes_by_time ON tma1_external_changes (ts);
    CREATE INDEX tma1_external_changes_by_session ON tma1_external_changes (session_id, id);
    CREATE INDEX tma1_external_changes_by_project ON tma1_external_changes (project_root, ts);
    CREATE TABLE tma1_project_state (
        id INTEGER PRIMARY KEY,
        ts INTEGER NOT NULL,
        project_root TEXT NOT NULL,
        language TEXT,
        build_system TEXT,
        test_runner TEXT,
        branch TEXT,
        head_commit TEXT,
        state TEXT
    ) STRICT;
    CREATE INDEX tma1_project_state_by_time ON tma1_project_state (ts);
    CREATE INDEX tma1_project_state_by_project ON tma1_project_state (project_root, ts);
    CREATE TABLE tma1_anomaly_emits (
        id INTEGER PRIMARY KEY,
        ts INTEGER NOT NULL,
        agent_source TEXT NOT NULL,
        session_id TEXT NOT NULL,
        project_root TEXT,
        kind TEXT NOT NULL,
        severity TEXT NOT NULL,
        channel TEXT NOT NULL,
        suggestion TEXT NOT NULL,
        evidence TEXT NOT NULL
    ) STRICT;
    CREATE INDEX tma1_anomaly_emits_by_time ON tma1_anomaly_emits (ts);
    CREATE INDEX tma1_anomaly_emits_by_session ON tma1_anomaly_emits (session_id, id);
    CREATE INDEX tma1_anomaly_emits_by_project ON tma1_anomaly_emits (project_root, ts);
    CREATE TABLE tma1_sessions (
        id INTEGER PRIMARY KEY,
        agent_source TEXT NOT NULL,
        session_id TEXT NOT NULL,
        project_root TEXT,
        title TEXT,
        model TEXT,
        first_ts INTEGER NOT NULL,
        last_ts INTEGER NOT NULL,
        events INTEGER NOT NULL DEFAULT 0,
        prompts INTEGER NOT NULL DEFAULT 0,
        tool_calls INTEGER NOT NULL DEFAULT 0,
        failures INTEGER NOT NULL DEFAULT 0,
        anomalies INTEGER NOT NULL DEFAULT 0,
        input_tokens INTEGER NOT NULL DEFAULT 0,
        output_tokens INTEGER NOT NULL DEFAULT 0,
        ended_ts INTEGER,
        UNIQUE (agent_source, session_id)
    ) STRICT;
    CREATE INDEX tma1_sessions_by_time ON tma1_sessions (last_ts);
    CREATE INDEX tma1_sessions_by_project ON tma1_sessions (project_root, last_ts);
    INSERT INTO tma1_sessions (agent_source, session_id, project_root, first_ts, last_ts, events,
            prompts, tool_calls)
        SELECT agent_source, session_id, max(project_root), min(ts), max(ts), count(*),
            sum(event_type = 'UserPromptSubmit'), sum(event_type = 'PreToolUse')
        FROM tma1_hook_events GROUP BY agent_source, session_id;
";

/// What became of a database that was to be brought up to date.
pub(super) enum Version {
    /// It is.
    Current,
    /// It has this version, which this program does not know, and was left alone.
    Newer(i64),
}

/// Takes the steps that `connection` lacks, all of them or none, and notes each in the ledger.
pub(super) fn bring_up_to_date(
    connection: &mut Connection,
    now: Timestamp,
) -> rusqlite::Result<Version> {
    let found = version(connection)?;
    if found > VERSION {
        return Ok(Version::Newer(found));
    }
    if found == VERSION {
        return Ok(Version::Current);
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found = version(&transaction)?;
    let taken: Vec<_> = STEPS.iter().filter(|(from, _)| *from >= found).collect();
    for (_, step) in &taken {
        transaction.execute_batch(step)?;
    }
    for (from, _) in taken {
        transaction.execute(
            "INSERT INTO tma1_migrations VALUES (?1, ?2, ?3)",
            params![from + 1, now.as_unix_millis(), env!("CARGO_PKG_VERSION")],
        )?;
    }
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()?;
    Ok(Version::Current)
}

/// The schema version of a database; 0 if it has no tables yet.
pub fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}
