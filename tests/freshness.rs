//! What a daemon of another version finds installed.
#![cfg(unix)]

use std::path::PathBuf;
use std::time::Duration;

use tma1::clock;

use crate::support::daemon::Daemon;
use crate::support::home::TestHome;
use crate::support::tree::tree;

const BOTH: [&str; 4] = ["--adapter", "claude-code", "--adapter", "codex"];

fn installed() -> TestHome {
    let home = TestHome::new();
    home.tma1(&[&["install", "--skip-project-files"], &BOTH[..]].concat()).succeeded();
    home
}

/// Runs a daemon until it has said a word about `what`, or for a while.
fn said(home: &TestHome, what: &str) -> Vec<String> {
    let _daemon = Daemon::start(home);
    let lines = || -> Vec<String> {
        let log = fs_err::read_to_string(home.tmp().join("daemon.log")).unwrap();
        log.lines().filter(|line| line.contains(what)).map(str::to_owned).collect()
    };
    let deadline = clock::monotonic() + Duration::from_millis(1500);
    while clock::monotonic() < deadline {
        std::thread::sleep(Duration::from_millis(20));
        if !lines().is_empty() {
            break;
        }
    }
    lines()
}

fn paths(home: &TestHome) -> Vec<PathBuf> {
    let nodes = tree(&home.home()).into_iter().map(|node| node.path);
    // What the daemon makes for itself.
    nodes.filter(|path| !path.starts_with(home.home().join(".tma1"))).collect()
}

#[test]
fn the_daemon_writes_its_hook_scripts_again_and_nothing_else() {
    let home = installed();
    let scripts =
        ["tma1-hook.sh", "tma1-hook-codex.sh"].map(|n| home.home().join(".tma1/hooks").join(n));
    let texts = scripts.each_ref().map(|script| fs_err::read_to_string(script).unwrap());
    for (script, text) in scripts.iter().zip(&texts) {
        let port = home.port().to_string();
        fs_err::write(script, text.replace("An agent must not", "An older").replace(&port, "1"))
            .unwrap();
    }
    let before = paths(&home);
    let is_fresh =
        || scripts.iter().zip(&texts).all(|(s, t)| fs_err::read_to_string(s).unwrap() == *t);
    assert!(!is_fresh());
    let daemon = Daemon::start(&home);
    let deadline = clock::monotonic() + Duration::from_secs(10);
    while !is_fresh() && clock::monotonic() < deadline {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(is_fresh());
    drop(daemon);
    assert_eq!(paths(&home), before);
    // The receipt knows what was written.
    home.tma1(&[&["uninstall"], &BOTH[..]].concat()).succeeded();
    assert!(scripts.iter().all(|script| !script.exists()));
}

#[test]
fn skills_that_are_out_of_date_are_named_with_what_mends_them() {
    let home = installed();
    assert_eq!(said(&home, "out of date"), [""; 0]);
    // What the user has made of a skill is theirs.
    let setup = home.home().join(".agents/skills/tma1-setup/SKILL.md");
    fs_err::write(&setup, "mine").unwrap();
    assert_eq!(said(&home, "out of date"), [""; 0]);
    fs_err::remove_dir_all(home.home().join(".claude/skills")).unwrap();
    let warnings = said(&home, "out of date");
    let [warning] = warnings.as_slice() else { panic!("{warnings:#?}") };
    for part in [
        "WARN",
        "adapter=\"claude-code\"",
        "stale_files=4",
        "fix=\"tma1 install --adapter claude-code\"",
    ] {
        assert!(warning.contains(part), "{part}: {warning}");
    }
    assert!(!home.home().join(".claude/skills").exists());
}

#[test]
fn where_nothing_is_installed_nothing_is_said_and_nothing_written() {
    let home = TestHome::new();
    let before = paths(&home);
    assert_eq!(said(&home, "installed"), [""; 0]);
    assert_eq!(paths(&home), before);
    assert!(!home.home().join(".tma1/hooks").exists());
}
