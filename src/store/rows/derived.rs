//! From an entry to its rows: the same entry gives the same rows.

use serde_json::Value;

use super::{Anomaly, Build, Change, Exit, Message, Progress, Rows, Tokens};
use crate::agent::{
    EventKind, HookEvent, Payload, Purpose, Status, ToolAction, ToolCall, ToolResult, beginning,
};
use crate::sensor::observer::Noted;
use crate::store::Entry;
use crate::world::{Finding, Observation};

/// How many bytes of a message are kept here. The event has the rest.
const MAX_CONTENT: usize = 32 * 1024;

/// How many bytes the title of a session has at most.
const MAX_TITLE: usize = 160;

/// How many bytes of what a build says is wrong are kept.
const MAX_ERROR: usize = 2 * 1024;

impl Rows {
    /// The rows of `entry`. What is no event to this version has none but what sensors saw.
    pub(in crate::store) fn derive(entry: &Entry) -> Self {
        let mut rows = Self {
            at: entry.at,
            agent: entry.agent.name(),
            session: String::new(),
            project_root: entry.project_root.clone(),
            model: None,
            messages: Vec::new(),
            builds: Vec::new(),
            exits: Vec::new(),
            changes: Vec::new(),
            anomalies: entry.said.iter().map(Anomaly::of).collect(),
            progress: None,
            usages: Vec::new(),
            projects: Vec::new(),
        };
        if let Ok(payload) = Payload::read(entry.payload.as_bytes())
            && let Ok(event) = HookEvent::from_payload(entry.agent, &payload)
        {
            rows.take_event(&event, &payload);
            rows.session = event.session.id;
        }
        let noted = entry.observed.as_ref().and_then(|noted| serde_json::from_str(noted).ok());
        let noted: Vec<Noted> = noted.unwrap_or_default();
        for noted in noted {
            if let Noted::Seen(observation) = noted {
                rows.take_observation(observation);
            }
        }
        rows
    }

    fn take_event(&mut self, event: &HookEvent, payload: &Payload) {
        self.model = text(payload, "model");
        let mut progress = Progress::default();
        match &event.kind {
            EventKind::UserPromptSubmit { by_machine } => {
                let prompt = text(payload, "prompt");
                if !by_machine {
                    progress.prompts = 1;
                    progress.title = prompt.as_deref().and_then(title);
                }
                self.messages.extend(prompt.map(|prompt| Message::said("prompt", "user", &prompt)));
            }
            EventKind::PreToolUse(call) => {
                progress.tool_calls = 1;
                self.messages.extend(Message::of_command(call, payload));
            }
            EventKind::PostToolUse(result) => {
                progress.failures = i64::from(has_failed(result));
                self.take_result(result, payload);
            }
            EventKind::RejectedCalls(results) => {
                progress.failures = i64::try_from(results.len()).unwrap_or(i64::MAX);
            }
            EventKind::SessionEnd => progress.has_ended = true,
            _ => {}
        }
        if let "Stop" | "SubagentStop" = event.name.as_str() {
            let said = text(payload, "last_assistant_message");
            self.messages.extend(said.map(|it| Message::said("response", "assistant", &it)));
        }
        self.progress = Some(progress);
    }

    fn take_result(&mut self, result: &ToolResult, payload: &Payload) {
        let duration_ms = payload.get("duration_ms").and_then(Value::as_i64);
        if has_failed(result) {
            let error = text(payload, "error").or_else(|| result.report.error.clone());
            self.messages.extend(error.map(|error| Message {
                tool: Some(result.call.name.clone()),
                call: result.call.id.clone(),
                duration_ms,
                ..Message::said("tool_error", "tool", &error)
            }));
        }
        let ToolAction::Run(command) = &result.call.action else {
            return;
        };
        let tag = match command.purpose {
            Purpose::Other => return,
            Purpose::Build => "build",
            Purpose::Test => "test",
        };
        let (outcome, exit_code) = match result.status {
            Status::Succeeded => ("passed", Some(0)),
            Status::Failed { interrupted: true, exit_code } => ("interrupted", exit_code),
            Status::Failed { exit_code, .. } => ("failed", exit_code),
            Status::Unknown => ("unknown", None),
        };
        let error = result.report.error.as_ref();
        self.builds.push(Build {
            call: result.call.id.clone(),
            outcome,
            tag,
            command: command.text.clone(),
            cwd: command.directory.clone(),
            exit_code,
            duration_ms,
            lines: lines(payload),
            error: error.map(|error| beginning(error, MAX_ERROR).to_owned()),
        });
    }

