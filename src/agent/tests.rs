//! The events that the agents really sent, read one by one; and what holds for all that they could
//! send.

use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::agent::tool::path::MAX_PATH_BYTES;

/// The recorded payloads of `agent` with their file names, in order.
fn recorded(agent: Agent) -> Vec<(String, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(agent.name());
    let mut payloads: Vec<_> = fs_err::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .map(|path| {
            let payload = serde_json::from_slice(&fs_err::read(&path).unwrap()).unwrap();
            (path.file_stem().unwrap().to_str().unwrap().to_owned(), payload)
        })
        // The rest are requests to an MCP server.
        .filter(|(_, payload): &(String, Value)| payload["hook_event_name"].is_string())
        .collect();
    payloads.sort_by(|one, other| one.0.cmp(&other.0));
    payloads
}

fn event(agent: Agent, payload: &Value) -> HookEvent {
    HookEvent::from_payload(agent, &Payload::read(payload.to_string().as_bytes()).unwrap()).unwrap()
}

/// An event in a few words.
fn summary(event: &HookEvent) -> String {
    let call = |call: &ToolCall| {
        let action = match &call.action {
            ToolAction::Read { paths } => format!("read {}", paths.join(" ")),
            ToolAction::Edit { written, removed } if removed.is_empty() => {
                format!("edit {}", written.join(" "))
            }
            ToolAction::Edit { written, removed } => {
                format!("edit {} remove {}", written.join(" "), removed.join(" "))
            }
            ToolAction::Run(Command { text, purpose: Purpose::Other, .. }) => format!("run {text}"),
            ToolAction::Run(Command { text, purpose, .. }) => format!("{purpose:?} {text}"),
            ToolAction::Search => "search".to_owned(),
            ToolAction::Other => format!("other {}", call.name),
        };
        assert!(call.id.is_some(), "{event:?}");
        action
    };
    let result = |result: &ToolResult| {
        let status = match result.status {
            Status::Succeeded => "succeeded".to_owned(),
            Status::Failed { exit_code, interrupted } => {
                let code = exit_code.map_or(String::new(), |code| format!(" {code}"));
                format!("failed{code}{}", if interrupted { " interrupted" } else { "" })
            }
            Status::Unknown => "unknown".to_owned(),
        };
        let error = result.report.error.as_ref().map_or(String::new(), |it| format!(": {it}"));
        format!("{} {status}{error}", call(&result.call))
    };
    let kind = match &event.kind {
        EventKind::SessionStart(source) => format!("start {source:?}"),
        EventKind::SessionEnd => "end".to_owned(),
        EventKind::UserPromptSubmit { by_machine: false } => "prompt".to_owned(),
        EventKind::UserPromptSubmit { by_machine: true } => "prompt by machine".to_owned(),
        EventKind::PreToolUse(it) => format!("pre {}", call(it)),
        EventKind::PostToolUse(it) => format!("post {}", result(it)),
        EventKind::RejectedCalls(results) if results.is_empty() => "calls done".to_owned(),
        EventKind::RejectedCalls(results) => {
            format!("rejected {}", results.iter().map(result).collect::<Vec<_>>().join(", "))
        }
        EventKind::Stop { stop_hook_active: false } => "stop".to_owned(),
        EventKind::Stop { stop_hook_active: true } => "stop active".to_owned(),
        EventKind::TurnBroken => "broken".to_owned(),
        EventKind::PreCompact => "compact".to_owned(),
        EventKind::Other => "other".to_owned(),
    };
    if event.subagent.is_some() { format!("{kind} (subagent)") } else { kind }
}

fn assert_kinds(agent: Agent, expected: &str) {
    let found: Vec<String> = recorded(agent)
        .iter()
        .map(|(name, payload)| format!("{name} = {}", summary(&event(agent, payload))))
        .collect();
    assert_eq!(found.join("\n"), expected.trim());
}

