//! `tma1 doctor` in homes that are broken in one way each: it names that fault and no other, and what it
//! suggests mends it.
#![cfg(unix)]

mod faults;
mod machine;
mod scene;
mod snapshots;

use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;
use tma1::clock;

use crate::support::home::TestHome;
use crate::support::other_version::OtherVersion;
use faults::{ADAPTERS, DAEMON, Fault, Mended, PROJECT, STORE, SURROUNDINGS};
use scene::Scene;

#[test]
fn a_healthy_home_is_silent_but_for_the_summary() {
    let scene = Scene::healthy();
    let run = scene.doctor(&[]).succeeded();
    let words: Vec<_> = run.stdout.split_whitespace().collect();
    assert!(matches!(words[..], ["All", _, "checks", "are", "fine."]), "{run:#?}");
    assert_eq!(run.stderr, "");
    let before = scene.tree();
    let verbose = scene.doctor(&["--verbose"]).succeeded().stdout;
    assert!(verbose.lines().filter(|line| line.starts_with("ok ")).count() > 30, "{verbose}");
    assert_eq!(scene.doctor(&["--fix", "--yes"]).succeeded().stdout.lines().count(), 1);
    assert_eq!(scene.changed_since(&before), Vec::<PathBuf>::new());
    // It looked by the way of the events, and there were none.
    assert_eq!(scene.events(), 0);
}

#[test]
fn each_fault_of_an_adapter_is_named_alone_and_mended() {
    prove(ADAPTERS);
}

#[test]
fn what_vanished_beside_us_is_named_and_accepted_by_an_install() {
    prove(SURROUNDINGS);
}

#[test]
fn each_fault_of_the_daemon_is_named_alone_and_mended() {
    prove(DAEMON);
}

#[cfg(target_os = "linux")]
#[test]
fn each_fault_of_the_service_is_named_alone_and_mended() {
    prove(faults::SERVICE);
}

#[test]
fn each_fault_of_the_store_is_named_alone_and_mended() {
    prove(STORE);
}

#[test]
fn each_fault_of_a_project_is_named_alone_and_mended() {
    prove(PROJECT);
}

#[test]
fn there_are_faults_enough() {
    let count =
        [ADAPTERS, SURROUNDINGS, DAEMON, STORE, PROJECT].map(<[_]>::len).iter().sum::<usize>();
    assert!(count >= 40, "{count}");
}

fn prove(faults: &[Fault]) {
    for fault in faults {
        let mut scene = Scene::healthy();
        (fault.make)(&mut scene);
        let found = scene.faults();
        let expected: Vec<_> = fault
            .named
            .iter()
            .map(|(status, name)| ((*status).to_owned(), (*name).to_owned()))
            .collect();
        assert_eq!(found.names(), expected, "{}: {found:#?}", fault.name);
        let fails = fault.named.iter().any(|(status, _)| *status == "failure");
        assert_eq!(found.status, Some(i32::from(fails)), "{}", fault.name);
        match fault.mended {
            Mended::Install => {
                let fixed = scene.doctor(&["--fix", "--yes"]);
                assert_healthy(&scene, fault.name, &fixed.stdout);
                (fault.make)(&mut scene);
                for command in scene.faults().commands() {
                    assert!(command.starts_with("tma1 install --adapter "), "{command}");
                    scene.shell(&command).succeeded();
                }
            }
            Mended::Command => {
                for command in found.commands() {
                    scene.shell(&command).succeeded();
                }
            }
            Mended::Hand(mend) => {
                // There is nothing that `--fix` could do about it, and it does nothing.
                let before = scene.tree();
                scene.doctor(&["--fix", "--yes"]);
                assert_eq!(scene.changed_since(&before), Vec::<PathBuf>::new(), "{}", fault.name);
                mend(&mut scene);
            }
        }
        assert_healthy(&scene, fault.name, "");
    }
}

#[track_caller]
fn assert_healthy(scene: &Scene, name: &str, said: &str) {
    // A daemon writes the hook scripts again a moment after it has started.
    let deadline = clock::monotonic() + Duration::from_secs(10);
    let mut found = scene.faults();
    while !found.names().is_empty() && clock::monotonic() < deadline {
        std::thread::sleep(Duration::from_millis(50));
        found = scene.faults();
    }
    assert_eq!(found.names(), [], "{name} is not mended: {found:#?}\n{said}");
    assert_eq!(found.status, Some(0), "{name}");
}

