//! The real Codex, in a [`TestHome`].

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use super::mock_openai::{MockOpenai, Turn};
use crate::support::home::TestHome;
use crate::support::npm;
use crate::support::process::Run;

/// The longest that one prompt may take.
const PROMPT_LIMIT: Duration = Duration::from_secs(60);

/// Runs hooks that nobody has reviewed.
pub const BYPASS_HOOK_TRUST: &str = "--dangerously-bypass-hook-trust";

/// What a user has who works with a model of his own provider. Without a mock it reaches nobody.
const CONFIG: &str = r#"# My settings.
model = "gpt-5.5" # fast enough
model_provider = "mock"
check_for_update_on_startup = false

[features]
plugins = false # else their list is asked for at GitHub

[model_providers.mock]
name = "mock"
base_url = "http://127.0.0.1:9/v1"
wire_api = "responses"
env_key = "MOCK_KEY"
request_max_retries = 0
stream_max_retries = 0
"#;

/// The pinned Codex.
#[derive(Debug)]
pub struct Codex {
    pub program: PathBuf,
}

impl Codex {
    /// Installs it if need be; none where that can't be done, and the test is to be skipped.
    pub fn installed() -> Option<Self> {
        npm::CODEX.installed().map(|program| Self { program })
    }

    /// Writes the configuration of a user, with `hooks`.
    pub fn configure(home: &TestHome, hooks: &Value) {
        let directory = home.home().join(".codex");
        fs_err::create_dir_all(&directory).unwrap();
        fs_err::write(directory.join("config.toml"), CONFIG).unwrap();
        fs_err::write(directory.join("hooks.json"), json!({"hooks": hooks}).to_string()).unwrap();
    }

    /// Runs `codex exec`, which takes one prompt, works without a terminal and without the
    /// background server of Codex, and ends.
    pub fn exec(&self, home: &TestHome, mock: &MockOpenai, arguments: &[&str]) -> Run {
        Run::of(&mut self.exec_command(home, mock, arguments), PROMPT_LIMIT)
    }

    /// The same, to be started by the caller.
    pub fn exec_command(&self, home: &TestHome, mock: &MockOpenai, arguments: &[&str]) -> Command {
        let mut command = home.command(&self.program);
        command
            .env("MOCK_KEY", "sk-test-fake")
            .args(["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"])
            .args(["-c", &format!("model_providers.mock.base_url=\"{}/v1\"", mock.base_url())])
            .args(arguments);
        command
    }

    /// Runs a subcommand, which reaches no model.
    pub fn run(&self, home: &TestHome, arguments: &[&str]) -> Run {
        Run::of(home.command(&self.program).args(arguments), PROMPT_LIMIT)
    }
}

/// The id of the session that a run was about.
pub fn session_id(run: &Run) -> &str {
    run.stderr
        .lines()
        .find_map(|line| line.strip_prefix("session id: "))
        .unwrap_or_else(|| panic!("no session id: {run:#?}"))
}

/// The events whose hooks ran in a run, in order, as Codex shows them.
pub fn hooks_run(run: &Run) -> Vec<&str> {
    let lines = run.stderr.lines().filter_map(|line| line.strip_prefix("hook: "));
    lines.filter_map(|line| line.strip_suffix(" Completed")).collect()
}

/// Every line of a run that tells of a hook which did not go well.
pub fn hook_complaints(run: &Run) -> Vec<&str> {
    let lines = run.stderr.lines().filter(|line| line.to_lowercase().contains("hook"));
    lines.filter(|line| !went_well(line) && !line.contains(BYPASS_HOOK_TRUST)).collect()
}

/// `hook: Stop`, `hook: Stop Completed`.
fn went_well(line: &str) -> bool {
    let Some(event) = line.strip_prefix("hook: ") else { return false };
    !event.strip_suffix(" Completed").unwrap_or(event).contains(' ')
}

/// One group of one command, for one event.
pub fn hook(command: &str) -> Value {
    json!([{"hooks": [{"type": "command", "command": command, "timeout": 5}]}])
}

