//! The files of a session: what its model has seen of them, and what became of them since.

use std::collections::VecDeque;

use crate::agent::SessionKey;
use crate::clock::Timestamp;
use crate::world::recent::Recent;

/// The file in the project that we write the block to, if we are told to.
pub const OWN_FILE: &str = ".tma1-context.md";

/// Whether the path is that of such a file: what happens to it is no work on the project.
pub fn is_own_file(path: &str) -> bool {
    path.rsplit('/').next() == Some(OWN_FILE)
}

/// How many recently edited files are kept in order: as many as the digest names.
const RECENT_FILES: usize = 5;

/// How many files are kept that the session has seen, and that it has edited. A model does not hold
/// more of them in its window.
const MAX_FILES: usize = 1000;

/// How many files that were changed from outside are kept by name: as many as the digest names.
const EXTERNAL_FILES: usize = 3;

/// A change of a file that the session did not make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    /// When it was made, as far as known.
    pub at: Timestamp,
    /// Who made it.
    pub by: Author,
    /// Whether the file is gone by it.
    pub removed: bool,
}

/// Who changed a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Author {
    /// No agent that we know of.
    Outside,
    /// Another session in the same project.
    Session(SessionKey),
}

/// What the model of a session knows of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct View {
    /// When it last saw the content.
    pub seen_at: Timestamp,
    /// What others did to it since.
    pub changed: Option<Changed>,
}

/// How a file has changed since the model saw it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Changed {
    /// When the first of the changes was made.
    pub first_at: Timestamp,
    /// The latest of them.
    pub latest: Change,
    /// When the model edited it nevertheless, or tried to.
    pub edited_at: Option<Timestamp>,
}

/// The files of a session, by their absolute paths.
///
/// A subagent works for the session, so its edits are the session's own. But what it reads or writes
/// only the subagent's model has seen.
#[derive(Debug)]
pub(super) struct Files {
    /// The files last edited, latest first.
    pub recent: VecDeque<String>,
    views: Recent<View>,
    edited: Recent<Timestamp>,
}

impl Files {
    pub(super) fn new() -> Self {
        Self {
            recent: VecDeque::new(),
            views: Recent::new(MAX_FILES),
            edited: Recent::new(MAX_FILES),
        }
    }

    /// The model has seen what is in the file.
    pub(super) fn see(&mut self, path: &str, at: Timestamp) {
        self.views.put(path, View { seen_at: at, changed: None });
    }

    /// The model could not read the file: what it saw of it is nothing to rely on any more, and it
    /// knows that.
    pub(super) fn forget(&mut self, path: &str) {
        self.views.remove(path);
    }

    /// The session has changed these files and removed those.
    pub(super) fn edit(
        &mut self,
        written: &[String],
        removed: &[String],
        by_subagent: bool,
        at: Timestamp,
    ) {
        self.recent.retain(|path| !written.contains(path) && !removed.contains(path));
        for path in written.iter().filter(|path| !is_own_file(path)) {
            self.recent.push_front(path.clone());
            self.edited.put(path, at);
            // An edit of what others have changed shows neither their change nor whether it is lost.
            if !by_subagent && !self.edit_of_changed(path, at) {
                self.see(path, at);
            }
        }
        for path in removed {
            self.edited.put(path, at);
            self.forget(path);
        }
        self.recent.truncate(RECENT_FILES);
    }

    /// The model tried to edit the file, and it did not work.
    pub(super) fn try_to_edit(&mut self, path: &str, at: Timestamp) {
        self.edit_of_changed(path, at);
    }

    /// Notes an edit if the file was changed by others since the model saw it; tells whether it was.
    fn edit_of_changed(&mut self, path: &str, at: Timestamp) -> bool {
        let changed = self.views.get_mut(path).and_then(|view| view.changed.as_mut());
        let was_changed = changed.is_some();
        if let Some(changed) = changed {
            changed.edited_at = Some(at);
        }
        was_changed
    }

    /// Others have changed the file.
    pub(super) fn change(&mut self, path: &str, change: &Change) {
        // Not by way of `get_mut`: what others do does not make the file one that the model uses.
        let Some(view) = self.views.peek_mut(path).filter(|view| change.at > view.seen_at) else {
            return;
        };
        match &mut view.changed {
            Some(changed) => changed.latest = change.clone(),
            none => {
                *none =
                    Some(Changed { first_at: change.at, latest: change.clone(), edited_at: None });
            }
        }
    }

    /// The files that others have changed since the model saw them, the latest change first.
    pub(super) fn outdated(&self) -> Vec<(&str, &View, &Changed)> {
        let mut outdated: Vec<_> = (self.views.iter())
            .filter_map(|(path, view)| Some((path, view, view.changed.as_ref()?)))
            .collect();
        outdated.sort_by(|(one, _, first), (other, _, second)| {
            (second.latest.at, one).cmp(&(first.latest.at, other))
        });
        outdated
    }

    /// The files that the session has edited after `since`, the latest first.
    pub(super) fn edited_since(&self, since: Timestamp) -> impl Iterator<Item = &str> {
        self.edited.iter().filter(move |(_, at)| **at > since).map(|(path, _)| path)
    }
}

/// What was changed from outside in a session's project.
#[derive(Debug, Default)]
pub(super) struct ExternalChanges {
    /// How many changes there were.
    pub count: u64,
    /// The files that were changed last, latest first.
    pub files: VecDeque<String>,
}

impl ExternalChanges {
    /// One more change, of the file `path`.
    pub(super) fn note(&mut self, path: &str) {
        self.count += 1;
        self.files.retain(|known| known != path);
        self.files.push_front(path.to_owned());
        self.files.truncate(EXTERNAL_FILES);
    }
}
