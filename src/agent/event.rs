//! The events that the hooks of an agent report.

use serde_json::{Map, Value};

use crate::agent::payload::{Payload, beginning};
use crate::agent::tool::path::MAX_PATH_BYTES;
use crate::agent::{Agent, ToolCall, ToolResult, result};

/// The longest id of a session or a call, in bytes. The agents use UUIDs and the like; we keep them
/// in memory, and compare them at every event.
const MAX_ID_BYTES: usize = 128;

/// How much is kept of the name of an event or a tool, in bytes. MCP allows a tool 128 characters.
const MAX_NAME_BYTES: usize = 128;

/// How many calls of one batch are looked at; models make a handful at once.
const MAX_BATCH: usize = 64;

/// With what a prompt begins that Claude Code wrote itself: a background task has ended, or another
/// agent of the team has something to say.
const MACHINE_TAGS: [&str; 3] = ["<task-notification", "<bash-notification", "<teammate-message"];

/// With what the answer of a tool begins that Claude Code did not call.
const REJECTION: &str = "<tool_use_error>";

/// One hook event, as far as the world understands it.
///
/// Agents add events and fields with every version, so parsing is tolerant: an unknown event is
/// [`EventKind::Other`], an absent field is empty. Only what no event can be without is required.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookEvent {
    /// The session that the event belongs to. Subagents report under their parent's session.
    pub session: SessionKey,
    /// The agent's name for the event, such as `PostToolUse`.
    pub name: String,
    /// The working directory: the session's, or on Codex's tool events the tool call's.
    pub cwd: String,
    /// The subagent that it happened in; none in the session itself.
    pub subagent: Option<String>,
    /// The agent's id of the turn, the same from the prompt to the Stop; absent where the agent has
    /// none.
    pub turn: Option<String>,
    /// The file in which the agent keeps the session; in a subagent of Codex, that of the subagent.
    pub transcript: Option<String>,
    /// What happened.
    pub kind: EventKind,
}

/// What identifies a session: ids are unique for one agent only.
#[derive(
    Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub struct SessionKey {
    /// Whose session it is.
    pub agent: Agent,
    /// The agent's id for it.
    pub id: String,
}

/// What happened, for the events that change the world or are answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventKind {
    /// A session opens, or goes on.
    SessionStart(StartSource),
    /// A session ends.
    SessionEnd,
    /// A turn begins.
    UserPromptSubmit {
        /// Whether the agent itself wrote the prompt: the result of a background task, or what it
        /// tells a subagent to do.
        by_machine: bool,
    },
    /// A tool is about to be called.
    PreToolUse(ToolCall),
    /// A tool call has returned, well or not.
    PostToolUse(ToolResult),
    /// All calls of one answer of the model are done, but for what goes on in the background. These
    /// are the ones that the agent refused to make, often none, for which there is no other event.
    RejectedCalls(Vec<ToolResult>),
    /// The agent wants to end its turn.
    Stop {
        /// Whether this turn already goes on because a Stop hook blocked it.
        stop_hook_active: bool,
    },
    /// The turn ended without a Stop: the user interrupted it, or the model's service failed.
    TurnBroken,
    /// The agent is about to replace the older turns by a summary.
    PreCompact,
    /// Anything else: recorded, and a sign of life of its session.
    Other,
}

/// How a session comes to start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartSource {
    /// It is new.
    Startup,
    /// An earlier one goes on under the same id.
    Resume,
    /// The user cleared the one before.
    Clear,
    /// It goes on with a summary of what was before.
    Compact,
    /// It goes on from an earlier one under a new id.
    Fork,
    /// In a way that we don't know.
    Other,
}

