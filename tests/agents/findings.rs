//! The product at work: what goes wrong in a session of Claude Code comes back to it.

use serde_json::{Value, json};

use super::blocks::{assert_last_block, context_blocks};
use super::claude_code::{ClaudeCode, Transcript, final_text, hook_complaints};
use super::closed_loop::installed_home;
use super::mock_anthropic::{MockAnthropic, Turn};
use crate::support::daemon::Daemon;

/// A turn that runs a command.
fn bash(command: &str) -> Turn {
    Turn::text("Running.").tool("Bash", json!({"command": command, "description": "Build"}))
}

/// How often the model was told by a Stop hook to go on, in the last request.
fn told_to_go_on(requests: &[Value]) -> usize {
    let messages = requests.last().unwrap()["messages"].to_string();
    messages.matches("Stop hook feedback:\\ntma1: `make -C . app` failed 3 times").count()
}

#[test]
fn a_turn_that_would_end_on_a_broken_build_goes_on_once() {
    let Some(claude) = ClaudeCode::installed() else {
        return;
    };
    let home = installed_home();
    let _daemon = Daemon::start(&home);
    let make = "make -C . app";
    let mock = MockAnthropic::start([
        bash(make),
        bash(make),
        bash(make),
        Turn::text("I give up."),
        Turn::text("I really give up."),
        Turn::text("Not to be asked for."),
    ]);

    let run = claude.prompt(&home, &mock, "build it", &[]).succeeded();

    let requests = mock.conversation();
    assert_eq!(final_text(&run), "I really give up.");
    assert_eq!(requests.len(), 5);
    assert_eq!(told_to_go_on(&requests[..4]), 0);
    assert_eq!(told_to_go_on(&requests), 1, "{:#}", requests[4]["messages"]);
    // The user is told of the block too.
    let is_block = |line: &String| line.contains("stop-hook-error") || line.contains("failed 3");
    let complaints = hook_complaints(&run, &Transcript::only(&home));
    assert!(complaints.iter().all(is_block), "{complaints:#?}");
}

#[test]
fn an_edit_of_a_file_that_somebody_else_changed_is_told_at_the_next_prompt() {
    let Some(claude) = ClaudeCode::installed() else {
        return;
    };
    let home = installed_home();
    let _daemon = Daemon::start(&home);
    let notes = home.project().join("notes.txt");
    fs_err::write(&notes, "one\ntwo\n").unwrap();
    let edit = |old: &str, new: &str| {
        let input = json!({"file_path": notes, "old_string": old, "new_string": new});
        Turn::text("Editing.").tool("Edit", input)
    };
    let read = Turn::text("Reading.").tool("Read", json!({"file_path": notes}));
    let mock = MockAnthropic::start([read, Turn::text("Read.")]);
    claude.prompt(&home, &mock, "read it", &[]).succeeded();
    // The user.
    fs_err::write(&notes, "one\ntwo\nthree\n").unwrap();
    let mock = MockAnthropic::start([edit("one", "1"), Turn::text("Edited.")]);
    claude.prompt(&home, &mock, "edit it", &["-c"]).succeeded();
    let mock = MockAnthropic::start([Turn::text("Ok.")]);
    let run = claude.prompt(&home, &mock, "go on", &["-c"]).succeeded();

    let requests = mock.conversation();
    // That of the start and that of the prompt.
    let blocks = context_blocks(&requests[0]["messages"]);
    let [.., start, prompt] = blocks.as_slice() else { panic!("{blocks:#?}") };
    let said = [start, prompt].map(|block| block.matches("[HIGH] stale_file_view").count());
    assert_eq!(said.iter().sum::<usize>(), 1, "{blocks:#?}");
    assert_eq!(hook_complaints(&run, &Transcript::only(&home)), [""; 0]);
}

#[cfg(target_os = "linux")]
#[test]
fn after_a_compaction_the_next_request_carries_the_whole_block() {
    use crate::support::tui::Tui;

    let Some(claude) = ClaudeCode::installed() else {
        return;
    };
    let home = installed_home();
    let _daemon = Daemon::start(&home);
    let notes = home.project().join("notes.txt");
    let write = Turn::text("Writing.").tool("Write", json!({"file_path": notes, "content": "x"}));
    let mock = MockAnthropic::start([
        write,
        Turn::text("The notes are written."),
        Turn::text("<summary>Notes were written.</summary>"),
        Turn::text("Going on."),
    ]);
    let mut terminal = Tui::start(&claude.terminal_command(&home, &mock));
    terminal.wait_until("the start", || terminal.text().contains("bypasspermissions"));
    terminal.enter("write notes");
    terminal.wait_until("the answer", || terminal.text().contains("Thenotesarewritten."));
    terminal.enter("/compact");
    terminal.wait_until("the compaction", || terminal.text().contains("Compacted"));
    terminal.enter("go on");
    terminal.wait_until("the next answer", || terminal.text().contains("Goingon."));
    let requests = mock.requests();
    let steps: Vec<_> = requests.iter().filter(|request| request.path == "/v1/messages").collect();
    let last = steps.last().unwrap();
    let project = format!("project: {}", crate::support::home::TestHome::PROJECT);
    assert_last_block(
        &last.body["messages"],
        &[&project, "tool_calls: 1", "current_focus: notes.txt", "tools: Write×1"],
    );
    assert!(!last.body["messages"].to_string().contains("Writing."), "{:#}", last.body["messages"]);
}
