//! What the agents of a project are told after this and that has happened.

use std::time::Duration;

use serde_json::json;

use super::*;
use crate::agent::{Answer, Report, Status};
use crate::snapshot::assert_snapshot;
use crate::world::scene::{
    Scene, assert_shape, event, exit_status, in_subagent, key, mismatched_types, prompt_event,
    read, run, text, tool_call,
};

/// A session that has everything to tell.
fn eventful() -> Scene {
    let mut scene = Scene::new();
    scene.start("0f1e2d3c-session", "startup");
    let session = "0f1e2d3c-session";
    for file in ["src/shop.rs", "src/cart.rs", "src/price.rs", "Cargo.toml"] {
        scene.read(session, file);
    }
    scene.edit(session, "src/shop.rs");
    scene.run(session, "cargo test", 0);
    scene.edit(session, "src/cart.rs");
    for _ in 0..2 {
        scene.run_tests(session, "cargo test", &["cart::adds", "cart::sums"]);
    }
    scene.run_tests(session, "cargo test cart", &["cart::adds"]);
    for file in ["docs/notes.md", "src/price.rs", "Cargo.toml", "src/cart.rs"] {
        scene.change(file);
    }
    scene.reject_edit(session, "src/cart.rs");
    scene.fill_window(session, 152_000, 200_000);
    scene.run(session, "cargo build", 0);
    scene.begin(session, "Bash", run("cargo test"));
    scene
}

#[test]
fn the_whole_block_reads_well() {
    assert_snapshot("block-full", &eventful().prompt("0f1e2d3c-session"));
}

#[test]
fn a_compaction_is_told_what_to_preserve() {
    let mut scene = eventful();
    let words = text(scene.tell("0f1e2d3c-session", "PreCompact", json!({"trigger": "auto"})));
    assert_snapshot("preserve", &words);
    // Everything is there again after it, as nothing of the block has survived.
    scene.prompt("0f1e2d3c-session");
    let block = scene.start("0f1e2d3c-session", "compact");
    for kind in ["stale_file_view", "test_stuck", "external_modified", "build_broken"] {
        assert!(block.contains(kind), "{block}");
    }
    assert_eq!(scene.tell_as(Agent::Codex, "s", "PreCompact", json!({})), Answer::Nothing);
}

#[test]
fn why_a_turn_must_not_end_reads_well() {
    let mut scene = Scene::new();
    for exit_code in [2, 2, 2] {
        scene.run("s", "make check", exit_code);
        let status = Status::Failed { exit_code: Some(101), interrupted: false };
        scene.run_with("s", "cargo test", status, Report::default());
    }
    let Answer::Block(reason) = scene.stop("s") else { panic!("not blocked") };
    assert_snapshot("stop-reason", &reason);
}

/// What the session is told when these things have happened.
fn told(happen: impl FnOnce(&mut Scene)) -> String {
    let mut scene = Scene::new();
    happen(&mut scene);
    let said = scene.prompt("s");
    if let Answer::Block(reason) = scene.stop("s") {
        return reason;
    }
    let lines = said.split_once("anomalies:\n").map_or("", |(_, lines)| lines);
    lines.replace("\n</tma1-context>", "")
}

