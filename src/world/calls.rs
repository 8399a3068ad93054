//! The tool calls of a session, each counted once.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};

use crate::agent::{Command, Subject, ToolAction, ToolCall, ToolResult};
use crate::clock::Timestamp;
use crate::world::build_of;
use crate::world::outcome::Outcome;
use crate::world::recent::Recent;

/// How many of the last actions of a session are kept.
pub const RECENT_ACTIONS: usize = 100;

/// How many tools are counted by name; a session with more of them made the names up.
const MAX_TOOLS: usize = 256;

/// How many calls are kept by id: to recognise an event that is delivered twice, which happens close
/// together, and to know what is under way.
const REMEMBERED_CALLS: usize = 256;

/// The tool calls of a session and its subagents.
#[derive(Debug)]
pub(super) struct Calls {
    /// How many the agent has begun.
    pub begun: u64,
    /// How many of them have failed.
    pub failed: u64,
    /// How many the agent has refused to make; it has begun none of them.
    pub rejected: u64,
    /// How many were begun and have no result, though their turn has ended.
    pub dangling: u64,
    /// The calls last begun, latest first.
    pub recent: VecDeque<Action>,
    tools: BTreeMap<String, u64>,
    known: Recent<Known>,
}

/// What a session came to, where not all of its events were folded.
#[derive(Debug)]
pub struct Totals {
    /// Its first event.
    pub began_at: Timestamp,
    /// How many tool calls it has begun.
    pub tool_calls: u64,
    /// How many of them have failed.
    pub failed: u64,
    /// How many there are of each tool.
    pub tools: Vec<(String, u64)>,
}

/// A tool call that was begun.
#[derive(Debug)]
pub(super) struct Action {
    /// The name of the tool.
    pub tool: String,
    /// What the call is about.
    pub subject: Option<Subject>,
    /// Whether a subagent made it.
    pub by_subagent: bool,
    /// When it was begun.
    pub at: Timestamp,
}

#[derive(Debug)]
struct Known {
    begun: bool,
    by_subagent: bool,
    stage: Stage,
    /// The build or test that it is, while it is under way.
    build: Option<Command>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    UnderWay,
    Dangling,
    Ended,
    Failed,
}

impl Stage {
    fn is_over(self) -> bool {
        matches!(self, Self::Ended | Self::Failed)
    }
}

impl Calls {
    pub(super) fn new() -> Self {
        Self {
            begun: 0,
            failed: 0,
            rejected: 0,
            dangling: 0,
            recent: VecDeque::new(),
            tools: BTreeMap::new(),
            known: Recent::new(REMEMBERED_CALLS),
        }
    }

    /// A call is begun; tells whether that is news.
    pub(super) fn begin(&mut self, call: &ToolCall, by_subagent: bool, at: Timestamp) -> bool {
        let known = call.id.as_deref().map(|id| self.known(id, by_subagent));
        if let Some(known) = known {
            if std::mem::replace(&mut known.begun, true) {
                return false;
            }
            known.build = build_of(&call.action).filter(|_| !known.stage.is_over()).cloned();
        }
        self.begun += 1;
        if self.tools.len() < MAX_TOOLS || self.tools.contains_key(&call.name) {
            *self.tools.entry(call.name.clone()).or_default() += 1;
        }
        self.recent.truncate(RECENT_ACTIONS - 1);
        let (tool, subject) = (call.name.clone(), call.subject.clone());
        self.recent.push_front(Action { tool, subject, by_subagent, at });
        true
    }

    /// A result with its command as it was begun: the event after a call of Claude Code names the
    /// directory that the call has led to, and after a failure it does not.
    pub(super) fn as_begun<'a>(&self, result: &'a ToolResult) -> Cow<'a, ToolResult> {
        let begun = (result.call.id.as_deref().and_then(|id| self.known.get(id)))
            .and_then(|known| known.build.as_ref());
        match (&result.call.action, begun) {
            (ToolAction::Run(command), Some(begun))
                if command.text == begun.text && command.directory != begun.directory =>
            {
                let mut result = result.clone();
                result.call.action = ToolAction::Run(begun.clone());
                Cow::Owned(result)
            }
            _ => Cow::Borrowed(result),
        }
    }

    /// A call has returned; tells whether that is news.
    pub(super) fn end(&mut self, id: Option<&String>, by_subagent: bool, outcome: Outcome) -> bool {
        let stage = if outcome.is_failure() { Stage::Failed } else { Stage::Ended };
        let is_news = self.leave(id, by_subagent, stage);
        self.failed += u64::from(is_news && stage == Stage::Failed);
        is_news
    }

    /// The agent has refused to make a call; tells whether that is news.
    pub(super) fn reject(&mut self, id: Option<&String>, by_subagent: bool) -> bool {
        let is_news = self.leave(id, by_subagent, Stage::Ended);
        self.rejected += u64::from(is_news);
        is_news
    }

    /// A call that has returned is known to have failed only now.
    pub(super) fn fail_late(&mut self, id: &str) {
        if let Some(known) = self.known.peek_mut(id)
            && known.stage == Stage::Ended
        {
            known.stage = Stage::Failed;
            self.failed += 1;
        }
    }

    /// Nothing of the session's own is under way any more, and nothing of its subagents' if they ended
    /// with it.
    pub(super) fn end_turn(&mut self, with_subagents: bool) {
        let left: Vec<String> = (self.known.iter())
            .filter(|(_, known)| known.begun && known.stage == Stage::UnderWay)
            .filter(|(_, known)| with_subagents || !known.by_subagent)
            .map(|(id, _)| id.to_owned())
            .collect();
        for id in left {
            if let Some(known) = self.known.peek_mut(&id) {
                known.stage = Stage::Dangling;
                known.build = None;
                self.dangling += 1;
            }
        }
    }

    /// Whether the call is under way.
    pub(super) fn is_under_way(&self, id: &str) -> bool {
        self.known.get(id).is_some_and(|known| known.stage == Stage::UnderWay)
    }

    /// Counts as many as there were; the log may have forgotten some of what was folded.
    pub(super) fn raise(&mut self, totals: Totals) {
        self.begun = self.begun.max(totals.tool_calls);
        self.failed = self.failed.max(totals.failed);
        for (tool, calls) in totals.tools {
            if self.tools.len() < MAX_TOOLS || self.tools.contains_key(&tool) {
                let counted = self.tools.entry(tool).or_default();
                *counted = calls.max(*counted);
            }
        }
    }

    /// The tools with their counts, most used first.
    pub(super) fn tools_by_use(&self) -> Vec<(&str, u64)> {
        let mut tools: Vec<(&str, u64)> =
            self.tools.iter().map(|(name, count)| (name.as_str(), *count)).collect();
        tools.sort_by_key(|(name, count)| (Reverse(*count), *name));
        tools
    }

    fn leave(&mut self, id: Option<&String>, by_subagent: bool, stage: Stage) -> bool {
        let Some(id) = id else {
            return true;
        };
        let known = self.known(id, by_subagent);
        known.build = None;
        match std::mem::replace(&mut known.stage, stage) {
            Stage::UnderWay => true,
            // It was only late.
            Stage::Dangling => {
                self.dangling -= 1;
                true
            }
            was @ (Stage::Ended | Stage::Failed) => {
                known.stage = was;
                false
            }
        }
    }

    fn known(&mut self, id: &str, by_subagent: bool) -> &mut Known {
        self.known.get_or_insert_with(id, || Known {
            begun: false,
            by_subagent,
            stage: Stage::UnderWay,
            build: None,
        })
    }
}
