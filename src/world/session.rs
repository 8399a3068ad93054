//! One session of an agent.

use std::collections::VecDeque;
use std::time::Duration;

use crate::agent::{
    Command, EventKind, HookEvent, Report, StartSource, Status, ToolAction, ToolCall, ToolResult,
};
use crate::clock::Timestamp;
use crate::world::anomaly::{Said, is_document};
use crate::world::blame::Edited;
use crate::world::calls::Calls;
use crate::world::files::{ExternalChanges, Files};
use crate::world::observation::Usage;
use crate::world::outcome::Outcome;
use crate::world::project::Project;
use crate::world::runs::Runs;
use crate::world::value;

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
    /// Its tool calls.
    pub calls: Calls,
    /// The files that it has seen and edited.
    pub files: Files,
    /// The builds and tests that it has run.
    pub runs: Runs,
    /// What it has used, as far as its transcript was read.
    pub usage: Usage,
    /// Since when its window is nearly full.
    pub pressed_since: Option<Timestamp>,
    /// What was changed from outside since it began.
    pub external: ExternalChanges,
    /// What was changed from outside since its latest event.
    pub external_since_event: ExternalChanges,
    /// The present turn.
    pub turn: Turn,
    /// What its model was told.
    pub said: Said,
    /// What filled the window before the last compaction, until the next request tells anew.
    compacted_window: Option<u64>,
}

/// The time from a prompt of the user to the next one.
#[derive(Debug, Default)]
pub(super) struct Turn {
    /// The agent's id of it.
    id: Option<String>,
    /// When it began; none before the first prompt.
    began_at: Option<Timestamp>,
    /// Whether its end was blocked already.
    pub blocked: bool,
}

impl Session {
    pub(super) fn new(project: Project, at: Timestamp) -> Self {
        Self {
            project,
            started_at: at,
            last_event_at: at,
            ended: false,
            calls: Calls::new(),
            files: Files::new(),
            runs: Runs::new(),
            usage: Usage::default(),
            pressed_since: None,
            external: ExternalChanges::default(),
            external_since_event: ExternalChanges::default(),
            turn: Turn::default(),
            said: Said::new(),
            compacted_window: None,
        }
    }

    /// Folds in what every event says, and the beginnings and ends of sessions and turns. Tool calls
    /// have their own: [`Calls::begin`], [`finish`](Self::finish), [`reject`](Self::reject).
    pub(super) fn apply(&mut self, event: &HookEvent, at: Timestamp) {
        self.last_event_at = self.last_event_at.max(at);
        self.ended = event.kind == EventKind::SessionEnd;
        self.external_since_event = ExternalChanges::default();
        match &event.kind {
            EventKind::SessionStart(StartSource::Compact) => self.note_compaction(),
            EventKind::SessionStart(_) | EventKind::SessionEnd => self.calls.end_turn(true),
            EventKind::Stop { .. } | EventKind::TurnBroken if event.subagent.is_none() => {
                self.calls.end_turn(false);
            }
            EventKind::UserPromptSubmit { by_machine: false } if event.subagent.is_none() => {
                self.begin_turn(event.turn.as_ref(), at);
            }
            _ => {}
        }
    }

    /// A tool call has returned: what it came to, unless that was told before.
    pub(super) fn finish(
        &mut self,
        result: &ToolResult,
        by_subagent: bool,
        at: Timestamp,
    ) -> Option<Outcome> {
        let id = result.call.id.as_ref();
        let mut outcome = Outcome::from(result.status);
        if outcome == Outcome::Unknown
            && let ToolAction::Run(command) = &result.call.action
            && command.tells_status
            && let Some(exit_code) = id.and_then(|id| self.runs.early_exit(id))
        {
            outcome = command.status_of_exit(exit_code).into();
        }
        if !self.calls.end(id, by_subagent, outcome) {
            return None;
        }
        match &result.call.action {
            ToolAction::Read { paths } if !by_subagent => self.note_read(paths, outcome, at),
            ToolAction::Edit { written, removed } if is_done(outcome) => {
                self.files.edit(written, removed, by_subagent, at);
            }
            ToolAction::Edit { .. } if !by_subagent => self.note_attempt(&result.call, at),
            ToolAction::Run(command) => {
                // The exit status of what hides it is nobody's that matters.
                let id = result.call.id.as_ref().filter(|_| command.tells_status);
                self.note_run(command, id, &result.report, outcome, at);
            }
            ToolAction::Read { .. }
            | ToolAction::Edit { .. }
            | ToolAction::Search
            | ToolAction::Other => {}
        }
        Some(outcome)
    }