#[test]
fn a_daemon_of_another_version_is_named_and_replaced_whatever_it_says_of_itself() {
    let first = json!({"version": "0.0.1", "pid": 1, "port": 1, "uptime_s": 1, "sessions": 0,
                       "events_lost": 0});
    for status in [None, Some(&first), Some(&json!({"version": "0.0.1"}))] {
        let mut scene = Scene::healthy();
        scene.daemon = None;
        let other = OtherVersion::start(&scene.home, "0.0.1", true, status);
        let found = scene.faults();
        let expected = [("warning".to_owned(), "daemon-version".to_owned())];
        assert_eq!(found.names(), expected, "{status:?}: {found:#?}");
        let [command] = found.commands().try_into().unwrap();
        scene.shell(&command).succeeded();
        assert!(other.end());
        assert_healthy(&scene, "another version", "");
    }
}

#[test]
fn a_fix_of_one_thing_does_not_hide_what_else_has_vanished() {
    let mut scene = Scene::healthy();
    (SURROUNDINGS[0].make)(&mut scene);
    scene.remove("~/.tma1/hooks/tma1-hook.sh");
    assert_eq!(scene.faults().names().len(), 2);
    scene.doctor(&["--fix", "--yes"]);
    let expected = [("warning".to_owned(), "claude-code other-hooks".to_owned())];
    assert_eq!(scene.faults().names(), expected);
    // An entry of ours in the same file.
    scene.edit(scene::SETTINGS, |it| {
        drop(it["hooks"].as_object_mut().unwrap().remove("SessionEnd"));
    });
    scene.doctor(&["--fix", "--yes"]);
    assert_eq!(scene.faults().names(), expected);
    scene.shell("tma1 install --adapter claude-code --skip-project-files").succeeded();
    assert_healthy(&scene, "what vanished", "");
}

#[test]
fn without_an_install_there_is_one_thing_to_do() {
    let scene = Scene::uninstalled();
    let found = scene.faults();
    assert_eq!(found.names(), [("failure".to_owned(), "adapters".to_owned())], "{found:#?}");
    let [command] = found.commands().try_into().unwrap();
    scene.shell(&command).succeeded();
    assert_healthy(&scene, "no adapter", "");
}

#[test]
fn an_adapter_that_is_asked_for_is_looked_at_alone() {
    let scene = Scene::uninstalled();
    let found = scene.faults_of(&["--adapter", "codex"]);
    assert_eq!(found.names(), [("failure".to_owned(), "codex hooks".to_owned())]);
    let scene = Scene::healthy();
    scene.remove("~/.claude/settings.json");
    assert_eq!(scene.faults_of(&["--adapter", "codex"]).names(), []);
    assert_eq!(scene.faults_of(&["--adapter", "claude-code"]).names().len(), 1);
}

#[test]
fn a_fix_is_shown_first_and_written_only_when_it_is_agreed_to() {
    let scene = Scene::healthy();
    scene.remove("~/.tma1/hooks/tma1-hook.sh");
    let before = scene.tree();
    let run = scene.doctor(&["--fix"]);
    assert_eq!(run.status, Some(1));
    assert!(run.stdout.contains("+++ ~/.tma1/hooks/tma1-hook.sh"), "{run:#?}");
    assert!(run.stderr.contains("--yes"), "{run:#?}");
    assert_eq!(scene.changed_since(&before), Vec::<PathBuf>::new());
    let run = scene.doctor(&["--fix", "--yes"]).succeeded();
    assert!(run.stdout.contains("+++ ~/.tma1/hooks/tma1-hook.sh"), "{run:#?}");
    assert!(run.stdout.ends_with("checks are fine.\n"), "{run:#?}");
}

#[test]
fn a_daemon_that_is_away_stays_away() {
    let mut scene = Scene::healthy();
    scene.daemon = None;
    // What an install leaves would have hooks start one, were it not for doctor.
    let mut command = scene.doctor_command(&["--json"]);
    command.env_remove("TMA1_NO_AUTOSTART");
    let found = scene::Found::of(&mut command);
    assert_eq!(found.names(), [("failure".to_owned(), "daemon".to_owned())]);
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(scene.faults().names(), [("failure".to_owned(), "daemon".to_owned())]);
}

#[test]
fn the_port_that_the_hooks_know_is_the_one_that_counts_in_every_shell() {
    let scene = Scene::healthy();
    scene.remove("~/.tma1/hooks/tma1-hook.sh");
    let mut other_shell = scene.doctor_command(&["--json"]);
    other_shell.env_remove("TMA1_PORT");
    let found = scene::Found::of(&mut other_shell);
    assert_eq!(found.names(), [("failure".to_owned(), "claude-code script".to_owned())]);
    let command = found.commands().remove(0);
    let port = TestHome::port(&scene.home);
    assert!(command.starts_with(&format!("TMA1_PORT={port} tma1 install ")), "{command}");
}
