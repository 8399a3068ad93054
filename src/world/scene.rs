//! A world for tests, with a clock that moves on by a minute an event, and its events.

use std::time::Duration;

use serde_json::{Value, json};

use crate::agent::{
    Agent, Answer, EventKind, HookEvent, Report, SessionKey, Status, ToolAction, ToolCall,
    ToolResult,
};
use crate::clock::Timestamp;
use crate::world::value::is_invisible;
use crate::world::{Finding, Kind, Observation, Usage, World};

pub(super) const ROOT: &str = "/home/dev/shop";

pub(super) struct Scene {
    pub world: World,
    pub now: Timestamp,
    /// How long an event takes.
    pub pace: Duration,
    calls: u64,
}

impl Scene {
    pub(super) fn new() -> Self {
        let now = Timestamp::from_unix_millis(1_800_000_000_000);
        Self { world: World::default(), now, pace: Duration::from_secs(60), calls: 0 }
    }

    pub(super) fn pass(&mut self, minutes: u64) {
        self.advance(Duration::from_secs(60 * minutes));
    }

    fn advance(&mut self, duration: Duration) {
        let millis = i64::try_from(duration.as_millis()).unwrap();
        self.now = Timestamp::from_unix_millis(self.now.as_unix_millis() + millis);
    }

    pub(super) fn tell(&mut self, session: &str, name: &str, more: Value) -> Answer {
        self.tell_as(Agent::ClaudeCode, session, name, more)
    }

    pub(super) fn tell_as(
        &mut self,
        agent: Agent,
        session: &str,
        name: &str,
        more: Value,
    ) -> Answer {
        let Value::Object(mut payload) = more else { panic!("not an object: {more}") };
        payload.insert("hook_event_name".to_owned(), name.into());
        payload.insert("session_id".to_owned(), session.into());
        payload.entry("cwd").or_insert(ROOT.into());
        self.take(&HookEvent::from_payload(agent, &payload.into()).unwrap())
    }

    /// Applies an event and answers it.
    pub(super) fn take(&mut self, event: &HookEvent) -> Answer {
        self.advance(self.pace);
        self.world.apply(event, ROOT, self.now);
        self.world.answer(event, self.now)
    }

    /// A whole tool call.
    pub(super) fn call(&mut self, session: &str, id: &str, tool: &str, input: &Value) {
        let payload = json!({"tool_use_id": id, "tool_name": tool, "tool_input": input});
        self.tell(session, "PreToolUse", payload.clone());
        self.tell(session, "PostToolUse", payload);
    }

    pub(super) fn prompt(&mut self, session: &str) -> String {
        text(self.tell(session, "UserPromptSubmit", json!({"prompt": "go"})))
    }

    pub(super) fn start(&mut self, session: &str, source: &str) -> String {
        text(self.tell(session, "SessionStart", json!({"source": source})))
    }

    pub(super) fn stop(&mut self, session: &str) -> Answer {
        self.take(&event(session, "Stop", EventKind::Stop { stop_hook_active: false }))
    }

    /// A tool call begins; the id of the call.
    pub(super) fn begin(&mut self, session: &str, tool: &str, action: ToolAction) -> ToolCall {
        self.calls += 1;
        let call = tool_call(&self.calls.to_string(), tool, action);
        self.take(&event(session, "PreToolUse", EventKind::PreToolUse(call.clone())));
        call
    }

    pub(super) fn end(
        &mut self,
        session: &str,
        call: ToolCall,
        status: Status,
        report: Report,
    ) -> Answer {
        let result = ToolResult { call, status, report };
        self.take(&event(session, "PostToolUse", EventKind::PostToolUse(result)))
    }

    pub(super) fn read(&mut self, session: &str, file: &str) -> Answer {
        let call = self.begin(session, "Read", read(file));
        self.end(session, call, Status::Succeeded, Report::default())
    }

    pub(super) fn edit(&mut self, session: &str, file: &str) -> Answer {
        let call = self.begin(session, "Edit", edit(file));
        self.end(session, call, Status::Succeeded, Report::default())
    }

    /// The agent refuses to make an edit.
    pub(super) fn reject_edit(&mut self, session: &str, file: &str) {
        self.calls += 1;
        let call = tool_call(&self.calls.to_string(), "Edit", edit(file));
        let status = Status::Failed { exit_code: None, interrupted: false };
        let result = ToolResult { call, status, report: Report::default() };
        self.take(&event(session, "PostToolBatch", EventKind::RejectedCalls(vec![result])));
    }

    /// A build, or tests if the command says so, which ends with this exit status.
    pub(super) fn run(&mut self, session: &str, command: &str, exit_code: i64) -> Answer {
        let report = if exit_code == 0 { Report::default() } else { mismatched_types() };
        self.run_with(session, command, exit_status(exit_code), report)
    }

    pub(super) fn run_with(
        &mut self,
        session: &str,
        command: &str,
        status: Status,
        report: Report,
    ) -> Answer {
        let call = self.begin(session, "Bash", run(command));
        self.end(session, call, status, report)
    }

    pub(super) fn run_tests(&mut self, session: &str, command: &str, failed: &[&str]) -> Answer {
        let failed_tests = failed.iter().map(|name| (*name).to_owned()).collect();
        let report = Report { failed_tests, ..mismatched_types() };
        self.run_with(session, command, exit_status(i64::from(!failed.is_empty())), report)
    }

    /// Somebody who is no agent changes a file.
    pub(super) fn change(&mut self, file: &str) {
        self.observe(&Observation::ExternalChange { path: path(file), removed: false });
    }