    /// The agent has refused to make a call.
    pub(super) fn reject(&mut self, call: &ToolCall, by_subagent: bool, at: Timestamp) {
        if self.calls.reject(call.id.as_ref(), by_subagent) && !by_subagent {
            self.note_attempt(call, at);
        }
    }

    /// The transcript tells how a command ended; whether a build or test was waiting for it.
    pub(super) fn end_command(&mut self, call: &str, exit_code: i64) -> bool {
        let is_awaited = self.runs.end(call, exit_code);
        if Outcome::from(Status::of_exit(exit_code)).is_failure() {
            self.calls.fail_late(call);
        }
        is_awaited
    }

    /// The transcript tells what the session has used.
    pub(super) fn use_tokens(&mut self, mut usage: Usage) {
        // What the window held before it was compacted is not in it any more.
        if usage.window_used.is_some() && usage.window_used == self.compacted_window {
            usage.window_used = None;
        } else if usage.window_used.is_some() {
            self.compacted_window = None;
        } else {
            // In the middle of a transcript the last request is not known.
            usage.window_used = self.usage.window_used;
            usage.window_size = usage.window_size.or(self.usage.window_size);
        }
        // After a restart a transcript is read anew, and what was read of it so far tells less.
        usage.input = usage.input.max(self.usage.input);
        usage.output = usage.output.max(self.usage.output);
        self.usage = usage;
    }

    /// Whether the present turn is about what was done at `at`: it was done in it, or files were edited.
    pub(super) fn works_on(&self, at: Timestamp) -> bool {
        let start = self.turn.began_at.unwrap_or(self.before_start());
        at >= start || edits(&self.files, &self.project, start).next().is_some()
    }

    /// A moment before the first event, so that the first edit is after it.
    fn before_start(&self) -> Timestamp {
        self.started_at.minus(Duration::from_millis(1))
    }

    /// Something was changed from outside in the session's project.
    pub(super) fn note_external(&mut self, path: &str, at: Timestamp) {
        if at >= self.started_at {
            self.external.note(path);
            self.external_since_event.note(path);
        }
    }

    /// How a file of an event or an output reads.
    pub(super) fn file(&self, path: &str) -> String {
        value::path(self.project.relative(path))
    }

    /// How a command reads, with its directory unless that is the project's.
    pub(super) fn command(&self, command: &Command) -> String {
        let text = value::command(&command.text);
        match self.project.other_directory(&command.directory) {
            Some(directory) => format!("`{text}` in {}", value::path(directory)),
            None => format!("`{text}`"),
        }
    }

    /// Paths as seen from the project.
    pub(super) fn relative<'a>(&self, paths: &'a VecDeque<String>) -> Vec<&'a str> {
        paths.iter().map(|path| self.project.relative(path)).collect()
    }

    fn note_read(&mut self, paths: &[String], outcome: Outcome, at: Timestamp) {
        for path in paths {
            match outcome {
                Outcome::Succeeded | Outcome::Unknown => self.files.see(path, at),
                Outcome::Failed { .. } => self.files.forget(path),
                Outcome::Interrupted => {}
            }
        }
    }

    fn note_attempt(&mut self, call: &ToolCall, at: Timestamp) {
        if let ToolAction::Edit { written, removed } = &call.action {
            for path in written.iter().chain(removed) {
                self.files.try_to_edit(path, at);
            }
        }
    }

    /// A build or test in the session's project has ended.
    pub(super) fn note_run(
        &mut self,
        command: &Command,
        call: Option<&String>,
        report: &Report,
        outcome: Outcome,
        at: Timestamp,
    ) {
        let (files, project, start) = (&self.files, &self.project, self.before_start());
        let edited_since = |since: Option<Timestamp>| {
            edits(files, project, since.unwrap_or(start))
                .map(|path| Edited { path, relative: project.relative(path) })
        };
        self.runs.record(command, call, outcome, report, at, edited_since);
    }

    fn begin_turn(&mut self, id: Option<&String>, at: Timestamp) {
        // Codex also reports what the user says while a turn runs.
        if id.is_some() && id == self.turn.id.as_ref() {
            return;
        }
        self.calls.end_turn(false);
        self.turn = Turn { id: id.cloned(), began_at: Some(at), blocked: false };
    }

    fn note_compaction(&mut self) {
        self.compacted_window = self.usage.window_used.take();
        self.pressed_since = None;
    }
}

/// The files of the project that were edited after `since` and that builds read.
fn edits<'a>(
    files: &'a Files,
    project: &'a Project,
    since: Timestamp,
) -> impl Iterator<Item = &'a str> {
    files.edited_since(since).filter(|path| project.contains(path) && !is_document(path))
}

/// Whether an edit has changed its files. No agent reports one of unknown outcome that did not.
pub(super) fn is_done(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Succeeded | Outcome::Unknown)
}
