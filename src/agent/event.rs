//! The events that the hooks of an agent report.

use serde_json::{Map, Value};

use crate::agent::{Agent, ToolCall};

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
    /// What happened.
    pub kind: EventKind,
}

/// What identifies a session: ids are unique for one agent only.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionKey {
    /// Whose session it is.
    pub agent: Agent,
    /// The agent's id for it.
    pub id: String,
}

/// What happened, for the events that change the world or are answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventKind {
    /// A session opens, or goes on after a resume, a clear or a compaction.
    SessionStart,
    /// A session ends.
    SessionEnd,
    /// A turn begins.
    UserPromptSubmit,
    /// A tool is about to be called.
    PreToolUse(ToolCall),
    /// A tool call has returned.
    PostToolUse(ToolCall),
    /// The agent wants to end its turn.
    Stop {
        /// Whether this turn already goes on because a Stop hook blocked it.
        stop_hook_active: bool,
    },
    /// Anything else: recorded, and a sign of life of its session.
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
}

impl HookEvent {
    /// Reads an event from the payload of a hook; also returns the payload, for the log.
    pub fn parse(agent: Agent, payload: &[u8]) -> Result<(Self, Map<String, Value>), EventError> {
        let Value::Object(payload) = serde_json::from_slice(payload)? else {
            return Err(EventError::NotAnObject);
        };
        Ok((Self::from_payload(agent, &payload)?, payload))
    }

    /// Reads an event from a payload that is parsed already.
    pub fn from_payload(agent: Agent, payload: &Map<String, Value>) -> Result<Self, EventError> {
        let name = required(payload, "hook_event_name")?.to_owned();
        let session = SessionKey { agent, id: required(payload, "session_id")?.to_owned() };
        let cwd = text(payload, "cwd").to_owned();
        let kind = match name.as_str() {
            "SessionStart" => EventKind::SessionStart,
            "SessionEnd" => EventKind::SessionEnd,
            "UserPromptSubmit" => EventKind::UserPromptSubmit,
            "PreToolUse" => tool_event(agent, payload, EventKind::PreToolUse),
            "PostToolUse" => tool_event(agent, payload, EventKind::PostToolUse),
            "Stop" => EventKind::Stop {
                stop_hook_active: payload.get("stop_hook_active") == Some(&Value::Bool(true)),
            },
            _ => EventKind::Other,
        };
        Ok(Self { session, name, cwd, kind })
    }
}

fn tool_event(
    agent: Agent,
    payload: &Map<String, Value>,
    kind: impl FnOnce(ToolCall) -> EventKind,
) -> EventKind {
    let name = text(payload, "tool_name");
    if name.is_empty() {
        return EventKind::Other;
    }
    let input = payload.get("tool_input").unwrap_or(&Value::Null);
    let id = Some(text(payload, "tool_use_id")).filter(|id| !id.is_empty()).map(str::to_owned);
    kind(ToolCall::new(agent, id, name, input, text(payload, "cwd")))
}

fn required<'a>(
    payload: &'a Map<String, Value>,
    field: &'static str,
) -> Result<&'a str, EventError> {
    Some(text(payload, field)).filter(|value| !value.is_empty()).ok_or(EventError::Missing(field))
}

fn text<'a>(payload: &'a Map<String, Value>, field: &str) -> &'a str {
    payload.get(field).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(payload: &str) -> Result<HookEvent, EventError> {
        HookEvent::parse(Agent::ClaudeCode, payload.as_bytes()).map(|(event, _)| event)
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
}
