use serde_json::{Map, Value, json};

use super::*;
use crate::agent::Agent;

fn entry(at: i64, session: &str) -> Entry {
    let payload: Map<String, Value> = serde_json::from_value(json!({
        "hook_event_name": "PreToolUse", "session_id": session, "tool_name": "Bash",
        "tool_use_id": "toolu_1", "cwd": "/home/dev/shop", "tool_input": {"command": "ls"},
    }))
    .unwrap();
    Entry { at: Timestamp::from_unix_millis(at), agent: Agent::Codex, payload }
}

fn entries(database: &Database, since: i64) -> Vec<Entry> {
    let mut entries = Vec::new();
    database.entries_since(Timestamp::from_unix_millis(since), |e| entries.push(e)).unwrap();
    entries
}

#[test]
fn what_is_appended_is_read_again_in_order_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tma1.db");
    let appended: Vec<Entry> = (0..1000).map(|i| entry(i / 10, &format!("s{i}"))).collect();
    let log = EventLog::start(Database::open(&path).unwrap()).unwrap();
    for entry in &appended {
        log.append(entry.clone());
    }
    assert_eq!(log.lost(), 0);
    drop(log);
    let database = Database::open(&path).unwrap();
    assert_eq!(entries(&database, 0), appended);
    assert_eq!(entries(&database, 90).len(), 100);
}

#[test]
fn an_entry_is_acknowledged_when_it_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tma1.db");
    let log = EventLog::start(Database::open(&path).unwrap()).unwrap();
    log.append(entry(1, "s")).blocking_recv().unwrap();
    assert_eq!(entries(&Database::open(&path).unwrap(), 0).len(), 1);
}

#[test]
fn an_entry_that_is_not_written_is_counted_and_not_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(&folder.path().join("tma1.db")).unwrap();
    database.connection.execute("DROP TABLE tma1_hook_events", ()).unwrap();
    let log = EventLog::start(database).unwrap();
    assert!(log.append(entry(1, "s")).blocking_recv().is_err());
    assert_eq!(log.lost(), 1);
}

#[test]
fn a_database_of_a_newer_version_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tma1.db");
    Database::open(&path).unwrap().connection.pragma_update(None, "user_version", 99).unwrap();
    let error = Database::open(&path).unwrap_err();
    assert!(error.to_string().ends_with("has schema 99, this version of tma1 knows up to 1"));
}

#[test]
fn a_file_that_is_no_database_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tma1.db");
    fs_err::write(&path, "not a database, but long enough to have a header".repeat(10)).unwrap();
    let error = Database::open(&path).unwrap_err();
    assert!(error.to_string().contains("tma1.db"), "{error}");
    assert!(error.hint().contains("move"));
}

#[cfg(unix)]
#[test]
fn no_other_user_can_read_the_log() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(&folder.path().join("tma1.db")).unwrap();
    for file in fs_err::read_dir(folder.path()).unwrap() {
        let file = file.unwrap();
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{file:?}");
    }
    drop(database);
}
