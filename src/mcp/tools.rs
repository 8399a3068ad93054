//! The tools: what they are called, what they take and what the daemon is asked for them.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::daemon::{DEFAULT_ACTIONS, MAX_ACTIONS};
use crate::mcp::caller::Caller;

/// The tool that states what a session did.
pub(super) const GET_SESSION_STATE: &str = "get_session_state";

/// Every tool, as the agent is told of it.
pub(super) fn all() -> Vec<Tool> {
    vec![
        Tool::new(
            GET_SESSION_STATE,
            "What this session did so far: project, duration_s, idle_s, tool_calls, current_focus \
             (the file last edited), the most used tools with how often each was called, \
             recent_files. With verbose also recent_actions, latest first: tool, its file or input, \
             ago_s. Call it after a compaction or a resume, and before you redo work that may be done.",
            schema(json!({
                "verbose": {
                    "type": "boolean",
                    "description": "Also list the last actions.",
                },
                "action_limit": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": MAX_ACTIONS,
                    "default": DEFAULT_ACTIONS,
                    "description": "How many of the last actions to list.",
                },
            })),
        )
        .with_annotations(reads_only()),
    ]
}

/// Without these hints Codex does not run a tool unasked.
fn reads_only() -> ToolAnnotations {
    ToolAnnotations::new().read_only(true).destructive(false).open_world(false)
}

fn schema(properties: Value) -> Arc<JsonObject> {
    let mut schema = JsonObject::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties);
    schema.insert("additionalProperties".to_owned(), false.into());
    Arc::new(schema)
}

/// What `get_session_state` takes; the daemon knows the bounds.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SessionStateArguments {
    verbose: Option<bool>,
    action_limit: Option<i64>,
}

/// What the daemon is asked for `get_session_state`.
pub(super) fn session_state(
    arguments: JsonObject,
    caller: Caller,
) -> Result<String, serde_json::Error> {
    let arguments: SessionStateArguments = serde_json::from_value(Value::Object(arguments))?;
    let mut query = form_urlencoded::Serializer::new(String::new());
    let (session, cwd) = caller.place();
    if let Some(session) = session {
        query.append_pair("agent", session.agent.name()).append_pair("session", &session.id);
    }
    if let Some(cwd) = cwd {
        query.append_pair("cwd", &cwd);
    }
    if let Some(verbose) = arguments.verbose {
        query.append_pair("verbose", &verbose.to_string());
    }
    if let Some(limit) = arguments.action_limit {
        query.append_pair("action_limit", &limit.to_string());
    }
    Ok(format!("/api/session-state?{}", query.finish()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(arguments: Value) -> Result<String, String> {
        let Value::Object(arguments) = arguments else { panic!("not an object") };
        let caller = Caller::ClaudeCode { session: "a&b".to_owned(), cwd: "/my shop".to_owned() };
        session_state(arguments, caller).map_err(|error| error.to_string())
    }

    #[test]
    fn the_caller_and_the_arguments_are_the_question() {
        let caller = "/api/session-state?agent=claude-code&session=a%26b&cwd=%2Fmy+shop";
        assert_eq!(target(json!({})).unwrap(), caller);
        assert_eq!(target(json!({"verbose": null, "action_limit": null})).unwrap(), caller);
        let more = json!({"verbose": true, "action_limit": -3});
        assert_eq!(target(more).unwrap(), format!("{caller}&verbose=true&action_limit=-3"));
    }

    #[test]
    fn an_argument_that_can_not_be_used_is_named() {
        for (arguments, message) in [
            (json!({"limit": 3}), "unknown field `limit`, expected `verbose` or `action_limit`"),
            (json!({"action_limit": "many"}), "invalid type: string \"many\", expected i64"),
            (json!({"verbose": 1}), "invalid type: integer `1`, expected a boolean"),
        ] {
            assert_eq!(target(arguments).unwrap_err(), message);
        }
    }
}