#[test]
fn every_recorded_event_of_claude_code_is_understood() {
    assert_kinds(
        Agent::ClaudeCode,
        "
ConfigChange = other
CwdChanged = other
DirectoryAdded = other
Elicitation = other
ElicitationResult = other
FileChanged.add = other
FileChanged.change = other
InstructionsLoaded = other
InstructionsLoaded.include = other
MessageDisplay = other
Notification.idle_prompt = other
Notification.permission_prompt = other
PermissionRequest = other
PermissionRequest.setMode = other
PostCompact.auto = other
PostCompact.manual = other
PostModelSwitch = other
PostToolBatch.Bash = calls done
PostToolBatch.Edit.rejected-no-match = rejected edit /home/dev/project/a.txt failed
PostToolBatch.invalid-input = rejected other Bash failed
PostToolBatch.two-calls = calls done
PostToolBatch.unknown-tool = rejected other Nope failed
PostToolUse.Agent.background = post other Agent succeeded
PostToolUse.Agent.foreground = post other Agent succeeded
PostToolUse.Bash = post run echo hello succeeded
PostToolUse.Bash.background = post run sleep 0.2; echo bg unknown
PostToolUse.Bash.grep-no-match = post search succeeded
PostToolUse.Bash.in-subagent = post run echo insub succeeded (subagent)
PostToolUse.Bash.large-output = post run seq 1 20000 succeeded
PostToolUse.Bash.stderr = post run echo out; echo err succeeded
PostToolUse.Edit = post edit /home/dev/project/a.txt succeeded
PostToolUse.Read = post read /home/dev/project/a.txt succeeded
PostToolUse.Read.image = post read /home/dev/project/img.png succeeded
PostToolUse.Read.range = post read /home/dev/project/big.txt succeeded
PostToolUse.Skill = post other Skill succeeded
PostToolUse.Write.create = post edit /home/dev/project/a.txt succeeded
PostToolUse.Write.update = post edit /home/dev/project/a.txt succeeded
PostToolUse.mcp.structured = post other mcp__tma1__session_stats succeeded
PostToolUse.mcp.text = post other mcp__tma1__a_tool succeeded
PostToolUseFailure.Bash = post run echo out; echo err; exit 3 failed 3
PostToolUseFailure.Bash.timeout = post run sleep 5 failed 143 interrupted
PostToolUseFailure.Read.missing = post read /home/dev/project/missing.txt failed
PostToolUseFailure.mcp = post other mcp__tma1__plain_tool failed
PreCompact.auto = compact
PreCompact.manual = compact
PreModelSwitch = other
PreSkillShellCommand = other
PreToolUse.Agent = pre other Agent
PreToolUse.Bash = pre run echo hello
PreToolUse.Bash.in-subagent = pre run echo insub (subagent)
PreToolUse.Edit = pre edit /home/dev/project/a.txt
PreToolUse.Read = pre read /home/dev/project/a.txt
PreToolUse.Skill = pre other Skill
PreToolUse.Write = pre edit /home/dev/project/a.txt
PreToolUse.mcp = pre other mcp__tma1__session_stats
SessionEnd.clear = end
SessionEnd.other = end
SessionEnd.prompt_input_exit = end
SessionStart.clear = start Clear
SessionStart.compact = start Compact
SessionStart.fork = start Fork
SessionStart.resume = start Resume
SessionStart.startup = start Startup
SessionStart.startup-interactive = start Startup
Setup.init = other
Setup.maintenance = other
Stop = stop
Stop.stop_hook_active = stop active
StopFailure.rate_limit = broken
StopFailure.unknown = broken
SubagentStart = other (subagent)
SubagentStop = other (subagent)
SubagentStop.compaction = other (subagent)
SubagentStop.stop_hook_active = other (subagent)
TaskCompleted = other
TaskCreated = other
UserPromptExpansion.command = other
UserPromptExpansion.skill = other
UserPromptSubmit = prompt
UserPromptSubmit.slash-command = prompt
UserPromptSubmit.task-notification = prompt by machine
WorktreeCreate = other
WorktreeRemove = other
",
    );
}

