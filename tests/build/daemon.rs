//! What the daemon learns, and that the command does not care for it.

use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, TcpListener};
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tma1::clock;

use super::{bare, run, wrapped};
use crate::support::daemon::Daemon;
use crate::support::home::TestHome;
use crate::support::http;

const FAILING: &str = "echo 'Compiling shop'; echo 'error[E0308]: mismatched types' >&2; \
                       echo ' --> src/cart.rs:12:5' >&2; exit 101";

/// Posts an event of the session `s` in the project, and returns the answer.
fn event(home: &TestHome, daemon: &Daemon, name: &str, more: &Value) -> String {
    let mut event = json!({ "hook_event_name": name, "session_id": "s", "cwd": home.project() });
    event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    daemon.post_event(event.to_string().as_bytes(), "").1
}

/// Waits until the block of the session has `text` in it.
#[track_caller]
fn await_block(home: &TestHome, daemon: &Daemon, text: &str) -> String {
    let deadline = clock::monotonic() + Duration::from_secs(20);
    loop {
        let block = event(home, daemon, "UserPromptSubmit", &json!({ "prompt": "go on" }));
        if block.contains(text) {
            return block;
        }
        assert!(clock::monotonic() < deadline, "{text:?} is not in {block}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// What the log has of builds, in lines.
fn rows(home: &TestHome) -> Vec<String> {
    let database = rusqlite::Connection::open(home.home().join(".tma1/data/tma1.db")).unwrap();
    let sql = "SELECT concat_ws('|', agent_source, event_type, tag, command, exit_code, signal)
               FROM tma1_build_events ORDER BY id";
    let mut statement = database.prepare(sql).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

#[test]
fn agents_learn_what_a_person_has_built() {
    let home = TestHome::new();
    let daemon = Daemon::start(&home);
    event(&home, &daemon, "SessionStart", &json!({ "source": "startup" }));
    let words = ["sh", "-c", FAILING];
    let ended = run(wrapped(&home, &["--tag", "shop"], &words), b"");
    assert_eq!(ended, run(bare(&home, &words), b""));
    let block = await_block(&home, &daemon, "build_last_error");
    assert!(block.contains("src/cart.rs:12: error[E0308]: mismatched types"), "{block}");
    assert_eq!(run(wrapped(&home, &["--tag", "shop"], &["true"]), b"").status, Some(0));
    await_block(&home, &daemon, "may have recovered");
    // Three failures of one command are what a session is told of, whoever ran it.
    for _ in 0..2 {
        run(wrapped(&home, &[], &words), b"");
    }
    let deadline = clock::monotonic() + Duration::from_secs(20);
    let state = "/api/session-state?agent=claude-code&session=s";
    let findings = || http::request(home.port(), "GET", state, b"").unwrap().1;
    while !findings().contains("repeated_failed_build") {
        assert!(clock::monotonic() < deadline, "{}", findings());
        std::thread::sleep(Duration::from_millis(100));
    }
    // After a restart it is known as before.
    daemon.stop();
    let rows = rows(&home);
    assert!(rows[0].starts_with("tma1-build|start|shop|sh -c "), "{rows:#?}");
    assert!(
        rows[1].starts_with("tma1-build|failed|shop|") && rows[1].ends_with("|101"),
        "{rows:#?}"
    );
    assert_eq!(rows[2..4], ["tma1-build|start|shop|true", "tma1-build|passed|shop|true|0"]);
    let daemon = Daemon::start(&home);
    await_block(&home, &daemon, "error[E0308]: mismatched types");
}

#[test]
fn a_build_of_an_agent_counts_once() {
    let home = TestHome::new();
    fs_err::write(home.project().join("Makefile"), "all:\n\t@echo 'a.c:1:2: error: x'; exit 2\n")
        .unwrap();
    let daemon = Daemon::start(&home);
    event(&home, &daemon, "SessionStart", &json!({ "source": "startup" }));
    let call = |more: &Value| {
        let mut call = json!({
            "tool_name": "Bash", "tool_use_id": "t1",
            "tool_input": { "command": "tma1 build -- make" },
        });
        call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        call
    };
    event(&home, &daemon, "PreToolUse", &call(&json!({})));
    let mut command = wrapped(&home, &[], &["make"]);
    command.env("CLAUDE_CODE_SESSION_ID", "s");
    assert_eq!(run(command, b"").status, Some(2));
    let error = json!({ "error": "Exit code 2\na.c:1:2: error: x", "is_interrupt": false });
    event(&home, &daemon, "PostToolUseFailure", &call(&error));
    await_block(&home, &daemon, "a.c:1");
    let status = home.tma1_fed(&["hook"], "");
    assert_eq!(status.status, Some(0));
    daemon.stop();
    let rows = rows(&home);
    assert_eq!(rows.len(), 1, "{rows:#?}");
    assert!(rows[0].starts_with("claude-code|failed|build|"), "{rows:#?}");
}

#[test]
fn a_server_that_goes_on_tells_its_state() {
    let home = TestHome::new();
    let daemon = Daemon::start(&home);
    event(&home, &daemon, "SessionStart", &json!({ "source": "startup" }));
    let script = "echo '10:00:01 AM - Starting compilation in watch mode...'; \
        echo 'src/a.ts(3,5): error TS2322: wrong type'; \
        echo '10:00:03 AM - Found 1 error. Watching for file changes.'; read x; \
        echo '10:01:00 AM - File change detected. Starting incremental compilation...'; \
        echo '10:01:00 AM - Found 0 errors. Watching for file changes.'; read x";
    let mut command = wrapped(&home, &["--watch", "--debounce", "100ms"], &["sh", "-c", script]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut keys = child.stdin.take().unwrap();
    await_block(&home, &daemon, "error TS2322: wrong type");
    std::io::Write::write_all(&mut keys, b"\n").unwrap();
    await_block(&home, &daemon, "may have recovered");
    drop(keys);
    child.wait().unwrap();
    daemon.stop();
    let kinds: Vec<_> =
        rows(&home).iter().map(|row| row.split('|').nth(1).unwrap().to_owned()).collect();
    let states: Vec<_> = kinds.iter().filter(|kind| *kind != "lines").collect();
    assert_eq!(states[..3], ["start", "failed", "passed"], "{kinds:?}");
}

#[test]
fn secrets_are_kept_nowhere_and_a_filter_keeps_lines_back() {
    let home = TestHome::new();
    let daemon = Daemon::start(&home);
    event(&home, &daemon, "SessionStart", &json!({ "source": "startup" }));
    // Put together here, so that nobody takes it for a leaked one.
    let secret = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let script =
        format!("echo 'error: token {secret} was refused'; echo 'error: inner matter'; exit 1");
    let ended = run(
        wrapped(&home, &["--filter-regex", "inner", "--filter-invert"], &["sh", "-c", &script]),
        b"",
    );
    assert!(String::from_utf8(ended.stdout).unwrap().contains(&secret));
    let block = await_block(&home, &daemon, "build_last_error");
    assert!(block.contains("[REDACTED:") && !block.contains(&secret), "{block}");
    daemon.stop();
    let database = rusqlite::Connection::open(home.home().join(".tma1/data/tma1.db")).unwrap();
    let sql =
        "SELECT group_concat(concat(command, coalesce(error_summary, ''))) FROM tma1_build_events
               WHERE event_type = 'failed'";
    let kept: String = database.query_row(sql, [], |row| row.get(0)).unwrap();
    assert!(kept.contains("was refused") && !kept.contains(&secret), "{kept}");
    assert!(!kept.lines().any(|line| line == "error: inner matter"), "{kept}");
}

#[test]
fn a_daemon_that_is_slow_or_dies_makes_no_difference() {
    let home = TestHome::new();
    let words = ["sh", "-c", "seq 1 20000; echo error >&2; exit 3"];
    let expected = run(bare(&home, &words), b"");
    // Dead, and never there.
    assert_eq!(run(wrapped(&home, &[], &words), b""), expected);
    // Dies midway.
    let daemon = Daemon::start(&home);
    let mut command = wrapped(&home, &[], &["sh", "-c", "echo begun; read x; echo $x; exit 3"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "begun");
    daemon.kill();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"on\n").unwrap();
    assert_eq!(lines.next().unwrap().unwrap(), "on");
    assert_eq!(child.wait().unwrap().code(), Some(3));
    // Takes connections, and no more.
    let _slow = TcpListener::bind((Ipv4Addr::LOCALHOST, home.port())).unwrap();
    assert_eq!(run(wrapped(&home, &[], &words), b""), expected);
}
