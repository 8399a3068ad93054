//! What each rule means: what it finds, and the near misses that it does not.

use std::time::Duration;

use serde_json::json;

use super::Step::*;
use super::assert_found;
use crate::world::anomaly::Kind;
use crate::world::scene::{Scene, key, path};
use crate::world::{Observation, Usage};

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
            &["HIGH stale_file_view /etc/hosts"],
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
        ("it had succeeded", &[Run("make", 0), Edit("src/cart.rs"), Run("make", 2)], BROKEN),
        ("it was never run", &[Edit("src/cart.rs"), Run("make", 2)], BROKEN),
        (
            "twice",
            &[Run("make", 0), Edit("src/cart.rs"), Run("make", 2), Edit("b.rs"), Run("make", 2)],
            BROKEN,
        ),
        (
            "a subagent's edit is the session's",
            &[Sub(&Edit("src/cart.rs")), Run("make", 2)],
            BROKEN,
        ),
        (
            "an interrupted run says nothing",
            &[Edit("src/cart.rs"), Interrupt("make"), Run("make", 2)],
            BROKEN,
        ),
        (
            "three times, too far apart to be repeated",
            &[
                Edit("src/cart.rs"),
                Run("make", 2),
                Wait(20),
                Run("make", 2),
                Wait(20),
                Run("make", 2),
            ],
            &["HIGH build_broken_after_my_edit make"],
        ),
        (
            "at three in half an hour it is the other rule's",
            &[Edit("src/cart.rs"), Run("make", 2), Run("make", 2), Run("make", 2)],
            &["HIGH repeated_failed_build make"],
        ),
        (
            "red, then green",
            &[Edit("src/cart.rs"), Run("make", 2), Edit("src/cart.rs"), Run("make", 0)],
            &[],
        ),
        ("flaky", &[Run("make", 0), Edit("src/cart.rs"), Run("make", 2), Run("make", 0)], &[]),
        ("green in general", &[Edit("src/cart.rs"), Run("pytest a", 2), Run("pytest", 0)], &[]),
        (
            "green in particular",
            &[Edit("src/cart.rs"), Run("pytest", 2), Run("pytest a", 0)],
            &["MEDIUM build_broken_after_my_edit pytest"],
        ),
        (
            "green in general before",
            &[Edit("src/cart.rs"), Run("pytest", 0), Run("pytest a", 2)],
            &["MEDIUM build_broken_after_my_edit pytest a"],
        ),
        ("no edit", &[Run("make", 0), Run("make", 2)], &[]),
        (
            "broken before the first edit",
            &[Run("make", 2), Edit("src/cart.rs"), Run("make", 2)],
            &[],
        ),
        (
            "broken without an edit",
            &[
                Edit("src/cart.rs"),
                Run("make", 0),
                Run("make", 2),
                Edit("src/cart.rs"),
                Run("make", 2),
            ],
            &[],
        ),
        ("a document", &[Run("make", 0), Edit("README.md"), Run("make", 2)], &[]),
        ("its own formatter", &[Run("make", 0), Format("a.rs"), Run("make", 2)], &[]),
        (
            "another session's edit",
            &[Run("make", 0), Other(&Edit("src/cart.rs")), Run("make", 2)],
            &[],
        ),
        ("another session's build", &[Edit("src/cart.rs"), Other(&Run("make", 2))], &[]),
        ("an edit elsewhere", &[Run("make", 0), Edit("/etc/hosts"), Run("make", 2)], &[]),
        ("no build", &[Edit("src/cart.rs"), Run("ls", 2)], &[]),
        ("a failed edit", &[Run("make", 0), FailEdit("src/cart.rs"), Run("make", 2)], &[]),
        ("interrupted", &[Run("make", 0), Edit("src/cart.rs"), Interrupt("make")], &[]),
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

