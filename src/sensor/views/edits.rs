//! The edits of agents that may not be over: no result came yet, or the agent's other hooks, such as a
//! formatter, may be at work on the file.
//!
//! An agent that edits does nothing else meanwhile, and waits for the hooks after the edit. So what
//! happens to the file until its next step is the edit's doing.

use std::time::Duration;

use crate::agent::{EventKind, HookEvent, SessionKey, StartSource, ToolCall};
use crate::clock::Timestamp;
use crate::platform::Version;

/// How many edits, and how many files of them, are remembered. Each agent makes one at a time.
const MAX_EDITS: usize = 64;
const MAX_FILES: usize = 1024;

/// How long an edit is remembered. No agent waits longer for a hook.
const LONGEST: Duration = Duration::from_secs(10 * 60);

/// How long an edit without a result takes at most to change its file, if other calls are made at once.
const MOMENT: Duration = Duration::from_secs(2);

/// The edits that may not be over.
#[derive(Debug, Default)]
pub(super) struct Edits(Vec<Edit>);

/// One of them.
#[derive(Debug)]
pub(super) struct Edit {
    /// Whose it is.
    pub session: SessionKey,
    /// The subagent that makes it; none in the session itself.
    pub subagent: Option<String>,
    /// What it changes.
    pub files: Vec<EditedFile>,
    /// Whether its result came. Codex tells none of a patch that is a shell command.
    pub is_told: bool,
    call: Option<String>,
    turn: Option<String>,
    since: Timestamp,
}

/// A file that an edit changes.
#[derive(Debug)]
pub(super) struct EditedFile {
    /// Its absolute path.
    pub path: String,
    /// As it was before.
    pub before: Option<Version>,
    /// Whether the edit removes it.
    pub is_removed: bool,
}

impl Edits {
    /// An edit begins. `files` are as they are before it.
    pub(super) fn begin(
        &mut self,
        event: &HookEvent,
        call: &ToolCall,
        files: Vec<EditedFile>,
        at: Timestamp,
    ) {
        self.put(event, call, files, false, at);
    }

    /// The result of an edit came. It had changed `files`, or none if it has failed.
    pub(super) fn end(
        &mut self,
        event: &HookEvent,
        call: &ToolCall,
        files: Vec<EditedFile>,
        at: Timestamp,
    ) {
        self.0.retain(|edit| edit.session != event.session || edit.call != call.id);
        if !files.is_empty() {
            self.put(event, call, files, true, at);
        }
    }

    /// The edits that are over with this event, as it is the next step of who made them.
    pub(super) fn take_over(&mut self, event: &HookEvent, at: Timestamp) -> Vec<Edit> {
        let call = match &event.kind {
            EventKind::PreToolUse(call) => Some(call),
            EventKind::PostToolUse(result) => Some(&result.call),
            EventKind::RejectedCalls(_) | EventKind::Stop { .. } | EventKind::TurnBroken => None,
            // Nobody knows how long nothing was done before.
            EventKind::UserPromptSubmit { by_machine: false } => {
                self.0.retain(|edit| {
                    !edit.is_of(event) || (event.turn.is_some() && edit.turn == event.turn)
                });
                return Vec::new();
            }
            EventKind::SessionStart(source) if *source != StartSource::Compact => {
                self.0.retain(|edit| edit.session != event.session);
                return Vec::new();
            }
            EventKind::SessionEnd => {
                self.0.retain(|edit| edit.session != event.session);
                return Vec::new();
            }
            EventKind::UserPromptSubmit { .. }
            | EventKind::SessionStart(_)
            | EventKind::PreCompact
            | EventKind::Other => return Vec::new(),
        };
        let is_same = |edit: &Edit| call.is_some_and(|call| call.id == edit.call);
        let is_over = |edit: &mut Edit| edit.is_of(event) && !is_same(edit);
        let mut over: Vec<_> = self.0.extract_if(.., is_over).collect();
        over.retain(|edit| at.since(edit.since) < LONGEST);
        over
    }

    /// Goes on remembering an edit that has changed nothing yet, if another call was made at once.
    pub(super) fn await_still(&mut self, edit: Edit, event: &HookEvent, at: Timestamp) {
        let is_call = matches!(event.kind, EventKind::PreToolUse(_) | EventKind::PostToolUse(_));
        if is_call && at.since(edit.since) < MOMENT {
            self.0.push(edit);
        }
    }

    /// Whose edit of the file at `path` may go on in other hooks.
    pub(super) fn editor_of(&self, path: &str, at: Timestamp) -> Option<&SessionKey> {
        let edit = self.0.iter().rev().find(|edit| {
            edit.is_told
                && at.since(edit.since) < LONGEST
                && edit.files.iter().any(|file| file.path == path)
        });
        edit.map(|edit| &edit.session)
    }

    fn put(
        &mut self,
        event: &HookEvent,
        call: &ToolCall,
        files: Vec<EditedFile>,
        is_told: bool,
        at: Timestamp,
    ) {
        self.0.retain(|edit| at.since(edit.since) < LONGEST);
        let count: usize = self.0.iter().map(|edit| edit.files.len()).sum();
        if self.0.len() < MAX_EDITS && count + files.len() <= MAX_FILES {
            self.0.push(Edit {
                session: event.session.clone(),
                subagent: event.subagent.clone(),
                files,
                is_told,
                call: call.id.clone(),
                turn: event.turn.clone(),
                since: at,
            });
        }
    }
}

impl Edit {
    /// Whether the event is of who makes the edit.
    fn is_of(&self, event: &HookEvent) -> bool {
        self.session == event.session && self.subagent == event.subagent
    }
}
