//! What an install remembers of what it found, and an uninstall of what it left.
#![cfg(unix)]

use std::path::PathBuf;
use std::time::Duration;

use crate::support::home::TestHome;
use crate::support::process::Run;
use crate::support::snapshot::assert_snapshot;
use crate::support::tree::{Node, tree};

const INSTALL: [&str; 3] = ["install", "--adapter", "claude-code"];
const UNINSTALL: [&str; 3] = ["uninstall", "--adapter", "claude-code"];
const SKILL: &str = ".claude/skills/tma1-recall/SKILL.md";
const LIMIT: Duration = Duration::from_secs(30);

fn receipt(home: &TestHome) -> PathBuf {
    home.home().join(".tma1/receipts/install.json")
}

/// Paths and contents, without times.
fn contents(home: &TestHome) -> Vec<Node> {
    tree(home.root()).into_iter().map(Node::without_time).collect()
}

/// Runs `tma1` in the folder `name` of HOME, with `variables` set to others there.
fn run_in(home: &TestHome, name: &str, variables: &[(&str, &str)], arguments: &[&str]) -> Run {
    let mut command = home.tma1_command(arguments);
    command.current_dir(home.home().join(name));
    command.envs(variables.iter().map(|(name, value)| (name, home.home().join(value))));
    Run::of(&mut command, LIMIT).succeeded()
}

/// What a run says of files that stay.
fn skipped(run: &Run) -> Vec<&str> {
    let is_common = |line: &&str| {
        line.ends_with("it is not there") || line.ends_with("there is nothing of ours in it")
    };
    let lines = run.stdout.lines().filter(|line| line.starts_with("Skipped "));
    lines.filter(|line| !is_common(line)).collect()
}

fn make_repository(home: &TestHome, name: &str) {
    fs_err::create_dir_all(home.home().join(name).join(".git")).unwrap();
}

#[test]
fn what_an_uninstall_does_not_reach_is_named_with_the_command_that_takes_it() {
    let home = TestHome::new();
    for project in ["code/p", "code/it's q"] {
        make_repository(&home, project);
        run_in(&home, project, &[], &INSTALL);
    }
    run_in(&home, "", &[("CLAUDE_CONFIG_DIR", ".claude-work")], &INSTALL);
    run_in(&home, "", &[], &["install", "--adapter", "codex"]);
    let first = run_in(&home, "", &[], &UNINSTALL);
    let again = run_in(&home, "", &[], &UNINSTALL);
    let said = format!("{}\n{}", skipped(&first).join("\n"), again.stdout);
    assert_snapshot("uninstall-elsewhere", &home.anonymous(&said), &[]);
    // The commands do what they are said to.
    let mut commands: Vec<_> = skipped(&again)
        .into_iter()
        .filter_map(|line| line.split_once("to take it away: "))
        .map(|(_, command)| command)
        .collect();
    commands.push("tma1 uninstall --adapter codex");
    assert_eq!(commands.len(), 4);
    for command in commands {
        let search_path = format!("{}:/usr/bin:/bin", home.binary().parent().unwrap().display());
        let mut shell = home.command("/bin/sh");
        shell.env("PATH", search_path).args(["-c", command]);
        Run::of(&mut shell, LIMIT).succeeded();
    }
    let left: Vec<_> = contents(&home)
        .into_iter()
        .map(|node| home.anonymous(&node.path.display().to_string()))
        .collect();
    let ours: Vec<_> =
        left.iter().filter(|path| path.contains("tma1") && !path.contains("/bin/tma1")).collect();
    assert_eq!(ours, [""; 0]);
    assert!(!left.iter().any(|path| path.ends_with("CLAUDE.md")), "{left:?}");
}

