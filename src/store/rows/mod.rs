//! What an event says, in rows that can be read without unfolding events.

mod derived;
mod inserted;
#[cfg(test)]
mod tests;

use crate::clock::Timestamp;
use crate::world::ProjectIndex;

/// The rows of one event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rows {
    at: Timestamp,
    agent: &'static str,
    session: String,
    project_root: Option<String>,
    model: Option<String>,
    messages: Vec<Message>,
    builds: Vec<Build>,
    /// How commands ended of which an earlier row tells that they have returned.
    exits: Vec<Exit>,
    changes: Vec<Change>,
    anomalies: Vec<Anomaly>,
    /// What the event adds to its session; nothing if it is none to this version.
    progress: Option<Progress>,
    /// All tokens that sessions have used so far.
    usages: Vec<Tokens>,
    /// What projects are made of, by root, as far as that is new.
    projects: Vec<(String, Box<ProjectIndex>)>,
}

/// Something that was said: by the user, the model or a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Message {
    kind: &'static str,
    role: &'static str,
    content: String,
    tool: Option<String>,
    call: Option<String>,
    duration_ms: Option<i64>,
}

/// A command that builds or tests has returned.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Build {
    call: Option<String>,
    /// `passed`, `failed`, `interrupted`, or `unknown`: a later row with the same `build_id` may tell.
    outcome: &'static str,
    /// `build` or `test`.
    tag: &'static str,
    command: String,
    cwd: String,
    exit_code: Option<i64>,
    duration_ms: Option<i64>,
    lines: Option<i64>,
    error: Option<String>,
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Exit {
    agent: &'static str,
    session: String,
    call: String,
    code: i64,
}

/// A file was changed beside the calls of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Change {
    session: Option<String>,
    path: String,
    /// `changed` or `removed`.
    kind: &'static str,
    /// `external`, or `command` of the session.
    source: &'static str,
}

/// A finding that an answer told.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Anomaly {
    kind: &'static str,
    severity: &'static str,
    channel: &'static str,
    suggestion: String,
    evidence: String,
}

/// What an event adds to its session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Progress {
    /// The first words of a prompt, for the session's first.
    title: Option<String>,
    prompts: i64,
    tool_calls: i64,
    failures: i64,
    has_ended: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Tokens {
    agent: &'static str,
    session: String,
    input: i64,
    output: i64,
}