#[test]
fn every_recorded_event_of_codex_is_understood() {
    assert_kinds(
        Agent::Codex,
        "
interrupt = broken
permission_request_mcp = other
permission_request_shell = other
post_compact_auto = other
post_compact_manual = other
post_model_request = other
post_model_request_cancelled = other
post_tool_use_apply_patch = post edit /home/dev/project/src/login.py /home/dev/project/README.md remove /home/dev/project/old.txt succeeded
post_tool_use_mcp = post other mcp__tma1__recall succeeded
post_tool_use_shell_code_mode = post search unknown
post_tool_use_shell_failing = post Test python3 -m pytest -q tests/test_login.py unknown: /usr/bin/python3: No module named pytest
post_tool_use_shell_ok = post search unknown
post_tool_use_spawn_agent = post other spawn_agent succeeded
pre_compact_auto = compact
pre_compact_manual = compact
pre_model_request = other
pre_model_request_compaction = other
pre_tool_use_apply_patch = pre edit /home/dev/project/src/login.py /home/dev/project/README.md remove /home/dev/project/old.txt
pre_tool_use_apply_patch_rejected = pre edit /home/dev/project/missing.py
pre_tool_use_mcp = pre other mcp__tma1__recall
pre_tool_use_mcp_failing = pre other mcp__tma1__recall
pre_tool_use_shell = pre search
pre_tool_use_shell_code_mode = pre search
pre_tool_use_shell_failing = pre Test python3 -m pytest -q tests/test_login.py
pre_tool_use_spawn_agent = pre other spawn_agent
session_end = end
session_start_clear = start Clear
session_start_compact = start Compact
session_start_ephemeral = start Startup
session_start_fork = start Fork
session_start_resume = start Resume
session_start_startup = start Startup
session_start_startup_interactive = start Startup
stop = stop
stop_reentry = stop active
subagent_start = other (subagent)
subagent_stop = other (subagent)
user_prompt_submit = prompt
user_prompt_submit_subagent = prompt by machine (subagent)
",
    );
}

#[test]
fn every_recorded_event_says_where_it_belongs() {
    for agent in [Agent::ClaudeCode, Agent::Codex] {
        for (name, payload) in recorded(agent) {
            let event = event(agent, &payload);
            assert_eq!(event.cwd, payload["cwd"].as_str().unwrap(), "{name}");
            assert_eq!(event.transcript.as_deref(), payload["transcript_path"].as_str(), "{name}");
            assert_eq!(event.subagent.as_deref(), payload["agent_id"].as_str(), "{name}");
            let turn = payload["prompt_id"].as_str().or_else(|| payload["turn_id"].as_str());
            assert_eq!(event.turn.as_deref(), turn, "{name}");
        }
    }
}

#[test]
fn a_prompt_is_a_machines_if_the_agent_wrote_it() {
    for (agent, prompt, by_machine) in [
        (Agent::ClaudeCode, "<task-notification>\n<task-id>a</task-id>", true),
        (Agent::ClaudeCode, "\n<teammate-message teammate_id=\"a\">hi", true),
        (Agent::ClaudeCode, "/compact now", false),
        (Agent::ClaudeCode, "What is <task-notification>?", false),
        (Agent::ClaudeCode, "<task-notifications> is no tag", false),
        (Agent::ClaudeCode, "", false),
        (Agent::Codex, "<task-notification>", false),
    ] {
        let payload =
            json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": prompt});
        let expected = EventKind::UserPromptSubmit { by_machine };
        assert_eq!(event(agent, &payload).kind, expected, "{prompt}");
    }
}

/// Any JSON of a few levels.
fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(prop::sample::select(FIELDS), inner, 0..8).prop_map(
                |fields| fields.into_iter().map(|(name, it)| (name.to_owned(), it)).collect()
            ),
        ]
    })
}

/// Texts that something in the payloads could be, some of them over-long.
fn text() -> impl Strategy<Value = String> {
    (prop::sample::select(TEXTS), 0..3_usize, any::<String>(), 0..4_usize).prop_map(
        |(text, times, noise, size)| {
            let long = if size == 0 { "/é $(".repeat(20_000) } else { String::new() };
            format!("{}{noise}{long}", text.repeat(times))
        },
    )
}

