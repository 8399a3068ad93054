//! The columns of an event, read from its payload as the world reads it.

use std::borrow::Cow;

use serde_json::{Map, Value as Json};

use crate::agent::{
    Agent, EventKind, HookEvent, Payload, Status, Subject, ToolAction, ToolCall, beginning,
    response_text,
};
use crate::export::literal::Value;

/// How much of what a failed call says is the summary, in bytes.
const MAX_SUMMARY: usize = 512;

/// How much of the end of what a build printed is kept, in bytes.
const MAX_LINES: usize = 16 * 1024;

/// The longest beginning of a command, in bytes.
const MAX_PREFIX: usize = 64;

/// Fields that have a column; the others are the metadata.
const WITH_COLUMN: [&str; 17] = [
    "session_id",
    "hook_event_name",
    "tool_name",
    "tool_input",
    "tool_response",
    "tool_use_id",
    "agent_id",
    "agent_type",
    "notification_type",
    "message",
    "prompt",
    "last_assistant_message",
    "cwd",
    "transcript_path",
    "permission_mode",
    "error",
    "project_root",
];

/// The columns of `tma1_hook_events` after the id of the event, in their order.
pub(super) fn columns(agent: &str, project_root: Option<String>, payload: &str) -> Vec<Value> {
    let Ok(fields) = Payload::read(payload.as_bytes()) else {
        // It was one to the version that logged it.
        let mut columns = vec![Value::Null; 18];
        let known = [(1, agent), (13, payload)];
        for (place, text) in known {
            if let Some(column) = columns.get_mut(place) {
                *column = Value::text(text);
            }
        }
        return columns;
    };
    let event = Agent::from_name(agent).and_then(|it| HookEvent::from_payload(it, &fields).ok());
    let call = Call::of(event.as_ref(), &fields);
    let text = |field: &str| Value::optional(some(fields.text(field)));
    let message = ["message", "prompt", "last_assistant_message"];
    let message = message.into_iter().find_map(|field| some(fields.text(field)));
    vec![
        text("hook_event_name"),
        Value::text(agent),
        text("tool_name"),
        Value::optional(fields.get("tool_input").map(Json::to_string)),
        Value::optional(printed(&fields)),
        text("tool_use_id"),
        text("agent_id"),
        text("agent_type"),
        text("notification_type"),
        Value::optional(message),
        text("cwd"),
        text("transcript_path"),
        text("permission_mode"),
        Value::text(metadata(&fields, project_root)),
        Value::optional(call.file),
        Value::optional(call.prefix),
        call.success.map_or(Value::Null, Value::Boolean),
        Value::optional(call.error),
    ]
}

/// The end of what the command of an event printed; none if it printed nothing.
pub(super) fn last_lines(payload: &str) -> Option<String> {
    let text = printed(&Payload::read(payload.as_bytes()).ok()?)?.into_owned();
    let cut = text.len().saturating_sub(MAX_LINES);
    let start = (cut..=text.len()).find(|at| text.is_char_boundary(*at))?;
    text.get(start..).map(str::to_owned)
}

/// What the world knows of the call of an event.
#[derive(Debug, Default)]
struct Call {
    file: Option<String>,
    prefix: Option<String>,
    success: Option<bool>,
    error: Option<String>,
}

impl Call {
    fn of(event: Option<&HookEvent>, fields: &Payload) -> Self {
        match event.map(|event| &event.kind) {
            Some(EventKind::PreToolUse(call)) => Self::begun(call),
            Some(EventKind::PostToolUse(result)) => {
                let success = match result.status {
                    Status::Succeeded => Some(true),
                    Status::Failed { .. } => Some(false),
                    Status::Unknown => None,
                };
                let said = || fields.text("error").lines().find(|line| !line.trim().is_empty());
                let error = result.report.error.as_deref().or_else(said);
                let error = error.filter(|_| success != Some(true));
                let error = error.map(|error| beginning(error, MAX_SUMMARY).to_owned());
                Self { success, error, ..Self::begun(&result.call) }
            }
            _ => Self::default(),
        }
    }

    fn begun(call: &ToolCall) -> Self {
        let file = match &call.subject {
            Some(Subject::File(path)) => Some(path.clone()),
            _ => None,
        };
        let prefix = match &call.action {
            ToolAction::Run(command) => Some(prefix(&command.text)),
            _ => None,
        };
        Self { file, prefix, ..Self::default() }
    }
}

/// The program of a command, and what it is to do if that is a word.
fn prefix(command: &str) -> String {
    let mut words = command.split_whitespace();
    let program = words.next().unwrap_or_default();
    let is_word = |word: &&str| word.chars().all(|it| it.is_alphanumeric() || "-_:".contains(it));
    let verb = words.next().filter(|word| !word.starts_with('-')).filter(is_word);
    let text = verb.map_or(program.to_owned(), |verb| format!("{program} {verb}"));
    beginning(&text, MAX_PREFIX).to_owned()
}

