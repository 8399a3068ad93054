//! Which runs are runs of the same command.

use std::time::Duration;

use super::Step::*;
use super::{assert_found, found};
use crate::agent::{EventKind, Report};
use crate::world::anomaly::Kind;
use crate::world::scene::{Scene, event, exit_status, run, run_in, tool_call};

#[test]
fn a_command_is_one_with_its_directory_and_its_variables() {
    const REPEATED: &[&str] = &["HIGH repeated_failed_build npm test"];
    assert_found(&[
        (
            "one failure each",
            &[RunIn("a", "npm test", 1), RunIn("b", "npm test", 1), RunIn("c", "npm test", 1)],
            &[],
        ),
        (
            "red in one, green in another",
            &[
                RunIn("a", "npm test", 1),
                RunIn("a", "npm test", 1),
                RunIn("a", "npm test", 1),
                RunIn("b", "npm test", 0),
            ],
            REPEATED,
        ),
        (
            "red from outside, green from inside",
            &[
                Run("cd a && npm test", 1),
                Run("cd a && npm test", 1),
                Run("cd a && npm test", 1),
                RunIn("a", "npm test", 0),
            ],
            &[],
        ),
        (
            "on different ways",
            &[
                Run("cd a && npm test", 1),
                RunIn("a", "npm test", 1),
                RunIn("b", "cd ../a && npm test", 1),
            ],
            REPEATED,
        ),
        (
            "with other variables",
            &[
                Run("X=1 npm test", 1),
                Run("X=1 npm test", 1),
                Run("X=1 npm test", 1),
                Run("X=2 npm test", 0),
                Run("npm test", 0),
            ],
            &["HIGH repeated_failed_build X=1 npm test"],
        ),
        (
            "with variables that only change how it looks",
            &[Run("CI=1 npm test", 1), Run("npm test", 1), Run("RUST_LOG=info npm test", 1)],
            REPEATED,
        ),
    ]);
}

#[test]
fn a_command_runs_where_it_was_begun_whatever_the_event_after_it_says() {
    for (stays, moves) in [("", "a"), ("", "")] {
        let mut scene = Scene::new();
        let mut run = |after: &str, status| {
            let mut call = scene.begin("s", "Bash", run("cd a && (npm test)"));
            call.action = run_in(after, "cd a && (npm test)");
            scene.end("s", call, status, Report::default());
            scene.kinds("s")
        };
        for _ in 0..3 {
            run(stays, exit_status(1));
        }
        assert_eq!(run(stays, exit_status(1)), [Kind::RepeatedFailedBuild]);
        assert_eq!(run(moves, exit_status(0)), []);
    }
    // A directory that the text can't tell: only the event before has it.
    let mut scene = Scene::new();
    let go = "cd $(git rev-parse --show-toplevel) && make";
    for _ in 0..3 {
        let call = scene.begin("s", "Bash", run_in("a/b", go));
        scene.end("s", call, exit_status(2), Report::default());
    }
    let mut call = scene.begin("s", "Bash", run_in("a/b", go));
    call.action = run_in("", go);
    assert_eq!(scene.kinds("s"), [Kind::RepeatedFailedBuild]);
    scene.end("s", call, exit_status(0), Report::default());
    assert_eq!(scene.kinds("s"), []);
}

#[test]
fn a_command_is_named_with_its_directory() {
    let mut scene = Scene::new();
    for _ in 0..3 {
        let call = scene.begin("s", "Bash", run_in("packages/a", "npm test"));
        scene.end("s", call, exit_status(1), Report::default());
    }
    let found = scene.findings("s");
    assert!(found[0].evidence.starts_with("`npm test` in packages/a failed 3 times"), "{found:?}");
    assert!(found[0].suggestion.starts_with("Run `npm test` in packages/a again"), "{found:?}");
    let block = scene.prompt("s");
    assert!(block.contains("build: npm test in packages/a (exit 1, "), "{block}");
}

#[test]
fn a_success_of_a_wider_run_resolves_a_narrow_one() {
    let red = |command| [Run(command, 1), Run(command, 1), Run(command, 1)];
    for (narrow, wide, resolved) in [
        ("pytest tests/test_x.py -x", "pytest -q", true),
        ("go test ./cart/...", "go test ./...", true),
        ("cargo test -p a", "cargo test --workspace", true),
        ("cargo test --lib cart", "cargo test cart --lib", true),
        ("cargo test -- --nocapture", "cargo test", true),
        ("go test ./...", "go test", false),
        ("make test", "make", false),
        ("make e2e", "make", false),
        ("cargo clippy --all-targets -- -D warnings", "cargo clippy", false),
        ("cargo build --target wasm32-unknown-unknown", "cargo build", false),
        ("npm run build -- --mode production", "npm run build", false),
        ("npx tsc -p packages/b", "npx tsc", false),
    ] {
        let [one, two, three] = red(narrow);
        let found = found(&[one, two, three, Run(wide, 0)]);
        let expected = format!("HIGH repeated_failed_build {narrow}");
        assert_eq!(found, if resolved { vec![] } else { vec![expected] }, "{narrow}, then {wide}");
    }
}

#[test]
fn a_test_is_one_with_its_suite() {
    const STUCK: &[&str] = &["MEDIUM test_stuck it_works"];
    const FAILED: &[&str] = &["it_works"];
    assert_found(&[
        (
            "of three packages",
            &[
                Tests("cargo test -p a", FAILED),
                Tests("cargo test -p b", FAILED),
                Tests("cargo test -p c", FAILED),
            ],
            &[],
        ),
        (
            "of one",
            &[
                Tests("cargo test -p a", FAILED),
                Tests("cargo test -p a --lib", FAILED),
                Tests("cargo test -p a it_works", FAILED),
            ],
            STUCK,
        ),
        (
            "passed in another package",
            &[
                Tests("cargo test -p a", FAILED),
                Tests("cargo test -p a --lib", FAILED),
                Tests("cargo test -p b it_works", &[]),
                Tests("cargo test -p a it_works", FAILED),
            ],
            STUCK,
        ),
        (
            "passed with those of all packages",
            &[
                Tests("cargo test -p a", FAILED),
                Tests("cargo test -p a --lib", FAILED),
                Tests("cargo test -p a it_works", FAILED),
                Tests("cargo test --workspace", &[]),
            ],
            &[],
        ),
    ]);
}

#[test]
fn every_failure_is_counted() {
    let evidence = |pace: u64, failures: u32| {
        let mut scene = Scene::new();
        scene.pace = Duration::from_secs(pace);
        for _ in 0..failures {
            scene.run("s", "make", 2);
        }
        scene.findings("s")[0].evidence.clone()
    };
    assert!(evidence(1, 30).starts_with("`make` failed 30 times "), "{}", evidence(1, 30));
    assert!(evidence(1, 300).starts_with("`make` failed 300 times "), "{}", evidence(1, 300));
    // Every two minutes, for an hour: those of the last half are meant.
    assert!(
        evidence(60, 30).starts_with("`make` failed 16 times in 30 min "),
        "{}",
        evidence(60, 30)
    );
}

#[test]
fn a_build_whose_end_is_told_first_is_one() {
    let mut scene = Scene::new();
    let call = tool_call("1", "Bash", run("cargo build"));
    scene.end("s", call.clone(), exit_status(101), Report::default());
    scene.take(&event("s", "PreToolUse", EventKind::PreToolUse(call)));
    let block = scene.prompt("s");
    assert!(block.contains("build: cargo build (exit 101, "), "{block}");
}
