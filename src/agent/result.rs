//! What became of a tool call.

use std::borrow::Cow;
use std::cell::LazyCell;

use serde_json::{Map, Value};

use crate::agent::command::Line;
use crate::agent::report::{Outcome, Output};
use crate::agent::shell::{Script, unwrapped};
use crate::agent::tool::shell_command;
use crate::agent::{Agent, Payload, Purpose, Report, ToolAction, ToolCall};

/// A tool call that has returned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// The call.
    pub call: ToolCall,
    /// How it went.
    pub status: Status,
    /// What its output says, if it was a command that [builds or tests](Purpose) and did not succeed.
    pub report: Report,
}

/// How a tool call went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Well.
    Succeeded,
    /// Not well.
    Failed {
        /// The exit status of a command, where it is known.
        exit_code: Option<i64>,
        /// Whether somebody ended it: its failure says nothing about the project.
        interrupted: bool,
    },
    /// The event does not say it. Codex keeps the exit status of a command in the rollout; a command
    /// in the background has none yet; that of `cargo test | tail` is not the one of the tests.
    Unknown,
}

/// The exit statuses with which a shell says that somebody ended a command: the terminal was closed,
/// an interrupt, a kill, a reader that had seen enough, a termination.
const ENDED_BY_SOMEBODY: [i64; 5] = [129, 130, 137, 141, 143];

impl Status {
    const FAILED: Self = Self::Failed { exit_code: None, interrupted: false };

    /// How a command with this exit status went.
    pub fn of_exit(exit_code: i64) -> Self {
        match exit_code {
            0 => Self::Succeeded,
            code => Self::Failed {
                exit_code: Some(code),
                interrupted: ENDED_BY_SOMEBODY.contains(&code),
            },
        }
    }
}

impl ToolResult {
    /// The result of `call` that a `PostToolUse` tells.
    pub(super) fn of_call(agent: Agent, call: ToolCall, payload: &Payload) -> Self {
        let response = payload.get("tool_response").unwrap_or(&Value::Null);
        let input = payload.get("tool_input").unwrap_or(&Value::Null);
        let line = shell_command(agent, &call.name, input);
        let output = LazyCell::new(|| Output::new(&text(response)));
        let report = LazyCell::new(|| Report::of_output(&output));
        let is_told = || match &call.action {
            ToolAction::Run(command) => command.tells_status,
            _ => true,
        };
        // The exit status is still to be told, and may be that of another part.
        let is_ambiguous = || match &call.action {
            ToolAction::Run(command) => command.status_of_exit(1) == Status::Unknown,
            _ => false,
        };
        let status = if let Some(failure) = marked(&call.name, response) {
            failure
        } else if is_in_background(response) {
            Status::Unknown
        } else if let (Some(line), false) = (&line, is_told()) {
            summed_up(line, &output, &report)
        } else if let (Agent::Codex, Some(line)) = (agent, &line) {
            if is_ambiguous() { summed_up(line, &output, &report) } else { Status::Unknown }
        } else if agent == Agent::Codex && call.name == "apply_patch" {
            of_patch(&text(response))
        } else {
            Status::Succeeded
        };
        Self::new(call, status, || Report::clone(&report))
    }

    /// The result of `call` that Claude Code's `PostToolUseFailure` tells.
    pub(super) fn of_failure(call: ToolCall, payload: &Payload) -> Self {
        let error = payload.text("error");
        let (exit_code, output) = exit_code(error, "Exit code ").unzip();
        let output = output.unwrap_or(error);
        let output = Output::new(output);
        let report = LazyCell::new(|| Report::of_output(&output));
        let input = payload.get("tool_input").unwrap_or(&Value::Null);
        let line = shell_command(Agent::ClaudeCode, &call.name, input);
        let status = match (&call.action, exit_code, &line) {
            _ if payload.get("is_interrupt") == Some(&Value::Bool(true)) => {
                Status::Failed { exit_code, interrupted: true }
            }
            (ToolAction::Run(command), Some(code), Some(line))
                if command.purpose > Purpose::Other =>
            {
                match command.status_of_exit(code) {
                    Status::Unknown => match summed_up(line, &output, &report) {
                        Status::Failed { .. } if command.tells_status => Status::of_exit(code),
                        status => status,
                    },
                    status => status,
                }
            }
            (_, Some(code), _) => Status::of_exit(code),
            (_, None, _) => Status::FAILED,
        };
        Self::new(call, status, || Report::clone(&report))
    }

    /// The result of a `call` that the agent refused to make.
    pub(super) fn of_rejected(call: ToolCall) -> Self {
        Self { call, status: Status::FAILED, report: Report::default() }
    }

