//! Keeps other runs out while this one changes files.

use std::fs::TryLockError;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use fs_err::File;

use crate::clock;
use crate::paths::Paths;
use crate::platform;
use crate::setup::target::{Refusal, Target};

/// How long another run may take. One that takes longer is stuck.
const PATIENCE: Duration = Duration::from_secs(30);

const PAUSE: Duration = Duration::from_millis(20);

/// Why this run can't keep others out.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// The lock is no file that we may use.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Another run has it.
    #[error("another tma1 command is changing files and does not end; it holds {}", .0.display())]
    Busy(PathBuf),
    /// The lock can't be created or locked.
    #[error("{} can't be locked", path.display())]
    Unusable {
        /// The lock.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl LockError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Refused(refusal) => refusal.hint(),
            Self::Busy(_) => "wait for it or end it, then try again".to_owned(),
            Self::Unusable { path, .. } => {
                let folder = path.parent().unwrap_or(path);
                format!("make {} a folder that you can write to", folder.display())
            }
        }
    }
}

/// Held by the one run that changes files. When it is dropped and nothing else of ours is there, it
/// leaves no trace.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    _file: File,
}

/// Whether the lock can be had at all, without leaving anything.
pub fn require_possible(paths: &Paths) -> Result<(), Refusal> {
    Target::inspect(&paths.install_lock())?.require_writable()
}

impl Lock {
    /// Waits until no other run changes files.
    pub fn acquire(paths: &Paths) -> Result<Self, LockError> {
        require_possible(paths)?;
        let path = paths.install_lock();
        let deadline = clock::monotonic() + PATIENCE;
        loop {
            let unusable = |source| LockError::Unusable { path: path.clone(), source };
            match try_acquire(&paths.root, &path).map_err(unusable)? {
                Some(file) => return Ok(Self { path, _file: file }),
                None if clock::monotonic() > deadline => return Err(LockError::Busy(path)),
                None => std::thread::sleep(PAUSE),
            }
        }
    }
}

fn try_acquire(root: &Path, path: &Path) -> io::Result<Option<File>> {
    platform::create_private_dir(root)?;
    let mut options = platform::private_file_options();
    let file = match options.create(true).write(true).truncate(false).open(path) {
        // The run before has just removed the folder with its lock.
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    match file.try_lock() {
        // What was locked may be a file that the run before has just removed.
        Ok(()) => Ok(platform::is_same_file(file.file(), path).then_some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Whether nothing of ours is left but the lock of a run that was killed.
pub fn is_orphaned(paths: &Paths) -> bool {
    let lock = paths.install_lock();
    lock.is_file() && is_alone(&lock)
}

/// Whether there is nothing beside the lock.
fn is_alone(path: &Path) -> bool {
    let is_lock =
        |entry: io::Result<fs_err::DirEntry>| entry.is_ok_and(|entry| entry.path() == *path);
    let root = path.parent().unwrap_or(path);
    fs_err::read_dir(root).is_ok_and(|mut entries| entries.all(is_lock))
}

impl Drop for Lock {
    fn drop(&mut self) {
        let Some(root) = self.path.parent() else { return };
        if is_alone(&self.path) {
            // Still locked, so nobody else can be at work here.
            drop(fs_err::remove_file(&self.path));
            drop(fs_err::remove_dir(root));
        }
    }
}