#[test]
fn what_each_rule_says_reads_well() {
    let said = [
        told(|scene| {
            scene.read("s", "src/cart.rs");
            scene.change("src/cart.rs");
            scene.edit("s", "src/cart.rs");
        }),
        told(|scene| {
            for file in ["a.rs", "b.rs", "c.rs", "d.rs", "e.rs"] {
                scene.read("s", file);
                scene.edit("other", file);
                scene.edit("s", file);
            }
        }),
        told(|scene| {
            scene.read("s", "src/cart.rs");
            scene.edit("other", "src/cart.rs");
        }),
        told(|scene| {
            for file in ["a.rs", "b.rs"] {
                scene.read("s", file);
                scene.change(file);
            }
        }),
        told(|scene| {
            scene.run("s", "cargo test", 0);
            scene.edit("s", "src/cart.rs");
            scene.run("s", "cargo test", 101);
        }),
        told(|scene| {
            scene.run("s", "npm run build", 0);
            scene.edit("s", "src/cart.rs");
            let status = Status::Failed { exit_code: None, interrupted: false };
            scene.run_with("s", "npm run build", status, Report::default());
        }),
        told(|scene| {
            scene.edit("s", "src/cart.rs");
            for _ in 0..3 {
                scene.run("s", "cargo build", 101);
                scene.pass(20);
            }
        }),
        told(|scene| {
            for _ in 0..3 {
                scene.run("s", "cargo build", 101);
            }
        }),
        told(|scene| {
            for _ in 0..3 {
                scene.run_tests("s", "cargo test", &["cart::adds"]);
                scene.pass(20);
            }
        }),
        told(|scene| {
            for _ in 0..3 {
                scene.run_tests("s", "pytest", &["a", "b", "c", "d"]);
                scene.pass(20);
            }
        }),
        told(|scene| {
            scene.prompt("s");
            scene.fill_window("s", 152_000, 200_000);
        }),
    ];
    assert!(said.iter().all(|line| !line.is_empty()), "{said:#?}");
    assert_snapshot("anomalies", &said.join("\n"));
}

#[test]
fn a_new_session_is_told_what_became_of_the_project_since() {
    let mut scene = Scene::new();
    scene.read("aaaaaaaa", "src/shop.rs");
    scene.edit("aaaaaaaa", "src/cart.rs");
    scene.run("aaaaaaaa", "cargo test", 101);
    scene.run("aaaaaaaa", "make", 2);
    scene.change("src/early.rs");
    scene.tell("aaaaaaaa", "SessionEnd", json!({"reason": "other"}));
    scene.change("src/shop.rs");
    scene.change("README.md");
    scene.run("other", "make", 0);
    scene.tell("other", "SessionEnd", json!({"reason": "other"}));
    scene.edit("aaaaaaaa", "src/cart.rs");
    scene.change("README.md");
    let block = scene.start("bbbbbbbb", "startup");
    assert_snapshot("block-new-session-after-trouble", &block);
    // To show it to another session is not to say it to this one.
    assert!(scene.prompt("aaaaaaaa").contains("Re-read src/shop.rs"));
}

#[test]
fn what_became_of_the_calls_is_counted() {
    let mut scene = Scene::new();
    let failed = Status::Failed { exit_code: None, interrupted: false };
    let interrupted = Status::Failed { exit_code: None, interrupted: true };
    for status in [Status::Succeeded, failed, interrupted, Status::Unknown] {
        scene.run_with("s", "ls", status, Report::default());
    }
    scene.reject_edit("s", "a.rs");
    let late = scene.begin("s", "Bash", run("ls"));
    scene.begin("s", "Bash", run("ls"));
    let counts = |scene: &Scene| {
        let state = scene.state(Agent::ClaudeCode, "s", 0);
        ["tool_calls", "failed_calls", "rejected_calls", "dangling_calls"]
            .map(|field| state[field].as_u64().unwrap())
    };
    assert_eq!(counts(&scene), [6, 1, 1, 0]);
    scene.stop("s");
    assert_eq!(counts(&scene), [6, 1, 1, 2]);
    scene.end("s", late, failed, Report::default());
    assert_eq!(counts(&scene), [6, 2, 1, 1]);
}