    fn new(call: ToolCall, status: Status, report: impl FnOnce() -> Report) -> Self {
        let is_telling = match &call.action {
            ToolAction::Run(command) => command.purpose > Purpose::Other,
            _ => false,
        };
        let is_read = is_telling && status != Status::Succeeded;
        let report = if is_read { report() } else { Report::default() };
        Self { call, status, report }
    }
}

/// The text of a tool's response: a string, blocks of text, or what a command printed.
pub(crate) fn text(response: &Value) -> Cow<'_, str> {
    let field = |fields: &Map<String, Value>, name: &str| {
        fields.get(name).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let parts: Vec<String> = match response {
        Value::String(text) => return Cow::Borrowed(text),
        Value::Array(blocks) => {
            blocks.iter().filter_map(|block| field(block.as_object()?, "text")).collect()
        }
        Value::Object(fields) => {
            ["stdout", "stderr"].iter().filter_map(|name| field(fields, name)).collect()
        }
        _ => Vec::new(),
    };
    Cow::Owned(parts.join("\n"))
}

/// The failure that the fields of a response mark.
fn marked(tool: &str, response: &Value) -> Option<Status> {
    let fields = response.as_object()?;
    let is = |name: &str, value: bool| fields.get(name) == Some(&Value::Bool(value));
    let interrupted = is("interrupted", true);
    let code = |name: &&str| fields.get(*name).and_then(Value::as_i64);
    let exit_code = ["code", "exitCode"].iter().find_map(code).filter(|code| match tool {
        // Not an exit status but one of HTTP.
        "WebFetch" => *code >= 400,
        _ => *code != 0,
    });
    let has_error = fields.get("error").and_then(Value::as_str).is_some_and(|it| !it.is_empty());
    let failed = interrupted
        || is("isError", true)
        || is("is_error", true)
        || is("success", false)
        || has_error
        || exit_code.is_some();
    failed.then_some(Status::Failed { exit_code, interrupted })
}

/// Whether a command of Claude Code goes on.
fn is_in_background(response: &Value) -> bool {
    response.get("backgroundTaskId").is_some_and(|id| !id.is_null())
}

/// What the output says of a command whose exit status is another's.
fn summed_up(line: &str, output: &Output, report: &Report) -> Status {
    let line = unwrapped(line);
    let line = Line::new(&line, Script::parse(&line).as_ref(), "");
    if let Some(exit_code) = line.printed_status.and_then(|it| it.read(&output.lines())) {
        return line.command.status_of_own_exit(exit_code);
    }
    if !report.failed_tests.is_empty() {
        return Status::FAILED;
    }
    match output.outcome(line.command.purpose) {
        Some(Outcome::Bad) => Status::FAILED,
        // The bad news may be in what is not shown.
        Some(Outcome::Good) if line.shows_end => Status::Succeeded,
        Some(Outcome::Good) | None => Status::Unknown,
    }
}

/// How Codex applied a patch, by the first line of what it says.
fn of_patch(response: &str) -> Status {
    match exit_code(response, "Exit code: ") {
        None | Some((0, _)) => Status::Succeeded,
        Some((code, _)) => Status::Failed { exit_code: Some(code), interrupted: false },
    }
}

