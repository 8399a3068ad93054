//! The state of a session, as data for who asks: the answer of the tool `get_session_state`.
//!
//! A model reads it, so every text in it is [cut and cleaned](super::value) as in the block. The names of
//! the fields are part of the interface.

use serde::Serialize;

use crate::agent::{SessionKey, Subject};
use crate::clock::Timestamp;
use crate::world::anomaly::Finding;
use crate::world::calls::Action;
use crate::world::observation::Usage;
use crate::world::session::Session;
use crate::world::value;

/// How many tools are named, the most used ones.
const MAX_TOOLS: usize = 30;

/// How many findings are listed, the most severe ones.
const MAX_FINDINGS: usize = 8;

/// How many bytes of JSON the recent actions may take: with everything else well below what the
/// agents take as the result of a tool.
const ACTIONS_BUDGET: usize = 12_000;

const MAX_ID_CHARS: usize = 128;
const MAX_INPUT_CHARS: usize = 160;

/// What a session is and did.
#[derive(Debug, Serialize)]
pub struct SessionState {
    project: String,
    agent: &'static str,
    session: String,
    /// From the first event to now, or to the end.
    duration_s: u64,
    /// Since the latest event.
    idle_s: u64,
    ended: bool,
    tool_calls: u64,
    /// How many of the calls have failed.
    failed_calls: u64,
    /// How many more the agent has refused to make.
    rejected_calls: u64,
    /// How many have no result, though their turn has ended.
    dangling_calls: u64,
    tokens: TokenState,
    /// The file last edited.
    current_focus: Option<String>,
    /// Most used first.
    tools: Vec<ToolState>,
    /// Last edited first.
    recent_files: Vec<String>,
    /// What is wrong now, the most severe first.
    findings: Vec<Finding>,
    /// Latest first; only if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    recent_actions: Option<Vec<ActionState>>,
    /// What was left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

/// What was used, as far as the transcript was read.
#[derive(Debug, Serialize)]
struct TokenState {
    #[serde(rename = "in")]
    input: u64,
    #[serde(rename = "out")]
    output: u64,
    /// What the last request held.
    #[serde(skip_serializing_if = "Option::is_none")]
    window_used: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    window_size: Option<u64>,
}

#[derive(Debug, Serialize)]
struct ToolState {
    name: String,
    calls: u64,
}

#[derive(Debug, Serialize)]
struct ActionState {
    tool: String,
    /// Whether a subagent made the call.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    subagent: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<String>,
    ago_s: u64,
}

impl SessionState {
    /// The state of a session, with what was found in it and as many of its last `actions` as fit.
    pub(super) fn of(
        key: &SessionKey,
        session: &Session,
        actions: usize,
        mut findings: Vec<Finding>,
        now: Timestamp,
    ) -> Self {
        findings.truncate(MAX_FINDINGS);
        let relative = |path: &String| value::path(session.project.relative(path));
        let until = if session.ended { session.last_event_at } else { now };
        let (recent_actions, left_out) = recent_actions(session, actions, now);
        Self {
            project: value::name(session.project.name()),
            agent: key.agent.name(),
            session: value::text(&key.id, MAX_ID_CHARS),
            duration_s: until.since(session.started_at).as_secs(),
            idle_s: now.since(session.last_event_at).as_secs(),
            ended: session.ended,
            tool_calls: session.calls.begun,
            failed_calls: session.calls.failed,
            rejected_calls: session.calls.rejected,
            dangling_calls: session.calls.dangling,
            tokens: TokenState::of(session.usage),
            current_focus: session.files.recent.front().map(relative),
            tools: (session.calls.tools_by_use().into_iter().take(MAX_TOOLS))
                .map(|(name, calls)| ToolState { name: value::name(name), calls })
                .collect(),
            recent_files: session.files.recent.iter().map(relative).collect(),
            findings,
            recent_actions: (actions > 0).then_some(recent_actions),
            note: (left_out > 0)
                .then(|| format!("{left_out} older actions are left out to keep this short")),
        }
    }
}

/// The last `limit` actions, and how many of them don't fit.
fn recent_actions(session: &Session, limit: usize, now: Timestamp) -> (Vec<ActionState>, usize) {
    let asked = limit.min(session.calls.recent.len());
    let mut budget = ACTIONS_BUDGET;
    let fitting: Vec<_> = (session.calls.recent.iter().take(asked))
        .map(|action| ActionState::of(action, session, now))
        .map_while(|action| {
            budget = budget.checked_sub(serde_json::to_string(&action).ok()?.len())?;
            Some(action)
        })
        .collect();
    let left_out = asked - fitting.len();
    (fitting, left_out)
}

impl TokenState {
    fn of(usage: Usage) -> Self {
        let Usage { input, output, window_used, window_size } = usage;
        Self { input, output, window_used, window_size }
    }
}

impl ActionState {
    fn of(action: &Action, session: &Session, now: Timestamp) -> Self {
        let (file, input) = match &action.subject {
            Some(Subject::File(path)) => (Some(value::path(session.project.relative(path))), None),
            Some(Subject::Input(text)) => (None, Some(value::text(text, MAX_INPUT_CHARS))),
            None => (None, None),
        };
        let ago_s = now.since(action.at).as_secs();
        let (tool, subagent) = (value::name(&action.tool), action.by_subagent);
        Self { tool, subagent, file, input, ago_s }
    }
}
