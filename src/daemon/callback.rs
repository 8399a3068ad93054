//! The block as a file in the project, for agents that have neither hooks nor MCP and read it as any
//! other file. Off unless `TMA1_ENABLE_FILE_CALLBACK` is on.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::agent::{EventKind, HookEvent};
use crate::clock::{self, Tally};
use crate::platform;
use crate::sensor::project::Projects;
use crate::world::{BLOCK_BEGIN, OWN_FILE};

/// For how many projects a block may wait to be written.
const MAX_WAITING: usize = 256;

/// The longest file that may be one of ours, in bytes.
const MAX_BYTES: u64 = 64 * 1024;

/// Writes the file.
#[derive(Debug)]
pub(super) struct Callback {
    projects: Arc<Projects>,
    /// The latest block of each project, until it is written.
    waiting: Mutex<HashMap<String, String>>,
    /// Held while a file is written, so that a later block is written later.
    writing: Mutex<()>,
    failed: Tally,
}

impl Callback {
    pub(super) fn new(projects: Arc<Projects>) -> Self {
        Self {
            projects,
            waiting: Mutex::default(),
            writing: Mutex::default(),
            failed: Tally::default(),
        }
    }

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

    /// Takes the latest block of the project at `root`; tells whether [`write`](Self::write) is to be
    /// called, which it is already if another one waits.
    pub(super) fn offer(&self, root: &str, block: String) -> bool {
        let mut waiting = lock(&self.waiting);
        let has_room = waiting.len() < MAX_WAITING || waiting.contains_key(root);
        has_room && waiting.insert(root.to_owned(), block).is_none()
    }

    /// Writes the latest block into the project at `root`, unless it is there already.
    pub(super) fn write(&self, root: &str) {
        let _writing = lock(&self.writing);
        let Some(block) = lock(&self.waiting).remove(root) else { return };
        if !self.projects.is_project(root) {
            return;
        }
        if let Err(error) = put(Path::new(root), &block)
            && let Some(count) = self.failed.count(clock::now())
        {
            tracing::warn!(%error, count, root, "{OWN_FILE} was not written");
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whoever reads the file finds the former block or this one, whole. What is there and is not ours
/// stays.
fn put(root: &Path, block: &str) -> io::Result<()> {
    let path = root.join(OWN_FILE);
    let text = format!("{block}\n");
    match there(&path)? {
        Some(there) if there == text.as_bytes() => return Ok(()),
        Some(there) if !there.starts_with(BLOCK_BEGIN.as_bytes()) => {
            return Err(io::Error::other("there is a file of somebody else"));
        }
        _ => {}
    }
    let mut file = tempfile::Builder::new().prefix(OWN_FILE).suffix(".tmp").tempfile_in(root)?;
    file.write_all(text.as_bytes())?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// What is at `path`, as far as it matters; none if nothing is there.
fn there(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs_err::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
        // A folder, a link, a pipe.
        Ok(metadata) if !metadata.is_file() => return Ok(Some(Vec::new())),
        Ok(_) => {}
    }
    let mut bytes = Vec::new();
    platform::open_without_following(path)?.take(MAX_BYTES).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn callback(home: &Path) -> Callback {
        Callback::new(Arc::new(Projects::new(home)))
    }

    fn block(text: &str) -> String {
        format!("{BLOCK_BEGIN}\n{text}")
    }

    fn tell(callback: &Callback, root: &Path, text: &str) {
        let root = root.to_str().unwrap();
        assert!(callback.offer(root, block(text)));
        callback.write(root);
    }

    #[test]
    fn the_file_is_replaced_as_a_whole_and_comes_back_if_it_was_deleted() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join(OWN_FILE);
        let callback = callback(Path::new("/home"));
        for text in ["one", "two", "two"] {
            tell(&callback, root.path(), text);
            assert_eq!(fs_err::read_to_string(&path).unwrap(), format!("{}\n", block(text)));
            assert_eq!(fs_err::read_dir(root.path()).unwrap().count(), 1);
        }
        fs_err::remove_file(&path).unwrap();
        tell(&callback, root.path(), "two");
        assert!(path.exists());
        tell(&callback, Path::new("/not/there"), "three");
    }

    #[test]
    fn what_is_not_ours_stays() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join(OWN_FILE);
        let callback = callback(Path::new("/home"));
        for theirs in ["my notes", ""] {
            fs_err::write(&path, theirs).unwrap();
            tell(&callback, root.path(), "one");
            assert_eq!(fs_err::read_to_string(&path).unwrap(), theirs);
        }
        fs_err::remove_file(&path).unwrap();
        #[cfg(unix)]
        {
            let target = root.path().join("target");
            fs_err::write(&target, block("theirs")).unwrap();
            fs_err::os::unix::fs::symlink(&target, &path).unwrap();
            tell(&callback, root.path(), "one");
            assert_eq!(fs_err::read_to_string(&target).unwrap(), block("theirs"));
            fs_err::remove_file(&path).unwrap();
        }
        fs_err::create_dir(&path).unwrap();
        tell(&callback, root.path(), "one");
        assert_eq!(fs_err::read_dir(&path).unwrap().count(), 0);
    }

    #[test]
    fn the_latest_block_is_written_whoever_comes_first() {
        let root = tempfile::tempdir().unwrap();
        let (callback, path) = (callback(Path::new("/home")), root.path().join(OWN_FILE));
        let root = root.path().to_str().unwrap();
        assert!(callback.offer(root, block("one")));
        assert!(!callback.offer(root, block("two")), "the write that waits takes it");
        callback.write(root);
        assert_eq!(fs_err::read_to_string(&path).unwrap(), format!("{}\n", block("two")));
        callback.write(root);
        assert_eq!(fs_err::read_to_string(&path).unwrap(), format!("{}\n", block("two")));
    }

    #[test]
    fn nothing_is_written_into_the_home_directory() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        fs_err::create_dir_all(home.join("shop")).unwrap();
        let callback = callback(&home);
        for (root, is_written) in
            [(&*home, false), (folder.path(), false), (&home.join("shop"), true)]
        {
            tell(&callback, root, "one");
            assert_eq!(root.join(OWN_FILE).exists(), is_written, "{}", root.display());
        }
    }
}