#[test]
fn files_that_are_gone_are_forgotten() {
    let home = TestHome::new();
    let before = contents(&home);
    make_repository(&home, "p");
    run_in(&home, "p", &[], &INSTALL);
    fs_err::remove_dir_all(home.home().join("p")).unwrap();
    let run = home.tma1(&UNINSTALL).succeeded();
    assert_eq!(skipped(&run), [""; 0]);
    assert_eq!(contents(&home), before);
}

#[test]
fn a_block_that_the_user_took_out_is_forgotten() {
    let home = TestHome::new();
    make_repository(&home, "p");
    run_in(&home, "p", &[], &INSTALL);
    fs_err::write(home.home().join("p/CLAUDE.md"), "# Mine\n").unwrap();
    let run = home.tma1(&UNINSTALL).succeeded();
    assert_eq!(skipped(&run), [""; 0]);
    assert!(!home.home().join(".tma1").exists());
}

#[test]
fn the_entry_in_a_state_file_that_was_in_use_before_goes_too() {
    for [first, later] in
        [[".claude.json", ".claude/.config.json"], [".claude/.config.json", ".claude.json"]]
    {
        let home = TestHome::new();
        let (first, later) = (home.home().join(first), home.home().join(later));
        fs_err::create_dir_all(home.home().join(".claude")).unwrap();
        fs_err::write(&first, "{\"a\": 1}").unwrap();
        home.tma1(&INSTALL).succeeded();
        if first.ends_with(".config.json") {
            fs_err::rename(&first, home.tmp().join("aside")).unwrap();
            home.tma1(&INSTALL).succeeded();
            fs_err::rename(home.tmp().join("aside"), &first).unwrap();
        } else {
            fs_err::write(&later, "{\"b\": 2}").unwrap();
        }
        home.tma1(&UNINSTALL).succeeded();
        let state = fs_err::read_to_string(&first).unwrap();
        assert_eq!(state, "{\"a\": 1}");
        assert!(!fs_err::read_to_string(&later).is_ok_and(|text| text.contains("tma1")));
    }
}

#[test]
fn an_install_with_another_data_directory_is_named() {
    for agent in ["claude-code", "codex"] {
        let home = TestHome::new();
        let root = [("TMA1_DATA_DIR", "data dir")];
        run_in(&home, "", &root, &["install", "--adapter", agent]);
        let run = home.tma1(&["uninstall", "--adapter", agent]).succeeded();
        let folder = home.home().join("data dir");
        let command =
            format!("TMA1_DATA_DIR='{}' tma1 uninstall --adapter {agent}", folder.display());
        let expected =
            format!("Skipped ~/data dir \u{2014} left in place; to take it away: {command}");
        assert_eq!(skipped(&run), [&expected]);
        run_in(&home, "", &root, &["uninstall", "--adapter", agent]);
        assert!(!folder.exists());
    }
}

#[test]
fn a_file_that_the_user_made_in_the_place_of_ours_is_given_back() {
    let home = TestHome::new();
    make_repository(&home, "p");
    let files = [
        (".claude/settings.json", "{}"),
        (".claude.json", "{}\n"),
        (".codex/hooks.json", "{}"),
        (".codex/config.toml", ""),
        ("p/CLAUDE.md", ""),
        ("p/AGENTS.md", "\n"),
    ];
    let both = ["--adapter", "claude-code", "--adapter", "codex"];
    run_in(&home, "p", &[], &[&["install"], &both[..]].concat());
    for (file, text) in files {
        fs_err::write(home.home().join(file), text).unwrap();
    }
    run_in(&home, "p", &[], &[&["install"], &both[..]].concat());
    run_in(&home, "p", &[], &[&["uninstall"], &both[..]].concat());
    for (file, text) in files {
        assert_eq!(fs_err::read_to_string(home.home().join(file)).unwrap(), text, "{file}");
    }
}

