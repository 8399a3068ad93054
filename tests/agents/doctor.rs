//! What doctor says where the real agents run none of our hooks.
#![cfg(unix)]

use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use super::claude_code::{ClaudeCode, final_text};
use super::codex::{BYPASS_HOOK_TRUST, Codex, hook, hooks_run};
use super::mock_anthropic::{self, MockAnthropic};
use super::mock_openai::{MockOpenai, Turn};
use crate::support::daemon::Daemon;
use crate::support::home::TestHome;
use crate::support::process::Run;

const LIMIT: Duration = Duration::from_secs(60);
const ALL: [&str; 3] = ["SessionStart", "UserPromptSubmit", "Stop"];

/// The names of what doctor calls a failure.
fn failures(home: &TestHome) -> Vec<String> {
    let run = home.tma1(&["doctor", "--json"]);
    let report: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run:#?}"));
    let checks = report["checks"].as_array().unwrap().iter();
    let failed = checks.filter(|check| check["status"] == "failure");
    failed.map(|check| check["name"].as_str().unwrap().to_owned()).collect()
}

/// How many events are in the log.
fn events(home: &TestHome) -> i64 {
    let log = rusqlite::Connection::open(home.home().join(".tma1/data/tma1.db")).unwrap();
    log.query_row("SELECT count(*) FROM tma1_hook_events", [], |row| row.get(0)).unwrap()
}

#[test]
fn hooks_that_are_switched_off_in_claude_code_do_not_run_and_are_told_of() {
    let Some(claude) = ClaudeCode::installed() else {
        return;
    };
    let off = json!({"disableAllHooks": true}).to_string();
    for (switch, is_on) in [
        (None, true),
        (Some("user"), false),
        (Some("settings.json"), false),
        (Some("settings.local.json"), false),
    ] {
        let home = TestHome::new();
        ClaudeCode::configure(&home, &json!({}));
        home.tma1(&["install", "--adapter", "claude-code", "--skip-project-files"]).succeeded();
        let _daemon = Daemon::start(&home);
        match switch {
            None => {}
            Some("user") => {
                let file = home.home().join(".claude/settings.json");
                let text = fs_err::read_to_string(&file).unwrap();
                let text = text.replacen('{', "{\"disableAllHooks\": true,", 1);
                fs_err::write(file, text).unwrap();
            }
            Some(name) => {
                fs_err::create_dir(home.project().join(".claude")).unwrap();
                fs_err::write(home.project().join(".claude").join(name), &off).unwrap();
            }
        }
        let expected = if is_on { Vec::new() } else { vec!["hooks-enabled".to_owned()] };
        assert_eq!(failures(&home), expected, "{switch:?}");
        let mock = MockAnthropic::start([mock_anthropic::Turn::text("All done.")]);
        let run = claude.prompt(&home, &mock, "go", &[]).succeeded();
        assert_eq!(final_text(&run), "All done.");
        assert_eq!(events(&home) > 0, is_on, "{switch:?}");
    }
}

/// A home with Codex, our hooks and a daemon; `tma1` finds this Codex on the PATH.
fn codex_home() -> (TestHome, Daemon) {
    let home = TestHome::new();
    Codex::configure(&home, &json!({}));
    home.tma1(&["install", "--adapter", "codex", "--skip-project-files"]).succeeded();
    let daemon = Daemon::start(&home);
    (home, daemon)
}

/// The events whose hooks run in one turn.
fn turn(codex: &Codex, home: &TestHome, options: &[&str]) -> Vec<String> {
    let mock = MockOpenai::start([Turn::text("All done.")]);
    let run = codex.exec(home, &mock, &[options, &["go"]].concat()).succeeded();
    hooks_run(&run).into_iter().map(str::to_owned).collect()
}

/// `tma1` with this Codex on the PATH.
fn tma1_beside(codex: &Codex, home: &TestHome, line: &str) -> Run {
    let folder = home.tmp().join("bin");
    fs_err::create_dir_all(&folder).unwrap();
    for (name, program) in [("codex", &codex.program), ("tma1", &home.binary())] {
        fs_err::os::unix::fs::symlink(program, folder.join(name)).unwrap();
    }
    let mut command: Command = home.command("/bin/sh");
    command.args(["-c", line]).env("PATH", format!("{}:/usr/bin:/bin", folder.display()));
    Run::of(&mut command, LIMIT)
}

#[test]
fn hooks_that_are_switched_off_in_codex_do_not_run_and_are_told_of() {
    let Some(codex) = Codex::installed() else {
        return;
    };
    for (switch, expected) in [
        ("plugins", vec![]),
        ("hooks", vec!["hooks-enabled"]),
        ("codex_hooks", vec!["hooks-enabled"]),
    ] {
        let (home, _daemon) = codex_home();
        let config = home.home().join(".codex/config.toml");
        let text = fs_err::read_to_string(&config).unwrap();
        let line = format!("[features]\n{switch} = false\nplugins = false");
        let line = line.replacen("plugins = false\nplugins", "plugins", 1);
        fs_err::write(&config, text.replace("[features]\nplugins = false", &line)).unwrap();
        let found: Vec<_> = failures(&home).into_iter().filter(|name| name != "trust").collect();
        assert_eq!(found, expected, "{switch}");
        let ran = turn(&codex, &home, &[BYPASS_HOOK_TRUST]);
        assert_eq!(ran.is_empty(), !expected.is_empty(), "{switch}: {ran:?}");
    }
}

#[test]
fn hooks_that_codex_does_not_trust_do_not_run_and_what_is_suggested_mends_it() {
    let Some(codex) = Codex::installed() else {
        return;
    };
    let (home, _daemon) = codex_home();
    assert_eq!(failures(&home), ["trust"]);
    assert_eq!(turn(&codex, &home, &[]), [""; 0]);
    let run = home.tma1(&["doctor", "--json", "--adapter", "codex"]);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    let checks = report["checks"].as_array().unwrap();
    let trust = checks.iter().find(|check| check["name"] == "trust").unwrap();
    let fix = trust["fix"].as_str().unwrap();
    let (_, arguments) = fix.split_once(' ').unwrap();
    tma1_beside(&codex, &home, &format!("tma1 {arguments}")).succeeded();
    assert_eq!(failures(&home), [""; 0]);
    assert_eq!(turn(&codex, &home, &[]), ALL);

    // A hook of somebody else takes the place by which ours is trusted.
    let file = home.home().join(".codex/hooks.json");
    let mut hooks: Value = serde_json::from_slice(&fs_err::read(&file).unwrap()).unwrap();
    let stops = hooks["hooks"]["Stop"].as_array_mut().unwrap();
    stops.insert(0, hook("true")[0].clone());
    fs_err::write(&file, hooks.to_string()).unwrap();
    assert_eq!(failures(&home), ["trust"]);
    assert_eq!(turn(&codex, &home, &[]), ["SessionStart", "UserPromptSubmit"]);
}
