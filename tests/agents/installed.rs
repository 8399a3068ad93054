//! What the real agents make of an installation, and of its removal.
#![cfg(unix)]

use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use super::blocks::assert_last_block;
use super::claude_code::{ClaudeCode, Transcript, final_text, hook_complaints};
use super::codex::{self, BYPASS_HOOK_TRUST, Codex};
use super::mock_anthropic::{self, MockAnthropic};
use super::mock_openai::{self, MockOpenai};
use crate::support::daemon::Daemon;
use crate::support::home::TestHome;
use crate::support::process::Run;

const LIMIT: Duration = Duration::from_secs(60);
const BOTH: [&str; 4] = ["--adapter", "claude-code", "--adapter", "codex"];
/// Everything by which a model knows of us.
const TEXTS: [&str; 2] = ["tma1-recall", "tma1-setup"];

fn with_both(verb: &str) -> [&str; 5] {
    [verb, BOTH[0], BOTH[1], BOTH[2], BOTH[3]]
}

/// A home with both agents in it.
fn home_of_both() -> TestHome {
    let home = TestHome::new();
    ClaudeCode::configure(&home, &json!({}));
    Codex::configure(&home, &json!({}));
    home
}

fn both() -> Option<(ClaudeCode, Codex)> {
    Some((ClaudeCode::installed()?, Codex::installed()?))
}

/// One turn of Claude Code on the search path `path`, without a complaint; its first request.
fn claude_turn(claude: &ClaudeCode, home: &TestHome, path: &str) -> Value {
    let mock = MockAnthropic::start([mock_anthropic::Turn::text("All done.")]);
    let mut command = claude.prompt_command(home, &mock, "go", &[]);
    let run = Run::of(command.env("PATH", path), LIMIT).succeeded();
    assert_eq!(final_text(&run), "All done.");
    assert_eq!(hook_complaints(&run, &Transcript::only(home)), [""; 0]);
    // So that the next one is the only one again.
    fs_err::remove_dir_all(home.home().join(".claude/projects")).unwrap();
    mock.conversation().swap_remove(0)
}

/// The same for Codex, whose user has not reviewed the hooks.
fn codex_turn(codex: &Codex, home: &TestHome, path: &str) -> Value {
    let mock = MockOpenai::start([mock_openai::Turn::text("All done.")]);
    let mut command = codex.exec_command(home, &mock, &[BYPASS_HOOK_TRUST, "go"]);
    let run = Run::of(command.env("PATH", path), LIMIT).succeeded();
    assert_eq!(run.stdout, "All done.\n");
    assert_eq!(codex::hook_complaints(&run), [""; 0]);
    mock.conversation().swap_remove(0)
}

const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

#[test]
fn the_agents_show_us_and_connect_and_after_an_uninstall_know_nothing_of_us() {
    let Some((claude, codex)) = both() else {
        return;
    };
    let home = home_of_both();
    home.tma1(&with_both("install")).succeeded();
    home.want_no_daemon();
    let daemon = Daemon::start(&home);

    let shown = claude.run(&home, &["mcp", "get", "tma1"]).succeeded().stdout;
    assert!(shown.contains("Connected") && shown.contains("mcp-serve"), "{shown}");
    let shown = claude.run(&home, &["mcp", "list"]).succeeded().stdout;
    assert!(shown.contains("tma1: ") && shown.contains("Connected"), "{shown}");
    let shown = codex.run(&home, &["mcp", "get", "tma1"]).succeeded().stdout;
    assert!(shown.contains("enabled: true") && shown.contains("mcp-serve"), "{shown}");

    for request in [claude_turn(&claude, &home, PATH), codex_turn(&codex, &home, PATH)] {
        let text = request.to_string();
        for name in TEXTS {
            assert!(text.contains(name), "no {name} in {request:#}");
        }
        assert!(text.contains("get_session_state"), "no MCP server in {request:#}");
    }

    home.tma1(&with_both("uninstall")).succeeded();
    drop(daemon);
    for unknown in
        [claude.run(&home, &["mcp", "get", "tma1"]), codex.run(&home, &["mcp", "get", "tma1"])]
    {
        assert_eq!(unknown.status, Some(1), "{unknown:#?}");
        let said = format!("{}{}", unknown.stdout, unknown.stderr);
        assert!(said.contains("No MCP server named"), "{unknown:#?}");
    }
    for request in [claude_turn(&claude, &home, PATH), codex_turn(&codex, &home, PATH)] {
        assert!(!request.to_string().contains("tma1"), "{request:#}");
    }
}

