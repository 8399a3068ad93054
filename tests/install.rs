//! `tma1 install` on the command line, and the files that it leaves.
#![cfg(unix)]

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use crate::support::home::{TestHome, copy_binary};
use crate::support::process::Run;
use crate::support::snapshot::assert_snapshot;
use crate::support::tree::tree;

pub const INSTALL: [&str; 3] = ["install", "--adapter", "claude-code"];

/// Four blanks, an order of its own, odd spellings, hooks of others.
const SETTINGS: &str = r#"{
    "zeta": 1.0e5,
    "model": "op\u0075s",
    "hooks": {
        "Stop": [
            {
                "hooks": [
                    {"type": "command", "command": "notify-send done"}
                ]
            }
        ],
        "WorktreeCreate": []
    },
    "alpha": [1,   2]
}
"#;

pub fn settings(home: &TestHome) -> PathBuf {
    home.home().join(".claude/settings.json")
}

pub fn script(home: &TestHome) -> PathBuf {
    home.home().join(".tma1/hooks/tma1-hook.sh")
}

fn home_with_settings(text: &str) -> TestHome {
    let home = TestHome::new();
    fs_err::create_dir(home.home().join(".claude")).unwrap();
    fs_err::write(settings(&home), text).unwrap();
    home
}

#[test]
fn every_byte_of_the_user_is_kept() {
    let home = home_with_settings(SETTINGS);
    home.tma1(&INSTALL).succeeded();
    let after = fs_err::read_to_string(settings(&home)).unwrap();
    let mut kept = after.lines();
    for line in SETTINGS.lines() {
        // A line may get a comma after it, and nothing else.
        assert!(kept.any(|other| other == line || other.strip_suffix(',') == Some(line)), "{line}");
    }
    let parsed: Value = serde_json::from_str(&after).unwrap();
    assert_eq!(parsed["hooks"].as_object().unwrap().len(), 26);
    assert_eq!(parsed["hooks"]["Stop"][1]["id"], "tma1");
}

#[test]
fn a_dry_run_writes_nothing_and_shows_what_a_real_run_writes() {
    let home = home_with_settings(SETTINGS);
    let before = tree(home.root());
    let diff = home.tma1(&[&INSTALL[..], &["--dry-run"]].concat()).succeeded().stdout;
    assert_eq!(tree(home.root()), before);
    let of_file = |name: &str| {
        let header = format!("+++ ~/{name}");
        diff.split("--- ").find(|file| file.contains(&header)).unwrap_or_else(|| panic!("{diff}"))
    };
    home.tma1(&INSTALL).succeeded();
    let script_diff = of_file(".tma1/hooks/tma1-hook.sh");
    assert_eq!(patched("", script_diff), fs_err::read_to_string(script(&home)).unwrap());
    let settings_diff = of_file(".claude/settings.json");
    let after = fs_err::read_to_string(settings(&home)).unwrap();
    assert_eq!(patched(SETTINGS, settings_diff), after);
    assert!(diff.ends_with("1 updated. Nothing was written.\n"), "{diff}");
}

/// Applies the hunks of `diff` to `text`.
fn patched(text: &str, diff: &str) -> String {
    let mut old = text.split_inclusive('\n').enumerate().peekable();
    let mut new = String::new();
    for line in diff.split_inclusive('\n').skip(2) {
        let (tag, rest) = line.split_at(1);
        match tag {
            "@" => {
                let start = rest.split(['-', ',']).nth(1).unwrap();
                let start: usize = start.parse().unwrap();
                while let Some((_, kept)) = old.next_if(|(index, _)| index + 1 < start) {
                    new += kept;
                }
            }
            " " => {
                assert_eq!(old.next().unwrap().1, rest);
                new += rest;
            }
            "-" => assert_eq!(old.next().unwrap().1, rest),
            "+" => new += rest,
            _ => break,
        }
    }
    new.extend(old.map(|(_, kept)| kept));
    new
}

#[test]
fn a_second_run_touches_nothing() {
    let home = home_with_settings(SETTINGS);
    home.tma1(&INSTALL).succeeded();
    let before = tree(home.root());
    let run = home.tma1(&INSTALL).succeeded();
    assert_eq!(run.stdout, "Nothing to do: Claude Code is already set up.\n");
    assert_eq!(tree(home.root()), before);
}

#[test]
fn a_run_says_what_it_did_and_bakes_in_the_path_by_which_it_was_started() {
    let home = TestHome::new();
    let run = home.tma1(&INSTALL).succeeded();
    assert_snapshot("install-report", &run.stdout, &[]);
    let script = fs_err::read_to_string(script(&home)).unwrap();
    assert!(script.contains(&format!("tma1={}\n", home.binary().display())), "{script}");
}

