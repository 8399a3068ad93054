//! Tells who changed a file that an agent has seen: its session, or somebody else.
//!
//! A file is looked at when an event makes it matter: before and after a call that could change it,
//! and when a turn begins or ends. What changes while a command of an agent runs is the command's
//! doing, and so is what changes from an edit to the next step: an agent's own formatter runs then.

mod commands;
mod content;
mod edits;
mod files;

use std::time::Duration;

use crate::agent::{EventKind, HookEvent, SessionKey, Status, ToolAction, ToolCall, ToolResult};
use crate::clock::Timestamp;
use crate::world::Observation;
use commands::Commands;
use edits::{Edit, EditedFile, Edits};
pub use files::KnownFile;
use files::{Files, MAX_FILES, is_to_be_known, version_of};

/// How many files are looked at where nothing says that they have changed; on a local disk that takes
/// less than a millisecond.
const MAX_LOOKED_AT: usize = 256;

/// How long after an edit a change of the same file is put down to it: to the formatter that the
/// agent's other hooks run.
const AFTERMATH: Duration = Duration::from_secs(2);

/// The files that agents have seen, as they were then.
#[derive(Debug, Default)]
pub struct Views {
    files: Files,
    commands: Commands,
    edits: Edits,
}

impl Views {
    /// What an event gives reason to look at, and what is seen there.
    pub fn take(&mut self, event: &HookEvent, root: &str, at: Timestamp) -> Vec<Observation> {
        self.commands.before(event);
        let mut seen = self.end_edits(event, root, at);
        seen.extend(self.look_at(event, root, at));
        self.commands.after(event, root, at);
        self.note_edit(event, at);
        seen
    }

    /// Takes in an event of the log: what was known after it, and the commands that it begins or ends.
    pub fn replay(
        &mut self,
        event: &HookEvent,
        root: &str,
        at: Timestamp,
        known: impl IntoIterator<Item = KnownFile>,
    ) {
        self.commands.before(event);
        self.commands.after(event, root, at);
        for file in known {
            self.files.restore(file, root);
        }
    }

    /// What is known of files now and was not when this was asked last, for the log.
    pub fn take_news(&mut self) -> Vec<KnownFile> {
        self.files.take_news()
    }

    /// Whether [`read_on`](Self::read_on) has something to do.
    pub fn has_unread(&self) -> bool {
        self.files.has_undigested()
    }

    /// Reads what one file holds, while nobody waits.
    pub fn read_on(&mut self) {
        self.files.digest_next();
    }

    fn look_at(&mut self, event: &HookEvent, root: &str, at: Timestamp) -> Vec<Observation> {
        match &event.kind {
            EventKind::PreToolUse(call) => match &call.action {
                ToolAction::Read { paths } => self.look_for(paths.iter(), root, at),
                ToolAction::Edit { written, removed } => {
                    self.look_for(written.iter().chain(removed), root, at)
                }
                ToolAction::Run(_) => self.look_around(most_of(call), root, at),
                ToolAction::Search | ToolAction::Other => Vec::new(),
            },
            EventKind::PostToolUse(result) => self.take_result(event, result, root, at),
            EventKind::RejectedCalls(results) => {
                let seen = results.iter().map(|result| match &result.call.action {
                    ToolAction::Edit { written, removed } => {
                        self.look_for(written.iter().chain(removed), root, at)
                    }
                    _ => Vec::new(),
                });
                seen.flatten().collect()
            }
            EventKind::SessionStart(_)
            | EventKind::UserPromptSubmit { .. }
            | EventKind::Stop { .. }
            | EventKind::TurnBroken
            | EventKind::PreCompact => self.look_around(MAX_LOOKED_AT, root, at),
            EventKind::SessionEnd | EventKind::Other => Vec::new(),
        }
    }

    /// Looks at what became of the edits that are over with the event.
    fn end_edits(&mut self, event: &HookEvent, root: &str, at: Timestamp) -> Vec<Observation> {
        let mut seen = Vec::new();
        for edit in self.edits.take_over(event, at) {
            if edit.is_told {
                let known = self.files.known_of(edit.files.iter().map(|file| &file.path));
                let author = |_: &[String], _: &_, _| Some(edit.session.clone());
                seen.extend(self.files.look(&known, at, author));
                continue;
            }
            let made = self.untold(&edit, root, at);
            if made.is_empty() {
                self.edits.await_still(edit, event, at);
            }
            seen.extend(made);
        }
        seen
    }

