//! The product at work: what goes wrong in a session of Codex comes back to it.

use serde_json::Value;

use super::blocks::{assert_last_block, context_blocks};
use super::closed_loop_codex::installed_home;
use super::codex::{BYPASS_HOOK_TRUST, Codex, hook_complaints};
use super::mock_openai::{MockOpenai, Turn};
use crate::support::daemon::Daemon;
use crate::support::home::TestHome;

fn told(request: &Value, text: &str) -> usize {
    request["input"].to_string().matches(text).count()
}

#[test]
fn a_turn_that_would_end_on_a_broken_build_goes_on_once() {
    let Some(codex) = Codex::installed() else {
        return;
    };
    let home = installed_home();
    let _daemon = Daemon::start(&home);
    let make = || Turn::text("Running.").shell("make -C . app");
    let mock = MockOpenai::start([
        make(),
        make(),
        make(),
        Turn::text("I give up."),
        Turn::text("I really give up."),
        Turn::text("Not to be asked for."),
    ]);

    let run = codex.exec(&home, &mock, &[BYPASS_HOOK_TRUST, "build it"]).succeeded();

    assert_eq!(run.stdout, "I really give up.\n");
    let requests = mock.conversation();
    assert_eq!(requests.len(), 5);
    let reason = "tma1: `make -C . app` failed 3 times";
    assert_eq!(told(&requests[3], reason), 0);
    assert_eq!(told(&requests[4], reason), 1, "{:#}", requests[4]["input"]);
    assert_eq!(hook_complaints(&run), ["hook: Stop Blocked"]);
}

#[test]
fn an_edit_of_a_file_that_somebody_else_changed_is_told_at_the_next_prompt() {
    let Some(codex) = Codex::installed() else {
        return;
    };
    let home = installed_home();
    let _daemon = Daemon::start(&home);
    let notes = home.project().join("notes.txt");
    fs_err::write(&notes, "one\ntwo\n").unwrap();
    let patch = "*** Begin Patch\n*** Update File: notes.txt\n@@\n-one\n+1\n*** End Patch\n";
    let resume = |prompt| [BYPASS_HOOK_TRUST, "resume", "--last", prompt];
    let mock = MockOpenai::start([Turn::default().shell("cat notes.txt"), Turn::text("Read.")]);
    codex.exec(&home, &mock, &[BYPASS_HOOK_TRUST, "read it"]).succeeded();
    // The user.
    fs_err::write(&notes, "one\ntwo\nthree\n").unwrap();
    let mock = MockOpenai::start([Turn::default().apply_patch(patch), Turn::text("Edited.")]);
    codex.exec(&home, &mock, &resume("edit it")).succeeded();
    assert_eq!(fs_err::read_to_string(&notes).unwrap(), "1\ntwo\nthree\n");
    let mock = MockOpenai::start([Turn::text("Ok.")]);
    let run = codex.exec(&home, &mock, &resume("go on")).succeeded();

    let blocks = context_blocks(&mock.conversation()[0]["input"]);
    let [.., start, prompt] = blocks.as_slice() else { panic!("{blocks:#?}") };
    let said = [start, prompt].map(|block| block.matches("[HIGH] stale_file_view").count());
    assert_eq!(said.iter().sum::<usize>(), 1, "{blocks:#?}");
    assert_eq!(hook_complaints(&run), [""; 0]);
}

#[test]
fn after_a_compaction_the_next_request_carries_the_whole_block() {
    let Some(codex) = Codex::installed() else {
        return;
    };
    let home = installed_home();
    let _daemon = Daemon::start(&home);
    let add = "*** Begin Patch\n*** Add File: notes.txt\n+one\n*** End Patch\n";
    let mock = MockOpenai::start([
        Turn::text("Writing.").apply_patch(add).input_tokens(60_000),
        Turn::text("Notes were written."),
        Turn::text("Going on."),
    ]);
    let limit = ["-c", "model_auto_compact_token_limit=50000"];

    let run = codex.exec(&home, &mock, &[&limit[..], &[BYPASS_HOOK_TRUST, "go"]].concat());

    let run = run.succeeded();
    assert_eq!(run.stdout, "Going on.\n");
    let requests = mock.conversation();
    let [_, compaction, last] = requests.as_slice() else { panic!("{requests:#?}") };
    assert_eq!(told(compaction, "CONTEXT CHECKPOINT"), 1, "{compaction:#}");
    let project = format!("project: {}", TestHome::PROJECT);
    assert_last_block(
        &last["input"],
        &[
            &project,
            "tool_calls: 1",
            "current_focus: notes.txt",
            "tools: apply_patch×1",
            "recent_files: notes.txt",
        ],
    );
    assert_eq!(hook_complaints(&run), [""; 0]);
}
