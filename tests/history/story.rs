//! What two agents did, told to a daemon, at times that are the same in each run.

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::support::daemon::Daemon;
use crate::support::home::TestHome;
use crate::support::process::Run;

/// The two sessions. Their ids differ in the last digit.
pub const CLAUDE: &str = "0199c000-0000-7000-8000-00000000000a";
pub const CODEX: &str = "0199c000-0000-7000-8000-00000000000b";

/// Tells the daemon an event of a session in the project of `home`.
pub fn tell(home: &TestHome, daemon: &Daemon, session: &str, name: &str, more: &Value) -> String {
    let mut event = more.clone();
    event["hook_event_name"] = name.into();
    event["session_id"] = session.into();
    event["cwd"] = home.project().to_str().unwrap().into();
    let query = if session == CODEX { "?source=codex&envelope=codex" } else { "" };
    let (status, answer) = daemon.post_event(event.to_string().as_bytes(), query);
    assert_eq!(status, 200, "{answer}");
    answer
}

/// The daemon has been told everything, and has ended.
pub fn told() -> TestHome {
    let home = TestHome::new();
    let daemon = Daemon::start(&home);
    let claude = |name: &str, more: Value| drop(tell(&home, &daemon, CLAUDE, name, &more));
    claude("SessionStart", json!({"source": "startup", "model": "claude-fable-5"}));
    claude("UserPromptSubmit", json!({"prompt": "请修复登录错误 🦀 in store::open_file\nsoon"}));
    let read = json!({"tool_name": "Read", "tool_use_id": "r",
        "tool_input": {"file_path": home.project().join("src/lib.rs")}});
    claude("PreToolUse", read.clone());
    claude("PostToolUse", read);
    for number in 0..3 {
        let mut call = json!({"tool_name": "Bash", "tool_use_id": format!("c{number}"),
            "tool_input": {"command": "cargo test --workspace"}});
        claude("PreToolUse", call.clone());
        call["error"] = "Exit code 101\nerror[E0308]: mismatched types\n --> src/lib.rs:3:5".into();
        claude("PostToolUseFailure", call);
    }
    claude("Stop", json!({"last_assistant_message": "It fails still: \u{1b}[31mE0308\u{1b}[0m."}));
    let codex = |name: &str, more: Value| drop(tell(&home, &daemon, CODEX, name, &more));
    codex("UserPromptSubmit", json!({"prompt": "what does open_file do?"}));
    codex("Stop", json!({"last_assistant_message": "It opens a file."}));
    codex("SessionEnd", json!({"reason": "exit"}));
    assert_eq!(daemon.stop().code(), Some(0));
    set_times(&home);
    home
}

/// Sets every time, to a second an event from 2026-06-01T10:00:00Z on.
fn set_times(home: &TestHome) {
    let database = Connection::open(home.home().join(".tma1/data/tma1.db")).unwrap();
    database
        .execute_batch(
            "UPDATE tma1_messages SET ts = (
                 SELECT min(id) FROM tma1_hook_events AS event
                 WHERE event.ts >= tma1_messages.ts AND event.session_id = tma1_messages.session_id);
             UPDATE tma1_anomaly_emits SET ts = (
                 SELECT min(id) FROM tma1_hook_events AS event
                 WHERE event.ts >= tma1_anomaly_emits.ts
                     AND event.session_id = tma1_anomaly_emits.session_id);
             UPDATE tma1_sessions SET (first_ts, last_ts) = (
                 SELECT min(id), max(id) FROM tma1_hook_events AS event
                 WHERE event.session_id = tma1_sessions.session_id),
                 ended_ts = iif(ended_ts IS NULL, NULL, (
                 SELECT max(id) FROM tma1_hook_events AS event
                 WHERE event.session_id = tma1_sessions.session_id));
             UPDATE tma1_hook_events SET ts = 1780308000000 + id * 1000;
             UPDATE tma1_messages SET ts = 1780308000000 + ts * 1000;
             UPDATE tma1_anomaly_emits SET ts = 1780308000000 + ts * 1000;
             UPDATE tma1_sessions SET first_ts = 1780308000000 + first_ts * 1000,
                 last_ts = 1780308000000 + last_ts * 1000,
                 ended_ts = 1780308000000 + ended_ts * 1000;",
        )
        .unwrap();
}

/// Runs `tma1` where the clocks show the time of Greenwich.
pub fn tma1(home: &TestHome, arguments: &[&str]) -> Run {
    let mut command = home.tma1_command(arguments);
    command.env("TZ", "UTC");
    Run::of(&mut command, std::time::Duration::from_secs(30))
}

/// What `tma1` says, which must succeed, as JSON.
pub fn json(home: &TestHome, arguments: &[&str]) -> Value {
    let said = tma1(home, arguments).succeeded().stdout;
    serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"))
}
