use serde_json::json;

use super::*;
use crate::agent::Agent;
use crate::clock::Timestamp;

fn entry(at: i64, session: &str) -> Entry {
    let payload = json!({
        "hook_event_name": "PreToolUse", "session_id": session, "tool_name": "Bash",
        "tool_use_id": "toolu_1", "cwd": "/home/dev/shop", "tool_input": {"command": "ls"},
    })
    .to_string();
    let project_root = Some("/home/dev/shop".to_owned());
    let at = Timestamp::from_unix_millis(at);
    let observed = (session == "s1").then(|| "[]".to_owned());
    Entry { at, agent: Agent::Codex, project_root, observed, said: Vec::new(), payload }
}

fn log_at(path: &Path) -> EventLog {
    EventLog::start(Database::open_in_any_state(path).unwrap(), Retention::default()).unwrap()
}

fn entries(database: &Database, since: i64) -> Vec<Entry> {
    let mut entries = Vec::new();
    let all = entry::read_by_id(&database.connection, "ASC", |_, entry| {
        entries.push(entry);
        true
    });
    all.unwrap();
    entries.retain(|entry| entry.at >= Timestamp::from_unix_millis(since));
    entries
}

#[test]
fn what_is_appended_is_read_again_in_order_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tma1.db");
    let appended: Vec<Entry> = (0..1000).map(|i| entry(i / 10, &format!("s{i}"))).collect();
    let log = log_at(&path);
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
    let log = log_at(&path);
    log.append(entry(1, "s")).blocking_recv().unwrap();
    assert_eq!(entries(&Database::open(&path).unwrap(), 0).len(), 1);
}

#[test]
fn an_entry_that_is_not_written_is_counted_and_not_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(&folder.path().join("tma1.db")).unwrap();
    database.connection.execute("DROP TABLE tma1_hook_events", ()).unwrap();
    let opened = Opened { database, problem: None };
    let log = EventLog::start(opened, Retention::default()).unwrap();
    assert!(log.append(entry(1, "s")).blocking_recv().is_err());
    assert_eq!(log.lost(), 1);
}

#[test]
fn an_entry_that_can_not_be_written_takes_no_other_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tma1.db");
    let log = log_at(&path);
    for number in 0..100 {
        let mut entry = entry(number, "s");
        if number % 10 == 0 {
            entry.payload = "no JSON".to_owned();
        }
        log.append(entry);
    }
    log.append(entry(100, "s")).blocking_recv().unwrap();
    assert_eq!(log.lost(), 10);
    assert_eq!(entries(&Database::open(&path).unwrap(), 0).len(), 91);
}

#[test]
fn a_database_that_is_locked_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tma1.db");
    let log = log_at(&path);
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut waiting: Vec<_> = (0..10).map(|number| log.append(entry(number, "s"))).collect();
    // Longer than one attempt.
    std::thread::sleep(Duration::from_millis(600));
    assert!(waiting[0].try_recv().is_err());
    drop(other);
    for written in waiting {
        written.blocking_recv().unwrap();
    }
    assert_eq!(log.lost(), 0);
}

#[test]
fn what_waits_is_bounded_by_its_number_and_its_size() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tma1.db");
    for (bytes, bound) in [(100, 1024 + 256), (16 << 20, 4)] {
        let log = log_at(&path);
        let other = Connection::open(&path).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let payload = format!(r#"{{"session_id":"s","hook_event_name":"{}"}}"#, "x".repeat(bytes));
        for number in 0..bound + 20 {
            log.append(Entry { payload: payload.clone(), ..entry(number, "s") });
        }
        assert!(log.lost() >= 20, "{bytes}: {}", log.lost());
        drop(other);
    }
}

#[test]
fn a_database_of_a_newer_version_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tma1.db");
    Database::open(&path).unwrap().connection.pragma_update(None, "user_version", 99).unwrap();
    let error = Database::open(&path).unwrap_err();
    assert!(error.to_string().ends_with("has schema 99, this version of tma1 knows up to 4"));
}

#[test]
fn a_database_of_the_first_version_is_brought_up_to_date() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tma1.db");
    let first = Connection::open(&path).unwrap();
    first.execute_batch(schema::STEPS[0].1).unwrap();
    first.pragma_update(None, "user_version", 1).unwrap();
    let row = "INSERT INTO tma1_hook_events (ts, agent_source, session_id, event_type, payload)
               VALUES (1, 'codex', 's', 'Stop', '{}')";
    first.execute(row, ()).unwrap();
    drop(first);
    for _ in 0..2 {
        let old = entries(&Database::open(&path).unwrap(), 0);
        assert_eq!(old.len(), 1);
        assert_eq!((&old[0].project_root, &*old[0].payload), (&None, "{}"));
    }
    let text = |query: &str| -> String {
        Connection::open(&path).unwrap().query_row(query, [], |row| row.get(0)).unwrap()
    };
    assert_eq!(text("SELECT group_concat(version) FROM tma1_migrations"), "2,3,4");
    assert_eq!(
        text("SELECT concat_ws(' ', session_id, events, last_ts) FROM tma1_sessions"),
        "s 1 1"
    );
}

#[test]
fn the_columns_repeat_what_the_payload_says() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tma1.db");
    let log = log_at(&path);
    let mut broken = entry(1, "s");
    broken.payload = r#"{"hook_event_name":"a\u0000b","session_id":"é","tool_name":7}"#.to_owned();
    log.append(broken);
    log.append(entry(1, "s"));
    drop(log);
    let database = Database::open(&path).unwrap();
    let columns = "SELECT concat_ws(' ', session_id, event_type, tool_name, tool_use_id, cwd)
                   FROM tma1_hook_events ORDER BY id DESC LIMIT 1";
    let row: String = database.connection.query_row(columns, (), |row| row.get(0)).unwrap();
    assert_eq!(row, "s PreToolUse Bash toolu_1 /home/dev/shop");
    assert_eq!(entries(&database, 0).len(), 2);
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

#[test]
fn what_was_written_is_carried_over_once_no_reader_needs_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tma1.db");
    let log = log_at(&path);
    let beside = || fs_err::metadata(folder.path().join("tma1.db-wal")).unwrap().len();
    let payload = json!({
        "hook_event_name": "Stop", "session_id": "s", "note": "x".repeat(1 << 16)});
    let append = |number| {
        let payload = payload.to_string();
        log.append(Entry { payload, ..entry(number, "s") }).blocking_recv().unwrap();
    };
    append(0);
    let reader = Connection::open(&path).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM tma1_hook_events").unwrap();
    for number in 0..200 {
        append(number);
    }
    // The reader goes on seeing what it saw, and holds up nobody.
    let count = "SELECT count(*) FROM tma1_hook_events";
    assert_eq!(reader.query_row(count, [], |row| row.get::<_, i64>(0)), Ok(1));
    assert!(beside() > 8 << 20);
    reader.execute_batch("COMMIT").unwrap();
    for number in 0..300 {
        append(number);
    }
    assert!(beside() < 6 << 20, "{}", beside());
    assert_eq!(log.problem(), None);
}
