//! The real Claude Code, in a [`TestHome`].

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use super::mock_anthropic::{MockAnthropic, Turn};
use crate::support::home::TestHome;
use crate::support::npm;
use crate::support::process::Run;

/// The longest that one prompt may take.
const PROMPT_LIMIT: Duration = Duration::from_secs(60);

const API_KEY: &str = "sk-test-fake";

/// The pinned Claude Code.
#[derive(Debug)]
pub struct ClaudeCode {
    program: PathBuf,
}

impl ClaudeCode {
    /// Installs it if need be; none where that can't be done, and the test is to be skipped.
    pub fn installed() -> Option<Self> {
        npm::CLAUDE_CODE.installed().map(|program| Self { program })
    }

    /// Writes the configuration that a user has who answered every first question, with `hooks`.
    pub fn configure(home: &TestHome, hooks: &Value) {
        let project = home.project();
        let state = json!({
            "hasCompletedOnboarding": true,
            "theme": "dark",
            "customApiKeyResponses": {"approved": [API_KEY], "rejected": []},
            "projects": {
                project.to_str().unwrap(): {"hasTrustDialogAccepted": true, "allowedTools": []},
            },
        });
        let settings = json!({"skipDangerousModePermissionPrompt": true, "hooks": hooks});
        let directory = home.home().join(".claude");
        fs_err::create_dir_all(&directory).unwrap();
        fs_err::write(home.home().join(".claude.json"), state.to_string()).unwrap();
        fs_err::write(directory.join("settings.json"), settings.to_string()).unwrap();
    }

    /// Runs one prompt without a terminal and prints the events of the run as JSON lines.
    pub fn prompt(
        &self,
        home: &TestHome,
        mock: &MockAnthropic,
        prompt: &str,
        options: &[&str],
    ) -> Run {
        Run::of(&mut self.prompt_command(home, mock, prompt, options), PROMPT_LIMIT)
    }

    /// The same, to be started by the caller.
    pub fn prompt_command(
        &self,
        home: &TestHome,
        mock: &MockAnthropic,
        prompt: &str,
        options: &[&str],
    ) -> Command {
        let mut command = self.command(home);
        command
            .env("ANTHROPIC_BASE_URL", mock.base_url())
            .args(["--dangerously-skip-permissions", "--verbose"])
            .args(["--output-format", "stream-json"])
            .args(options)
            .args(["-p", prompt]);
        command
    }

    /// A session in a terminal, to be started by the caller.
    pub fn terminal_command(&self, home: &TestHome, mock: &MockAnthropic) -> Command {
        let mut command = self.command(home);
        command.env("ANTHROPIC_BASE_URL", mock.base_url()).arg("--dangerously-skip-permissions");
        command
    }

    /// Runs a subcommand, which reaches no model.
    pub fn run(&self, home: &TestHome, arguments: &[&str]) -> Run {
        Run::of(self.command(home).args(arguments), PROMPT_LIMIT)
    }

    fn command(&self, home: &TestHome) -> Command {
        let mut command = home.command(&self.program);
        command
            .env("ANTHROPIC_API_KEY", API_KEY)
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .env("CLAUDE_CODE_MAX_RETRIES", "1")
            .env("CLAUDE_CODE_TMPDIR", home.tmp())
            .env("DISABLE_AUTOUPDATER", "1")
            .env("DISABLE_ERROR_REPORTING", "1")
            .env("DISABLE_TELEMETRY", "1")
            // Else root may not skip permissions.
            .env("IS_SANDBOX", "1");
        command
    }
}

/// The final answer of a run, as the user reads it.
pub fn final_text(run: &Run) -> String {
    let result = json_lines(&run.stdout)
        .into_iter()
        .find(|event| event["type"] == "result")
        .unwrap_or_else(|| panic!("no result: {run:#?}"));
    assert_eq!(result["is_error"], false, "{result:#}");
    result["result"].as_str().unwrap().to_owned()
}

/// The record that Claude Code keeps of a session.
#[derive(Debug)]
pub struct Transcript {
    pub session_id: String,
    pub lines: Vec<Value>,
}

