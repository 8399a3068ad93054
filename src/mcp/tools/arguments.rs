//! What the tools take. A field that is not known is refused, so that a model notices its mistake.

use rmcp::model::JsonObject;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::agent::Agent;
use crate::history::HitKind;

/// Arguments that can't be used, as the model reads it.
#[derive(Debug, thiserror::Error)]
pub(in crate::mcp) enum BadArguments {
    #[error(transparent)]
    Shape(#[from] serde_json::Error),
    #[error("`agent_source` is {0:?}; it can be `claude-code` or `codex`")]
    Agent(String),
    #[error("`{0}` is empty")]
    Empty(&'static str),
}

/// The arguments of a call as `T`.
pub(super) fn read<T: DeserializeOwned>(arguments: JsonObject) -> Result<T, BadArguments> {
    Ok(serde_json::from_value(Value::Object(arguments))?)
}

/// The agent that a model calls `name`.
pub(super) fn agent(name: &str) -> Result<Agent, BadArguments> {
    match name.trim().to_ascii_lowercase().replace(['_', ' '], "-").as_str() {
        "claude-code" | "claude" | "cc" | "claudecode" | "anthropic" => Ok(Agent::ClaudeCode),
        "codex" | "codex-cli" | "openai" | "openai-codex" => Ok(Agent::Codex),
        _ => Err(BadArguments::Agent(name.to_owned())),
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NoArguments {}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SessionState {
    pub verbose: Option<bool>,
    pub action_limit: Option<i64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Anomalies {
    pub since_min: Option<i64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BuildStatus {
    pub tag: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExternalChanges {
    pub since_min: Option<i64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PeerSessions {
    pub agent_source: Option<String>,
    pub project: Option<String>,
    pub limit: Option<i64>,
    pub message_limit: Option<i64>,
    pub since_min: Option<i64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchSessions {
    pub query: String,
    pub agent_source: Option<String>,
    pub project: Option<String>,
    pub kind: Option<HitKind>,
    pub since_min: Option<i64>,
    pub limit: Option<i64>,
}
