//! What the daemon sees beside the events: changed files, transcripts, its own traffic.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use tma1::clock;

use crate::support::daemon::Daemon;
use crate::support::home::TestHome;
use crate::support::http;

/// A session of Claude Code in the project of a home.
struct Session<'h> {
    home: &'h TestHome,
    id: &'static str,
    calls: u32,
}

impl<'h> Session<'h> {
    fn new(home: &'h TestHome, id: &'static str) -> Self {
        Self { home, id, calls: 0 }
    }

    fn tell(&self, name: &str, more: &Value) -> String {
        let mut event = more.clone();
        event["hook_event_name"] = name.into();
        event["session_id"] = self.id.into();
        event["cwd"] = self.home.project().to_str().unwrap().into();
        let event = event.to_string();
        let answer = http::request(self.home.port(), "POST", "/api/hooks", event.as_bytes());
        let (status, answer) = answer.unwrap();
        assert_eq!(status, 200);
        answer
    }

    fn prompt(&self) -> String {
        self.tell("UserPromptSubmit", &json!({"prompt": "go"}))
    }

    fn call(&mut self, tool: &str, input: &Value) {
        self.calls += 1;
        let call =
            json!({"tool_name": tool, "tool_use_id": self.calls.to_string(), "tool_input": input});
        self.tell("PreToolUse", &call);
        self.tell("PostToolUse", &call);
    }

    fn read(&mut self, name: &str) -> PathBuf {
        let path = self.home.project().join(name);
        self.call("Read", &json!({"file_path": path}));
        path
    }
}