#[test]
fn a_hook_sees_its_payload_if_it_is_trusted_and_does_not_run_if_not() {
    let Some(codex) = Codex::installed() else {
        return;
    };
    let home = TestHome::new();
    let seen = home.tmp().join("payload.json");
    let copy = format!("cat > '{}'", seen.display());
    Codex::configure(&home, &json!({"Stop": hook(&copy)}));
    let mock =
        MockOpenai::start([Turn::text("Looking.").shell("echo h''i"), Turn::text("All done.")]);

    let run = codex.exec(&home, &mock, &[BYPASS_HOOK_TRUST, "go"]).succeeded();

    let [first, second] = mock.conversation().try_into().unwrap();
    assert!(!first.to_string().contains("_call_output"), "{first:#}");
    let results: Vec<_> = second["input"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|item| item["type"] == "function_call_output")
        .map(|item| item["output"].as_str().unwrap())
        .collect();
    assert!(matches!(results[..], [result] if result.contains("Output:\nhi\n")), "{results:?}");
    let payload: Value = serde_json::from_slice(&fs_err::read(&seen).unwrap()).unwrap();
    assert_eq!(payload["hook_event_name"], "Stop");
    assert_eq!(payload["session_id"], session_id(&run));
    assert_eq!(payload["cwd"], home.project().to_str().unwrap());
    assert_eq!(payload["last_assistant_message"], "All done.");
    assert_eq!(hooks_run(&run), ["Stop"]);
    assert_eq!(hook_complaints(&run), [""; 0]);

    fs_err::remove_file(&seen).unwrap();
    let mock = MockOpenai::start([Turn::text("All done.")]);
    let run = codex.exec(&home, &mock, &["go"]).succeeded();

    assert!(!seen.exists());
    // Codex says nothing of the hook that it leaves out.
    assert_eq!(hooks_run(&run), [""; 0]);
    assert_eq!(hook_complaints(&run), [""; 0]);
}

/// Keeps [`hook_complaints`] honest: it would be easy to look for what is never there.
#[test]
fn hooks_that_fail_leave_a_complaint() {
    let Some(codex) = Codex::installed() else {
        return;
    };
    for (event, command) in [
        ("SessionStart", "exit 3"),
        ("UserPromptSubmit", "/nonexistent/tma1 hook"),
        ("PreToolUse", "echo '{\"unknown\":1}'"),
        ("PostToolUse", "exit 3"),
        ("Stop", "echo words"),
    ] {
        let home = TestHome::new();
        Codex::configure(&home, &json!({event: hook(command)}));
        let mock = MockOpenai::start([Turn::default().shell("true"), Turn::text("All done.")]);

        let run = codex.exec(&home, &mock, &[BYPASS_HOOK_TRUST, "go"]).succeeded();

        assert_eq!(run.stdout, "All done.\n");
        assert_eq!(hook_complaints(&run), [format!("hook: {event} Failed")], "{run:#?}");
    }
}

#[test]
fn a_file_of_hooks_that_codex_ignores_leaves_a_complaint() {
    let Some(codex) = Codex::installed() else {
        return;
    };
    let home = TestHome::new();
    Codex::configure(&home, &json!({"Stop": "none"}));
    let mock = MockOpenai::start([Turn::text("All done.")]);
    let run = codex.exec(&home, &mock, &[BYPASS_HOOK_TRUST, "go"]).succeeded();
    let complaints = hook_complaints(&run);
    assert!(matches!(complaints[..], [one] if one.contains("hooks.json")), "{run:#?}");
}

/// An MCP server of one tool, as far as Codex asks.
const MCP_SERVER: &str = r#"#!/bin/sh
while read -r request; do
    id=${request#*'"id":'}
    id=${id%%[,\}]*}
    case $request in
    *'"initialize"'*) result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},
        "serverInfo":{"name":"notes","version":"1"},"instructions":"Finds notes."}' ;;
    *'"tools/list"'*) result='{"tools":[{"name":"find_note","description":"Finds a note",
        "inputSchema":{"type":"object","properties":{"word":{"type":"string"}}},
        "annotations":{"readOnlyHint":true}}]}' ;;
    *'"tools/call"'*) result='{"content":[{"type":"text","text":"the note of old"}]}' ;;
    *) continue ;;
    esac
    printf '%s\n' "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$result}" | tr -d '\n'
    echo
done
"#;

/// The ways to call a tool that no other test goes.
#[test]
fn the_model_finds_and_calls_the_tool_of_an_mcp_server() {
    let Some(codex) = Codex::installed() else {
        return;
    };
    let home = TestHome::new();
    Codex::configure(&home, &json!({}));
    let server = home.tmp().join("server.sh");
    fs_err::write(&server, MCP_SERVER).unwrap();
    let mock = MockOpenai::start([
        Turn::default().tool_search("note"),
        Turn::default().mcp("notes", "find_note", &json!({"word": "old"})),
        Turn::text("All done."),
    ]);
    let server = format!("mcp_servers.notes={{command='/bin/sh', args=['{}']}}", server.display());

    let run = codex.exec(&home, &mock, &["-c", &server, "go"]).succeeded();

    assert_eq!(run.stdout, "All done.\n");
    let [first, second, third] = mock.conversation().try_into().unwrap();
    assert!(first.to_string().contains("mcp__notes: Finds notes."), "{first:#}");
    assert!(!first.to_string().contains("find_note"), "{first:#}");
    assert!(second.to_string().contains("find_note"), "{second:#}");
    assert!(third.to_string().contains("the note of old"), "{third:#}");
}
