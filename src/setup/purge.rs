//! Removes what is not scaffolding: the history, and the copy of the program.

use std::fs::TryLockError;
use std::io;
use std::path::{Path, PathBuf};

use crate::paths::Paths;
use crate::platform;
use crate::setup::lock::{Lock, LockError};

/// A file in each folder that we fill, by which a folder of somebody else's is told from ours.
pub const MARKER: &str = ".tma1-owned";

/// What is in that file.
pub(super) const MARKER_TEXT: &str = "Written by tma1, as is all here.\n";

/// Why data is not removed.
#[derive(Debug, thiserror::Error)]
pub enum PurgeError {
    /// It is not known to be ours.
    #[error("{} is not removed: it has no file named {MARKER}, so it may not be ours", .0.display())]
    NotOurs(PathBuf),
    /// A link is never followed.
    #[error("{} is not removed: it is a link", .0.display())]
    Link(PathBuf),
    /// The daemon would go on writing into nothing.
    #[error("{} is not removed: a daemon is using it", .0.display())]
    InUse(PathBuf),
    /// Other runs can't be kept out.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// It can't be removed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl PurgeError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::NotOurs(path) | Self::Link(path) => {
                format!("look what is in it, and remove {} yourself", path.display())
            }
            Self::InUse(_) => "end the daemon first: `tma1 stop`".to_owned(),
            Self::Lock(error) => error.hint(),
            Self::Io(_) => "check that the folder is yours to remove".to_owned(),
        }
    }
}

/// Marks `folder`, which must be there, as one of ours.
pub fn mark(folder: &Path) -> io::Result<()> {
    let mut options = platform::private_file_options();
    match options.write(true).create_new(true).open(folder.join(MARKER)) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        marker => marker.map(drop),
    }
}

/// The folders to remove. Checks all of them before the first goes.
pub fn targets(paths: &Paths) -> Result<Vec<PathBuf>, PurgeError> {
    let mut targets = Vec::new();
    for folder in [paths.data(), paths.bin(), paths.logs()] {
        if folder.is_symlink() {
            return Err(PurgeError::Link(folder));
        }
        if !folder.is_dir() {
            continue;
        }
        if !folder.join(MARKER).is_file() {
            return Err(PurgeError::NotOurs(folder));
        }
        targets.push(folder);
    }
    match fs_err::File::open(paths.daemon_lock()).map(|lock| lock.try_lock()) {
        Ok(Err(TryLockError::WouldBlock)) => Err(PurgeError::InUse(paths.data())),
        _ => Ok(targets),
    }
}

/// Removes `folders` with all in them; a link in them goes, and what it leads to stays.
pub fn remove(folders: &[PathBuf], paths: &Paths) -> Result<(), PurgeError> {
    let lock = Lock::acquire(paths)?;
    for folder in folders {
        fs_err::remove_dir_all(folder)?;
    }
    // What the daemon, and who starts and stops it, write beside the data.
    for file in [paths.token(), paths.autostart(), paths.stopped()] {
        match fs_err::remove_file(file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
    }
    drop(lock);
    Ok(())
}