    fn take_observation(&mut self, observation: Observation) {
        match observation {
            Observation::ExternalChange { path, removed } => self.changes.push(Change {
                session: None,
                path,
                kind: if removed { "removed" } else { "changed" },
                source: "external",
            }),
            Observation::OwnChange { session, path, .. } => self.changes.push(Change {
                session: Some(session.id),
                path,
                kind: "changed",
                source: "command",
            }),
            Observation::CommandEnded { session, call_id, exit_code } => self.exits.push(Exit {
                agent: session.agent.name(),
                session: session.id,
                call: call_id,
                code: exit_code,
            }),
            Observation::Usage { session, usage } => self.usages.push(Tokens {
                agent: session.agent.name(),
                session: session.id,
                input: i64::try_from(usage.input).unwrap_or(i64::MAX),
                output: i64::try_from(usage.output).unwrap_or(i64::MAX),
            }),
            Observation::Indexed { root, index } => self.projects.push((root, index)),
            // Its files were named by the call itself; and a build is no observation of an event.
            Observation::Edited { .. }
            | Observation::BuildBegan { .. }
            | Observation::BuildTold { .. } => {}
        }
    }
}

impl Message {
    fn said(kind: &'static str, role: &'static str, content: &str) -> Self {
        Self {
            kind,
            role,
            content: beginning(content, MAX_CONTENT).to_owned(),
            tool: None,
            call: None,
            duration_ms: None,
        }
    }

    /// The command that a call runs in a shell. A patch is no command.
    fn of_command(call: &ToolCall, payload: &Payload) -> Option<Self> {
        if let ToolAction::Edit { .. } | ToolAction::Other = call.action {
            return None;
        }
        let input = payload.get("tool_input")?;
        let line = match input.get("command").or_else(|| input.get("cmd"))? {
            Value::String(line) => line.clone(),
            Value::Array(words) => {
                let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
                words.join(" ")
            }
            _ => return None,
        };
        Some(Self {
            tool: Some(call.name.clone()),
            call: call.id.clone(),
            ..Self::said("tool_use", "tool", &line)
        })
    }
}

impl Anomaly {
    fn of(finding: &Finding) -> Self {
        Self {
            kind: finding.kind.name(),
            severity: finding.severity.name(),
            channel: finding.channel.name(),
            suggestion: finding.suggestion.clone(),
            evidence: finding.evidence.clone(),
        }
    }
}

fn has_failed(result: &ToolResult) -> bool {
    matches!(result.status, Status::Failed { interrupted: false, .. })
}

fn text(payload: &Payload, field: &str) -> Option<String> {
    Some(payload.text(field)).filter(|text| !text.trim().is_empty()).map(str::to_owned)
}

/// The first line with something on it.
fn title(prompt: &str) -> Option<String> {
    let line = prompt.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(beginning(line, MAX_TITLE).to_owned())
}

/// How many lines a command has printed, as far as the event has them.
fn lines(payload: &Payload) -> Option<i64> {
    let printed = match payload.get("tool_response") {
        Some(Value::String(text)) => text.lines().count(),
        Some(Value::Object(fields)) => ["stdout", "stderr"]
            .iter()
            .filter_map(|stream| fields.get(*stream)?.as_str())
            .map(|text| text.lines().count())
            .sum(),
        _ => payload.text("error").lines().count(),
    };
    i64::try_from(printed).ok()
}
