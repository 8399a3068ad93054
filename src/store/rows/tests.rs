use rusqlite::Connection;
use serde_json::{Value, json};

use crate::agent::Agent;
use crate::clock::Timestamp;
use crate::store::{Database, Entry, EventLog, Retention};

fn entry(at: i64, payload: &Value, observed: Option<&Value>) -> Entry {
    let mut all = json!({"session_id": "s", "cwd": "/shop", "model": "gpt-5"});
    for (name, value) in payload.as_object().unwrap() {
        all[name] = value.clone();
    }
    Entry {
        at: Timestamp::from_unix_millis(at),
        agent: Agent::Codex,
        project_root: Some("/shop".to_owned()),
        observed: observed.map(Value::to_string),
        said: Vec::new(),
        payload: all.to_string(),
    }
}

/// A database with what these entries say.
fn written(entries: Vec<Entry>) -> (tempfile::TempDir, Connection) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tma1.db");
    let log =
        EventLog::start(Database::open_in_any_state(&path).unwrap(), Retention::default()).unwrap();
    for entry in entries {
        log.append(entry).blocking_recv().unwrap();
    }
    drop(log);
    (folder, Connection::open(path).unwrap())
}

/// Every row that `query` finds, as one text.
fn rows(connection: &Connection, query: &str) -> Vec<String> {
    let mut statement = connection.prepare(query).unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

#[test]
fn what_was_said_becomes_messages_that_are_found() {
    let run = |name: &str, more: &Value| {
        let mut call = json!({
            "hook_event_name": name, "tool_name": "Bash", "tool_use_id": "c1",
            "tool_input": {"command": "cargo test"},
        });
        for (name, value) in more.as_object().unwrap() {
            call[name] = value.clone();
        }
        call
    };
    let prompt = json!({"hook_event_name": "UserPromptSubmit", "prompt": "\n请修复登录错误\nsoon"});
    let stop = json!({"hook_event_name": "Stop", "last_assistant_message": "Fixed open_file."});
    let failed = run("PostToolUseFailure", &json!({"error": "Exit code 101\nerror: no such"}));
    let (_folder, database) = written(vec![
        entry(1, &prompt, None),
        entry(2, &run("PreToolUse", &json!({})), None),
        entry(5, &failed, None),
        entry(6, &stop, None),
    ]);
    let messages =
        "SELECT concat_ws('|', ts, message_type, role, model, content) FROM tma1_messages";
    assert_eq!(
        rows(&database, messages),
        [
            "1|prompt|user|gpt-5|\n请修复登录错误\nsoon",
            "2|tool_use|tool|gpt-5|cargo test",
            "5|tool_error|tool|gpt-5|Exit code 101\nerror: no such",
            "6|response|assistant|gpt-5|Fixed open_file.",
        ]
    );
    for (words, id) in [("登 录", "1"), ("open_file", "4"), ("cargo", "2")] {
        let found = format!(
            "SELECT CAST(rowid AS TEXT) FROM tma1_messages_fts
             WHERE tma1_messages_fts MATCH '\"{words}\"'"
        );
        assert_eq!(rows(&database, &found), [id], "{words}");
    }
    let builds = "SELECT concat_ws('|', ts, build_id, event_type, tag, command, exit_code,
                      duration_ms) FROM tma1_build_events";
    assert_eq!(rows(&database, builds), ["5|c1|failed|test|cargo test|101|3"]);
    let sessions = "SELECT concat_ws('|', agent_source, session_id, project_root, title, first_ts,
                        last_ts, events, prompts, tool_calls, failures) FROM tma1_sessions";
    assert_eq!(rows(&database, sessions), ["codex|s|/shop|请修复登录错误|1|6|4|1|1|1"]);
}

#[test]
fn what_sensors_saw_becomes_rows() {
    let key = json!({"agent": "codex", "id": "s"});
    let index = json!({
        "languages": ["Rust", "TypeScript"], "build_systems": ["cargo", "npm"],
        "test_runners": [], "key_files": ["Cargo.toml"], "folders": ["src"],
        "members": [{
            "path": "web", "name": "web", "languages": ["TypeScript"], "build_systems": ["npm"],
            "test_runners": [{"name": "vitest", "command": "npm test"}], "key_files": [],
        }],
        "more_members": 0, "branch": "main", "head_commit": null, "complete": true,
    });
    let observed = json!([
        {"ExternalChange": {"path": "/shop/a.rs", "removed": true}},
        {"Usage": {"session": key, "usage": {"input": 7, "output": 3,
            "window_used": null, "window_size": null}}},
        {"Indexed": {"root": "/shop", "index": index}},
    ]);
    let returned = json!({
        "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": "c1",
        "tool_input": {"command": "cargo build"}, "tool_response": "one\ntwo",
    });
    let ended = json!([{"CommandEnded": {"session": key, "call_id": "c1", "exit_code": 101}}]);
    let other = json!({"hook_event_name": "Brand new"});
    let (_folder, database) = written(vec![
        entry(1, &returned, Some(&observed)),
        entry(2, &other, Some(&ended)),
        entry(3, &json!({"hook_event_name": "SessionEnd"}), None),
    ]);
    let changes = "SELECT concat_ws('|', project_root, path, change_type, source, file_count)
                   FROM tma1_external_changes";
    assert_eq!(rows(&database, changes), ["/shop|/shop/a.rs|removed|external|1"]);
    let builds =
        "SELECT concat_ws('|', ts, build_id, event_type, exit_code, lines) FROM tma1_build_events";
    assert_eq!(rows(&database, builds), ["1|c1|unknown|2", "2|c1|failed|101|2"]);
    let session = "SELECT concat_ws('|', input_tokens, output_tokens, ended_ts) FROM tma1_sessions";
    assert_eq!(rows(&database, session), ["7|3|3"]);
    let project = "SELECT concat_ws('|', ts, project_root, language, build_system, test_runner,
                       branch, head_commit, state ->> '$.members[0].path') FROM tma1_project_state";
    let expected = ["1|/shop|Rust, TypeScript|cargo, npm|vitest|main|web"];
    assert_eq!(rows(&database, project), expected);
}

#[test]
fn a_session_that_goes_on_has_not_ended() {
    let end = json!({"hook_event_name": "SessionEnd"});
    let start = json!({"hook_event_name": "SessionStart", "source": "resume"});
    // The clock was set back between.
    let (_folder, database) = written(vec![entry(9, &end, None), entry(4, &start, None)]);
    let session = "SELECT concat_ws('|', first_ts, last_ts, events, ended_ts) FROM tma1_sessions";
    assert_eq!(rows(&database, session), ["4|9|2"]);
}