#[test]
fn the_folders_above_the_data_directory_go_with_it() {
    for root in ["a/b/tma1", ".claude/tma1", ".tma1"] {
        let home = TestHome::new();
        let before = contents(&home);
        run_in(&home, "", &[("TMA1_DATA_DIR", root)], &INSTALL);
        let run = run_in(&home, "", &[("TMA1_DATA_DIR", root)], &UNINSTALL);
        assert_eq!(skipped(&run), [""; 0]);
        assert_eq!(contents(&home), before, "{root}");
    }
}

#[test]
fn a_data_directory_that_was_there_stays_as_it_was() {
    for file in [None, Some(".tma1/mine")] {
        let home = TestHome::new();
        fs_err::create_dir(home.home().join(".tma1")).unwrap();
        if let Some(file) = file {
            fs_err::write(home.home().join(file), "mine").unwrap();
        }
        let before = contents(&home);
        home.tma1(&INSTALL).succeeded();
        home.tma1(&UNINSTALL).succeeded();
        assert_eq!(contents(&home), before, "{file:?}");
    }
}

#[test]
fn a_folder_of_ours_that_holds_a_file_of_the_user_is_named() {
    let home = TestHome::new();
    home.tma1(&INSTALL).succeeded();
    fs_err::write(home.home().join(".claude/skills/tma1-recall/notes.md"), "mine").unwrap();
    let run = home.tma1(&UNINSTALL).succeeded();
    assert_eq!(
        skipped(&run),
        [
            "Skipped ~/.claude/skills/tma1-recall \u{2014} it also holds what is not of tma1, so it stays"
        ]
    );
    assert!(!home.home().join(".tma1").exists());
}

#[test]
fn a_text_that_the_user_changed_stays_ours_to_replace_or_forget() {
    let home = TestHome::new();
    let before = contents(&home);
    home.tma1(&INSTALL).succeeded();
    let skill = home.home().join(SKILL);
    let shipped = fs_err::read(&skill).unwrap();
    fs_err::write(&skill, "changed").unwrap();
    let run = home.tma1(&UNINSTALL).succeeded();
    let expected = format!(
        "Skipped ~/{SKILL} \u{2014} you have changed it, so it stays; remove it if you do not need it"
    );
    assert_eq!(skipped(&run), [&expected]);
    assert_eq!(fs_err::read_to_string(&skill).unwrap(), "changed");
    home.tma1(&[&INSTALL[..], &["--force"]].concat()).succeeded();
    assert_eq!(fs_err::read(&skill).unwrap(), shipped);
    // Once the user has removed it, nothing is left.
    fs_err::write(&skill, "changed").unwrap();
    home.tma1(&UNINSTALL).succeeded();
    fs_err::remove_file(&skill).unwrap();
    home.tma1(&UNINSTALL).succeeded();
    assert_eq!(contents(&home), before);
}

/// A place whose name the receipt can't hold is refused, for what is in the receipt would be lost.
#[cfg(target_os = "linux")]
#[test]
fn a_path_that_is_not_text_is_refused_before_anything_is_written() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let home = TestHome::new();
    let folder = home.home().join(OsStr::from_bytes(b"p\xff"));
    fs_err::create_dir(&folder).unwrap();
    home.tma1(&INSTALL).succeeded();
    home.tma1(&["install", "--adapter", "codex"]).succeeded();
    let before = tree(home.root());
    for (adapter, variable) in
        [("claude-code", Some("CLAUDE_CONFIG_DIR")), ("codex", Some("CODEX_HOME")), ("codex", None)]
    {
        let mut command = home.tma1_command(&["install", "--adapter", adapter]);
        match variable {
            Some(variable) => command.env(variable, &folder),
            None => command.arg("--project").arg(&folder),
        };
        let run = Run::of(&mut command, LIMIT);
        assert_eq!(run.status, Some(1), "{run:#?}");
        assert!(run.stderr.contains("its name is not UTF-8 text\nhint: rename it"), "{run:#?}");
        assert_eq!(tree(home.root()), before);
    }
    assert!(receipt(&home).is_file());
}