// Far enough apart not to be `repeated_failed_build` too.
#[test]
fn test_stuck() {
    assert_found(&[
        (
            "three times",
            &[
                Tests("cargo test", &["adds", "sums"]),
                Wait(20),
                Tests("cargo test", &["adds", "other"]),
                Wait(20),
                Tests("cargo test", &["adds"]),
            ],
            &["MEDIUM test_stuck adds"],
        ),
        (
            "by several commands",
            &[
                Tests("cargo test", &["adds"]),
                Tests("cargo test adds", &["adds"]),
                Tests("cargo test -v", &["adds"]),
            ],
            &["MEDIUM test_stuck adds"],
        ),
        (
            "a run that was not built between",
            &[
                Tests("cargo test", &["adds"]),
                Wait(20),
                Run("cargo test", 101),
                Wait(20),
                Tests("cargo test", &["adds"]),
                Wait(20),
                Tests("cargo test", &["adds"]),
            ],
            &["MEDIUM test_stuck adds"],
        ),
        (
            "another command's pass",
            &[
                Tests("cargo test", &["adds"]),
                Wait(20),
                Tests("cargo test", &["adds"]),
                Run("make", 0),
                Wait(20),
                Tests("cargo test", &["adds"]),
            ],
            &["MEDIUM test_stuck adds"],
        ),
    ]);
}

