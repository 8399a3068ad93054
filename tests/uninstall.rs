//! `tma1 uninstall` on the command line: everything goes, and nothing else.
#![cfg(unix)]

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use crate::support::daemon::Daemon;
use crate::support::home::{TestHome, copy_binary};
use crate::support::process::Run;
use crate::support::snapshot::assert_snapshot;
use crate::support::tree::{Node, tree};

const LIMIT: Duration = Duration::from_secs(30);

/// `tma1` in a build folder, so that an install copies it.
fn built(home: &TestHome) -> PathBuf {
    let folder = home.tmp().join("target");
    fs_err::create_dir_all(&folder).unwrap();
    let signature = "Signature: 8a477f597d28d172789f06886806bc55\n";
    fs_err::write(folder.join("CACHEDIR.TAG"), signature).unwrap();
    let program = folder.join("tma1");
    copy_binary(&program);
    program
}

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
fn a_purge_takes_single_files_where_the_user_has_others() {
    let home = TestHome::new();
    // `bin` and `data` of the user, which there happen to be ours too.
    for folder in [home.home(), home.home().join(".local")] {
        for (file, text) in [("bin/precious.sh", "x"), ("data/thesis.txt", "x")] {
            let path = folder.join(file);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, text).unwrap();
        }
    }
    fs_err::remove_file(home.binary()).unwrap();
    let program = built(&home);
    let files = || contents(&home).into_iter().filter(|node| !node.path.starts_with(home.tmp()));
    let before: Vec<_> = files().collect();
    for folder in [home.home(), home.home().join(".local")] {
        let variables = [("TMA1_DATA_DIR", folder.clone())];
        let run = |arguments: &[&str]| {
            let mut command = home.command(&program);
            command.args(arguments).envs(variables.clone());
            Run::of(&mut command, LIMIT).succeeded()
        };
        run(&["install", "--adapter", "claude-code"]);
        let mut serve = home.command(folder.join("bin/tma1"));
        serve.arg("serve").envs(variables.clone());
        drop(Daemon::start_command(&home, serve));
        assert!(folder.join("data/tma1.db").is_file());
        let purged = run(&["uninstall", "--adapter", "claude-code", "--purge-data"]);
        let said = |path: &str, rest: &str| {
            let name = folder.join(path).display().to_string();
            purged
                .stdout
                .contains(&format!("{}{rest}", name.replace(&*home.home().to_string_lossy(), "~")))
        };
        assert!(said("bin", " \u{2014} it also holds what is not of tma1"), "{purged:#?}");
        assert!(said("data/tma1.db", "\n"), "{purged:#?}");
        // The daemon has made it private.
        let left: Vec<_> = files().map(|node| Node { mode: 0, ..node }).collect();
        let before: Vec<_> = before.iter().cloned().map(|node| Node { mode: 0, ..node }).collect();
        assert_eq!(left, before, "{purged:#?}");
    }
}

/// Runs `tma1` with `variables` set, which must go well.
fn run(home: &TestHome, variables: &[(&str, &PathBuf)], arguments: &[&str]) -> Run {
    let mut command = home.tma1_command(arguments);
    command.envs(variables.iter().copied());
    Run::of(&mut command, LIMIT).succeeded()
}

#[test]
fn a_project_in_which_something_is_broken_can_be_left_out() {
    let home = TestHome::new();
    let before = contents(&home);
    home.tma1(&["install", "--adapter", "claude-code"]).succeeded();
    let project = home.project();
    fs_err::create_dir(project.join(".git")).unwrap();
    fs_err::write(project.join("CLAUDE.md"), "<!-- tma1:start -->\nmine\n").unwrap();
    let uninstall = ["uninstall", "--adapter", "claude-code"];
    let run = home.tma1(&uninstall);
    assert_eq!(run.status, Some(1), "{run:#?}");
    assert!(run.stderr.ends_with("; --skip-project-files leaves it alone\n"), "{run:#?}");
    home.tma1(&[&uninstall[..], &["--skip-project-files"]].concat()).succeeded();
    fs_err::remove_file(project.join("CLAUDE.md")).unwrap();
    fs_err::remove_dir(project.join(".git")).unwrap();
    assert_eq!(contents(&home), before);
}

/// What two profiles of one agent share.
const PROFILES: [(&str, &str, &[&str]); 2] = [
    ("claude-code", "CLAUDE_CONFIG_DIR", &[".tma1/hooks/tma1-hook.sh"]),
    (
        "codex",
        "CODEX_HOME",
        &[".tma1/hooks/tma1-hook-codex.sh", ".agents/skills/tma1-recall/SKILL.md"],
    ),
];

#[test]
fn what_another_profile_needs_stays_until_that_goes() {
    for (agent, variable, shared) in PROFILES {
        let home = TestHome::new();
        let (install, uninstall) =
            (["install", "--adapter", agent], ["uninstall", "--adapter", agent]);
        let before = contents(&home);
        let work = home.home().join("work dir");
        let profiles: [&[(&str, &PathBuf)]; 2] = [&[], &[(variable, &work)]];
        for [first, second] in [[0, 1], [1, 0]] {
            run(&home, profiles[0], &install);
            run(&home, profiles[1], &install);
            let said = run(&home, profiles[first], &uninstall).stdout;
            for file in shared {
                assert!(home.home().join(file).is_file(), "{said}");
                assert!(said.contains(&format!("{file} \u{2014} left in place: ~/")), "{said}");
            }
            let said = run(&home, profiles[second], &uninstall).stdout;
            assert_eq!(contents(&home), before, "{said}");
        }
    }
}

