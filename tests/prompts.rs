//! What `tma1` asks at a terminal, and what comes of the answers.
#![cfg(unix)]

use std::process::{Command, Stdio};
use std::time::Duration;

use crate::support::home::TestHome;
use crate::support::process::Run;
use crate::support::terminal::{INTERRUPT, Seen, run_at_terminal};
use crate::support::tree::tree;

const WHICH: &str = "Wire tma1 into (space selects, enter goes on)";
const TRUST: &str = "Trust these hooks in Codex now?";
const CODEX: [&str; 3] = ["install", "--adapter", "codex"];
const SIGINT: i32 = 2;

/// An app-server that knows one hook of ours, and remembers in a file whether that is trusted.
const APP_SERVER: &str = r#"#!/bin/sh
cd "$HOME" || exit 1
echo started >>starts
while read -r line; do
    id=${line##*\"id\":}; id=${id%%[!0-9]*}
    case $line in
    *initialized*) continue ;;
    *initialize*) result='{}' ;;
    *config/batchWrite*) touch trusted; result='{}' ;;
    *) status=untrusted; if [ -e trusted ]; then status=trusted; fi
       result='{"data":[{"hooks":[{"key":"k:stop:0:0","sourcePath":"/h","eventName":"stop",
       "command":"'$HOME/.tma1/hooks/tma1-hook-codex.sh'","currentHash":"sha256:1",
       "trustStatus":"'$status'","enabled":true}]}]}' ;;
    esac
    printf '{"id":%s,"result":%s}\n' "$id" "$(echo "$result" | tr -d '\n')"
done
"#;

fn at_terminal(home: &TestHome, arguments: &[&str], answers: &[(&str, &str)]) -> Seen {
    let seen = run_at_terminal(command(home, arguments), answers);
    assert!(!seen.raw.contains("\x1b[?25l"), "the cursor is hidden: {seen:#?}");
    seen
}

/// `tma1` with the app-server on its PATH, if this home has it.
fn command(home: &TestHome, arguments: &[&str]) -> Command {
    let mut command = home.tma1_command(arguments);
    command.env("PATH", format!("{}:/usr/bin:/bin", home.tmp().display()));
    command
}

fn home_with_codex() -> TestHome {
    let home = TestHome::new();
    let codex = home.tmp().join("codex");
    fs_err::write(&codex, APP_SERVER).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs_err::set_permissions(codex, mode).unwrap();
    home
}

fn is_trusted(home: &TestHome) -> bool {
    home.home().join("trusted").exists()
}

/// How often the app-server was started.
fn starts(home: &TestHome) -> usize {
    fs_err::read_to_string(home.home().join("starts")).map_or(0, |starts| starts.lines().count())
}

#[test]
fn who_leaves_the_selection_by_whatever_key_has_done_nothing() {
    let home = TestHome::new();
    let before = tree(home.root());
    for (keys, signal) in [("\x1b", None), ("q", None), ("\r", None), (INTERRUPT, Some(SIGINT))] {
        let seen = at_terminal(&home, &["install"], &[(WHICH, keys)]);
        assert_eq!(seen.signal, signal, "{seen:#?}");
        if signal.is_none() {
            assert_eq!(seen.status, Some(0), "{seen:#?}");
            assert!(seen.text().ends_with("Nothing was written.\n"), "{seen:#?}");
        }
        assert_eq!(tree(home.root()), before);
    }
}

#[test]
fn what_is_selected_is_shown_and_confirmed() {
    for (keys, is_written) in [("y", true), ("n", false), ("\r", false), ("\x1b", false)] {
        let home = TestHome::new();
        let answers = [(WHICH, " \r"), ("Write this?", keys)];
        let seen = at_terminal(&home, &["install"], &answers);
        assert_eq!(seen.status, Some(0), "{seen:#?}");
        assert!(seen.text().contains("Would create ~/.claude/settings.json"), "{seen:#?}");
        assert_eq!(home.home().join(".claude/settings.json").exists(), is_written);
    }
    // A dry run has nothing to confirm.
    let home = TestHome::new();
    let seen = at_terminal(&home, &["install", "--dry-run"], &[(WHICH, " \r")]);
    assert!(seen.text().ends_with("Nothing was written.\n"), "{seen:#?}");
}