    /// What an edit has changed of which no result came; nothing if it has changed nothing.
    fn untold(&mut self, edit: &Edit, root: &str, at: Timestamp) -> Vec<Observation> {
        let mut seen = Vec::new();
        let [mut written, mut removed] = [Vec::new(), Vec::new()];
        for EditedFile { path, before, is_removed } in &edit.files {
            if version_of(path) != *before {
                seen.extend(self.know_edited(path, &edit.session, root, at));
                if *is_removed { &mut removed } else { &mut written }.push(path.clone());
            }
        }
        if !written.is_empty() || !removed.is_empty() {
            let (session, by_subagent) = (edit.session.clone(), edit.subagent.is_some());
            seen.push(Observation::Edited { session, by_subagent, written, removed });
        }
        seen
    }

    /// Notes how a file is after an edit of the session, which has changed it by all of its names.
    fn know_edited(
        &mut self,
        path: &str,
        session: &SessionKey,
        root: &str,
        at: Timestamp,
    ) -> Vec<Observation> {
        let others = self.files.know(path, root, Some((session.clone(), at)));
        let removed = version_of(path).is_none();
        let change = |path| Observation::OwnChange { session: session.clone(), path, removed };
        others.into_iter().map(change).collect()
    }

    /// Takes in that an edit begins or ends with the event.
    fn note_edit(&mut self, event: &HookEvent, at: Timestamp) {
        let (call, is_begun, has_failed) = match &event.kind {
            EventKind::PreToolUse(call) => (call, true, false),
            EventKind::PostToolUse(result) => {
                (&result.call, false, matches!(result.status, Status::Failed { .. }))
            }
            _ => return,
        };
        let ToolAction::Edit { written, removed } = &call.action else { return };
        let files = (written.iter().map(|path| (path, false)))
            .chain(removed.iter().map(|path| (path, true)))
            .filter(|(path, _)| is_to_be_known(path) && !has_failed)
            .map(|(path, is_removed)| EditedFile {
                path: path.clone(),
                before: version_of(path),
                is_removed,
            });
        let files = files.collect();
        if is_begun {
            self.edits.begin(event, call, files, at);
        } else {
            self.edits.end(event, call, files, at);
        }
    }

    fn take_result(
        &mut self,
        event: &HookEvent,
        result: &ToolResult,
        root: &str,
        at: Timestamp,
    ) -> Vec<Observation> {
        // What no event says, went well as a rule.
        let is_done = !matches!(result.status, Status::Failed { .. });
        match &result.call.action {
            ToolAction::Read { paths } => {
                let seen = self.look_for(paths.iter(), root, at);
                // A subagent's reader is not the session.
                if is_done && event.subagent.is_none() {
                    for path in paths {
                        self.files.know(path, root, None);
                    }
                }
                seen
            }
            ToolAction::Edit { written, removed } => {
                let mut seen = Vec::new();
                for path in written.iter().chain(removed).filter(|_| is_done) {
                    seen.extend(self.know_edited(path, &event.session, root, at));
                }
                seen
            }
            ToolAction::Run(_) => self.look_around(most_of(&result.call), root, at),
            ToolAction::Search | ToolAction::Other => Vec::new(),
        }
    }

    /// Looks at the files that the sessions of the project have used last.
    fn look_around(&mut self, most: usize, root: &str, at: Timestamp) -> Vec<Observation> {
        let used = self.files.used_in(root, most);
        self.look(&used, root, at)
    }

    /// Looks at those of `paths` that are known.
    fn look_for<'p>(
        &mut self,
        paths: impl Iterator<Item = &'p String>,
        root: &str,
        at: Timestamp,
    ) -> Vec<Observation> {
        let known = self.files.known_of(paths);
        self.look(&known, root, at)
    }

    fn look(&mut self, real_paths: &[String], root: &str, at: Timestamp) -> Vec<Observation> {
        let Self { files, commands, edits } = self;
        let runner = commands.runner_in(root, at);
        files.look(real_paths, at, |names, known, changed_at| {
            let aftermath = known.changed_by.as_ref().filter(|(_, edited_at)| {
                changed_at.since(*edited_at) <= AFTERMATH && changed_at >= *edited_at
            });
            let editor = || {
                (names.iter().find_map(|path| edits.editor_of(path, at)))
                    .or(aftermath.map(|(session, _)| session))
            };
            runner.as_ref().or_else(editor).cloned()
        })
    }
}

/// How many files are looked at before and after a command: all that it may change.
fn most_of(command: &ToolCall) -> usize {
    if command.changes_no_source() { MAX_LOOKED_AT } else { MAX_FILES }
}

#[cfg(test)]
mod tests;