fn wait_until(mut condition: impl FnMut() -> bool) {
    let deadline = clock::monotonic() + Duration::from_secs(10);
    while !condition() {
        assert!(clock::monotonic() < deadline, "it did not happen");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn after_a_kill_what_was_seen_and_what_was_said_is_known() {
    let home = TestHome::new();
    let daemon = Daemon::start(&home);
    let mut session = Session::new(&home, "0f1e2d3c");
    fs_err::write(home.project().join("a.rs"), "one").unwrap();
    let path = session.read("a.rs");
    fs_err::write(path, "another").unwrap();
    let finding = "[MEDIUM] external_modified_during_session — Re-read a.rs";
    let before = session.prompt();
    assert!(before.contains("external_files: a.rs\n") && before.contains(finding), "{before}");
    let quiet = session.prompt();
    assert!(quiet.contains("external_files: a.rs\n") && !quiet.contains(finding), "{quiet}");

    daemon.kill();
    let _daemon = Daemon::start(&home);

    assert_eq!(session.prompt(), quiet);
    session.read("a.rs");
    assert!(!session.prompt().contains("anomalies"));
}

#[test]
fn after_a_kill_what_was_changed_while_nobody_looked_is_noticed() {
    let home = TestHome::new();
    let daemon = Daemon::start(&home);
    let mut session = Session::new(&home, "0f1e2d3c");
    for name in ["a.rs", "b.rs", "c.rs"] {
        fs_err::write(home.project().join(name), "one").unwrap();
        session.read(name);
    }
    daemon.kill();
    fs_err::write(home.project().join("a.rs"), "another").unwrap();

    let _daemon = Daemon::start(&home);

    let block = session.prompt();
    assert!(block.contains("external_changes: 1\n"), "{block}");
    assert!(block.contains("external_modified_during_session — Re-read a.rs"), "{block}");
    fs_err::write(home.project().join("b.rs"), "another").unwrap();
    let block = session.prompt();
    assert!(block.contains("external_changes: 2\n"), "{block}");
    assert!(block.contains("external_files: b.rs, a.rs\n"), "{block}");
}

#[test]
fn the_tokens_of_a_session_come_from_its_transcript() {
    let home = TestHome::new();
    let _daemon = Daemon::start(&home);
    let session = Session::new(&home, "0f1e2d3c");
    let folder = home.home().join(".claude/projects/-demo");
    fs_err::create_dir_all(&folder).unwrap();
    let transcript = folder.join("0f1e2d3c.jsonl");
    let prompt = || session.tell("UserPromptSubmit", &json!({"transcript_path": transcript}));
    assert!(prompt().contains("tokens: in=0 out=0\n"));
    let line = |id: &str, output: u64| {
        let usage = json!({"input_tokens": 100, "output_tokens": output});
        let message = json!({"id": id, "role": "assistant", "model": "m", "usage": usage});
        let line = json!({"type": "assistant", "requestId": id, "message": message});
        format!("{line}\n")
    };
    // Of one message, twice.
    fs_err::write(&transcript, [line("a", 7), line("a", 9)].concat()).unwrap();
    let block = prompt();
    assert!(block.contains("tokens: in=100 out=9\n"), "{block}");
    let other = home.home().join("elsewhere.jsonl");
    fs_err::write(&other, line("b", 1000)).unwrap();
    let block = session.tell("UserPromptSubmit", &json!({"transcript_path": other}));
    assert!(block.contains("tokens: in=100 out=9\n"), "{block}");
}

#[test]
fn the_block_is_also_a_file_if_that_is_wanted_and_no_outside_change() {
    let home = TestHome::new();
    let file = home.project().join(".tma1-context.md");
    let daemon = Daemon::start(&home);
    Session::new(&home, "0f1e2d3c").prompt();
    daemon.stop();
    assert!(!file.exists());

    let mut command = home.tma1_command(&["serve"]);
    command.env("TMA1_ENABLE_FILE_CALLBACK", "1");
    let _daemon = Daemon::start_command(&home, command);
    let mut session = Session::new(&home, "4b5a6978");
    session.prompt();
    let block = || fs_err::read_to_string(&file).unwrap_or_default();
    wait_until(|| block().contains("session: 4b5a6978\n"));
    // An agent that reads it, and us writing it again.
    session.read(".tma1-context.md");
    session.call("Edit", &json!({"file_path": file}));
    wait_until(|| block().contains("tool_calls: 2\n"));
    let answer = session.prompt();
    assert!(!answer.contains("external") && !answer.contains("current_focus"), "{answer}");
    // In the home directory every project would have it.
    let event = json!({
        "hook_event_name": "UserPromptSubmit", "session_id": "at home", "cwd": home.home(),
    });
    http::request(home.port(), "POST", "/api/hooks", event.to_string().as_bytes()).unwrap();
    fs_err::remove_file(&file).unwrap();
    session.prompt();
    wait_until(|| file.exists());
    assert!(!home.home().join(".tma1-context.md").exists());
    assert_eq!(fs_err::read_dir(home.project()).unwrap().count(), 1);
}

#[test]
fn it_counts_what_hooks_ask_and_get() {
    let home = TestHome::new();
    let daemon = Daemon::start(&home);
    let mut session = Session::new(&home, "0f1e2d3c");
    session.call("Bash", &json!({"command": "ls"}));
    session.prompt();
    session.prompt();
    daemon.post_event(b"no event", "");
    let token = fs_err::read_to_string(home.home().join(".tma1/token")).unwrap();
    let status = |authorization: &str| {
        let headers = format!("Authorization: Bearer {authorization}\r\n");
        http::request_as(home.port(), "GET", "/api/status", &headers, b"").unwrap()
    };
    assert_eq!(status("guessed").0, 401);
    let (code, body) = status(token.trim());
    assert_eq!(code, 200, "{body}");
    let status: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((&status["pid"], &status["sessions"]), (&json!(daemon.pid()), &json!(1)));
    let counts = |event: &str| {
        let counts = &status["hooks"][event];
        let time = counts["p50_ms"].as_f64().unwrap() <= counts["p99_ms"].as_f64().unwrap();
        assert!(time, "{counts}");
        ["calls", "injected", "rejected"].map(|count| counts[count].as_u64().unwrap())
    };
    assert_eq!(counts("UserPromptSubmit"), [2, 2, 0]);
    assert_eq!(counts("PreToolUse"), [1, 0, 0]);
    assert_eq!(counts("PostToolUse"), [1, 0, 0]);
    assert_eq!(counts("unreadable"), [1, 0, 1]);
}
