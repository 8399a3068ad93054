//! Tells who changed a file that an agent has seen: its session, or somebody else.
//!
//! A file is looked at when an event makes it matter: before and after a call that could change it,
//! and when a turn begins or ends. What changes while a command of an agent runs is the command's
//! doing, and so is what changes from an edit to the next step: an agent's own formatter runs then.

mod commands;
mod edits;

use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use crate::agent::{EventKind, HookEvent, SessionKey, Status, ToolAction, ToolResult};
use crate::clock::Timestamp;
use crate::platform::Version;
use crate::world::Observation;
use commands::Commands;
use edits::{Edit, EditedFile, Edits};

/// How many files are known. Beyond it the one that was used for longest ago is forgotten.
const MAX_FILES: usize = 2048;

/// How many files are looked at in one go; on a local disk that takes less than a millisecond.
const MAX_LOOKED_AT: usize = 256;

/// How long after an edit a change of the same file is put down to it: to the formatter that the
/// agent's other hooks run.
const AFTERMATH: Duration = Duration::from_secs(2);

/// What we write ourselves, if we are told to.
pub const OWN_FILE: &str = ".tma1-context.md";

/// The files that agents have seen, as they were then.
#[derive(Debug, Default)]
pub struct Views {
    files: HashMap<String, Known>,
    commands: Commands,
    edits: Edits,
    uses: u64,
}

#[derive(Debug)]
struct Known {
    version: Option<Version>,
    /// Who changed it last, of the agents, and when.
    changed_by: Option<(SessionKey, Timestamp)>,
    /// The number of its last use.
    used: u64,
}

impl Views {
    /// What an event gives reason to look at, and what is seen there.
    pub fn take(&mut self, event: &HookEvent, root: &str, at: Timestamp) -> Vec<Observation> {
        self.commands.before(event);
        let mut seen = self.end_edits(event, at);
        seen.extend(self.look_for(event, root, at));
        self.commands.after(event, root, at);
        self.note_edit(event, at);
        seen
    }

    fn look_for(&mut self, event: &HookEvent, root: &str, at: Timestamp) -> Vec<Observation> {
        match &event.kind {
            EventKind::PreToolUse(call) => match &call.action {
                ToolAction::Read { paths } => self.look(paths.iter(), root, at),
                ToolAction::Edit { written, removed } => {
                    self.look(written.iter().chain(removed), root, at)
                }
                ToolAction::Run(_) => self.look_around(root, at),
                ToolAction::Search | ToolAction::Other => Vec::new(),
            },
            EventKind::PostToolUse(result) => self.take_result(event, result, root, at),
            EventKind::RejectedCalls(results) => {
                let seen = results.iter().map(|result| match &result.call.action {
                    ToolAction::Edit { written, removed } => {
                        self.look(written.iter().chain(removed), root, at)
                    }
                    _ => Vec::new(),
                });
                seen.flatten().collect()
            }
            EventKind::SessionStart(_)
            | EventKind::UserPromptSubmit { .. }
            | EventKind::Stop { .. }
            | EventKind::TurnBroken
            | EventKind::PreCompact => self.look_around(root, at),
            EventKind::SessionEnd | EventKind::Other => Vec::new(),
        }
    }

    /// Looks at what became of the edits that are over with the event.
    fn end_edits(&mut self, event: &HookEvent, at: Timestamp) -> Vec<Observation> {
        let mut seen = Vec::new();
        for edit in self.edits.take_over(event, at) {
            if edit.is_told {
                let paths = edit.files.iter().map(|file| &file.path);
                seen.extend(look_at(&mut self.files, paths, at, |_, _, _| {
                    Some(edit.session.clone())
                }));
            } else if let Some(made) = self.untold(&edit, at) {
                seen.push(made);
            } else {
                self.edits.await_still(edit, event, at);
            }
        }
        seen
    }