/// Why a payload is not an event.
#[derive(Debug, thiserror::Error)]
pub enum EventError {
    /// The payload is not JSON.
    #[error("the payload is not JSON")]
    Syntax(#[from] serde_json::Error),
    /// The payload is JSON, but not an object.
    #[error("the payload is not a JSON object")]
    NotAnObject,
    /// A field that every event has is absent, empty or not a string.
    #[error("the payload has no `{0}`")]
    Missing(&'static str),
    /// A field that identifies something is longer than any agent's.
    #[error("the `{0}` of the payload is too long")]
    TooLong(&'static str),
}

impl HookEvent {
    /// Reads an event from the payload of a hook.
    pub fn from_payload(agent: Agent, payload: &Payload) -> Result<Self, EventError> {
        let name = beginning(required(payload, "hook_event_name")?, MAX_NAME_BYTES).to_owned();
        let id = required(payload, "session_id")?;
        if id.len() > MAX_ID_BYTES {
            // What is left of an id that is cut is another's id.
            return Err(EventError::TooLong("session_id"));
        }
        let session = SessionKey { agent, id: id.to_owned() };
        let cwd = cwd(payload).to_owned();
        let optional = |field: &str, bytes| {
            let text = payload.text(field);
            (!text.is_empty() && text.len() <= bytes).then(|| text.to_owned())
        };
        let subagent = optional("agent_id", MAX_ID_BYTES);
        let call = || tool_call(agent, payload.fields(), &cwd);
        let kind = match name.as_str() {
            "SessionStart" => EventKind::SessionStart(StartSource::named(payload.text("source"))),
            "SessionEnd" => EventKind::SessionEnd,
            "UserPromptSubmit" => EventKind::UserPromptSubmit {
                by_machine: subagent.is_some() || is_by_machine(agent, payload.text("prompt")),
            },
            "PreToolUse" => call().map_or(EventKind::Other, EventKind::PreToolUse),
            "PostToolUse" => call().map_or(EventKind::Other, |call| {
                EventKind::PostToolUse(ToolResult::of_call(agent, call, payload))
            }),
            "PostToolUseFailure" => call().map_or(EventKind::Other, |call| {
                EventKind::PostToolUse(ToolResult::of_failure(call, payload))
            }),
            "PostToolBatch" => rejected_calls(agent, payload, &cwd),
            "Stop" => EventKind::Stop {
                stop_hook_active: payload.get("stop_hook_active") == Some(&Value::Bool(true)),
            },
            "StopFailure" | "Interrupt" => EventKind::TurnBroken,
            "PreCompact" => EventKind::PreCompact,
            _ => EventKind::Other,
        };
        Ok(Self {
            session,
            cwd,
            kind,
            subagent,
            turn: optional("prompt_id", MAX_ID_BYTES).or_else(|| optional("turn_id", MAX_ID_BYTES)),
            transcript: optional("transcript_path", MAX_PATH_BYTES),
            name,
        })
    }
}

impl StartSource {
    fn named(name: &str) -> Self {
        match name {
            "startup" => Self::Startup,
            "resume" => Self::Resume,
            "clear" => Self::Clear,
            "compact" => Self::Compact,
            "fork" => Self::Fork,
            _ => Self::Other,
        }
    }
}

/// Whether Claude Code itself wrote the prompt. A slash command is the user's.
fn is_by_machine(agent: Agent, prompt: &str) -> bool {
    let is_tag = |tag: &str| {
        let rest = prompt.trim_start().strip_prefix(tag);
        rest.is_some_and(|rest| rest.starts_with(['>', ' ']))
    };
    agent == Agent::ClaudeCode && MACHINE_TAGS.iter().any(|tag| is_tag(tag))
}

/// The call that the fields of an event or of a batch name; none if they name no tool.
fn tool_call(agent: Agent, fields: &Map<String, Value>, cwd: &str) -> Option<ToolCall> {
    let text = |field: &str| fields.get(field).and_then(Value::as_str);
    let name = beginning(text("tool_name")?, MAX_NAME_BYTES);
    let id = text("tool_use_id").filter(|id| (1..=MAX_ID_BYTES).contains(&id.len()));
    let input = fields.get("tool_input").unwrap_or(&Value::Null);
    (!name.is_empty()).then(|| ToolCall::new(agent, id.map(str::to_owned), name, input, cwd))
}

/// The calls of a batch that the agent refused to make, because the input or the tool was wrong.
fn rejected_calls(agent: Agent, payload: &Payload, cwd: &str) -> EventKind {
    let calls = payload.get("tool_calls").and_then(Value::as_array);
    let rejected = (calls.into_iter().flatten().take(MAX_BATCH))
        .filter_map(Value::as_object)
        .filter(|call| {
            call.get("tool_response").is_some_and(|it| result::text(it).starts_with(REJECTION))
        })
        .filter_map(|call| tool_call(agent, call, cwd))
        .map(ToolResult::of_rejected);
    EventKind::RejectedCalls(rejected.collect())
}

/// The working directory; a longer path than any system's names none.
fn cwd(payload: &Payload) -> &str {
    Some(payload.text("cwd")).filter(|path| path.len() <= MAX_PATH_BYTES).unwrap_or_default()
}

fn required<'a>(payload: &'a Payload, field: &'static str) -> Result<&'a str, EventError> {
    Some(payload.text(field)).filter(|value| !value.is_empty()).ok_or(EventError::Missing(field))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(payload: &str) -> Result<HookEvent, EventError> {
        HookEvent::from_payload(Agent::ClaudeCode, &Payload::read(payload.as_bytes())?)
    }

    #[test]
    fn an_event_has_a_name_and_a_session() {
        for (payload, reason) in [
            ("", "the payload is not JSON"),
            ("[]", "the payload is not a JSON object"),
            ("{}", "the payload has no `hook_event_name`"),
            (r#"{"hook_event_name":"Stop"}"#, "the payload has no `session_id`"),
            (r#"{"hook_event_name":"Stop","session_id":7}"#, "the payload has no `session_id`"),
            (r#"{"hook_event_name":"","session_id":"s"}"#, "the payload has no `hook_event_name`"),
        ] {
            assert_eq!(parse(payload).unwrap_err().to_string(), reason, "{payload}");
        }
    }

    #[test]
    fn an_unknown_event_and_unknown_fields_are_no_error() {
        let event =
            parse(r#"{"hook_event_name":"Brand new","session_id":"s","x":[{"y":null}]}"#).unwrap();
        assert_eq!(event.kind, EventKind::Other);
        assert_eq!(event.cwd, "");
    }

    #[test]
    fn a_tool_event_without_a_tool_is_only_a_sign_of_life() {
        let event = parse(r#"{"hook_event_name":"PreToolUse","session_id":"s"}"#).unwrap();
        assert_eq!(event.kind, EventKind::Other);
    }

    #[test]
    fn a_stop_is_active_only_if_it_says_so() {
        for (field, active) in
            [("true", true), ("false", false), ("null", false), ("\"true\"", false)]
        {
            let event = parse(&format!(
                r#"{{"hook_event_name":"Stop","session_id":"s","stop_hook_active":{field}}}"#
            ))
            .unwrap();
            assert_eq!(event.kind, EventKind::Stop { stop_hook_active: active });
        }
    }

    #[test]
    fn no_field_is_longer_than_it_can_be() {
        let long = "/a".repeat(20_000);
        let error = parse(&format!(r#"{{"hook_event_name":"Stop","session_id":"{long}"}}"#));
        assert_eq!(error.unwrap_err().to_string(), "the `session_id` of the payload is too long");
        let event = parse(&format!(
            r#"{{"hook_event_name":"PreToolUse","session_id":"s","cwd":"{long}","tool_name":"{long}",
                "tool_use_id":"{long}"}}"#
        ))
        .unwrap();
        assert_eq!(event.cwd, "");
        let EventKind::PreToolUse(call) = event.kind else { panic!("{event:?}") };
        assert_eq!((call.id, call.name.len()), (None, MAX_NAME_BYTES));
    }
}
