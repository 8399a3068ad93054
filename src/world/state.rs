//! The state of a session, as data for who asks: the answer of the tool `get_session_state`.
//!
//! A model reads it, so every text in it is [rendered](super::render) as in the block. The names of
//! the fields are part of the interface.

use serde::Serialize;

use crate::agent::{SessionKey, Subject};
use crate::clock::Timestamp;
use crate::world::render;
use crate::world::session::{Action, Session};

/// How many tools are named, the most used ones.
const MAX_TOOLS: usize = 30;

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
    /// The file last edited.
    current_focus: Option<String>,
    /// Most used first.
    tools: Vec<ToolState>,
    /// Last edited first.
    recent_files: Vec<String>,
    /// Latest first; only if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    recent_actions: Option<Vec<ActionState>>,
    /// What was left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

#[derive(Debug, Serialize)]
struct ToolState {
    name: String,
    calls: u64,
}

#[derive(Debug, Serialize)]
struct ActionState {
    tool: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<String>,
    ago_s: u64,
}

impl SessionState {
    /// The state of a session, with as many of its last `actions` as fit.
    pub(super) fn of(key: &SessionKey, session: &Session, actions: usize, now: Timestamp) -> Self {
        let relative = |path: &String| render::path(session.project.relative(path));
        let until = if session.ended { session.last_event_at } else { now };
        let (recent_actions, left_out) = recent_actions(session, actions, now);
        Self {
            project: render::name(session.project.name()),
            agent: key.agent.name(),
            session: render::text(&key.id, MAX_ID_CHARS),
            duration_s: until.since(session.started_at).as_secs(),
            idle_s: now.since(session.last_event_at).as_secs(),
            ended: session.ended,
            tool_calls: session.tool_calls,
            current_focus: session.recent_files.front().map(relative),
            tools: (session.tools_by_use().into_iter().take(MAX_TOOLS))
                .map(|(name, calls)| ToolState { name: render::name(name), calls })
                .collect(),
            recent_files: session.recent_files.iter().map(relative).collect(),
            recent_actions: (actions > 0).then_some(recent_actions),
            note: (left_out > 0)
                .then(|| format!("{left_out} older actions are left out to keep this short")),
        }
    }
}

/// The last `limit` actions, and how many of them don't fit.
fn recent_actions(session: &Session, limit: usize, now: Timestamp) -> (Vec<ActionState>, usize) {
    let asked = limit.min(session.recent_actions.len());
    let mut budget = ACTIONS_BUDGET;
    let fitting: Vec<_> = (session.recent_actions.iter().take(asked))
        .map(|action| ActionState::of(action, session, now))
        .map_while(|action| {
            budget = budget.checked_sub(serde_json::to_string(&action).ok()?.len())?;
            Some(action)
        })
        .collect();
    let left_out = asked - fitting.len();
    (fitting, left_out)
}

impl ActionState {
    fn of(action: &Action, session: &Session, now: Timestamp) -> Self {
        let (file, input) = match &action.subject {
            Some(Subject::File(path)) => (Some(render::path(session.project.relative(path))), None),
            Some(Subject::Input(text)) => (None, Some(render::text(text, MAX_INPUT_CHARS))),
            None => (None, None),
        };
        let ago_s = now.since(action.at).as_secs();
        Self { tool: render::name(&action.tool), file, input, ago_s }
    }
}
