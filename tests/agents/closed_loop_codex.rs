//! The product at work: Codex reports what it does, and is told so at its next prompt.

use serde_json::json;

use super::blocks::{assert_last_block, context_blocks};
use super::codex::{BYPASS_HOOK_TRUST, Codex, hook_complaints, hooks_run, session_id};
use super::mock_openai::{MockOpenai, Turn};
use crate::support::daemon::Daemon;
use crate::support::home::TestHome;
use crate::support::process::Run;

const FIRST_ANSWER: &str = "The notes are written.";

/// A home with Codex in it, and our hooks.
pub fn installed_home() -> TestHome {
    let home = TestHome::new();
    Codex::configure(&home, &json!({}));
    home.tma1(&["install", "--adapter", "codex"]).succeeded();
    home.want_no_daemon();
    home
}

/// Four tool calls, two of which change a file, and an answer.
fn first_run(codex: &Codex, home: &TestHome) -> (Run, MockOpenai) {
    let add = "*** Begin Patch\n*** Add File: src/notes.txt\n+one\n*** End Patch\n";
    let edit = "*** Begin Patch\n*** Update File: src/notes.txt\n@@\n-one\n+two\n*** End Patch\n";
    let mock = MockOpenai::start([
        Turn::text("Looking.").shell("echo listing"),
        Turn::text("Writing.").apply_patch(add),
        Turn::text("Editing.").apply_patch(edit),
        Turn::text("Checking.").shell("cat src/notes.txt"),
        Turn::text(FIRST_ANSWER),
    ]);
    let run = codex.exec(home, &mock, &[BYPASS_HOOK_TRUST, "first"]).succeeded();
    assert_eq!(run.stdout, format!("{FIRST_ANSWER}\n"));
    let notes = home.project().join("src").join("notes.txt");
    assert_eq!(fs_err::read_to_string(notes).unwrap(), "two\n");
    let call = ["PreToolUse", "PostToolUse"];
    let events =
        [&["SessionStart", "UserPromptSubmit"][..], &call, &call, &call, &call, &["Stop"]].concat();
    assert_eq!(hooks_run(&run), events);
    (run, mock)
}

#[test]
fn a_second_prompt_carries_what_the_first_one_did() {
    let Some(codex) = Codex::installed() else {
        return;
    };
    let home = installed_home();
    let daemon = Daemon::start(&home);

    let (run, mock) = first_run(&codex, &home);
    let project = format!("project: {}", TestHome::PROJECT);
    let session = format!("session: {:.8}", session_id(&run));
    let messages = &mock.conversation()[0]["input"];
    assert_last_block(messages, &[&project, &session, "tool_calls: 0"]);
    assert_eq!(hook_complaints(&run), [""; 0]);

    let mock = MockOpenai::start([Turn::text("Nothing to do.")]);
    let resume = [BYPASS_HOOK_TRUST, "resume", "--last", "second"];
    let run = codex.exec(&home, &mock, &resume).succeeded();
    assert_eq!(run.stdout, "Nothing to do.\n");
    assert_last_block(
        &mock.conversation()[0]["input"],
        &[
            &project,
            &session,
            "tool_calls: 4",
            "current_focus: src/notes.txt",
            "tools: Bash×2, apply_patch×2",
            "recent_files: src/notes.txt",
        ],
    );
    assert_eq!(hook_complaints(&run), [""; 0]);
    assert!(daemon.stop().success());
}

#[test]
fn with_the_daemon_killed_the_same_run_works_and_nothing_is_injected() {
    let Some(codex) = Codex::installed() else {
        return;
    };
    let home = installed_home();
    Daemon::start(&home).kill();

    let (run, mock) = first_run(&codex, &home);

    for request in mock.requests() {
        assert_eq!(context_blocks(&request.body["input"]), [""; 0]);
    }
    assert_eq!(hook_complaints(&run), [""; 0]);
}
