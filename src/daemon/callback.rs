//! The block as a file in the project, for agents that have neither hooks nor MCP and read it as any
//! other file. Off unless `TMA1_ENABLE_FILE_CALLBACK` is on.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::agent::{EventKind, HookEvent};
use crate::clock::{self, Tally};
use crate::world::OWN_FILE;

/// How many projects are remembered as to what was written there last.
const MAX_PROJECTS: usize = 256;

/// Writes the file.
#[derive(Debug, Default)]
pub(super) struct Callback {
    written: Mutex<HashMap<String, String>>,
    failed: Tally,
}

impl Callback {
    /// Whether the block may be another after this event.
    pub(super) fn is_due(event: &HookEvent) -> bool {
        event.subagent.is_none()
            && match event.kind {
                EventKind::SessionStart(_)
                | EventKind::UserPromptSubmit { .. }
                | EventKind::PostToolUse(_)
                | EventKind::RejectedCalls(_)
                | EventKind::Stop { .. } => true,
                EventKind::SessionEnd
                | EventKind::PreToolUse(_)
                | EventKind::TurnBroken
                | EventKind::PreCompact
                | EventKind::Other => false,
            }
    }

    /// Writes `block` into the project at `root`, unless it is there already.
    pub(super) fn write(&self, root: &str, block: String) {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        if written.get(root) == Some(&block) {
            return;
        }
        match replace(Path::new(root), &block) {
            Ok(()) => {
                if written.len() >= MAX_PROJECTS {
                    written.clear();
                }
                written.insert(root.to_owned(), block);
            }
            Err(error) => {
                if let Some(count) = self.failed.count(clock::now()) {
                    tracing::warn!(%error, count, root, "{OWN_FILE} was not written");
                }
            }
        }
    }
}

/// Whoever reads the file finds the former block or this one, whole. A link in its place is replaced,
/// and what it leads to stays.
fn replace(root: &Path, block: &str) -> io::Result<()> {
    let mut file = tempfile::Builder::new().prefix(OWN_FILE).suffix(".tmp").tempfile_in(root)?;
    writeln!(file, "{block}")?;
    file.persist(root.join(OWN_FILE)).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_replaced_as_a_whole_and_nothing_else_is_touched() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join(OWN_FILE);
        let theirs = root.path().join("theirs");
        fs_err::write(&theirs, "theirs").unwrap();
        #[cfg(unix)]
        fs_err::os::unix::fs::symlink(&theirs, &path).unwrap();
        let callback = Callback::default();
        for block in ["one", "two", "two"] {
            callback.write(root.path().to_str().unwrap(), block.to_owned());
            assert_eq!(fs_err::read_to_string(&path).unwrap(), format!("{block}\n"));
        }
        assert_eq!(fs_err::read_to_string(&theirs).unwrap(), "theirs");
        assert_eq!(fs_err::read_dir(root.path()).unwrap().count(), 2);
        callback.write("/not/there", "three".to_owned());
    }
}