    /// Somebody who is no agent deletes a file.
    pub(super) fn delete(&mut self, file: &str) {
        self.observe(&Observation::ExternalChange { path: path(file), removed: true });
    }

    /// A command of the session rewrites a file.
    pub(super) fn rewrite(&mut self, session: &str, file: &str) {
        self.observe(&Observation::OwnChange {
            session: key(session),
            path: path(file),
            removed: false,
        });
    }

    pub(super) fn fill_window(&mut self, session: &str, used: u64, size: u64) {
        let usage = Usage {
            input: 84_210,
            output: 312_045,
            window_used: Some(used),
            window_size: Some(size),
        };
        self.observe(&Observation::Usage { session: key(session), usage });
    }

    pub(super) fn observe(&mut self, observation: &Observation) {
        self.advance(self.pace);
        self.world.observe(observation, self.now);
    }

    pub(super) fn findings(&self, session: &str) -> Vec<Finding> {
        self.world.findings(&key(session), self.now)
    }

    pub(super) fn kinds(&self, session: &str) -> Vec<Kind> {
        self.findings(session).into_iter().map(|finding| finding.kind).collect()
    }

    pub(super) fn state(&self, agent: Agent, session: &str, actions: usize) -> Value {
        let key = SessionKey { agent, id: session.to_owned() };
        let state = self.world.session_state(&key, actions, self.now).unwrap();
        serde_json::to_value(state).unwrap()
    }
}

pub(super) fn key(session: &str) -> SessionKey {
    SessionKey { agent: Agent::ClaudeCode, id: session.to_owned() }
}

pub(super) fn event(session: &str, name: &str, kind: EventKind) -> HookEvent {
    HookEvent {
        session: key(session),
        name: name.to_owned(),
        cwd: ROOT.to_owned(),
        subagent: None,
        turn: None,
        transcript: None,
        kind,
    }
}

/// The same event in a subagent.
pub(super) fn in_subagent(event: HookEvent) -> HookEvent {
    HookEvent { subagent: Some("helper".to_owned()), ..event }
}

pub(super) fn prompt_event(session: &str, by_machine: bool, turn: Option<&str>) -> HookEvent {
    let kind = EventKind::UserPromptSubmit { by_machine };
    HookEvent { turn: turn.map(str::to_owned), ..event(session, "UserPromptSubmit", kind) }
}

pub(super) fn tool_call(id: &str, tool: &str, action: ToolAction) -> ToolCall {
    ToolCall { id: Some(id.to_owned()), name: tool.to_owned(), action, subject: None }
}

/// A path in the project.
pub(super) fn path(file: &str) -> String {
    if file.starts_with('/') { file.to_owned() } else { format!("{ROOT}/{file}") }
}

pub(super) fn read(file: &str) -> ToolAction {
    ToolAction::Read { paths: vec![path(file)] }
}

pub(super) fn edit(file: &str) -> ToolAction {
    ToolAction::Edit { written: vec![path(file)], removed: Vec::new() }
}

pub(super) fn run(command: &str) -> ToolAction {
    run_in("", command)
}

/// A command in a directory of the project.
pub(super) fn run_in(directory: &str, command: &str) -> ToolAction {
    let input = json!({"command": command});
    ToolAction::of_call(Agent::ClaudeCode, "Bash", &input, &path(directory))
}

pub(super) fn exit_status(exit_code: i64) -> Status {
    match exit_code {
        0 => Status::Succeeded,
        code => Status::Failed { exit_code: Some(code), interrupted: false },
    }
}

pub(super) fn mismatched_types() -> Report {
    Report {
        error: Some("error[E0308]: mismatched types".to_owned()),
        place: Some(("src/cart.rs".to_owned(), 12)),
        failed_tests: Vec::new(),
    }
}

pub(super) fn text(answer: Answer) -> String {
    match answer {
        Answer::Context(text) => text,
        answer => panic!("{answer:?}"),
    }
}

/// The labels of the block's lines, up to what varies.
const LABELS: [&str; 15] = [
    "project: ",
    "session: ",
    "duration: ",
    "tool_calls: ",
    "tokens: in=",
    "current_focus: ",
    "tools: ",
    "recent_files: ",
    "build: ",
    "build_last_error (",
    "external_changes: ",
    "external_files: ",
    "previous_session: ",
    "anomalies:",
    "- [",
];

/// Requires that a block has its two tags, once each, and nothing between them but its own lines,
/// whatever their values, and that it is no longer than the agents take.
#[track_caller]
pub(super) fn assert_shape(block: &str) {
    let lines: Vec<_> = block.lines().collect();
    let [first, fields @ .., last] = lines.as_slice() else { panic!("{block}") };
    assert_eq!((*first, *last), ("<tma1-context>", "</tma1-context>"), "{block}");
    for (label, line) in LABELS.iter().zip(fields.iter().take(5)) {
        assert!(line.starts_with(label), "{line}");
    }
    for line in fields {
        assert!(LABELS.iter().any(|label| line.trim_start().starts_with(label)), "{line}");
    }
    assert_harmless(block);
}

/// Requires that a text to a model closes no tag, hides nothing and is not too long.
#[track_caller]
pub(super) fn assert_harmless(text: &str) {
    let lower = text.to_lowercase();
    assert!(lower.matches("<tma1-context").count() <= 1, "{text}");
    assert!(lower.matches("</tma1-context").count() <= 1, "{text}");
    assert!(!lower.contains("<system-reminder") && !lower.contains("</system-reminder"), "{text}");
    assert!(!text.chars().any(|c| c != '\n' && is_invisible(c)), "{text:?}");
    assert!(text.chars().count() < 6_000 && text.len() < 10_000, "{}", text.len());
}