#[test]
fn a_call_without_a_result_dangles_when_its_turn_ends() {
    for (ends, dangling) in [
        (event("s", "Stop", EventKind::Stop { stop_hook_active: false }), 1),
        (event("s", "StopFailure", EventKind::TurnBroken), 1),
        (prompt_event("s", false, Some("another turn")), 1),
        (prompt_event("s", false, None), 1),
        (event("s", "SessionEnd", EventKind::SessionEnd), 2),
        // In the middle of the turn.
        (prompt_event("s", false, Some("turn")), 0),
        (prompt_event("s", true, None), 0),
        (in_subagent(event("s", "Stop", EventKind::Stop { stop_hook_active: false })), 0),
        (event("s", "PreCompact", EventKind::PreCompact), 0),
    ] {
        let mut scene = Scene::new();
        scene.take(&prompt_event("s", false, Some("turn")));
        scene.begin("s", "Bash", run("make"));
        let call = tool_call("of a subagent", "Bash", run("ls"));
        scene.take(&in_subagent(event("s", "PreToolUse", EventKind::PreToolUse(call))));
        scene.take(&ends);
        let state = scene.state(Agent::ClaudeCode, "s", 0);
        assert_eq!(state["dangling_calls"], dangling, "{ends:?}");
        let expected =
            if dangling == 0 { "make (running)" } else { "make (interrupted, 1 min ago)" };
        let block = scene.prompt("other");
        assert!(block.contains(&format!("build: {expected}\n")), "{ends:?} {block}");
    }
}

#[test]
fn the_calls_of_subagents_are_the_sessions_and_marked() {
    let mut scene = Scene::new();
    let call = tool_call("of a subagent", "Bash", run("ls"));
    scene.take(&in_subagent(event("s", "PreToolUse", EventKind::PreToolUse(call))));
    scene.begin("s", "Read", read("a.rs"));
    let state = scene.state(Agent::ClaudeCode, "s", 5);
    assert_eq!(state["tool_calls"], 2);
    assert_eq!(
        state["recent_actions"],
        json!([
            {"tool": "Read", "ago_s": 0},
            {"tool": "Bash", "subagent": true, "ago_s": 60},
        ])
    );
}

#[test]
fn a_command_whose_exit_status_comes_from_the_transcript_counts_like_any_other() {
    // The transcript may be read before the event or after it.
    for early in [true, false] {
        let mut scene = Scene::new();
        scene.edit("s", "a.rs");
        for (exit_code, expected) in [
            (0, &[][..]),
            (1, &[][..]),
            (1, &[][..]),
            (1, &[Kind::RepeatedFailedBuild, Kind::TestStuck][..]),
            (130, &[Kind::RepeatedFailedBuild, Kind::TestStuck][..]),
            (0, &[][..]),
        ] {
            let call = scene.begin("s", "Bash", run("cargo test"));
            let call_id = call.id.clone().unwrap();
            let ended = Observation::CommandEnded { session: key("s"), call_id, exit_code };
            let report = Report { failed_tests: vec!["adds".to_owned()], ..mismatched_types() };
            if early {
                scene.observe(&ended);
            }
            scene.end("s", call, Status::Unknown, report);
            if !early {
                // Until then it may have succeeded.
                assert_eq!(scene.kinds("s"), []);
                scene.observe(&ended);
                scene.observe(&ended);
            }
            assert_eq!(scene.kinds("s"), expected, "early: {early}, {exit_code}");
        }
        assert_eq!(scene.state(Agent::ClaudeCode, "s", 0)["failed_calls"], 3, "early: {early}");
        let block = scene.prompt("s");
        assert!(block.contains("build: cargo test (ok, "), "{block}");
        assert!(block.contains("may have recovered): src/cart.rs:12: error[E0308]"), "{block}");
    }
}

#[test]
fn what_is_told_of_a_session_that_we_dont_know_makes_none() {
    let mut scene = Scene::new();
    scene.fill_window("s", 1, 1);
    let (session, call_id) = (key("s"), "1".to_owned());
    scene.observe(&Observation::CommandEnded { session, call_id, exit_code: 1 });
    scene.rewrite("s", "a.rs");
    scene.change("a.rs");
    assert_eq!(scene.world.sessions.len(), 0);
}

