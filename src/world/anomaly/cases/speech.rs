//! When findings are said, and where.

use std::time::Duration;

use serde_json::json;

use crate::agent::{Agent, Answer, EventKind, Report, Status, ToolResult};
use crate::world::scene::{Scene, event, in_subagent, prompt_event, run, text, tool_call};
use crate::world::{Channel, Kind};

#[test]
fn a_finding_is_said_once_and_again_after_ten_minutes() {
    let mut scene = Scene::new();
    scene.read("s", "a.rs");
    scene.change("a.rs");
    let mut speaks = || {
        let speaks = scene.prompt("s").contains("anomalies:");
        scene.pass(4);
        speaks
    };
    assert_eq!([speaks(), speaks(), speaks(), speaks()], [true, false, true, false]);
}

#[test]
fn a_finding_that_was_resolved_and_comes_back_is_said_at_once() {
    let mut scene = Scene::new();
    scene.read("s", "a.rs");
    scene.change("a.rs");
    assert!(scene.prompt("s").contains("external_modified"));
    scene.read("s", "a.rs");
    assert!(!scene.prompt("s").contains("anomalies:"));
    scene.change("a.rs");
    assert!(scene.prompt("s").contains("external_modified"));
    // More of the same is nothing new.
    scene.change("a.rs");
    assert!(!scene.prompt("s").contains("anomalies:"));
    // Another file is.
    scene.read("s", "b.rs");
    scene.change("b.rs");
    assert!(scene.prompt("s").contains("Re-read b.rs before"));
}

#[test]
fn to_look_is_not_to_say() {
    let mut scene = Scene::new();
    scene.read("s", "a.rs");
    scene.change("a.rs");
    for _ in 0..3 {
        assert_eq!(scene.findings("s").len(), 1);
        assert_eq!(
            scene.state(Agent::ClaudeCode, "s", 5)["findings"][0]["kind"],
            "external_modified_during_session"
        );
        let digest = text(scene.tell("s", "PreCompact", json!({"trigger": "auto"})));
        assert!(digest.contains("external_modified"), "{digest}");
    }
    assert!(scene.prompt("s").contains("external_modified"));
}

#[test]
fn a_subagents_prompt_uses_nothing_up_and_a_machines_does() {
    let mut scene = Scene::new();
    scene.read("s", "a.rs");
    scene.change("a.rs");
    let block = text(scene.take(&in_subagent(prompt_event("s", false, None))));
    assert!(block.contains("external_changes: 1\n") && !block.contains("anomalies:"), "{block}");
    let block = text(scene.take(&prompt_event("s", true, None)));
    assert!(block.contains("anomalies:"), "{block}");
    assert!(!scene.prompt("s").contains("anomalies:"));
}

#[test]
fn a_compaction_makes_everything_worth_saying_again() {
    let mut scene = Scene::new();
    scene.read("s", "a.rs");
    scene.change("a.rs");
    for _ in 0..3 {
        scene.run("s", "make", 2);
    }
    assert!(scene.prompt("s").contains("external_modified"));
    let block = scene.start("s", "compact");
    assert!(block.contains("external_modified") && block.contains("repeated_failed"), "{block}");
    assert!(!scene.prompt("s").contains("anomalies:"));
    // It was not said where it belongs.
    assert!(matches!(scene.stop("s"), Answer::Block(_)));
}

/// Three failed builds.
fn three_failures() -> Scene {
    let mut scene = Scene::new();
    scene.take(&prompt_event("s", false, Some("turn 1")));
    for _ in 0..3 {
        scene.run("s", "cargo build", 101);
    }
    scene
}

#[test]
fn a_turn_is_blocked_once() {
    let mut scene = three_failures();
    scene.pace = Duration::from_secs(10);
    assert!(matches!(scene.stop("s"), Answer::Block(_)));
    let again = EventKind::Stop { stop_hook_active: true };
    assert_eq!(scene.take(&event("s", "Stop", again)), Answer::Nothing);
    // The flag is one bit, and may be lost.
    assert_eq!(scene.stop("s"), Answer::Nothing);
    scene.run("s", "make", 2);
    scene.run("s", "make", 2);
    scene.run("s", "make", 2);
    assert_eq!(scene.stop("s"), Answer::Nothing);
    // What the user says while the turn runs begins none, nor does what a machine says.
    scene.take(&prompt_event("s", false, Some("turn 1")));
    scene.take(&prompt_event("s", true, Some("turn 1b")));
    assert_eq!(scene.stop("s"), Answer::Nothing);
    scene.take(&prompt_event("s", false, Some("turn 2")));
    let Answer::Block(reason) = scene.stop("s") else { panic!("not blocked") };
    assert!(reason.contains("`make`") && !reason.contains("`cargo build`"), "{reason}");
    scene.pass(10);
    scene.take(&prompt_event("s", false, Some("turn 3")));
    assert!(matches!(scene.stop("s"), Answer::Block(_)));
}