#[test]
fn trust_is_asked_for_once_it_is_missing_and_only_then() {
    let home = home_with_codex();
    let awaits = "Codex runs no new hook before you trust it";
    let seen = at_terminal(&home, &CODEX, &[(TRUST, "\r")]);
    assert_eq!(seen.status, Some(0), "{seen:#?}");
    assert!(seen.text().contains(awaits) && !is_trusted(&home), "{seen:#?}");
    let seen = at_terminal(&home, &CODEX, &[(TRUST, "y")]);
    assert!(seen.text().contains("Nothing to do: Codex is already set up."), "{seen:#?}");
    assert!(seen.text().contains("Codex runs the hooks in every session"), "{seen:#?}");
    assert!(is_trusted(&home));
    let seen = at_terminal(&home, &CODEX, &[]);
    assert_eq!(seen.text(), "Nothing to do: Codex is already set up.\n");
}

#[test]
fn nobody_is_asked_who_does_not_want_to_be_or_would_not_see_it() {
    let home = home_with_codex();
    for arguments in [&["--yes"][..], &["--json"], &["--dry-run"]] {
        let seen = at_terminal(&home, &[&CODEX[..], arguments].concat(), &[]);
        assert_eq!((seen.status, seen.text().contains(TRUST)), (Some(0), false), "{seen:#?}");
    }
    let redirected = |arguments: &[&str]| {
        let direct = command(&home, arguments);
        let mut shell = home.command("/bin/sh");
        shell.envs(direct.get_envs().filter_map(|(name, value)| Some((name, value?))));
        shell.current_dir(home.tmp()).args(["-c", "exec \"$@\" 2>errors", "sh"]);
        shell.arg(direct.get_program()).args(direct.get_args());
        run_at_terminal(shell, &[])
    };
    let errors = || fs_err::read_to_string(home.tmp().join("errors")).unwrap();
    assert_eq!((redirected(&CODEX).status, errors().as_str()), (Some(0), ""));
    assert_eq!(redirected(&["install"]).status, Some(2));
    assert!(errors().contains("There is no terminal to ask on."), "{}", errors());
    let purge = ["uninstall", "--adapter", "codex", "--purge-data"];
    assert_eq!((redirected(&purge).status, errors().as_str()), (Some(0), ""));
    assert_eq!(starts(&home), 0);
}

#[test]
fn a_flag_for_trust_is_checked_before_anything_is_written() {
    let home = home_with_codex();
    let before = tree(home.root());
    let trusting = |adapter, more: &[&str]| {
        let arguments = ["install", "--adapter", adapter, "--trust-codex-hooks"];
        let mut command = command(&home, &[&arguments[..], more].concat());
        Run::of(command.stdin(Stdio::null()), Duration::from_secs(30))
    };
    let run = trusting("claude-code", &[]);
    assert_eq!(run.status, Some(2), "{run:#?}");
    assert!(run.stderr.contains("hint: add --adapter codex"), "{run:#?}");
    let codex = home.tmp().join("codex");
    fs_err::rename(&codex, home.tmp().join("aside")).unwrap();
    for more in [&[][..], &["--dry-run"]] {
        let run = trusting("codex", more);
        assert_eq!((run.status, run.stdout.as_str()), (Some(1), ""), "{run:#?}");
        assert!(run.stderr.contains("there is no `codex` on the PATH"), "{run:#?}");
    }
    fs_err::rename(home.tmp().join("aside"), codex).unwrap();
    let run = trusting("codex", &["--dry-run"]).succeeded();
    let told = "Codex would be told that you trust the 5 hooks that run ";
    assert!(run.stdout.lines().last().unwrap().starts_with(told), "{run:#?}");
    assert_eq!(tree(home.root()).len(), before.len());
    let run = trusting("codex", &[]).succeeded();
    assert!(run.stdout.contains("Codex runs the hooks in every session"), "{run:#?}");
    assert!(is_trusted(&home));
}

#[test]
fn an_upgrade_that_leaves_the_hooks_alone_says_nothing_of_their_review() {
    let home = TestHome::new();
    let awaits = "Codex runs no new hook before you trust it";
    assert!(home.tma1(&CODEX).succeeded().stdout.contains(awaits));
    let mut moved = home.tma1_command(&CODEX);
    moved.env("TMA1_PORT", "23456");
    let run = Run::of(&mut moved, Duration::from_secs(30)).succeeded();
    assert!(run.stdout.contains("Updated ~/.tma1/hooks/tma1-hook-codex.sh"), "{run:#?}");
    assert!(!run.stdout.contains(awaits), "{run:#?}");
}
