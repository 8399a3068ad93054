//! `tma1 uninstall` on the command line: everything goes, and nothing else.
#![cfg(unix)]

use serde_json::Value;

use crate::support::daemon::Daemon;
use crate::support::home::TestHome;
use crate::support::snapshot::assert_snapshot;
use crate::support::tree::{Node, tree};

/// Paths and contents, without times.
fn contents(home: &TestHome) -> Vec<Node> {
    tree(home.root()).into_iter().map(Node::without_time).collect()
}

fn home_with_both_agents() -> TestHome {
    let home = TestHome::new();
    for (file, text) in [
        (".claude/settings.json", "{\n    \"model\": \"opus\", \"hooks\": {\"Stop\": []}\n}"),
        (".codex/hooks.json", "{\"description\": \"mine\", \"hooks\": {}}"),
    ] {
        let path = home.home().join(file);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }
    home
}

#[test]
fn both_adapters_leave_no_trace() {
    for home in [TestHome::new(), home_with_both_agents()] {
        let before = contents(&home);
        let both = ["--adapter", "claude-code", "--adapter", "codex"];
        home.tma1(&[&["install"], &both[..]].concat()).succeeded();
        assert_ne!(contents(&home), before);
        let run = home.tma1(&[&["uninstall"], &both[..]].concat()).succeeded();
        assert_eq!(contents(&home), before, "{run:#?}");
    }
}

#[test]
fn one_adapter_leaves_the_other_alone() {
    let home = home_with_both_agents();
    home.tma1(&["install", "--adapter", "codex"]).succeeded();
    let with_codex = contents(&home);
    home.tma1(&["install", "--adapter", "claude-code"]).succeeded();
    home.tma1(&["uninstall", "--adapter", "claude-code"]).succeeded();
    let is_receipt = |node: &Node| node.path.ends_with("receipts/install.json");
    let but_receipt = |nodes: Vec<Node>| -> Vec<Node> {
        nodes.into_iter().filter(|node| !is_receipt(node)).collect()
    };
    assert_eq!(but_receipt(contents(&home)), but_receipt(with_codex));
}

#[test]
fn it_says_what_went_and_what_stays() {
    let home = home_with_both_agents();
    home.tma1(&["install", "--adapter", "claude-code"]).succeeded();
    let daemon = Daemon::start(&home);
    let pid = daemon.pid().to_string();
    let uninstall = ["uninstall", "--adapter", "claude-code"];
    let dry = home.tma1(&[&uninstall[..], &["--dry-run"]].concat()).succeeded();
    // Without the contents, which are in the snapshot of an install.
    let is_content = |line: &&str| {
        let is_header = line.starts_with("--- ") || line.starts_with("+++ ");
        line.starts_with(['-', '+', ' ', '@', '\\']) && !is_header
    };
    let headers: Vec<_> = dry.stdout.lines().filter(|line| !is_content(line)).collect();
    assert_snapshot("uninstall-dry-run", &home.anonymous(&headers.join("\n")), &[]);
    let run = home.tma1(&uninstall).succeeded();
    assert_snapshot("uninstall-report", &run.stdout, &[(&pid, "[PID]")]);
    drop(daemon);
    let again = home.tma1(&uninstall).succeeded();
    assert_snapshot("uninstall-again", &again.stdout, &[]);
}

#[test]
fn data_goes_only_when_it_is_named_and_known_to_be_ours() {
    let home = home_with_both_agents();
    let before = contents(&home);
    home.tma1(&["install", "--adapter", "claude-code"]).succeeded();
    let daemon = Daemon::start(&home);
    let purge = ["uninstall", "--adapter", "claude-code", "--purge-data"];
    let run = home.tma1(&purge);
    assert_eq!(run.status, Some(1), "{run:#?}");
    assert!(run.stderr.contains("is not removed: a daemon is using it"), "{run:#?}");
    drop(daemon);
    home.tma1(&["uninstall", "--adapter", "claude-code"]).succeeded();
    assert!(home.home().join(".tma1/data/tma1.db").is_file());
    let stranger = home.home().join(".tma1/data/.tma1-owned");
    fs_err::rename(&stranger, home.tmp().join("aside")).unwrap();
    let run = home.tma1(&purge);
    assert_eq!(run.status, Some(1), "{run:#?}");
    assert!(run.stderr.contains("it may not be ours"), "{run:#?}");
    fs_err::rename(home.tmp().join("aside"), stranger).unwrap();
    home.tma1(&purge).succeeded();
    let logs: Vec<_> =
        contents(&home).into_iter().filter(|node| !node.path.ends_with("daemon.log")).collect();
    assert_eq!(logs, before);
}

#[test]
fn the_plan_is_there_for_programs_too() {
    let home = home_with_both_agents();
    let install = ["install", "--adapter", "claude-code", "--json"];
    let dry = home.tma1(&[&install[..], &["--dry-run"]].concat()).succeeded();
    let plan: Value = serde_json::from_str(&dry.stdout).unwrap();
    assert_eq!(plan["dry_run"], true);
    let is_settings = |change: &&Value| change["path"].to_string().contains("settings.json");
    let settings = plan["changes"].as_array().unwrap().iter().find(is_settings).unwrap();
    assert_eq!(settings["action"], "update");
    assert_eq!(settings["hooks"], "25 hooks added");
    assert!(settings["diff"].as_str().unwrap().contains("tma1-hook.sh"), "{plan:#}");
    let done: Value = serde_json::from_str(&home.tma1(&install).succeeded().stdout).unwrap();
    assert_eq!(done["changes"], plan["changes"]);
    let again: Value = serde_json::from_str(&home.tma1(&install).succeeded().stdout).unwrap();
    assert_eq!(again["changes"], serde_json::json!([]));
}