#[test]
fn the_build_of_the_project_is_told_to_all_and_its_error_to_those_who_were_there() {
    let mut scene = Scene::new();
    scene.prompt("early");
    let build = scene.begin("s", "Bash", run("cargo build"));
    assert!(scene.prompt("early").contains("build: cargo build (running)\n"));
    let failed = Status::Failed { exit_code: Some(101), interrupted: false };
    scene.end("s", build, failed, mismatched_types());
    let block = scene.prompt("early");
    assert!(block.contains("build: cargo build (exit 101, 1 min ago)\n"), "{block}");
    assert!(
        block.contains("build_last_error (1 min ago): src/cart.rs:12: error[E0308]"),
        "{block}"
    );
    let block = scene.prompt("late");
    assert!(block.contains("build: cargo build (exit 101, 2 min ago)\n"), "{block}");
    assert!(!block.contains("build_last_error"), "{block}");
    scene.run("late", "cargo build", 0);
    let block = scene.prompt("early");
    assert!(block.contains("build: cargo build (ok, 1 min ago)\n"), "{block}");
    assert!(block.contains("build_last_error (5 min ago, may have recovered): "), "{block}");
    // Another project has its own.
    let elsewhere = prompt_event("elsewhere", false, None);
    scene.world.apply(&elsewhere, "/home/dev/other", scene.now);
    assert!(!text(scene.world.answer(&elsewhere, scene.now)).contains("build"));
}

#[test]
fn of_two_builds_at_once_the_one_that_was_begun_last_is_told() {
    let mut scene = Scene::new();
    let first = scene.begin("s", "Bash", run("cargo build"));
    let second = scene.begin("s", "Bash", run("cargo test"));
    scene.end("s", second, Status::Succeeded, Report::default());
    scene.end("s", first, exit_status(101), mismatched_types());
    let block = scene.prompt("s");
    assert!(block.contains("build: cargo test (ok, 2 min ago)\n"), "{block}");
    assert!(block.contains("build_last_error (1 min ago, may have recovered): "), "{block}");
}

#[test]
fn what_was_changed_from_outside_is_counted_since_the_session_began() {
    let mut scene = Scene::new();
    scene.change("before.rs");
    scene.prompt("s");
    assert!(!scene.prompt("s").contains("external"));
    for file in ["a.rs", "b.rs", "c.rs", "d.rs", "b.rs", "/home/dev/elsewhere/e.rs"] {
        scene.change(file);
    }
    scene.edit("other", "f.rs");
    let block = scene.prompt("s");
    assert!(block.contains("external_changes: 5\nexternal_files: b.rs, d.rs, c.rs\n"), "{block}");
    assert!(!block.contains("anomalies"), "{block}");
}

#[test]
fn the_block_of_a_long_session_stays_short() {
    let mut scene = Scene::new();
    scene.pace = Duration::from_millis(50);
    for number in 0..10_000_usize {
        let file = format!("src/{}/module_{number}.rs", "directory".repeat(number % 20));
        match number % 4 {
            0 | 1 => drop(scene.read("s", &format!("src/module_{}.rs", number % 5_000))),
            2 => drop(scene.edit("s", &file)),
            _ => {
                let failed = [format!("module_{}::works", number % 3)];
                scene.run_tests("s", &format!("cargo test -p part-{}", number % 5), &[&failed[0]]);
            }
        }
        if number % 10 == 0 {
            scene.change(&format!("src/module_{}.rs", number % 5_000));
        }
        if number % 100 == 0 {
            assert_shape(&scene.prompt("s"));
        }
    }
    scene.pass(10);
    let block = scene.prompt("s");
    assert_shape(&block);
    assert!(block.contains("tool_calls: 10000\n") && block.contains("external_changes: 1000\n"));
    assert!(block.contains("external_modified_during_session — Re-read "), "{block}");
    assert!(block.lines().count() <= 20, "{block}");
}
