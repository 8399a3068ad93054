//! The tools: what they are called, what they take and what the daemon is asked for them.
//!
//! The daemon knows the bounds of numbers, and cuts what is too long for a model. What it can't make
//! sense of is refused here or there with an error that the model reads.

mod arguments;

use std::sync::Arc;

use form_urlencoded::Serializer;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

pub(super) use arguments::BadArguments;
use arguments::{
    Anomalies, BuildStatus, ExternalChanges, NoArguments, PeerSessions, SearchSessions,
    SessionState, read,
};

use crate::agent::Agent;
use crate::daemon::{DEFAULT_ACTIONS, MAX_ACTIONS};
use crate::history::{HitKind, MAX_PEER_MESSAGES, MAX_PEERS};
use crate::mcp::caller::Caller;

/// A tool, as the agent is told of it and as it is carried out.
struct Spec {
    name: &'static str,
    description: &'static str,
    /// The properties of its arguments, by JSON Schema.
    properties: fn() -> Value,
    /// Those that it can't do without.
    required: &'static [&'static str],
    /// What the daemon is asked for it.
    target: fn(JsonObject, &Caller) -> Result<String, BadArguments>,
}

/// In the order in which they are listed: what a model should think of first.
const TOOLS: &[Spec] = &[
    Spec {
        name: "get_context_bundle",
        description: "All that tma1 would tell this session now: `context` is the block with the \
                      project, tokens, build state, outside changes and anomalies. Call it after a \
                      compaction, or when no block was injected.",
        properties: || json!({}),
        required: &[],
        target: |arguments, caller| {
            let NoArguments {} = read(arguments)?;
            Ok(asked("/api/context", caller, |_| {}))
        },
    },
    Spec {
        name: "get_session_state",
        description: "What this session did so far: project, duration_s, idle_s, tool_calls, \
                      tokens, current_focus (the file last edited), the most used tools with how \
                      often each was called, recent_files, findings. With verbose also \
                      recent_actions, latest first: tool, its file or input, ago_s. Call it after a \
                      compaction or a resume, and before you redo work that may be done.",
        properties: || {
            json!({
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
            })
        },
        required: &[],
        target: |arguments, caller| {
            let SessionState { verbose, action_limit } = read(arguments)?;
            Ok(asked("/api/session-state", caller, |query| {
                add(query, "verbose", verbose);
                add(query, "action_limit", action_limit);
            }))
        },
    },
    Spec {
        name: "get_anomalies",
        description: "What is wrong in this session now (`findings`: files that others changed \
                      since it saw them, builds and tests that keep failing, a window that fills \
                      up), each with evidence and the next step; and what it was told of before \
                      (`told`).",
        properties: || json!({"since_min": minutes("Only what was told in the last minutes.", 1440)}),
        required: &[],
        target: |arguments, caller| {
            let Anomalies { since_min } = read(arguments)?;
            Ok(asked("/api/findings", caller, |query| add(query, "since_min", since_min)))
        },
    },
    Spec {
        name: "get_build_status",
        description: "The last builds and test runs of this project, by whichever agent: command, \
                      state, exit_code, error, failed_tests. Look before you run a long build \
                      again.",
        properties: || {
            json!({
                "tag": {
                    "type": "string",
                    "description": "Only these: `build`, `test`, or the tag of a `tma1 build`.",
                },
            })
        },
        required: &[],
        target: |arguments, caller| {
            let BuildStatus { tag } = read(arguments)?;
            Ok(asked("/api/build-status", caller, |query| add(query, "tag", tag)))
        },
    },
    Spec {
        name: "get_external_changes",
        description: "Files of this project that were changed outside of what this session did: by \
                      the user, another agent, a checkout. Read them again before you edit them.",
        properties: || json!({"since_min": minutes("Only those of the last minutes.", 60)}),
        required: &[],
        target: |arguments, caller| {
            let ExternalChanges { since_min } = read(arguments)?;
            Ok(asked("/api/external-changes", caller, |query| {
                add(query, "near", Some(caller.directory()));
                add(query, "since_min", since_min);
            }))
        },
    },
    Spec {
        name: "get_project_state",
        description: "What this project is made of: languages, build_systems, test_runners with the \
                      command that runs the tests, key_files, folders, members of a monorepo, branch \
                      and head_commit.",
        properties: || json!({}),
        required: &[],
        target: |arguments, caller| {
            let NoArguments {} = read(arguments)?;
            let mut query = Serializer::new(String::new());
            query.append_pair("cwd", caller.directory());
            Ok(format!("/api/project-state?{}", query.finish()))
        },
    },
    Spec {
        name: "get_peer_sessions",
        description: "What other agents did and said in this project: sessions with their last \
                      messages, the latest session first. Use it to take over or check the work of \
                      the other agent.",
        properties: || {
            json!({
                "agent_source": {
                    "type": "string",
                    "description": "`claude-code` (also `claude`, `cc`) or `codex`; without it all \
                                    but the one that asks.",
                },
                "project": {
                    "type": "string",
                    "description": "The root or the name of another project.",
                },
                "limit": {
                    "type": "integer", "minimum": 1, "maximum": MAX_PEERS, "default": 1,
                    "description": "How many sessions.",
                },
                "message_limit": {
                    "type": "integer", "minimum": 1, "maximum": MAX_PEER_MESSAGES, "default": 10,
                    "description": "How many of the last messages of each.",
                },
                "since_min": minutes("Only sessions of the last minutes.", 1440),
            })
        },
        required: &[],
        target: |arguments, caller| {
            let PeerSessions { agent_source, project, limit, message_limit, since_min } =
                read(arguments)?;
            let agent = agent_source.map(|name| arguments::agent(&name)).transpose()?;
            Ok(asked("/api/peers", caller, |query| {
                add(query, "agent_source", agent.map(Agent::name));
                add(query, "caller_agent", caller.agent().map(Agent::name));
                add(query, "near", Some(caller.directory()));
                add(query, "project", project);
                add(query, "limit", limit);
                add(query, "message_limit", message_limit);
                add(query, "since_min", since_min);
            }))
        },
    },
    Spec {
        name: "search_sessions",
        description: "Full text search over the prompts, answers, commands and errors of all \
                      recorded sessions of both agents, latest first, with a snippet of each. Words \
                      are joined by AND; code names and paths are found as they are written.",
        properties: || {
            json!({
                "query": {"type": "string", "description": "What to look for."},
                "agent_source": {
                    "type": "string",
                    "description": "Only sessions of `claude-code` or `codex`.",
                },
                "project": {
                    "type": "string",
                    "description": "Only in this project: its root or its name.",
                },
                "kind": {
                    "type": "string",
                    "enum": HitKind::ALL,
                    "description": "Only texts of this kind.",
                },
                "since_min": minutes("Only what was said in the last minutes.", 0),
                "limit": {
                    "type": "integer", "minimum": 1, "maximum": 50, "default": 10,
                    "description": "How many texts.",
                },
            })
        },
        required: &["query"],
        target: |arguments, _| {
            let SearchSessions { query: text, agent_source, project, kind, since_min, limit } =
                read(arguments)?;
            if text.trim().is_empty() {
                return Err(BadArguments::Empty("query"));
            }
            let agent = agent_source.map(|name| arguments::agent(&name)).transpose()?;
            let mut query = Serializer::new(String::new());
            query.append_pair("text", &text);
            add(&mut query, "agent", agent.map(Agent::name));
            add(&mut query, "project", project);
            add(&mut query, "kind", kind.map(HitKind::name));
            add(&mut query, "since", since_min.map(|minutes| format!("{}m", minutes.max(1))));
            add(&mut query, "limit", Some(limit.unwrap_or(10).clamp(1, 50)));
            Ok(format!("/api/search?{}", query.finish()))
        },
    },
];