#[test]
fn what_the_usual_profile_needs_stays_even_without_the_receipt() {
    for (agent, variable, shared) in PROFILES {
        let home = TestHome::new();
        let work = home.home().join("work");
        run(&home, &[], &["install", "--adapter", agent]);
        run(&home, &[(variable, &work)], &["install", "--adapter", agent]);
        fs_err::remove_dir_all(home.home().join(".tma1/receipts")).unwrap();
        run(&home, &[(variable, &work)], &["uninstall", "--adapter", agent]);
        assert!(shared.iter().all(|file| home.home().join(file).is_file()));
        run(&home, &[], &["uninstall", "--adapter", agent]);
        assert!(!shared.iter().any(|file| home.home().join(file).exists()));
    }
}

#[test]
fn what_both_agents_read_through_a_link_stays_until_both_are_gone() {
    for first in ["claude-code", "codex"] {
        let second = if first == "codex" { "claude-code" } else { "codex" };
        let home = home_with_both_agents();
        fs_err::create_dir_all(home.home().join(".agents/skills")).unwrap();
        let link = home.home().join(".claude/skills");
        fs_err::os::unix::fs::symlink("../.agents/skills", link).unwrap();
        let before = contents(&home);
        run(&home, &[], &["install", "--adapter", "claude-code", "--adapter", "codex"]);
        let skill = home.home().join(".agents/skills/tma1-recall/SKILL.md");
        let said = run(&home, &[], &["uninstall", "--adapter", first]).stdout;
        assert!(skill.is_file(), "{said}");
        assert!(
            said.contains("skills/tma1-recall/SKILL.md \u{2014} left in place: ~/.c"),
            "{said}"
        );
        let said = run(&home, &[], &["uninstall", "--adapter", second]).stdout;
        assert_eq!(contents(&home), before, "{said}");
    }
}

#[test]
fn a_purge_leaves_the_program_to_the_agent_that_stays() {
    let home = TestHome::new();
    let program = built(&home);
    let both = ["--adapter", "claude-code", "--adapter", "codex"];
    let mut install = home.command(&program);
    Run::of(install.arg("install").args(both), LIMIT).succeeded();
    let copy = home.home().join(".tma1/bin/tma1");
    let purge = ["uninstall", "--purge-data", "--adapter"];
    let said = run(&home, &[], &[&purge[..], &["claude-code"]].concat()).stdout;
    assert!(copy.is_file(), "{said}");
    let expected =
        "Skipped ~/.tma1/bin \u{2014} left in place: ~/.codex/hooks.json still uses it\n";
    assert!(said.contains(expected), "{said}");
    assert!(!said.contains("--purge-data removes it"), "{said}");
    let said = run(&home, &[], &[&purge[..], &["codex"]].concat()).stdout;
    assert!(!home.home().join(".tma1").exists(), "{said}");
}

#[test]
fn a_purge_is_told_like_everything_else() {
    let home = TestHome::new();
    let mut install = home.command(built(&home));
    Run::of(install.args(["install", "--adapter", "claude-code"]), LIMIT).succeeded();
    drop(Daemon::start(&home));
    let purge = ["uninstall", "--adapter", "claude-code", "--purge-data"];
    let dry = home.tma1(&[&purge[..], &["--dry-run"]].concat()).succeeded();
    let is_told = |line: &&str| line.starts_with("Would") || line.ends_with("Nothing was written.");
    let dry: Vec<_> = dry.stdout.lines().filter(is_told).collect();
    let json = |arguments: &[&str]| -> Value {
        let run = home.tma1(&[&purge[..], &["--json"], arguments].concat()).succeeded();
        serde_json::from_str(&run.stdout).unwrap()
    };
    let planned = json(&["--dry-run"]);
    let said = home.tma1(&purge).succeeded().stdout;
    assert_snapshot("uninstall-purge", &format!("{}\n\n{said}", dry.join("\n")), &[]);
    // The same for programs.
    let mut install = home.command(built(&home));
    Run::of(install.args(["install", "--adapter", "claude-code"]), LIMIT).succeeded();
    drop(Daemon::start(&home));
    let done = json(&[]);
    assert_eq!(done["purged"], planned["purged"]);
    assert_eq!(done["skipped"], planned["skipped"]);
    let purged: Vec<_> =
        planned["purged"].as_array().unwrap().iter().map(Value::to_string).collect();
    assert!(purged.iter().any(|path| path.ends_with("/.tma1/data\"")), "{purged:?}");
    assert!(purged.iter().any(|path| path.ends_with("/.tma1/bin/tma1\"")), "{purged:?}");
    assert!(!home.home().join(".tma1").exists());
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
    assert_eq!(done["folders"], plan["folders"]);
    let again: Value = serde_json::from_str(&home.tma1(&install).succeeded().stdout).unwrap();
    assert_eq!(again["changes"], serde_json::json!([]));
}
