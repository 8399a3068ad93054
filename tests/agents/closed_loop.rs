//! The product at work: Claude Code reports what it does, and is told so at its next prompt.

use serde_json::json;

use super::blocks::{assert_last_block, context_blocks};
use super::claude_code::{ClaudeCode, Transcript, final_text, hook_complaints};
use super::mock_anthropic::{MockAnthropic, Turn};
use crate::support::daemon::Daemon;
use crate::support::home::TestHome;
use crate::support::process::Run;

const FIRST_ANSWER: &str = "The notes are written.";

/// A home with Claude Code in it, and `tma1` installed.
pub fn installed_home() -> TestHome {
    let home = TestHome::new();
    ClaudeCode::configure(&home, &json!({}));
    home.tma1(&["install", "--adapter", "claude-code"]).succeeded();
    home
}

/// Five tool calls on one file, and an answer.
pub fn first_run(claude: &ClaudeCode, home: &TestHome) -> (Run, MockAnthropic) {
    let notes = home.project().join("src").join("notes.txt");
    let list = json!({"command": "echo listing", "description": "List the files"});
    let write = json!({"file_path": notes, "content": "one\n"});
    let read = json!({"file_path": notes});
    let edit = json!({"file_path": notes, "old_string": "one", "new_string": "two"});
    let check = json!({"command": "cat src/notes.txt", "description": "Check the notes"});
    let mock = MockAnthropic::start([
        Turn::text("Looking.").tool("Bash", list),
        Turn::text("Writing.").tool("Write", write),
        Turn::text("Reading.").tool("Read", read),
        Turn::text("Editing.").tool("Edit", edit),
        Turn::text("Checking.").tool("Bash", check),
        Turn::text(FIRST_ANSWER),
    ]);
    let run = claude.prompt(home, &mock, "first", &[]).succeeded();
    assert_eq!(final_text(&run), FIRST_ANSWER);
    assert_eq!(fs_err::read_to_string(notes).unwrap(), "two\n");
    (run, mock)
}

#[test]
fn a_second_prompt_carries_what_the_first_one_did() {
    let Some(claude) = ClaudeCode::installed() else {
        return;
    };
    let home = installed_home();
    let daemon = Daemon::start(&home);

    let (run, mock) = first_run(&claude, &home);
    let transcript = Transcript::only(&home);
    let project = format!("project: {}", TestHome::PROJECT);
    let session = format!("session: {:.8}", transcript.session_id);
    let messages = &mock.conversation()[0]["messages"];
    assert_last_block(messages, &[&project, &session, "tool_calls: 0"]);
    assert_eq!(hook_complaints(&run, &transcript), [""; 0]);

    let mock = MockAnthropic::start([Turn::text("Nothing to do.")]);
    let run = claude.prompt(&home, &mock, "second", &["-c"]).succeeded();
    assert_eq!(final_text(&run), "Nothing to do.");
    assert_last_block(
        &mock.conversation()[0]["messages"],
        &[
            &project,
            &session,
            "tool_calls: 5",
            "current_focus: src/notes.txt",
            "tools: Bash×2, Edit×1, Read×1, Write×1",
            "recent_files: src/notes.txt",
        ],
    );
    assert_eq!(hook_complaints(&run, &Transcript::only(&home)), [""; 0]);
    assert!(daemon.stop().success());
}

#[test]
fn with_the_daemon_killed_the_same_run_works_and_nothing_is_injected() {
    let Some(claude) = ClaudeCode::installed() else {
        return;
    };
    let home = installed_home();
    Daemon::start(&home).kill();

    let (run, mock) = first_run(&claude, &home);

    assert!(run.stdout.contains(r#""subtype":"hook_response""#), "no hook ran: {run:#?}");
    for request in mock.requests() {
        assert_eq!(context_blocks(&request.body["messages"]), [""; 0]);
    }
    assert_eq!(hook_complaints(&run, &Transcript::only(&home)), [""; 0]);
}