#[test]
fn test_not_stuck() {
    assert_found(&[
        ("twice", &[Tests("cargo test", &["adds"]), Tests("cargo test", &["adds"])], &[]),
        (
            "a pass between",
            &[
                Tests("cargo test", &["adds"]),
                Tests("cargo test", &["adds"]),
                Tests("cargo test", &[]),
                Tests("cargo test", &["adds"]),
            ],
            &[],
        ),
        (
            "it passed while another failed",
            &[
                Tests("cargo test", &["adds"]),
                Tests("cargo test", &["adds"]),
                Wait(20),
                Tests("cargo test", &["sums"]),
                Wait(20),
                Tests("cargo test", &["adds"]),
            ],
            &[],
        ),
        (
            "flaky",
            &[
                Tests("cargo test", &["adds"]),
                Tests("cargo test", &["adds"]),
                Tests("cargo test", &["adds"]),
                Tests("cargo test", &[]),
            ],
            &[],
        ),
        (
            "it passed alone",
            &[
                Tests("cargo test", &["cart::adds"]),
                Wait(20),
                Tests("cargo test", &["cart::adds"]),
                Wait(20),
                Tests("cargo test", &["cart::adds"]),
                Tests("cargo test adds", &[]),
            ],
            &[],
        ),
        (
            "it passed with all others",
            &[
                Tests("cargo test -p a", &["adds"]),
                Wait(20),
                Tests("cargo test -p a", &["adds"]),
                Wait(20),
                Tests("cargo test -p a", &["adds"]),
                Tests("cargo test --workspace", &[]),
            ],
            &[],
        ),
        (
            "three tests",
            &[
                Tests("cargo test", &["adds"]),
                Wait(20),
                Tests("cargo test", &["sums"]),
                Wait(20),
                Tests("cargo test", &["other"]),
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
fn the_window_is_pressed_until_it_is_well_below_the_limit() {
    let pressure = "context_pressure";
    let mut scene = Scene::new();
    // Well within the time after which everything is said again.
    scene.pace = Duration::from_secs(1);
    scene.prompt("s");
    let said = [141_000, 139_000, 141_500, 126_000, 142_000].map(|used| {
        scene.fill_window("s", used, 200_000);
        scene.prompt("s").contains(pressure)
    });
    assert_eq!(said, [true, false, false, false, false]);
    // A transcript in the middle of which the reading stopped says nothing of it.
    let usage = Usage { input: 90_000, output: 400_000, ..Usage::default() };
    scene.observe(&Observation::Usage { session: key("s"), usage });
    assert_eq!(scene.kinds("s"), [Kind::ContextPressure]);
    assert!(!scene.prompt("s").contains(pressure));
    scene.fill_window("s", 125_999, 200_000);
    assert_eq!(scene.kinds("s"), []);
    scene.fill_window("s", 140_000, 200_000);
    assert!(scene.prompt("s").contains(pressure));
}

#[test]
fn what_was_used_never_gets_less() {
    let mut scene = Scene::new();
    scene.prompt("s");
    for (input, output) in [(500, 90), (100, 20), (501, 0)] {
        let usage = Usage { input, output, ..Usage::default() };
        scene.observe(&Observation::Usage { session: key("s"), usage });
    }
    assert!(scene.prompt("s").contains("tokens: in=501 out=90\n"));
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
fn a_change_that_is_reported_late_counts_from_when_it_was_made() {
    let mut scene = Scene::new();
    let made_at = scene.now;
    scene.read("s", "a.rs");
    let change = Observation::ExternalChange { path: path("a.rs"), removed: false };
    scene.world.observe(&change, made_at);
    assert_eq!(scene.kinds("s"), []);
    scene.world.observe(&change, scene.now);
    assert_eq!(scene.kinds("s"), [], "at the same moment the order can't be told");
    scene.observe(&change);
    assert_eq!(scene.kinds("s"), [Kind::ExternalModifiedDuringSession]);
}

#[test]
fn a_file_that_was_deleted_is_not_to_be_read_again() {
    let mut scene = Scene::new();
    scene.pace = Duration::from_secs(1);
    scene.read("s", "a.rs");
    scene.read("s", "b.rs");
    scene.change("a.rs");
    scene.delete("a.rs");
    let removed = vec![path("b.rs")];
    let written = Vec::new();
    let session = key("other");
    scene.observe(&Observation::Edited { session, by_subagent: false, written, removed });
    let said = |scene: &Scene| scene.findings("s").into_iter().map(|it| it.suggestion);
    assert_eq!(
        said(&scene).collect::<Vec<_>>(),
        [
            "Do not rely on what you saw of b.rs: it was deleted by the claude-code session other \
             just now.",
            "Do not rely on what you saw of a.rs: it was deleted from outside just now.",
        ]
    );
    // It is there again.
    scene.change("a.rs");
    assert!(said(&scene).any(|it| it.starts_with("Re-read a.rs ")));
    scene.delete("b.rs");
    scene.reject_edit("s", "b.rs");
    assert!(said(&scene).any(|it| it.starts_with("Find out whether b.rs is still wanted ")));
}

#[test]
fn an_edit_that_only_its_file_tells_of_is_an_edit() {
    let mut scene = Scene::new();
    scene.read("other", "a.rs");
    scene.read("s", "a.rs");
    let edited = |by_subagent| Observation::Edited {
        session: key("s"),
        by_subagent,
        written: vec![path("a.rs"), path("new.rs")],
        removed: vec![path("old.rs")],
    };
    scene.observe(&edited(false));
    assert_eq!(scene.kinds("s"), []);
    assert_eq!(scene.kinds("other"), [Kind::ExternalModifiedDuringSession]);
    let block = scene.prompt("s");
    assert!(block.contains("current_focus: new.rs\n"), "{block}");
    scene.change("a.rs");
    // A subagent's model does not know what the session's has seen.
    for (by_subagent, kind) in
        [(true, Kind::ExternalModifiedDuringSession), (false, Kind::StaleFileView)]
    {
        scene.observe(&edited(by_subagent));
        assert_eq!(scene.kinds("s"), [kind]);
    }
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
        json!([{
            "kind": "build_broken_after_my_edit",
            "severity": "medium",
            "channel": "prompt",
            "evidence": "`cargo test` failed once, last just now (exit 101): error[E0308]: mismatched types; it \
                     had succeeded 6 min ago",
        "suggestion": "Run `cargo test` again after fixing src/cart.rs:12: it has failed since your edit of \
                       src/cart.rs and src/shop.rs.",
        "related_files": ["src/cart.rs", "src/shop.rs"],
        }])
    );
}
