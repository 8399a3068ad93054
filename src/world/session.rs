//! One session of an agent.

use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};

use crate::agent::{EventKind, Subject, ToolAction, ToolCall};
use crate::clock::Timestamp;
use crate::world::project::Project;

/// How many recently edited files are kept: as many as the digest names.
const RECENT_FILES: usize = 5;

/// How many of the last actions of a session are kept.
pub const RECENT_ACTIONS: usize = 100;

/// How many tools are counted by name; a session with more of them made the names up.
const MAX_TOOLS: usize = 256;

/// How many ids of calls are kept to recognise an event that is delivered twice, which happens
/// close together.
const REMEMBERED_CALLS: usize = 64;

/// What a session has done.
#[derive(Debug)]
pub(super) struct Session {
    /// The project that it works in.
    pub project: Project,
    /// The first event.
    pub started_at: Timestamp,
    /// The latest event.
    pub last_event_at: Timestamp,
    /// Whether the latest event was its end; a session can be resumed.
    pub ended: bool,
    /// How many tool calls the agent has begun.
    pub tool_calls: u64,
    /// The same by the tool's name.
    pub tools: BTreeMap<String, u64>,
    /// The files last edited, latest first, as absolute paths.
    pub recent_files: VecDeque<String>,
    /// The tool calls last begun, latest first.
    pub recent_actions: VecDeque<Action>,
    counted_calls: VecDeque<String>,
}

/// A tool call that was begun.
#[derive(Debug)]
pub(super) struct Action {
    /// The name of the tool.
    pub tool: String,
    /// What the call is about.
    pub subject: Option<Subject>,
    /// When it was begun.
    pub at: Timestamp,
}

impl Session {
    pub(super) fn new(project: Project, at: Timestamp) -> Self {
        Self {
            project,
            started_at: at,
            last_event_at: at,
            ended: false,
            tool_calls: 0,
            tools: BTreeMap::new(),
            recent_files: VecDeque::new(),
            recent_actions: VecDeque::new(),
            counted_calls: VecDeque::new(),
        }
    }

    pub(super) fn apply(&mut self, event: &EventKind, at: Timestamp) {
        self.last_event_at = self.last_event_at.max(at);
        self.ended = *event == EventKind::SessionEnd;
        match event {
            EventKind::PreToolUse(call) => self.count(call, at),
            EventKind::PostToolUse(result) => self.note_edits(&result.call.action),
            _ => {}
        }
    }

    /// The tools with their counts, most used first.
    pub(super) fn tools_by_use(&self) -> Vec<(&str, u64)> {
        let mut tools: Vec<(&str, u64)> =
            self.tools.iter().map(|(name, count)| (name.as_str(), *count)).collect();
        tools.sort_by_key(|(name, count)| (Reverse(*count), *name));
        tools
    }

    fn count(&mut self, call: &ToolCall, at: Timestamp) {
        if let Some(id) = &call.id {
            if self.counted_calls.contains(id) {
                return;
            }
            self.counted_calls.truncate(REMEMBERED_CALLS - 1);
            self.counted_calls.push_front(id.clone());
        }
        self.tool_calls += 1;
        if self.tools.len() < MAX_TOOLS || self.tools.contains_key(&call.name) {
            *self.tools.entry(call.name.clone()).or_default() += 1;
        }
        self.recent_actions.truncate(RECENT_ACTIONS - 1);
        let (tool, subject) = (call.name.clone(), call.subject.clone());
        self.recent_actions.push_front(Action { tool, subject, at });
    }

    fn note_edits(&mut self, action: &ToolAction) {
        let ToolAction::Edit { written, removed } = action else {
            return;
        };
        self.recent_files.retain(|path| !written.contains(path) && !removed.contains(path));
        for path in written {
            self.recent_files.push_front(path.clone());
        }
        self.recent_files.truncate(RECENT_FILES);
    }
}