/// What a tool gave back: its text, or all of it where it has none.
fn printed(fields: &Payload) -> Option<Cow<'_, str>> {
    let Some(response) = fields.get("tool_response").filter(|response| !response.is_null()) else {
        return some(fields.text("error")).map(Cow::Borrowed);
    };
    let text = response_text(response);
    Some(if text.is_empty() { Cow::Owned(response.to_string()) } else { text })
}

fn metadata(fields: &Payload, project_root: Option<String>) -> String {
    let others = fields.fields().iter().filter(|(name, _)| !WITH_COLUMN.contains(&name.as_str()));
    let mut others: Map<String, Json> =
        others.map(|(name, value)| (name.clone(), value.clone())).collect();
    if let Some(root) = project_root {
        others.insert("project_root".to_owned(), root.into());
    }
    Json::Object(others).to_string()
}

fn some(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::schema::TABLES;
    use serde_json::json;

    /// The columns that are not empty, by name.
    fn filled(agent: Agent, payload: &Json) -> Vec<(&'static str, Value)> {
        let columns = columns(agent.name(), Some("/p".to_owned()), &payload.to_string());
        assert_eq!(columns.len(), TABLES[0].columns.len());
        let names = TABLES[0].columns.iter().map(|column| column.name);
        names.zip(columns).filter(|(_, value)| *value != Value::Null).collect()
    }

    #[test]
    fn a_failed_command_has_its_columns() {
        let payload = json!({
            "hook_event_name": "PostToolUseFailure", "session_id": "s", "tool_name": "Bash",
            "tool_use_id": "t1", "cwd": "/p", "tool_input": {"command": "cargo test --lib"},
            "error": "Exit code 101\nerror[E0308]: mismatched types\n --> a.rs:1:1\n",
            "permission_mode": "default", "effort": "high",
        });
        let text = |text: &str| Value::text(text);
        let expected = [
            ("event_type", text("PostToolUseFailure")),
            ("agent_source", text("claude-code")),
            ("tool_name", text("Bash")),
            ("tool_input", text("{\"command\":\"cargo test --lib\"}")),
            ("tool_result", text(payload["error"].as_str().unwrap())),
            ("tool_use_id", text("t1")),
            ("cwd", text("/p")),
            ("permission_mode", text("default")),
            ("metadata", text("{\"effort\":\"high\",\"project_root\":\"/p\"}")),
            ("tool_command_prefix", text("cargo test")),
            ("tool_success", Value::Boolean(false)),
            ("tool_error_summary", text("error[E0308]: mismatched types")),
        ];
        assert_eq!(filled(Agent::ClaudeCode, &payload), expected);
    }

    #[test]
    fn what_is_said_is_the_message() {
        for (event, field) in [
            ("UserPromptSubmit", "prompt"),
            ("Notification", "message"),
            ("Stop", "last_assistant_message"),
        ] {
            let payload = json!({"hook_event_name": event, "session_id": "s", field: "hello"});
            let columns = filled(Agent::ClaudeCode, &payload);
            assert!(columns.contains(&("message", Value::text("hello"))), "{columns:?}");
        }
    }

    #[test]
    fn an_edit_has_its_file_and_what_can_not_be_read_stays_whole() {
        let payload = json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/p",
            "tool_name": "Edit", "tool_input": {"file_path": "a.rs"}});
        let columns = filled(Agent::ClaudeCode, &payload);
        assert!(columns.contains(&("tool_file_path", Value::text("/p/a.rs"))), "{columns:?}");
        let columns = filled(Agent::Codex, &json!(["no event"]));
        let expected =
            [("agent_source", Value::text("codex")), ("metadata", Value::text("[\"no event\"]"))];
        assert_eq!(columns, expected);
    }

    #[test]
    fn the_beginning_of_a_command_is_its_program_and_its_verb() {
        for (command, expected) in [
            ("cargo test --lib", "cargo test"),
            ("npm run build:prod", "npm run"),
            ("ls -la", "ls"),
            ("cat /etc/hosts", "cat"),
            ("", ""),
        ] {
            assert_eq!(prefix(command), expected, "{command}");
        }
    }

    #[test]
    fn a_build_has_the_end_of_what_it_printed() {
        let printed = format!("{}\nthe end é", "x".repeat(100_000));
        let payload = json!({"tool_response": {"stdout": printed, "stderr": ""}}).to_string();
        let lines = last_lines(&payload).unwrap();
        assert!(lines.len() <= MAX_LINES && lines.ends_with("the end é"));
        assert_eq!(last_lines("{}"), None);
    }
}
