//! What each rule means: when it speaks, and the near misses at which it does not.

use std::time::Duration;

use super::*;
use crate::agent::{Agent, Answer, EventKind, Report, Status, ToolResult};
use crate::world::scene::{
    Scene, edit, event, exit_status, in_subagent, key, path, prompt_event, read, run, text,
    tool_call,
};
use crate::world::{Observation, Usage};

/// One step of a session `s`, or of another one in the same project.
enum Step {
    Read(&'static str),
    /// The file can't be read.
    MissRead(&'static str),
    Edit(&'static str),
    /// The edit fails.
    FailEdit(&'static str),
    /// The agent refuses to make the edit.
    Reject(&'static str),
    /// Somebody changes a file.
    Change(&'static str),
    /// A command of the session rewrites a file.
    Format(&'static str),
    /// A command ends with this exit status.
    Run(&'static str, i64),
    /// Somebody ends a command.
    Interrupt(&'static str),
    /// Tests run, and these fail.
    Tests(&'static str, &'static [&'static str]),
    Wait(u64),
    /// A step of a subagent.
    Sub(&'static Step),
    /// A step of the other session.
    Other(&'static Step),
}

use Step::*;

fn take(scene: &mut Scene, session: &str, step: &Step) {
    let failed = Status::Failed { exit_code: None, interrupted: false };
    match *step {
        Read(file) => drop(scene.read(session, file)),
        MissRead(file) => {
            let call = scene.begin(session, "Read", read(file));
            scene.end(session, call, failed, Report::default());
        }
        Edit(file) => drop(scene.edit(session, file)),
        FailEdit(file) => {
            let call = scene.begin(session, "Edit", edit(file));
            scene.end(session, call, failed, Report::default());
        }
        Reject(file) => scene.reject_edit(session, file),
        Change(file) => scene.change(file),
        Format(file) => scene.rewrite(session, file),
        Run(command, exit_code) => drop(scene.run(session, command, exit_code)),
        Interrupt(command) => {
            let status = Status::Failed { exit_code: Some(130), interrupted: true };
            scene.run_with(session, command, status, Report::default());
        }
        Tests(command, failed) => drop(scene.run_tests(session, command, failed)),
        Wait(minutes) => scene.pass(minutes),
        Sub(step) => take_in_subagent(scene, session, step),
        Other(step) => take(scene, "other", step),
    }
}

fn take_in_subagent(scene: &mut Scene, session: &str, step: &Step) {
    let (action, status) = match *step {
        Read(file) => (read(file), Status::Succeeded),
        Edit(file) => (edit(file), Status::Succeeded),
        FailEdit(file) => (edit(file), Status::Failed { exit_code: None, interrupted: false }),
        Run(command, exit_code) => (run(command), exit_status(exit_code)),
        _ => panic!("not a step of a subagent"),
    };
    let id = format!("sub {}", scene.now.as_unix_millis());
    let result =
        ToolResult { call: tool_call(&id, "Tool", action), status, report: Report::default() };
    scene.take(&in_subagent(event(session, "PostToolUse", EventKind::PostToolUse(result))));
}

/// The findings of session `s` after these steps, in words: rule, severity and subject.
fn found(steps: &[Step]) -> Vec<String> {
    let mut scene = Scene::new();
    for session in ["s", "other"] {
        scene.take(&prompt_event(session, false, None));
    }
    for step in steps {
        take(&mut scene, "s", step);
    }
    (scene.findings("s").iter())
        .map(|finding| {
            let subject = finding.subject.strip_prefix(&path("")).unwrap_or(&finding.subject);
            format!("{} {} {subject}", finding.severity.label(), finding.kind.name())
        })
        .collect()
}

#[track_caller]
fn assert_found(cases: &[(&str, &[Step], &[&str])]) {
    for (case, steps, expected) in cases {
        assert_eq!(found(steps), *expected, "{case}");
    }
}

#[test]
fn stale_file_view() {
    const STALE: &[&str] = &["HIGH stale_file_view a.rs"];
    assert_found(&[
        ("edited after a change", &[Read("a.rs"), Change("a.rs"), Edit("a.rs")], STALE),
        ("refused to edit", &[Read("a.rs"), Change("a.rs"), Reject("a.rs")], STALE),
        ("failed to edit", &[Read("a.rs"), Change("a.rs"), FailEdit("a.rs")], STALE),
        ("seen by writing it", &[Edit("a.rs"), Change("a.rs"), Edit("a.rs")], STALE),
        (
            "edited again without a look",
            &[Read("a.rs"), Change("a.rs"), Edit("a.rs"), Edit("a.rs")],
            STALE,
        ),
        ("another session's edit", &[Read("a.rs"), Other(&Edit("a.rs")), Edit("a.rs")], STALE),
        (
            "another session's subagent's edit",
            &[Read("a.rs"), Other(&Sub(&Edit("a.rs"))), Edit("a.rs")],
            STALE,
        ),
        (
            "another session's formatter",
            &[Read("a.rs"), Other(&Format("a.rs")), Edit("a.rs")],
            STALE,
        ),
        (
            "a subagent has read it, which shows the model nothing",
            &[Read("a.rs"), Change("a.rs"), Sub(&Read("a.rs")), Edit("a.rs")],
            STALE,
        ),
        ("read again", &[Read("a.rs"), Change("a.rs"), Read("a.rs"), Edit("a.rs")], &[]),
        (
            "read again after the edit",
            &[Read("a.rs"), Change("a.rs"), Edit("a.rs"), Read("a.rs")],
            &[],
        ),
        ("changed before it was seen", &[Change("a.rs"), Read("a.rs"), Edit("a.rs")], &[]),
        ("never seen", &[Change("a.rs"), Edit("a.rs")], &[]),
        ("another file", &[Read("a.rs"), Read("b.rs"), Change("c.rs"), Edit("a.rs")], &[]),
        ("its own formatter", &[Read("a.rs"), Format("a.rs"), Edit("a.rs")], &[]),
        ("its own subagent", &[Read("a.rs"), Sub(&Edit("a.rs")), Edit("a.rs")], &[]),
        (
            "a subagent's edit is not the model's",
            &[Read("a.rs"), Change("a.rs"), Sub(&Edit("a.rs"))],
            &["MEDIUM external_modified_during_session a.rs"],
        ),
        (
            "a failed edit of another session",
            &[Read("a.rs"), Other(&FailEdit("a.rs")), Edit("a.rs")],
            &[],
        ),
        (
            "another session has only read it",
            &[Read("a.rs"), Other(&Read("a.rs")), Edit("a.rs")],
            &[],
        ),
        (
            "what could not be read is known to be gone",
            &[Read("a.rs"), Change("a.rs"), MissRead("a.rs"), Edit("a.rs")],
            &[],
        ),
        (
            "outside of the project",
            &[Read("/etc/hosts"), Change("/etc/hosts"), Edit("/etc/hosts")],
            &[],
        ),
    ]);
}

#[test]
fn external_modified_during_session() {
    const MODIFIED: &[&str] = &["MEDIUM external_modified_during_session a.rs"];
    assert_found(&[
        ("changed after it was seen", &[Read("a.rs"), Change("a.rs")], MODIFIED),
        ("changed after it was written", &[Edit("a.rs"), Change("a.rs")], MODIFIED),
        ("by another session", &[Read("a.rs"), Other(&Edit("a.rs"))], MODIFIED),
        (
            "a document counts too",
            &[Read("a.md"), Change("a.md")],
            &["MEDIUM external_modified_during_session a.md"],
        ),
        (
            "the latest change comes first",
            &[Read("a.rs"), Read("b.rs"), Change("b.rs"), Change("a.rs"), Change("b.rs")],
            &[
                "MEDIUM external_modified_during_session b.rs",
                "MEDIUM external_modified_during_session a.rs",
            ],
        ),
        ("read again", &[Read("a.rs"), Change("a.rs"), Read("a.rs")], &[]),
        ("never seen", &[Change("a.rs")], &[]),
        ("seen by a subagent only", &[Sub(&Read("a.rs")), Change("a.rs")], &[]),
        ("seen by the other session only", &[Other(&Read("a.rs")), Change("a.rs")], &[]),
        ("changed before it was seen", &[Change("a.rs"), Read("a.rs")], &[]),
        ("its own formatter", &[Read("a.rs"), Format("a.rs")], &[]),
        ("its own subagent", &[Read("a.rs"), Sub(&Edit("a.rs"))], &[]),
    ]);
}

#[test]
fn build_broken_after_my_edit() {
    const BROKEN: &[&str] = &["MEDIUM build_broken_after_my_edit make"];
    assert_found(&[
        ("it had succeeded", &[Run("make", 0), Edit("a.rs"), Run("make", 2)], BROKEN),
        ("it was never run", &[Edit("a.rs"), Run("make", 2)], BROKEN),
        (
            "twice",
            &[Run("make", 0), Edit("a.rs"), Run("make", 2), Edit("b.rs"), Run("make", 2)],
            BROKEN,
        ),
        ("a subagent's edit is the session's", &[Sub(&Edit("a.rs")), Run("make", 2)], BROKEN),
        (
            "an interrupted run says nothing",
            &[Edit("a.rs"), Interrupt("make"), Run("make", 2)],
            BROKEN,
        ),
        (
            "three times, too far apart to be repeated",
            &[Edit("a.rs"), Run("make", 2), Wait(20), Run("make", 2), Wait(20), Run("make", 2)],
            &["HIGH build_broken_after_my_edit make"],
        ),
        (
            "at three in half an hour it is the other rule's",
            &[Edit("a.rs"), Run("make", 2), Run("make", 2), Run("make", 2)],
            &["HIGH repeated_failed_build make"],
        ),
        ("red, then green", &[Edit("a.rs"), Run("make", 2), Edit("a.rs"), Run("make", 0)], &[]),
        ("flaky", &[Run("make", 0), Edit("a.rs"), Run("make", 2), Run("make", 0)], &[]),
        ("no edit", &[Run("make", 0), Run("make", 2)], &[]),
        ("broken before the first edit", &[Run("make", 2), Edit("a.rs"), Run("make", 2)], &[]),
        (
            "broken without an edit",
            &[Edit("a.rs"), Run("make", 0), Run("make", 2), Edit("a.rs"), Run("make", 2)],
            &[],
        ),
        ("a document", &[Run("make", 0), Edit("README.md"), Run("make", 2)], &[]),
        ("its own formatter", &[Run("make", 0), Format("a.rs"), Run("make", 2)], &[]),
        ("another session's edit", &[Run("make", 0), Other(&Edit("a.rs")), Run("make", 2)], &[]),
        ("another session's build", &[Edit("a.rs"), Other(&Run("make", 2))], &[]),
        ("an edit elsewhere", &[Run("make", 0), Edit("/etc/hosts"), Run("make", 2)], &[]),
        ("no build", &[Edit("a.rs"), Run("ls", 2)], &[]),
        ("a failed edit", &[Run("make", 0), FailEdit("a.rs"), Run("make", 2)], &[]),
        ("interrupted", &[Run("make", 0), Edit("a.rs"), Interrupt("make")], &[]),
    ]);
}

#[test]
fn repeated_failed_build() {
    const REPEATED: &[&str] = &["HIGH repeated_failed_build make"];
    assert_found(&[
        ("three times", &[Run("make", 2), Run("make", 2), Run("make", 2)], REPEATED),
        (
            "other commands between",
            &[Run("make", 2), Run("build", 0), Run("make", 2), Run("ls", 0), Run("make", 2)],
            REPEATED,
        ),
        (
            "an interrupted run between",
            &[Run("make", 2), Run("make", 2), Interrupt("make"), Run("make", 2)],
            REPEATED,
        ),
        (
            "more often than is kept",
            &[
                Run("make", 2),
                Run("make", 2),
                Run("make", 2),
                Run("make", 2),
                Run("make", 2),
                Run("make", 2),
                Run("make", 2),
                Run("make", 2),
                Run("make", 2),
                Run("make", 2),
            ],
            REPEATED,
        ),
        ("in a subagent too", &[Sub(&Run("make", 2)), Run("make", 2), Run("make", 2)], REPEATED),
        ("twice", &[Run("make", 2), Run("make", 2)], &[]),
        (
            "a success between",
            &[Run("make", 2), Run("make", 2), Run("make", 0), Run("make", 2)],
            &[],
        ),
        ("flaky", &[Run("make", 2), Run("make", 2), Run("make", 2), Run("make", 0)], &[]),
        (
            "not in half an hour",
            &[Run("make", 2), Wait(20), Run("make", 2), Wait(20), Run("make", 2)],
            &[],
        ),
        ("long ago", &[Run("make", 2), Run("make", 2), Run("make", 2), Wait(31)], &[]),
        ("three commands", &[Run("make", 2), Run("make a", 2), Run("make b", 2)], &[]),
        ("two sessions", &[Run("make", 2), Run("make", 2), Other(&Run("make", 2))], &[]),
        (
            "interrupted",
            &[Run("make", 2), Interrupt("make"), Interrupt("make"), Run("make", 2)],
            &[],
        ),
        ("no build", &[Run("ls", 2), Run("ls", 2), Run("ls", 2)], &[]),
    ]);
}

#[test]
fn test_stuck() {
    // Far enough apart not to be `repeated_failed_build` too.
    assert_found(&[
        (
            "three times",
            &[
                Tests("test", &["adds", "sums"]),
                Wait(20),
                Tests("test", &["adds", "other"]),
                Wait(20),
                Tests("test", &["adds"]),
            ],
            &["MEDIUM test_stuck adds"],
        ),
        (
            "by several commands",
            &[Tests("test", &["adds"]), Tests("test adds", &["adds"]), Tests("test -v", &["adds"])],
            &["MEDIUM test_stuck adds"],
        ),
        (
            "a run that was not built between",
            &[
                Tests("test", &["adds"]),
                Wait(20),
                Run("test", 101),
                Wait(20),
                Tests("test", &["adds"]),
                Wait(20),
                Tests("test", &["adds"]),
            ],
            &["MEDIUM test_stuck adds"],
        ),
        (
            "another command's pass",
            &[
                Tests("test", &["adds"]),
                Wait(20),
                Tests("test", &["adds"]),
                Run("make", 0),
                Wait(20),
                Tests("test", &["adds"]),
            ],
            &["MEDIUM test_stuck adds"],
        ),
        ("twice", &[Tests("test", &["adds"]), Tests("test", &["adds"])], &[]),
        (
            "a pass between",
            &[
                Tests("test", &["adds"]),
                Tests("test", &["adds"]),
                Tests("test", &[]),
                Tests("test", &["adds"]),
            ],
            &[],
        ),
        (
            "it passed while another failed",
            &[
                Tests("test", &["adds"]),
                Tests("test", &["adds"]),
                Wait(20),
                Tests("test", &["sums"]),
                Wait(20),
                Tests("test", &["adds"]),
            ],
            &[],
        ),
        (
            "flaky",
            &[
                Tests("test", &["adds"]),
                Tests("test", &["adds"]),
                Tests("test", &["adds"]),
                Tests("test", &[]),
            ],
            &[],
        ),
        (
            "it passed alone",
            &[
                Tests("test", &["cart::adds"]),
                Wait(20),
                Tests("test", &["cart::adds"]),
                Wait(20),
                Tests("test", &["cart::adds"]),
                Tests("test adds", &[]),
            ],
            &[],
        ),
        (
            "three tests",
            &[
                Tests("test", &["adds"]),
                Wait(20),
                Tests("test", &["sums"]),
                Wait(20),
                Tests("test", &["other"]),
            ],
            &[],
        ),
    ]);
}

#[test]
fn context_pressure() {
    for (case, used, size, threshold, expected) in [
        ("70 % of the window", Some(140_000), Some(200_000), None, true),
        ("less", Some(139_999), Some(200_000), None, false),
        ("as much as was set", Some(50_000), Some(200_000), Some(50_000), true),
        ("less than was set", Some(190_000), Some(200_000), Some(195_000), false),
        ("set, and the window unknown", Some(50_000), None, Some(50_000), true),
        ("the window unknown", Some(1_000_000), None, None, false),
        ("no window at all", Some(1), Some(0), None, false),
        ("its use unknown", None, Some(200_000), Some(1), false),
        ("as large as can be", Some(u64::MAX), Some(u64::MAX), None, true),
    ] {
        let mut scene = Scene::new();
        scene.world.settings.context_pressure_threshold = threshold;
        scene.prompt("s");
        let usage = Usage { window_used: used, window_size: size, ..Usage::default() };
        scene.observe(&Observation::Usage { session: key("s"), usage });
        assert_eq!(scene.kinds("s") == [Kind::ContextPressure], expected, "{case}");
    }
}

#[test]
fn a_compaction_relieves_the_window_until_the_next_request_says_otherwise() {
    let mut scene = Scene::new();
    scene.prompt("s");
    scene.fill_window("s", 150_000, 200_000);
    assert_eq!(scene.kinds("s"), [Kind::ContextPressure]);
    scene.start("s", "compact");
    assert_eq!(scene.kinds("s"), []);
    // The transcript was read on, and has no later request.
    scene.fill_window("s", 150_000, 200_000);
    assert_eq!(scene.kinds("s"), []);
    scene.fill_window("s", 20_000, 200_000);
    scene.fill_window("s", 150_000, 200_000);
    assert_eq!(scene.kinds("s"), [Kind::ContextPressure]);
}

#[test]
fn an_edit_of_another_session_that_saw_nothing_is_nobodys_matter() {
    let mut scene = Scene::new();
    scene.edit("other", "a.rs");
    scene.edit("s", "b.rs");
    scene.edit("other", "b.rs");
    assert_eq!(scene.kinds("s"), [Kind::ExternalModifiedDuringSession]);
    assert_eq!(scene.kinds("other"), []);
    assert!(!scene.prompt("s").contains("external_changes"));
}

#[test]
fn what_was_found_names_the_place_the_command_and_the_files() {
    let mut scene = Scene::new();
    scene.run("s", "cargo test", 0);
    scene.edit("s", "src/cart.rs");
    scene.edit("s", "src/shop.rs");
    scene.run("s", "cargo test", 101);
    let found = serde_json::to_value(scene.findings("s")).unwrap();
    assert_eq!(
        found,
        serde_json::json!([{
            "kind": "build_broken_after_my_edit",
            "severity": "medium",
            "channel": "prompt",
            "evidence": "it succeeded 6 min ago, then you edited src/shop.rs, src/cart.rs, then `cargo test` \
                         failed once, last just now (exit 101): error[E0308]: mismatched types",
            "suggestion": "Run `cargo test` again after fixing src/cart.rs:12: it fails since your edit of \
                           src/shop.rs, src/cart.rs.",
            "related_files": ["src/shop.rs", "src/cart.rs"],
        }])
    );
}

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
        let digest = text(scene.tell("s", "PreCompact", serde_json::json!({"trigger": "auto"})));
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
    scene.edit("s", "a.rs");
    scene.run("s", "make", 2);
    assert!(scene.prompt("s").contains("[MEDIUM] build_broken_after_my_edit"));
    scene.run("s", "make", 2);
    scene.run("s", "make", 2);
    assert!(matches!(scene.stop("s"), Answer::Block(_)));
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
