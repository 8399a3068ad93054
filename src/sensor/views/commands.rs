//! The commands of agents that are under way: what changes meanwhile is taken for their doing.

use std::collections::HashMap;
use std::time::Duration;

use crate::agent::{
    Agent, EventKind, HookEvent, SessionKey, StartSource, Status, ToolAction, ToolCall, ToolResult,
};
use crate::clock::Timestamp;

/// How many commands can run at once, background ones included.
const MAX_RUNNING: usize = 256;

/// How long a command is taken to run on if nothing tells its end. The agents give up sooner.
const FOREGROUND: Duration = Duration::from_secs(10 * 60);

/// The same of a command in the background. Nothing tells its end, and what runs there for long is a
/// server or a watcher, which changes no sources.
const BACKGROUND: Duration = Duration::from_secs(60);

/// The commands that may change sources and are under way.
#[derive(Debug, Default)]
pub(super) struct Commands(HashMap<(SessionKey, String), Running>);

#[derive(Debug)]
struct Running {
    root: String,
    since: Timestamp,
    /// The subagent that runs it; none in the session itself.
    subagent: Option<String>,
    /// The turn that it was begun in.
    turn: Option<String>,
    in_background: bool,
}

impl Running {
    fn is_over(&self, at: Timestamp) -> bool {
        let longest = if self.in_background { BACKGROUND } else { FOREGROUND };
        at.since(self.since) >= longest
    }
}

impl Commands {
    /// Takes in what was before the event. A call of which no result came was interrupted or
    /// refused, and nothing else tells that.
    pub(super) fn before(&mut self, event: &HookEvent) {
        let is_turns_end = match &event.kind {
            EventKind::SessionEnd => {
                self.0.retain(|(session, _), _| *session != event.session);
                return;
            }
            EventKind::SessionStart(source) if *source != StartSource::Compact => {
                self.0.retain(|(session, _), _| *session != event.session);
                return;
            }
            EventKind::RejectedCalls(_)
            | EventKind::Stop { .. }
            | EventKind::TurnBroken
            | EventKind::UserPromptSubmit { by_machine: false } => true,
            _ => false,
        };
        if is_turns_end {
            // Codex also reports what the user says while a turn runs.
            let is_prompt = matches!(event.kind, EventKind::UserPromptSubmit { .. });
            self.0.retain(|(session, _), running| {
                let goes_on = is_prompt && event.turn.is_some() && running.turn == event.turn;
                *session != event.session
                    || running.subagent != event.subagent
                    || running.in_background
                    || goes_on
            });
        }
    }

    /// Takes in what begins or ends with the event, in the project at `root`.
    pub(super) fn after(&mut self, event: &HookEvent, root: &str, at: Timestamp) {
        match &event.kind {
            EventKind::PreToolUse(call) => self.begin(event, call, root, at),
            EventKind::PostToolUse(result) => self.end(event, result, at),
            _ => {}
        }
    }

    fn begin(&mut self, event: &HookEvent, call: &ToolCall, root: &str, at: Timestamp) {
        self.0.retain(|_, running| !running.is_over(at));
        if let (ToolAction::Run(_), Some(id)) = (&call.action, &call.id)
            && !call.changes_no_source()
            && self.0.len() < MAX_RUNNING
        {
            let running = Running {
                root: root.to_owned(),
                since: at,
                subagent: event.subagent.clone(),
                turn: event.turn.clone(),
                in_background: false,
            };
            self.0.insert((event.session.clone(), id.clone()), running);
        }
    }

    fn end(&mut self, event: &HookEvent, result: &ToolResult, at: Timestamp) {
        let (ToolAction::Run(command), Some(id)) = (&result.call.action, &result.call.id) else {
            return;
        };
        let key = (event.session.clone(), id.clone());
        // Claude Code says so of a command in the background, Codex of every one that ended.
        let goes_on = event.session.agent == Agent::ClaudeCode
            && result.status == Status::Unknown
            && command.tells_status;
        match self.0.get_mut(&key) {
            Some(running) if goes_on && !running.in_background => {
                running.in_background = true;
                running.since = at;
            }
            Some(_) if !goes_on => drop(self.0.remove(&key)),
            _ => {}
        }
    }

    /// A session with a command that runs in the project at `root`, the one begun last.
    pub(super) fn runner_in(&self, root: &str, at: Timestamp) -> Option<SessionKey> {
        let running =
            self.0.iter().filter(|(_, running)| running.root == root && !running.is_over(at));
        running
            .max_by_key(|(key, running)| (running.since, *key))
            .map(|((session, _), _)| session.clone())
    }
}