#[test]
fn a_turn_is_not_blocked_when_a_hook_has_already_done_so_or_in_a_subagent() {
    let mut scene = three_failures();
    let active = EventKind::Stop { stop_hook_active: true };
    assert_eq!(scene.take(&event("s", "Stop", active)), Answer::Nothing);
    let inactive = EventKind::Stop { stop_hook_active: false };
    assert_eq!(scene.take(&in_subagent(event("s", "Stop", inactive))), Answer::Nothing);
    // Nothing was used up.
    assert!(matches!(scene.stop("s"), Answer::Block(_)));
}

#[test]
fn a_turn_is_not_blocked_by_what_waits_for_the_prompt_or_by_others() {
    let mut scene = Scene::new();
    scene.read("s", "a.rs");
    scene.change("a.rs");
    scene.edit("s", "a.rs");
    scene.run("s", "make", 2);
    for _ in 0..3 {
        scene.run("other", "cargo build", 101);
    }
    assert_eq!(scene.stop("s"), Answer::Nothing);
    assert_eq!(scene.stop("a session that we don't know"), Answer::Nothing);
}

#[test]
fn what_gets_worse_is_said_again() {
    let mut scene = Scene::new();
    scene.edit("s", "src/cart.rs");
    scene.run("s", "make", 2);
    assert!(scene.prompt("s").contains("[MEDIUM] build_broken_after_my_edit"));
    scene.run("s", "make", 2);
    scene.run("s", "make", 2);
    assert!(matches!(scene.stop("s"), Answer::Block(_)));
}

/// Three failures of a build after an edit.
fn broken() -> Scene {
    let mut scene = Scene::new();
    scene.pace = Duration::from_secs(1);
    scene.prompt("s");
    scene.edit("s", "src/cart.rs");
    for _ in 0..3 {
        scene.run("s", "cargo build", 101);
    }
    scene
}

#[test]
fn one_cause_is_one_finding_whichever_rule_has_found_it() {
    let mut scene = broken();
    scene.pass(28);
    scene.prompt("s");
    let Answer::Block(reason) = scene.stop("s") else { panic!("not blocked") };
    assert!(reason.contains("with no success between"), "{reason}");
    scene.pass(3);
    scene.edit("s", "src/cart.rs");
    scene.prompt("s");
    assert_eq!(scene.kinds("s"), [Kind::BuildBrokenAfterMyEdit]);
    assert_eq!(scene.stop("s"), Answer::Nothing);
}

#[test]
fn an_old_failure_blocks_no_turn_that_is_about_something_else() {
    let blocks = |minutes: u64, then: &dyn Fn(&mut Scene)| {
        let mut scene = broken();
        scene.pass(minutes);
        scene.prompt("s");
        then(&mut scene);
        matches!(scene.stop("s"), Answer::Block(_))
    };
    assert!(blocks(20, &|_| ()));
    for minutes in [40, 21 * 60] {
        assert!(!blocks(minutes, &|_| ()));
        assert!(!blocks(minutes, &|scene| drop(scene.read("s", "src/cart.rs"))));
        assert!(!blocks(minutes, &|scene| drop(scene.edit("s", "README.md"))));
        assert!(!blocks(minutes, &|scene| drop(scene.edit("other", "src/cart.rs"))));
        assert!(!blocks(minutes, &|scene| drop(scene.run("s", "ls", 0))));
        assert!(!blocks(minutes, &|scene| drop(scene.run("s", "cargo build", 0))));
        assert!(blocks(minutes, &|scene| drop(scene.edit("s", "src/shop.rs"))));
        assert!(blocks(minutes, &|scene| drop(scene.run("s", "cargo build", 101))));
    }
    // It is not forgotten.
    let mut scene = broken();
    scene.pass(21 * 60);
    assert!(scene.prompt("s").contains("[MEDIUM] build_broken_after_my_edit"));
}

#[test]
fn a_rule_can_be_routed_to_the_next_tool_call() {
    let mut scene = Scene::new();
    scene.world.route = |_, _| Channel::PostToolUse;
    scene.read("s", "a.rs");
    scene.change("a.rs");
    let in_subagent_first = in_subagent(event(
        "s",
        "PostToolUse",
        EventKind::PostToolUse(ToolResult {
            call: tool_call("x", "Bash", run("ls")),
            status: Status::Succeeded,
            report: Report::default(),
        }),
    ));
    assert_eq!(scene.take(&in_subagent_first), Answer::Nothing);
    assert_eq!(
        scene.run("s", "ls", 0),
        Answer::Context(
            "tma1: [MEDIUM] external_modified_during_session — Re-read a.rs before relying on what you \
             saw of it: it was changed from outside 3 min ago."
                .to_owned()
        )
    );
    assert_eq!(scene.run("s", "ls", 0), Answer::Nothing);
    assert!(!scene.prompt("s").contains("anomalies:"));
}

#[test]
fn no_rule_speaks_after_a_tool_call_by_default() {
    let mut scene = Scene::new();
    scene.read("s", "a.rs");
    scene.change("a.rs");
    assert_eq!(scene.edit("s", "a.rs"), Answer::Nothing);
    assert_eq!(scene.run("s", "make", 2), Answer::Nothing);
}