impl Transcript {
    /// The one transcript of `home`.
    pub fn only(home: &TestHome) -> Self {
        let mut transcripts = Vec::new();
        for project in fs_err::read_dir(home.home().join(".claude/projects")).unwrap() {
            let files = fs_err::read_dir(project.unwrap().path()).unwrap();
            transcripts.extend(
                files
                    .map(|file| file.unwrap().path())
                    .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl")),
            );
        }
        let [path] = transcripts.as_slice() else {
            panic!("expected one transcript: {transcripts:?}");
        };
        Self {
            session_id: path.file_stem().unwrap().to_str().unwrap().to_owned(),
            lines: json_lines(&fs_err::read_to_string(path).unwrap()),
        }
    }
}

/// Everything in a run and its transcript that tells of a hook which did not go well.
pub fn hook_complaints(run: &Run, transcript: &Transcript) -> Vec<String> {
    let stream = json_lines(&run.stdout);
    let events = stream.iter().filter(|event| is_hook_failure(event));
    let lines = transcript.lines.iter().filter(|line| is_hook_failure(line));
    let shown = run.stderr.lines().filter(|line| line.to_lowercase().contains("hook"));
    events.chain(lines).map(Value::to_string).chain(shown.map(str::to_owned)).collect()
}

fn is_hook_failure(line: &Value) -> bool {
    const WENT_WELL: [&str; 2] = ["hook_additional_context", "hook_success"];
    let attachment = line["attachment"]["type"].as_str().unwrap_or_default();
    let errors = line["hookErrors"].as_array().is_some_and(|errors| !errors.is_empty());
    let notice = line["subtype"] == "notification" && line["key"].to_string().contains("hook");
    let response = line["subtype"] == "hook_response" && line["outcome"] != "success";
    (attachment.starts_with("hook_") && !WENT_WELL.contains(&attachment))
        || errors
        || notice
        || response
}

fn json_lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

/// One group of one command, for one event.
fn hook(command: &str) -> Value {
    json!([{"matcher": "", "hooks": [{"type": "command", "command": command, "timeout": 5}]}])
}

#[test]
fn a_hook_sees_its_payload_and_the_model_sees_the_result_of_the_tool() {
    let Some(claude) = ClaudeCode::installed() else {
        return;
    };
    let home = TestHome::new();
    let seen = home.tmp().join("payload.json");
    let copy = format!("cat > '{}'", seen.display());
    ClaudeCode::configure(&home, &json!({"Stop": hook(&copy)}));
    let mock = MockAnthropic::start([
        Turn::text("Looking.").tool("Bash", json!({"command": "echo hi", "description": "x"})),
        Turn::text("All done."),
    ]);

    let run = claude.prompt(&home, &mock, "go", &[]).succeeded();

    assert_eq!(final_text(&run), "All done.");
    let [first, second] = mock.conversation().try_into().unwrap();
    assert!(!first.to_string().contains("tool_result"), "{first:#}");
    let results: Vec<_> = second["messages"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|message| message["content"].as_array())
        .flatten()
        .filter(|block| block["type"] == "tool_result")
        .map(|block| &block["content"])
        .collect();
    assert_eq!(results, ["hi"], "{second:#}");
    let payload: Value = serde_json::from_slice(&fs_err::read(seen).unwrap()).unwrap();
    let transcript = Transcript::only(&home);
    assert_eq!(payload["hook_event_name"], "Stop");
    assert_eq!(payload["session_id"], transcript.session_id);
    assert_eq!(payload["cwd"], home.project().to_str().unwrap());
    assert_eq!(payload["last_assistant_message"], "All done.");
    assert_eq!(hook_complaints(&run, &transcript), [""; 0]);
}

/// Keeps [`hook_complaints`] honest: it would be easy to look for what is never there.
#[test]
fn hooks_that_fail_leave_a_complaint() {
    let Some(claude) = ClaudeCode::installed() else {
        return;
    };
    for (event, command) in [
        ("SessionStart", "exit 3"),
        ("UserPromptSubmit", "/nonexistent/tma1 hook"),
        ("Stop", "exit 3"),
        ("SessionEnd", "/nonexistent/tma1 hook"),
    ] {
        let home = TestHome::new();
        ClaudeCode::configure(&home, &json!({event: hook(command)}));
        let mock = MockAnthropic::start([Turn::text("All done.")]);

        let run = claude.prompt(&home, &mock, "go", &[]).succeeded();

        assert_eq!(final_text(&run), "All done.");
        let complaints = hook_complaints(&run, &Transcript::only(&home));
        assert_ne!(complaints, [""; 0], "{event}: {run:#?}");
    }
}
