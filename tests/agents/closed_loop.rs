//! The product at work: Claude Code reports what it does, and is told so at its next prompt.

use serde_json::{Value, json};

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

/// The context blocks in the messages of a request, in the order in which the model reads them.
fn context_blocks(request: &Value) -> Vec<String> {
    let mut blocks = Vec::new();
    collect_blocks(&request["messages"], &mut blocks);
    blocks
}

fn collect_blocks(value: &Value, blocks: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            // The tag on a line of its own: a text may also be about the block.
            let after_tags = text.split("<tma1-context>\n").skip(1);
            blocks.extend(
                after_tags
                    .filter_map(|rest| rest.split_once("</tma1-context>"))
                    .map(|(block, _)| block.to_owned()),
            );
        }
        Value::Array(values) => values.iter().for_each(|value| collect_blocks(value, blocks)),
        Value::Object(fields) => fields.values().for_each(|value| collect_blocks(value, blocks)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[track_caller]
fn assert_lines(block: &str, expected: &[&str]) {
    for line in expected {
        assert!(block.lines().any(|found| found == *line), "no {line:?} in\n{block}");
    }
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
    let first_request = &mock.conversation()[0];
    let blocks = context_blocks(first_request);
    let block = blocks.last().unwrap_or_else(|| panic!("{first_request:#}"));
    assert_lines(block, &[&project, &session, "tool_calls: 0"]);
    assert_eq!(hook_complaints(&run, &transcript), [""; 0]);

    let mock = MockAnthropic::start([Turn::text("Nothing to do.")]);
    let run = claude.prompt(&home, &mock, "second", &["-c"]).succeeded();
    assert_eq!(final_text(&run), "Nothing to do.");
    let second_request = &mock.conversation()[0];
    let blocks = context_blocks(second_request);
    let block = blocks.last().unwrap_or_else(|| panic!("{second_request:#}"));
    assert_lines(
        block,
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
        assert_eq!(context_blocks(&request.body), [""; 0]);
    }
    assert_eq!(hook_complaints(&run, &Transcript::only(&home)), [""; 0]);
}

#[test]
fn the_blocks_of_a_request_are_found_in_order_and_talk_of_them_is_not_one() {
    let request = json!({"system": "<tma1-context>\nx\n</tma1-context>", "messages": [
        {"role": "user", "content": "read the `<tma1-context>` block"},
        {"role": "user", "content": [{"type": "text", "text":
            "a <tma1-context>\nproject: a\n</tma1-context> b <tma1-context>\nproject: b\n</tma1-context>"}]},
        {"role": "system", "content": "<tma1-context>\nproject: c\n</tma1-context>"},
    ]});
    assert_eq!(context_blocks(&request), ["project: a\n", "project: b\n", "project: c\n"]);
}
