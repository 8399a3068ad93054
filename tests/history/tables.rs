//! What each command prints, for people and for programs.

use std::fmt::Write;

use serde_json::{Value, json};

use super::story::{self, CLAUDE, CODEX, told};
use crate::support::daemon::Daemon;
use crate::support::home::TestHome;
use crate::support::http;
use crate::support::snapshot::assert_snapshot;

const LISTS: [&[&str]; 11] = [
    &["sessions"],
    &["sessions", "--agent", "codex", "--project"],
    &["sessions", "--project", "elsewhere"],
    &["sessions", "--limit", "1"],
    &["show", CLAUDE],
    &["show", CODEX, "--limit", "2"],
    &["search", "open_file"],
    &["search", "登录", "--kind", "prompt"],
    &["search", "E0308", "--kind", "error", "--limit", "1"],
    &["search", "nowhere"],
    &["anomalies"],
];

const STATEMENTS: [&[&str]; 3] = [
    &["query", "SELECT agent_source, count(*) AS events FROM tma1_hook_events GROUP BY 1"],
    &["query", "SELECT content, NULL, 1.5 FROM tma1_messages WHERE role = 'user'"],
    &["query", "SELECT 1 WHERE 0"],
];

/// What the commands print, each below its line.
fn printed(home: &TestHome, commands: &[&[&str]], json: bool) -> String {
    let mut text = String::new();
    for command in commands {
        let mut command = command.to_vec();
        if json {
            command.push("--json");
        }
        let run = story::tma1(home, &command).succeeded();
        assert_eq!(run.stderr, "", "{command:?}");
        let line = shlex::try_join(command).unwrap();
        write!(text, "$ tma1 {line}\n{}", run.stdout).unwrap();
    }
    // One that has a `\t` or the like would steer a terminal.
    assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
    home.anonymous(&text)
}

#[test]
fn the_daemon_and_the_store_tell_the_same_and_it_reads_well() {
    let home = told();
    let without = [printed(&home, &LISTS, false), printed(&home, &LISTS, true)];
    let daemon = Daemon::start(&home);
    let with = [printed(&home, &LISTS, false), printed(&home, &LISTS, true)];
    assert_eq!(with, without);
    // A statement is never the daemon's to run, and does not mind it.
    let statements = printed(&home, &STATEMENTS, false);
    let statements_json = printed(&home, &STATEMENTS, true);
    drop(daemon);
    assert_snapshot("history-tables", &(with[0].clone() + &statements), &[]);
    assert_snapshot("history-json", &(with[1].clone() + &statements_json), &[]);
}

#[test]
fn a_since_leaves_out_what_was_before() {
    let home = told();
    for (since, sessions) in [("2026-06-01", 2), ("2026-06-01T10:00:14", 1), ("1h", 0)] {
        let listed = story::json(&home, &["sessions", "--json", "--since", since]);
        assert_eq!(listed.as_array().unwrap().len(), sessions, "{since}");
    }
    let run = story::tma1(&home, &["sessions", "--since", "soon"]);
    assert_eq!(run.status, Some(2));
    assert!(run.stderr.contains("neither an age"), "{}", run.stderr);
}