/// Every tool, as the agent is told of it.
pub(super) fn all() -> Vec<Tool> {
    let tools = TOOLS.iter().map(|spec| {
        Tool::new(spec.name, spec.description, schema((spec.properties)(), spec.required))
            .with_annotations(reads_only())
    });
    tools.collect()
}

/// What the daemon is asked for a call of the tool `name`; none if there is no such tool.
pub(super) fn target(
    name: &str,
    arguments: JsonObject,
    caller: &Caller,
) -> Option<Result<String, BadArguments>> {
    let spec = TOOLS.iter().find(|spec| spec.name == name)?;
    Some((spec.target)(arguments, caller))
}

/// Without these hints Codex does not run a tool unasked.
fn reads_only() -> ToolAnnotations {
    ToolAnnotations::new().read_only(true).destructive(false).open_world(false)
}

fn schema(properties: Value, required: &[&str]) -> Arc<JsonObject> {
    let mut schema = JsonObject::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties);
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.into());
    }
    schema.insert("additionalProperties".to_owned(), false.into());
    Arc::new(schema)
}

/// A number of minutes; without a default there is no bound.
fn minutes(description: &str, default: u32) -> Value {
    if default == 0 {
        return json!({"type": "integer", "minimum": 1, "description": description});
    }
    json!({"type": "integer", "minimum": 1, "default": default, "description": description})
}

/// A question at `path` about the session of `caller`, with what `more` adds.
fn asked(path: &str, caller: &Caller, more: impl FnOnce(&mut Serializer<'_, String>)) -> String {
    let mut query = Serializer::new(String::new());
    let (session, cwd) = caller.place();
    if let Some(session) = session {
        query.append_pair("agent", session.agent.name()).append_pair("session", &session.id);
    }
    add(&mut query, "cwd", cwd);
    more(&mut query);
    format!("{path}?{}", query.finish())
}

fn add(query: &mut Serializer<'_, String>, name: &str, value: Option<impl ToString>) {
    if let Some(value) = value {
        query.append_pair(name, &value.to_string());
    }
}

#[cfg(test)]
mod tests;