const FIELDS: &[&str] = &[
    "agent_id",
    "code",
    "command",
    "content",
    "cwd",
    "error",
    "exitCode",
    "file_path",
    "interrupted",
    "isError",
    "is_interrupt",
    "prompt",
    "prompt_id",
    "stderr",
    "stdout",
    "stop_hook_active",
    "text",
    "tool_calls",
    "tool_input",
    "tool_name",
    "tool_response",
    "tool_use_id",
    "transcript_path",
];

const TEXTS: &[&str] = &[
    "Bash",
    "Edit",
    "apply_patch",
    "Read",
    "cat a/b && ",
    "cargo test 2>&1 | tail; ",
    "cd \"x y\";",
    "*** Begin Patch\n*** Add File: a\n+b\n",
    "Exit code 3\n",
    "<tool_use_error>",
    "<<'E'\nx\nE\n",
    "test result: FAILED\n",
    "error[E1]: x\n --> a.rs:1:2\n",
    "bash -lc 'ls'",
    "\u{1b}[31m",
    "/a/../b",
];

/// The paths and texts that a call keeps.
fn kept(call: &ToolCall) -> Vec<(&str, usize)> {
    let mut kept = vec![(call.name.as_str(), 128)];
    kept.extend(call.id.as_deref().map(|id| (id, 128)));
    match &call.subject {
        Some(Subject::File(path)) => kept.push((path, MAX_PATH_BYTES)),
        Some(Subject::Input(input)) => kept.push((input, 800)),
        None => {}
    }
    match &call.action {
        ToolAction::Read { paths } => {
            kept.extend(paths.iter().map(|it| (it.as_str(), MAX_PATH_BYTES)));
        }
        ToolAction::Edit { written, removed } => {
            kept.extend(written.iter().chain(removed).map(|it| (it.as_str(), MAX_PATH_BYTES)));
        }
        ToolAction::Run(command) => {
            kept.extend([(command.text.as_str(), 300), (&command.directory, MAX_PATH_BYTES)]);
        }
        ToolAction::Search | ToolAction::Other => {}
    }
    kept
}

/// The same of a result.
fn kept_of(result: &ToolResult) -> Vec<(&str, usize)> {
    let mut kept = kept(&result.call);
    kept.extend(result.report.error.as_deref().map(|error| (error, 400)));
    kept.extend(result.report.place.as_ref().map(|(path, _)| (path.as_str(), MAX_PATH_BYTES)));
    kept.extend(result.report.failed_tests.iter().map(|test| (test.as_str(), 240)));
    kept
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]
    #[test]
    fn whatever_is_sent_becomes_a_bounded_event_or_none(
        name in prop::sample::select(vec![
            "PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "UserPromptSubmit", "Stop",
        ]),
        agent in prop::sample::select(vec![Agent::ClaudeCode, Agent::Codex]),
        tool in prop::sample::select(vec!["Bash", "Edit", "apply_patch", "Read", "mcp__a__b"]),
        fields in prop::collection::btree_map(prop::sample::select(FIELDS), json(), 0..12),
        command in text(),
        output in text(),
    ) {
        let mut payload = json!({
            "hook_event_name": name, "session_id": "s", "cwd": "/p", "tool_name": tool,
            "tool_input": {"command": command, "file_path": command}, "tool_response": output,
        });
        for (field, value) in fields {
            payload[field] = value;
        }
        let event = event(agent, &payload);
        let kept: Vec<(&str, usize)> = match &event.kind {
            EventKind::PreToolUse(call) => kept(call),
            EventKind::PostToolUse(result) => kept_of(result),
            EventKind::RejectedCalls(results) => {
                prop_assert!(results.len() <= 64);
                results.iter().flat_map(kept_of).collect()
            }
            _ => Vec::new(),
        };
        prop_assert!(kept.len() <= 600);
        for (text, bytes) in kept {
            prop_assert!(text.len() <= bytes, "{} bytes: {}", text.len(), text);
        }
        for field in [&event.turn, &event.subagent].into_iter().flatten() {
            prop_assert!(field.len() <= 128);
        }
        for path in [Some(&event.cwd), event.transcript.as_ref()].into_iter().flatten() {
            prop_assert!(path.len() <= MAX_PATH_BYTES);
        }
    }
}
