//! Secrets in events: nowhere in what the daemon keeps or says, unless the user wants them there.

use std::path::Path;
use std::time::Duration;

use serde_json::json;
use tma1::clock;

use crate::support::daemon::Daemon;
use crate::support::home::TestHome;
use crate::support::http;

/// Made here, so that no scanner takes this file for a leak.
fn secret() -> String {
    format!("ghp_{}", "aB3dE5gH7jK9mN2p".repeat(3).get(..36).unwrap())
}

/// Has a session whose prompt, failing build, file and answer hold the secret, and gives what an agent
/// is told of it.
fn session_with_the_secret(home: &TestHome) -> String {
    let cwd = home.project();
    let mut told = String::new();
    let mut tell = |event: serde_json::Value| {
        let mut event = event;
        event["session_id"] = "0a1b2c3d".into();
        event["cwd"] = cwd.to_str().unwrap().into();
        let body = event.to_string();
        told += &http::request(home.port(), "POST", "/api/hooks", body.as_bytes()).unwrap().1;
    };
    let secret = secret();
    tell(json!({"hook_event_name": "UserPromptSubmit", "prompt": format!("the key is {secret}")}));
    let written =
        json!({"file_path": cwd.join("a.rs"), "content": format!("const K: &str = \"{secret}\";")});
    tell(
        json!({"hook_event_name": "PreToolUse", "tool_name": "Write", "tool_use_id": "w", "tool_input": written}),
    );
    tell(
        json!({"hook_event_name": "PostToolUse", "tool_name": "Write", "tool_use_id": "w", "tool_input": written}),
    );
    for call in 0..3 {
        let command = json!({"command": format!("TOKEN={secret} cargo build")});
        let error = format!("Exit code 101\nerror: a.rs:1: key {secret} is not allowed");
        tell(
            json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": call.to_string(), "tool_input": command}),
        );
        tell(
            json!({"hook_event_name": "PostToolUseFailure", "tool_name": "Bash", "tool_use_id": call.to_string(), "tool_input": command, "error": error}),
        );
    }
    tell(json!({"hook_event_name": "Stop", "last_assistant_message": format!("I used {secret}")}));
    tell(json!({"hook_event_name": "UserPromptSubmit", "prompt": "and now?"}));
    // What is no event is mentioned in the log of the daemon.
    let query = format!("/api/hooks?source={secret}");
    http::request(home.port(), "POST", &query, b"{}").unwrap();
    told
}

/// Every file below `folder` that holds `text`.
fn files_with(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs_err::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_with(&path, text));
        } else if path.is_file() {
            let content = fs_err::read(&path).unwrap();
            if content.windows(text.len()).any(|window| window == text.as_bytes()) {
                found.push(path.file_name().unwrap().to_string_lossy().into_owned());
            }
        }
    }
    found
}

#[test]
fn a_secret_in_an_event_is_kept_nowhere_and_told_to_nobody() {
    let home = TestHome::new();
    let mut command = home.tma1_command(&["serve"]);
    command.env("TMA1_ENABLE_FILE_CALLBACK", "1").env("TMA1_LOG", "trace");
    let daemon = Daemon::start_command(&home, command);
    let told = session_with_the_secret(&home);
    assert!(told.contains(r#""decision":"block""#), "{told}");
    assert!(told.contains("[REDACTED:github-token]"), "{told}");
    assert!(!told.contains(&secret()), "{told}");
    let callback = home.project().join(".tma1-context.md");
    let deadline = clock::monotonic() + Duration::from_secs(10);
    while !callback.exists() && clock::monotonic() < deadline {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(callback.exists());
    // The database, what SQLite keeps beside it, the messages of the daemon, the file for others.
    assert_eq!(files_with(home.root(), &secret()), [""; 0]);
    assert!(!files_with(home.root(), "[REDACTED:github-token]").is_empty());
    daemon.kill();
    let _daemon = Daemon::start(&home);
    let prompt = br#"{"hook_event_name":"UserPromptSubmit","session_id":"0a1b2c3d"}"#;
    let told = http::request(home.port(), "POST", "/api/hooks", prompt).unwrap().1;
    assert!(told.contains("[REDACTED:github-token]"), "{told}");
    assert_eq!(files_with(home.root(), &secret()), [""; 0]);
}

#[test]
fn who_turns_it_off_keeps_everything() {
    let home = TestHome::new();
    let mut command = home.tma1_command(&["serve"]);
    command.env("TMA1_REDACT", "off");
    let _daemon = Daemon::start_command(&home, command);
    let told = session_with_the_secret(&home);
    assert!(told.contains(&secret()) && !told.contains("[REDACTED:"), "{told}");
    assert!(!files_with(home.root(), &secret()).is_empty());
}