#[test]
fn a_file_that_claude_code_rewrote_needs_no_repair_and_hides_nothing() {
    let Some(claude) = ClaudeCode::installed() else {
        return;
    };
    let home = TestHome::new();
    ClaudeCode::configure(&home, &json!({}));
    let file = home.home().join(".claude/settings.json");
    let settings = || -> Value { serde_json::from_slice(&fs_err::read(&file).unwrap()).unwrap() };
    let before = settings();
    home.tma1(&["install", "--adapter", "claude-code"]).succeeded();
    let with_ids = fs_err::read_to_string(&file).unwrap();
    let market = home.root().join("market");
    fs_err::create_dir_all(market.join(".claude-plugin")).unwrap();
    let listing = json!({"name": "local", "owner": {"name": "dev"}, "plugins": []});
    fs_err::write(market.join(".claude-plugin/marketplace.json"), listing.to_string()).unwrap();

    let add = ["plugin", "marketplace", "add", market.to_str().unwrap()];
    claude.run(&home, &add).succeeded();

    let rewritten = fs_err::read_to_string(&file).unwrap();
    assert!(with_ids.contains("\"id\"") && !rewritten.contains("\"id\""), "{rewritten}");
    let again = home.tma1(&["install", "--adapter", "claude-code"]).succeeded();
    assert!(again.stdout.starts_with("Nothing to do"), "{again:#?}");
    assert_eq!(fs_err::read_to_string(&file).unwrap(), rewritten);
    home.tma1(&["uninstall", "--adapter", "claude-code"]).succeeded();
    let mut after = settings();
    let added = after.as_object_mut().unwrap().remove("extraKnownMarketplaces");
    assert!(added.is_some(), "{after:#}");
    // It was there, empty, before us.
    assert_eq!(after, before);
}

/// A search path with the programs of a small container: no curl, no network tools.
fn path_without_curl(home: &TestHome) -> String {
    let folder = home.tmp().join("bin");
    fs_err::create_dir(&folder).unwrap();
    for program in ["sh", "bash", "cat", "ls", "env", "uname"] {
        let found = ["/usr/bin", "/bin"].map(|folder| format!("{folder}/{program}"));
        let found = found.iter().find(|path| std::path::Path::new(path).exists());
        if let Some(found) = found {
            fs_err::os::unix::fs::symlink(found, folder.join(program)).unwrap();
        }
    }
    folder.to_str().unwrap().to_owned()
}

#[test]
fn a_turn_works_without_curl_or_without_the_program() {
    let Some((claude, codex)) = both() else {
        return;
    };
    let home = home_of_both();
    home.tma1(&with_both("install")).succeeded();
    home.want_no_daemon();
    let _daemon = Daemon::start(&home);
    let project = format!("project: {}", TestHome::PROJECT);
    let assert_told = |path: &str| {
        assert_last_block(&claude_turn(&claude, &home, path)["messages"], &[&project]);
        assert_last_block(&codex_turn(&codex, &home, path)["input"], &[&project]);
    };
    let small = path_without_curl(&home);
    let curl = Command::new("/bin/sh").args(["-c", "command -v curl"]).env("PATH", &small).output();
    assert!(!curl.unwrap().status.success());
    assert_told(&small);
    fs_err::rename(home.binary(), home.tmp().join("elsewhere")).unwrap();
    assert_told(PATH);
}