#[test]
fn a_program_in_a_build_folder_is_copied() {
    let home = TestHome::new();
    let build = home.home().join("target/debug");
    fs_err::create_dir_all(&build).unwrap();
    let tag = "Signature: 8a477f597d28d172789f06886806bc55\n";
    fs_err::write(home.home().join("target/CACHEDIR.TAG"), tag).unwrap();
    copy_binary(&build.join("tma1"));
    let run = |program| Run::of(home.command(program).args(INSTALL), Duration::from_secs(30));
    let said = run(build.join("tma1")).succeeded().stdout;
    assert!(said.contains("\nCreated ~/.tma1/bin/tma1\n"), "{said}");
    let copy = home.home().join(".tma1/bin/tma1");
    assert_eq!(fs_err::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o755);
    let script = fs_err::read_to_string(script(&home)).unwrap();
    assert!(script.contains(&format!("tma1={}\n", copy.display())), "{script}");
    assert!(run(copy.clone()).succeeded().stdout.starts_with("Nothing to do"));
    // A newer build replaces it, and a purge takes it.
    let mut newer = fs_err::read(home.binary()).unwrap();
    newer.push(0);
    fs_err::write(build.join("tma1"), newer).unwrap();
    let said = run(build.join("tma1")).succeeded().stdout;
    assert!(said.contains("Updated ~/.tma1/bin/tma1\n"), "{said}");
    home.tma1(&["uninstall", "--adapter", "claude-code"]).succeeded();
    assert!(copy.is_file());
    home.tma1(&["uninstall", "--adapter", "claude-code", "--purge-data"]).succeeded();
    assert!(!home.home().join(".tma1").exists());
}

#[test]
fn a_refusal_exits_with_1_and_writes_nothing() {
    let home = home_with_settings("{\n  \"hooks\": {},\n}");
    let before = tree(home.root());
    let run = home.tma1(&INSTALL);
    assert_eq!((run.status, run.stdout.as_str()), (Some(1), ""));
    assert_snapshot("install-refusal", &home.anonymous(&run.stderr), &[]);
    assert_eq!(tree(home.root()), before);
}

#[test]
fn wrong_usage_exits_with_2() {
    let home = TestHome::new();
    for adapter in [&["--adapter", "emacs"][..], &["--adapter"], &[]] {
        let run = home.tma1(&[&["install"], adapter].concat());
        assert_eq!(run.status, Some(2), "{run:#?}");
    }
}

#[test]
fn a_place_that_is_not_there_is_named_with_what_to_do() {
    let home = TestHome::new();
    let run = home.tma1(&[&INSTALL[..], &["--project", "missing"]].concat());
    assert_eq!(run.status, Some(1), "{run:#?}");
    assert!(run.stderr.starts_with("error: the project can't be found\n"), "{run:#?}");
    assert!(run.stderr.contains("`missing`") && run.stderr.contains("\nhint: "), "{run:#?}");
    let gone = home.tmp().join("gone");
    fs_err::create_dir(&gone).unwrap();
    let script = format!("rmdir '{}'; exec \"$@\"", gone.display());
    let mut shell = home.command("/bin/sh");
    shell.current_dir(&gone).args(["-c", &script, "sh"]).arg(home.binary()).args(INSTALL);
    let run = Run::of(&mut shell, Duration::from_secs(30));
    assert_eq!(run.status, Some(1), "{run:#?}");
    assert!(run.stderr.starts_with("error: the working directory can't be found\n"), "{run:#?}");
    assert!(run.stderr.contains("\nhint: "), "{run:#?}");
}

#[test]
fn a_name_of_a_file_does_not_steer_the_terminal() {
    let home = TestHome::new();
    let project = home.root().join("x\u{1b}[8m\nCreated y\r\u{202e}");
    fs_err::create_dir(&project).unwrap();
    let run = |more: &[&str]| {
        home.tma1(&[&INSTALL[..], &["--project", project.to_str().unwrap()], more].concat())
    };
    let shown = |text: &str| {
        assert!(text.contains(r"/x\u{1b}[8m\u{a}Created y\u{d}\u{202e}/CLAUDE.md"), "{text}");
        assert!(!text.contains(['\u{1b}', '\r', '\u{202e}']), "{text:?}");
    };
    shown(&run(&["--dry-run"]).succeeded().stdout);
    shown(&run(&[]).succeeded().stdout);
    fs_err::write(project.join("CLAUDE.md"), "<!-- tma1:start -->\n").unwrap();
    let refusal = run(&[]);
    assert_eq!(refusal.status, Some(1), "{refusal:#?}");
    shown(&refusal.stderr);
}

#[test]
fn who_can_not_read_the_report_is_told_that_all_was_done() {
    let run = |home: &TestHome, output: &str| {
        let mut shell = home.command("/bin/sh");
        shell.args(["-c", &format!("exec \"$@\" {output}"), "sh"]).arg(home.binary()).args(INSTALL);
        Run::of(&mut shell, Duration::from_secs(30))
    };
    if cfg!(target_os = "linux") {
        let home = TestHome::new();
        let full = run(&home, ">/dev/full");
        assert_eq!(full.status, Some(1), "{full:#?}");
        assert!(full.stderr.starts_with("error: all was done, but the report"), "{full:#?}");
        assert!(script(&home).is_file());
    }
    // Nobody wants to read it.
    let home = TestHome::new();
    let closed = run(&home, "| true");
    assert_eq!((closed.status, closed.stderr.as_str()), (Some(0), ""));
    assert!(script(&home).is_file());
}