    /// What an edit has changed of which no result came; none if it has changed nothing.
    fn untold(&mut self, edit: &Edit, at: Timestamp) -> Option<Observation> {
        let [mut written, mut removed] = [Vec::new(), Vec::new()];
        for EditedFile { path, before, is_removed } in &edit.files {
            let now = version_of(path);
            if now != *before {
                self.know(path, now, Some((edit.session.clone(), at)));
                if *is_removed { &mut removed } else { &mut written }.push(path.clone());
            }
        }
        let (session, by_subagent) = (edit.session.clone(), edit.subagent.is_some());
        let has_changed = !written.is_empty() || !removed.is_empty();
        has_changed.then_some(Observation::Edited { session, by_subagent, written, removed })
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
                let seen = self.look(paths.iter(), root, at);
                // A subagent's reader is not the session.
                if is_done && event.subagent.is_none() {
                    for path in paths {
                        self.know(path, version_of(path), None);
                    }
                }
                seen
            }
            ToolAction::Edit { written, removed } => {
                if is_done {
                    for path in written.iter().chain(removed) {
                        self.know(path, version_of(path), Some((event.session.clone(), at)));
                    }
                }
                Vec::new()
            }
            ToolAction::Run(_) => self.look_around(root, at),
            ToolAction::Search | ToolAction::Other => Vec::new(),
        }
    }

    /// Notes how a file is now, as an agent has seen it or made it.
    fn know(&mut self, path: &str, version: Option<Version>, by: Option<(SessionKey, Timestamp)>) {
        if !is_to_be_known(path) {
            return;
        }
        self.uses += 1;
        let used = self.uses;
        if let Some(known) = self.files.get_mut(path) {
            known.version = version;
            known.changed_by = by.or(known.changed_by.take());
            known.used = used;
            return;
        }
        if self.files.len() >= MAX_FILES {
            let oldest = self.files.iter().min_by_key(|(_, known)| known.used);
            if let Some(oldest) = oldest.map(|(path, _)| path.clone()) {
                self.files.remove(&oldest);
            }
        }
        self.files.insert(path.to_owned(), Known { version, changed_by: by, used });
    }

    /// Looks at the known files of the project that were used last.
    fn look_around(&mut self, root: &str, at: Timestamp) -> Vec<Observation> {
        let mut known: Vec<_> =
            self.files.iter().filter(|(path, _)| is_below(path, root)).collect();
        // No two were used at once, so the order does not depend on the map.
        known.sort_unstable_by_key(|(_, known)| Reverse(known.used));
        let paths: Vec<_> =
            known.into_iter().take(MAX_LOOKED_AT).map(|(path, _)| path.clone()).collect();
        self.look(paths.iter(), root, at)
    }

    /// Looks at those of `paths` that are known.
    fn look<'p>(
        &mut self,
        paths: impl Iterator<Item = &'p String>,
        root: &str,
        at: Timestamp,
    ) -> Vec<Observation> {
        let Self { files, commands, edits, .. } = self;
        let runner = commands.runner_in(root, at);
        look_at(files, paths, at, |path, known, changed_at| {
            let aftermath = known.changed_by.as_ref().filter(|(_, edited_at)| {
                changed_at.since(*edited_at) <= AFTERMATH && changed_at >= *edited_at
            });
            let editor = || edits.editor_of(path, at).or(aftermath.map(|(session, _)| session));
            runner.as_ref().or_else(editor).cloned()
        })
    }
}

/// Whether the path names a file wherever one is, and not our own.
fn is_to_be_known(path: &str) -> bool {
    (path.starts_with('/') || path.contains(':')) && !path.ends_with(OWN_FILE)
}

fn version_of(path: &str) -> Option<Version> {
    Version::behind(Path::new(path))
}

fn is_below(path: &str, root: &str) -> bool {
    !root.is_empty()
        && path.strip_prefix(root.trim_end_matches('/')).is_some_and(|rest| rest.starts_with('/'))
}

/// Looks at those of `paths` that are known; `author` tells whose a change is.
fn look_at<'p>(
    files: &mut HashMap<String, Known>,
    paths: impl Iterator<Item = &'p String>,
    at: Timestamp,
    author: impl Fn(&str, &Known, Timestamp) -> Option<SessionKey>,
) -> Vec<Observation> {
    let mut seen = Vec::new();
    for path in paths {
        let Some(known) = files.get_mut(path) else { continue };
        let now = version_of(path);
        if now == known.version {
            continue;
        }
        known.version = now;
        let changed_at = now.map_or(at, |now| Timestamp::from_system(now.modified()));
        let session = author(path, known, changed_at);
        let path = path.clone();
        seen.push(match session {
            Some(session) => {
                known.changed_by = Some((session.clone(), changed_at));
                Observation::OwnChange { session, path }
            }
            None => Observation::ExternalChange { path },
        });
    }
    seen
}

#[cfg(test)]
mod tests;
