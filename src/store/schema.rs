//! The tables, and how an older database gets them.

use rusqlite::Connection;

/// The newest schema version of this program, kept in `user_version`.
pub(super) const VERSION: i64 = 3;

/// What brings a database from each version to the next, from an empty one on.
///
/// `ts` is in milliseconds since the Unix epoch. `payload` is what the hook sent, with over-long
/// strings cut. `project_root` is where the session was then, and `observed` what was seen just before:
/// directories, files and transcripts change. The other columns repeat what is looked for.
pub(super) const STEPS: [(i64, &str); 3] = [(0, TABLES), (1, PROJECT_ROOT), (2, OBSERVED)];

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
    PRAGMA user_version = 1;
";

const PROJECT_ROOT: &str = "
    ALTER TABLE tma1_hook_events ADD COLUMN project_root TEXT;
    PRAGMA user_version = 2;
";

const OBSERVED: &str = "
    ALTER TABLE tma1_hook_events ADD COLUMN observed TEXT;
    PRAGMA user_version = 3;
";

/// What became of a database that was to be brought up to date.
pub(super) enum Version {
    /// It is.
    Current,
    /// It has this version, which this program does not know, and was left alone.
    Newer(i64),
}

pub(super) fn bring_up_to_date(connection: &Connection) -> rusqlite::Result<Version> {
    let found = version(connection)?;
    for (_, step) in STEPS.iter().filter(|(from, _)| *from >= found) {
        connection.execute_batch(&format!("BEGIN IMMEDIATE; {step} COMMIT;"))?;
    }
    Ok(if found > VERSION { Version::Newer(found) } else { Version::Current })
}

pub(super) fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}