#[test]
fn every_row_is_exported_as_a_line() {
    let home = told();
    let lines = |arguments: &[&str]| -> Vec<Value> {
        let said = story::tma1(&home, arguments).succeeded().stdout;
        said.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let all = lines(&["export"]);
    let events = lines(&["export", "--table", "hook_events"]);
    let count =
        story::json(&home, &["query", "--json", "SELECT count(*) AS n FROM tma1_hook_events"]);
    assert_eq!(json!(events.len()), count[0]["n"]);
    let of = |table: &str| all.iter().filter(|row| row["table"] == table).count();
    assert_eq!(of("tma1_hook_events"), events.len());
    assert_eq!((of("tma1_sessions"), of("tma1_anomaly_emits")), (2, 1));
    let since = lines(&["export", "--table", "sessions", "--since", "2026-06-01T10:00:14"]);
    assert_eq!(since.len(), 1);
    assert_eq!(since[0]["session_id"], CODEX);
}

#[test]
fn to_look_at_the_context_uses_nothing_up() {
    let home = TestHome::new();
    let daemon = Daemon::start(&home);
    let tell = |name: &str, more: &Value| story::tell(&home, &daemon, CLAUDE, name, more);
    let none = story::tma1(&home, &["context"]).succeeded().stdout;
    assert_eq!(none, "No agent has reported anything in this project yet.\n");
    let file = home.project().join("a.rs");
    fs_err::write(&file, "fn a() {}\n").unwrap();
    let call = json!({"tool_name": "Read", "tool_use_id": "1", "tool_input": {"file_path": file}});
    tell("UserPromptSubmit", &json!({"prompt": "go"}));
    tell("PreToolUse", &call);
    tell("PostToolUse", &call);
    fs_err::write(&file, "fn b() { /* longer than before */ }\n").unwrap();
    // The look at the file comes with the next event.
    tell("Stop", &json!({}));
    let first = story::tma1(&home, &["context"]).succeeded().stdout;
    assert!(first.starts_with("<tma1-context>\n") && first.contains("a.rs"), "{first}");
    assert!(first.contains("external_modified_during_session"), "{first}");
    assert_eq!(story::tma1(&home, &["context"]).succeeded().stdout, first);
    let told = story::json(&home, &["context", "--json", "--agent", "claude-code"]);
    assert_eq!(told["session"]["id"], CLAUDE);
    assert_eq!(told["context"].as_str(), Some(first.trim_end()));
    assert!(story::json(&home, &["context", "--json", "--agent", "codex"])["context"].is_null());
    // It is still to be said, and then not again.
    let prompt = json!({"prompt": "go on"});
    assert!(tell("UserPromptSubmit", &prompt).contains("external_modified_during_session"));
    assert!(!tell("UserPromptSubmit", &prompt).contains("external_modified_during_session"));
}

#[test]
fn status_tells_what_the_store_holds() {
    let home = told();
    let told = story::tma1(&home, &["status", "--json"]);
    let told: Value = serde_json::from_str(&told.stdout).unwrap();
    assert_eq!(told["running"], false);
    assert_eq!(told["store"]["sessions"], 2);
    let _daemon = Daemon::start(&home);
    let running = story::json(&home, &["status", "--json"]);
    assert_eq!(running["store"]["events"], told["store"]["events"]);
    assert_eq!(running["store"]["oldest_ts"], 1_780_308_001_000_i64);
    let text = story::tma1(&home, &["status"]).succeeded().stdout;
    assert!(text.contains(" events of 2 sessions, the oldest "), "{text}");
}

#[test]
fn the_api_pages_and_tells_what_is_wrong() {
    let home = told();
    let _daemon = Daemon::start(&home);
    let bearer = format!("Authorization: Bearer {}\r\n", home.token());
    let get = |target: &str| {
        let (status, body) = http::request_as(home.port(), "GET", target, &bearer, b"").unwrap();
        (status, serde_json::from_str::<Value>(&body).unwrap())
    };
    let (status, first) = get("/api/sessions?limit=1");
    assert_eq!((status, &first["items"][0]["session_id"]), (200, &json!(CODEX)));
    let next = first["next"].as_str().unwrap();
    let (_, second) = get(&format!("/api/sessions?limit=1&before={next}"));
    assert_eq!(
        (&second["items"][0]["session_id"], &second["next"]),
        (&json!(CLAUDE), &Value::Null)
    );
    let (status, told) = get(&format!("/api/sessions/{CLAUDE}?limit=2"));
    assert_eq!((status, &told["session"]["session_id"]), (200, &json!(CLAUDE)));
    assert_eq!(get("/api/sessions/0199c").0, 409);
    for (target, status, reason) in [
        ("/api/sessions/%ff", 404, "there is nothing here"),
        ("/api/sessions/x%2Fy", 404, "there is no session `x/y`"),
        ("/api/sessions?limit=many", 400, "invalid digit"),
        ("/api/sessions?before=x", 400, "no `next`"),
        ("/api/search?since=soon", 400, "neither an age"),
        ("/api/search?kind=poem", 400, "unknown variant"),
        ("/api/search?texts=x", 400, "unknown field"),
        ("/api/context", 400, "name a session"),
    ] {
        let (answered, told) = get(target);
        assert_eq!(answered, status, "{target}: {told}");
        assert!(told["error"].as_str().unwrap().contains(reason), "{target}: {told}");
    }
}
