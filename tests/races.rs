//! Others write at the same time: more of us, and the agent itself.
#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tma1::clock;

use crate::support::home::TestHome;
use crate::support::scale;
use crate::support::tree::tree;

const STATE: &str = r#"{"numStartups": 0, "mcpServers": {"theirs": {"command": "theirs"}}}"#;
const SETTINGS: &str = r#"{"model": "opus", "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "bell"}]}]}}"#;
const CODEX_HOOKS: &str =
    r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "bell"}]}]}}"#;
const CODEX_CONFIG: &str = "model = \"gpt\" # mine\n\n[mcp_servers.theirs]\ncommand = \"theirs\"\n";

/// A home in which both agents have something of their user.
fn home_in_use() -> TestHome {
    let home = TestHome::new();
    for (file, text) in [
        (".claude.json", STATE),
        (".claude/settings.json", SETTINGS),
        (".codex/hooks.json", CODEX_HOOKS),
        (".codex/config.toml", CODEX_CONFIG),
    ] {
        let path = home.home().join(file);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }
    home
}

fn json_of(path: &Path) -> Value {
    serde_json::from_slice(&fs_err::read(path).unwrap()).unwrap()
}

fn temporary_files(home: &TestHome) -> Vec<PathBuf> {
    let is_temporary = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with(".tma1-") || name.contains(".old") || name.ends_with(".kept")
    };
    tree(home.root()).into_iter().map(|node| node.path).filter(is_temporary).collect()
}

/// Requires one entry of ours for each of `events` hooks, after those of the user.
#[track_caller]
fn assert_hooks(file: &Path, events: usize) {
    let hooks = json_of(file)["hooks"].as_object().unwrap().clone();
    assert_eq!(hooks.len(), events, "{hooks:#?}");
    for (event, groups) in hooks {
        let ours = groups.to_string().matches("tma1-hook").count();
        assert_eq!(ours, 1, "{event}: {groups:#}");
        if event == "Stop" {
            assert_eq!(groups[0]["hooks"][0]["command"], "bell");
        }
    }
}

#[test]
fn eight_at_once_take_turns() {
    const BOTH: [&str; 4] = ["--adapter", "claude-code", "--adapter", "codex"];
    for _ in 0..scale() {
        let home = home_in_use();
        std::thread::scope(|scope| {
            for number in 0..8 {
                let home = &home;
                scope.spawn(move || {
                    let verb = if number % 2 == 0 { "install" } else { "uninstall" };
                    let adapters = &BOTH[[0..4, 0..2, 2..4][number % 3].clone()];
                    home.tma1(&[&[verb], adapters].concat()).succeeded();
                });
            }
        });
        home.tma1(&[&["install"], &BOTH[..]].concat()).succeeded();
        let file = |name: &str| home.home().join(name);
        assert_hooks(&file(".claude/settings.json"), 25);
        assert_hooks(&file(".codex/hooks.json"), 5);
        assert_eq!(json_of(&file(".claude.json"))["mcpServers"].as_object().unwrap().len(), 2);
        let config = fs_err::read_to_string(file(".codex/config.toml")).unwrap();
        assert!(config.starts_with(CODEX_CONFIG), "{config}");
        assert_eq!(config.matches("[mcp_servers.tma1]").count(), 1, "{config}");
        assert_eq!(temporary_files(&home), [""; 0].map(PathBuf::from));

        home.tma1(&[&["uninstall"], &BOTH[..]].concat()).succeeded();
        for (name, text) in [
            (".claude.json", STATE),
            (".claude/settings.json", SETTINGS),
            (".codex/hooks.json", CODEX_HOOKS),
            (".codex/config.toml", CODEX_CONFIG),
        ] {
            assert_eq!(fs_err::read_to_string(file(name)).unwrap(), text);
        }
    }
}

/// How another program writes a file.
type Write = fn(&Path, &str);

fn by_rename(path: &Path, text: &str) {
    let beside = path.with_extension("json.tmp.theirs");
    fs_err::write(&beside, text).unwrap();
    fs_err::rename(beside, path).unwrap();
}

fn in_place(path: &Path, text: &str) {
    fs_err::write(path, text).unwrap();
}

/// The longest that a program takes from reading the file to writing it. `tma1` waits for twice as long.
const MAX_GAP: Duration = Duration::from_millis(25);

/// Counts up in the file every millisecond, as Claude Code does when it is busy, until it is told to
/// stop. Returns how often it wrote, and which of its updates it did not find when it came back.
fn count_up(path: &Path, write: Write, stop: &AtomicBool) -> (u64, Vec<String>) {
    let mut written = 0;
    let mut lost = Vec::new();
    let mut expected = 0;
    while !stop.load(Ordering::Relaxed) {
        let read_at = clock::monotonic();
        let mut state = json_of(path);
        let found = state["numStartups"].as_u64().unwrap();
        if found != expected {
            lost.push(format!("wrote {expected}, found {found}"));
        }
        expected = found + 1;
        state["numStartups"] = json!(expected);
        let text = serde_json::to_string_pretty(&state).unwrap();
        if clock::monotonic() - read_at > MAX_GAP {
            // The machine is busy with something else; it starts over.
            expected = found;
            continue;
        }
        write(path, &text);
        written += 1;
        std::thread::sleep(Duration::from_millis(1));
    }
    (written, lost)
}

/// Our entry, and whether those of the user are there, once the file is whole.
fn entries(path: &Path) -> (bool, bool) {
    let is_in = |state: &Value, name: &str| state["mcpServers"][name]["command"].is_string();
    let state = (0..1000)
        .find_map(|_| {
            let state = serde_json::from_slice(&fs_err::read(path).unwrap()).ok();
            state.or_else(|| {
                std::thread::sleep(Duration::from_millis(1));
                None
            })
        })
        .expect("the file is never whole");
    (is_in(&state, "tma1"), is_in(&state, "theirs"))
}

fn race(write: Write) {
    let home = home_in_use();
    let path = home.home().join(".claude.json");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| count_up(&path, write, &stop));
        let result = std::panic::catch_unwind(|| {
            for round in 0..5 * scale() {
                for (verb, is_installed) in [("install", true), ("uninstall", false)] {
                    home.tma1(&[verb, "--adapter", "claude-code"]).succeeded();
                    assert_eq!(entries(&path), (is_installed, true), "round {round}: {verb}");
                    // What the other had read before us, it has written by now.
                    std::thread::sleep(Duration::from_millis(3));
                    assert_eq!(entries(&path), (is_installed, true), "round {round}: {verb} later");
                }
            }
        });
        stop.store(true, Ordering::Relaxed);
        let (written, lost) = writer.join().unwrap();
        result.unwrap();
        // No system can compare and replace a file in one step. What comes between shows at once and
        // goes back, unless this takes longer than the other sleeps: when the disk makes a rename wait.
        let allowed = 1 + scale() / 40;
        assert!(lost.len() <= allowed, "of {written} updates: {lost:?}");
    });
    assert_eq!(temporary_files(&home), [""; 0].map(PathBuf::from));
}

#[test]
fn claude_code_that_keeps_replacing_its_file_loses_nothing_and_neither_do_we() {
    race(by_rename);
}

#[test]
fn a_program_that_keeps_rewriting_the_file_in_place_loses_nothing_and_neither_do_we() {
    race(in_place);
}