/// The number of a first line such as `Exit code 3`, and what follows the line.
fn exit_code<'a>(text: &'a str, label: &str) -> Option<(i64, &'a str)> {
    let (line, rest) = text.split_once('\n').unwrap_or((text, ""));
    Some((line.strip_prefix(label)?.trim().parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::{EventKind, HookEvent};
    use serde_json::json;

    fn result(agent: Agent, event: &str, payload: &Value) -> ToolResult {
        let mut fields = json!({"hook_event_name": event, "session_id": "s", "cwd": "/p"});
        fields.as_object_mut().unwrap().extend(payload.as_object().unwrap().clone());
        let payload = Payload::read(fields.to_string().as_bytes()).unwrap();
        match HookEvent::from_payload(agent, &payload).unwrap().kind {
            EventKind::PostToolUse(result) => result,
            kind => panic!("{kind:?}"),
        }
    }

    fn status(agent: Agent, tool: &str, response: &Value) -> Status {
        let input = json!({"command": "cargo test"});
        let payload = json!({"tool_name": tool, "tool_input": input, "tool_response": response});
        result(agent, "PostToolUse", &payload).status
    }

    /// What Claude Code says of a command with this output.
    fn bash(command: &str, output: &str) -> ToolResult {
        let response = json!({"stdout": output, "stderr": "", "interrupted": false});
        let input = json!({"command": command});
        let payload = json!({"tool_name": "Bash", "tool_input": input, "tool_response": response});
        result(Agent::ClaudeCode, "PostToolUse", &payload)
    }

    fn failure(command: &str, error: &str, is_interrupt: bool) -> ToolResult {
        let input = json!({"command": command});
        let payload = json!({"tool_name": "Bash", "tool_input": input, "error": error,
            "is_interrupt": is_interrupt});
        result(Agent::ClaudeCode, "PostToolUseFailure", &payload)
    }

    const fn failed(exit_code: Option<i64>, interrupted: bool) -> Status {
        Status::Failed { exit_code, interrupted }
    }

    #[test]
    fn a_response_says_that_it_is_a_failure_or_is_none() {
        for (tool, response, expected) in [
            ("Bash", json!({"stdout": "", "interrupted": false}), Status::Succeeded),
            ("Bash", json!({"stdout": "", "interrupted": true}), failed(None, true)),
            ("Bash", json!({"exitCode": 3}), failed(Some(3), false)),
            ("Bash", json!({"exitCode": 0, "code": 0}), Status::Succeeded),
            ("Bash", json!({"backgroundTaskId": "b1", "stdout": ""}), Status::Unknown),
            ("Bash", json!({"backgroundTaskId": null}), Status::Succeeded),
            ("x", json!({"code": -1}), failed(Some(-1), false)),
            ("x", json!({"code": "1"}), Status::Succeeded),
            ("x", json!({"isError": true}), failed(None, false)),
            ("x", json!({"is_error": true}), failed(None, false)),
            ("x", json!({"isError": false, "is_error": "true"}), Status::Succeeded),
            ("x", json!({"success": false}), failed(None, false)),
            ("Skill", json!({"success": true, "commandName": "a"}), Status::Succeeded),
            ("x", json!({"error": "no"}), failed(None, false)),
            ("x", json!({"error": ""}), Status::Succeeded),
            ("x", json!({"error": {"a": 1}}), Status::Succeeded),
            ("x", json!({"result": {"isError": true}}), Status::Succeeded),
            ("x", json!([{"type": "text", "text": "isError: true"}]), Status::Succeeded),
            ("x", json!("{\"isError\":true}"), Status::Succeeded),
            ("x", json!(null), Status::Succeeded),
            ("WebFetch", json!({"code": 200}), Status::Succeeded),
            ("WebFetch", json!({"code": 404}), failed(Some(404), false)),
        ] {
            assert_eq!(status(Agent::ClaudeCode, tool, &response), expected, "{tool} {response}");
        }
    }

    #[test]
    fn codex_says_little_of_a_command() {
        for (tool, response, expected) in [
            ("Bash", json!("test result: ok. 1 passed; 0 failed"), Status::Unknown),
            ("Bash", json!("Exit code: 1\n"), Status::Unknown),
            ("apply_patch", json!("Exit code: 0\nOutput:\n"), Status::Succeeded),
            ("apply_patch", json!("Exit code: 1\nOutput:\n"), failed(Some(1), false)),
            ("apply_patch", json!("Success."), Status::Succeeded),
            ("mcp__a__b", json!({"content": [], "isError": false}), Status::Succeeded),
            ("mcp__a__b", json!({"content": [], "isError": true}), failed(None, false)),
            ("spawn_agent", json!("{\"agent_id\":\"a\"}"), Status::Succeeded),
        ] {
            assert_eq!(status(Agent::Codex, tool, &response), expected, "{tool} {response}");
        }
    }

    #[test]
    fn a_failure_has_its_exit_status_and_a_report() {
        let error = "Exit code 101\nerror[E0308]: mismatched types\n  --> src/lib.rs:16:32\n";
        let build = failure("cargo build", error, false);
        assert_eq!(build.status, failed(Some(101), false));
        assert_eq!(build.report.error.as_deref(), Some("error[E0308]: mismatched types"));
        assert_eq!(build.report.place, Some(("src/lib.rs".to_owned(), 16)));
        let other = failure("./deploy", error, false);
        assert_eq!((other.status, other.report), (failed(Some(101), false), Report::default()));
        let missing = failure("cat a", "File does not exist.", false);
        assert_eq!(missing.status, failed(None, false));
    }

    #[test]
    fn what_somebody_ended_says_nothing_of_the_project() {
        let timeout = "Exit code 143\nCommand timed out after 2m 0s\nrunning 3 tests";
        assert_eq!(failure("cargo test", timeout, false).status, failed(Some(143), true));
        assert_eq!(failure("cargo test", "Exit code 137\n", true).status, failed(Some(137), true));
        for code in [129, 130, 137, 141, 143] {
            let error = format!("Exit code {code}\n");
            assert_eq!(failure("cargo test", &error, false).status, failed(Some(code), true));
        }
        let limit = failure("timeout 20 npm test", "Exit code 124\n", false);
        assert_eq!(limit.status, failed(Some(124), true));
        let said = "Exit code 1\nCommand timed out after 5s";
        assert_eq!(failure("cargo test", said, false).status, failed(Some(1), false));
    }

    #[test]
    fn an_exit_status_of_another_program_is_not_believed() {
        let red =
            "test a ... FAILED\n\nfailures:\n    a\n\ntest result: FAILED. 0 passed; 1 failed";
        let green = "test result: ok. 3 passed; 0 failed";
        let broken = "error: could not compile `a` (lib) due to 2 previous errors";
        for (command, output, expected) in [
            ("cargo test", green, Status::Succeeded),
            ("cargo test | tail", red, failed(None, false)),
            ("cargo test 2>&1 | tail -5; echo done", broken, failed(None, false)),
            ("cargo test | tail", green, Status::Succeeded),
            ("cargo test | head", green, Status::Unknown),
            ("cargo test | tail", "warning: unused", Status::Unknown),
            ("cargo test; echo EXIT=$?", "no summary\nEXIT=101", failed(Some(101), false)),
            ("timeout 9 cargo test; echo EXIT=$?", "EXIT=124", failed(Some(124), true)),
            ("cargo build; echo EXIT=$?", "EXIT=0", Status::Succeeded),
            ("cargo test a; cargo test b; echo EXIT=$?", "EXIT=0", Status::Unknown),
            ("cargo test || true", "", Status::Unknown),
            ("ls | head", "error: could not compile", Status::Succeeded),
        ] {
            assert_eq!(bash(command, output).status, expected, "{command}: {output}");
        }
        assert_eq!(bash("cargo test | tail", red).report.failed_tests, ["a"]);
        assert_eq!(bash("cargo test | tail", green).report, Report::default());
    }

    #[test]
    fn a_failure_of_another_part_is_not_that_of_the_tests() {
        let red =
            "test a ... FAILED\n\nfailures:\n    a\n\ntest result: FAILED. 0 passed; 1 failed";
        let green = "test result: ok. 3 passed; 0 failed";
        let built = "    Finished `dev` profile [x] target(s) in 1s";
        let broken = "error: could not compile `a` (lib) due to 2 previous errors";
        for (command, code, output, expected) in [
            ("cargo test 2>&1 | grep FAILED", 1, "", Status::Unknown),
            ("cargo test 2>&1 | grep -c panicked", 1, "0", Status::Unknown),
            ("cargo test; git diff --exit-code", 1, green, Status::Succeeded),
            ("cargo test; git diff --exit-code", 1, red, failed(None, false)),
            ("cargo test | tail -3; ls nope", 2, green, Status::Succeeded),
            ("! cargo test broken", 1, green, Status::Succeeded),
            ("cargo build && ./target/debug/app", 1, built, Status::Succeeded),
            (
                "cargo build && ./target/debug/app",
                1,
                "    Finished `dev` profile [x] target(s) in 1s\nusage: app FILE",
                Status::Succeeded,
            ),
            ("cargo build && ./target/debug/app", 101, broken, failed(Some(101), false)),
            ("make && ./run-prog", 139, "Segmentation fault", Status::Unknown),
            ("make && ./run-prog", 2, "make: *** [a.o] Error 1", failed(Some(2), false)),
            ("cargo test && git push", 1, "test result: ok. 3 passed\nrejected", Status::Succeeded),
            ("cargo test && git push", 101, red, failed(Some(101), false)),
            ("npm run build && grep -q foo dist/x.js", 1, "built in 3s", Status::Unknown),
            ("cargo build && cargo test", 101, red, failed(Some(101), false)),
            ("cargo test", 101, green, failed(Some(101), false)),
            ("cat a | grep b", 1, "", failed(Some(1), false)),
        ] {
            let error = format!("Exit code {code}\n{output}");
            assert_eq!(failure(command, &error, false).status, expected, "{command}: {output}");
        }
        let codex = |command: &str, output: &str| {
            let payload = json!({"tool_name": "Bash", "tool_input": {"command": command},
                "tool_response": output});
            result(Agent::Codex, "PostToolUse", &payload).status
        };
        assert_eq!(codex("cargo test && git push", green), Status::Succeeded);
        assert_eq!(codex("cargo test && git push", red), failed(None, false));
        assert_eq!(codex("cargo test && git push", ""), Status::Unknown);
        assert_eq!(codex("cargo test", red), Status::Unknown);
    }

    #[test]
    fn a_success_has_no_report() {
        let printed =
            "error[E1]: printed\n --> a.rs:1:1\ntest FAILED ... ok\ntest result: ok. 1 passed";
        assert_eq!(bash("cargo test", printed).report, Report::default());
    }
}
