//! Keeps other runs out while this one changes files.

use std::collections::BTreeSet;
use std::fs::TryLockError;
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use fs_err::File;

use crate::agent::Agent;
use crate::clock;
use crate::paths::Paths;
use crate::platform;
use crate::setup::adapter;
use crate::setup::purge;
use crate::setup::replacement;
use crate::setup::target::{Refusal, Target};

/// How long another run may take. One that takes longer is stuck.
const PATIENCE: Duration = Duration::from_secs(30);

/// More than a list of folders has.
const MAX_BYTES: u64 = 64 * 1024;

/// What we have in our own directory.
const OWN_NAMES: [&str; 6] = ["install.lock", "receipts", "hooks", "data", "bin", "token"];

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
    paths: Paths,
    file: File,
    /// The folders that were made for it just now, outermost first.
    new: Vec<PathBuf>,
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
        // The daemon made it, an earlier version, or a run that was killed.
        let formerly = Some(paths.root.clone()).filter(|_| is_ours(paths));
        let mut new = BTreeSet::new();
        let deadline = clock::monotonic() + PATIENCE;
        loop {
            let unusable = |source| LockError::Unusable { path: path.clone(), source };
            // Another run may remove them while this one waits.
            new.extend(missing_folders(&paths.root));
            match try_acquire(&paths.root, &path).map_err(unusable)? {
                Some(file) => {
                    note_made(&file, &new, formerly).map_err(unusable)?;
                    let new = new.into_iter().collect();
                    return Ok(Self { paths: paths.clone(), file, new });
                }
                None if clock::monotonic() > deadline => return Err(LockError::Busy(path)),
                None => std::thread::sleep(PAUSE),
            }
        }
    }

    /// The folders that were made for it just now, outermost first.
    pub fn new_folders(&self) -> &[PathBuf] {
        &self.new
    }
}

/// The folders up to `folder` that are not there.
fn missing_folders(folder: &Path) -> impl Iterator<Item = PathBuf> {
    folder.ancestors().take_while(|folder| !folder.exists()).map(Path::to_owned)
}

fn try_acquire(root: &Path, path: &Path) -> io::Result<Option<File>> {
    platform::create_private_dir(root)?;
    let mut options = platform::private_file_options();
    let file = match options.create(true).read(true).write(true).truncate(false).open(path) {
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

/// Keeps in the lock itself which folders were made for it: they go with it, and those that a user
/// had before stay. These are `new` ones, and `formerly` made ones if the lock does not tell yet.
fn note_made(file: &File, new: &BTreeSet<PathBuf>, formerly: Option<PathBuf>) -> io::Result<()> {
    let known = made_for(file);
    let mut all = known.clone().unwrap_or_else(|| formerly.into_iter().collect());
    all.extend(new.iter().cloned());
    if known.as_ref() != Some(&all) {
        let text = serde_json::to_string(&all).map_err(io::Error::from)?;
        let mut file = file.file();
        file.set_len(0)?;
        file.rewind()?;
        file.write_all(format!("{text}\n").as_bytes())?;
    }
    Ok(())
}

/// What the lock says to be made for it; none if it says nothing.
fn made_for(file: &File) -> Option<BTreeSet<PathBuf>> {
    let mut text = String::new();
    let mut file = file.file();
    file.rewind().ok()?;
    file.take(MAX_BYTES).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

/// Whether our own directory, which is there, holds something of ours and nothing that can have been
/// there before.
fn is_ours(paths: &Paths) -> bool {
    let is_own = |entry: io::Result<fs_err::DirEntry>| {
        entry.is_ok_and(|entry| OWN_NAMES.iter().any(|name| entry.file_name() == *name))
    };
    (is_needed(paths) || paths.install_lock().is_file())
        && !paths.home.starts_with(&paths.root)
        && fs_err::read_dir(&paths.root).is_ok_and(|mut entries| entries.all(is_own))
}

/// Whether nothing of ours is left but the lock of a run that was killed.
pub fn is_orphaned(paths: &Paths) -> bool {
    paths.install_lock().is_file() && !is_needed(paths)
}

/// Whether there is something of ours but the lock, so that this may be needed again.
fn is_needed(paths: &Paths) -> bool {
    let scripts = Agent::ALL.into_iter().flat_map(|agent| adapter::scripts(agent, paths));
    let mut files = scripts.chain(purge::files(paths)).chain([paths.receipt()]);
    // Emptied by a run that could not clean up; the next one will.
    let is_left = |entry: io::Result<fs_err::DirEntry>| {
        entry.is_ok_and(|entry| replacement::is_temporary(&entry.path()))
    };
    let is_emptied =
        |folder: &Path| fs_err::read_dir(folder).is_ok_and(|mut entries| entries.all(is_left));
    files.any(|file| file.is_file()) || paths.receipt().parent().is_some_and(is_emptied)
}

impl Drop for Lock {
    fn drop(&mut self) {
        if is_needed(&self.paths) {
            return;
        }
        let made = made_for(&self.file).unwrap_or_default();
        // Still locked, so nobody else can be at work here.
        drop(fs_err::remove_file(self.paths.install_lock()));
        for folder in made.iter().rev() {
            // It stays if there is something else in it.
            drop(fs_err::remove_dir(folder));
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::config::Environment;
    use crate::setup::cases::Home;

    /// Locations with our own directory deep in HOME.
    fn deep(home: &Home) -> Paths {
        let root = home.path("a/b/tma1");
        let variables = [("HOME", home.folder.path()), ("TMA1_DATA_DIR", &root)];
        Paths::resolve(&Environment::from_iter(variables)).unwrap()
    }

    #[test]
    fn the_folders_that_are_made_for_it_go_with_it() {
        let home = Home::new();
        let paths = deep(&home);
        let lock = Lock::acquire(&paths).unwrap();
        let made = ["a", "a/b", "a/b/tma1"].map(|name| home.path(name));
        assert_eq!(lock.new_folders(), made);
        // It outlives the run, and a later one knows of them too.
        fs_err::create_dir(paths.data()).unwrap();
        fs_err::write(paths.database(), "").unwrap();
        drop(lock);
        let lock = Lock::acquire(&paths).unwrap();
        assert_eq!(lock.new_folders(), [""; 0].map(PathBuf::from));
        fs_err::remove_dir_all(paths.data()).unwrap();
        drop(lock);
        assert_eq!(home.tree(), [""; 0]);
    }

    #[test]
    fn what_the_user_has_there_stays() {
        let home = Home::new();
        let paths = deep(&home);
        fs_err::create_dir_all(home.path("a/b")).unwrap();
        let lock = Lock::acquire(&paths).unwrap();
        home.write("a/b/tma1/mine", "");
        drop(lock);
        assert_eq!(home.tree(), ["~/a", "~/a/b", "~/a/b/tma1", "~/a/b/tma1/mine"]);
        fs_err::remove_file(home.path("a/b/tma1/mine")).unwrap();
        drop(Lock::acquire(&paths).unwrap());
        assert_eq!(home.tree(), ["~/a", "~/a/b", "~/a/b/tma1"]);
    }

    #[test]
    fn an_empty_folder_of_the_user_stays_too() {
        let home = Home::new();
        fs_err::create_dir(home.path(".tma1")).unwrap();
        drop(Lock::acquire(&home.paths).unwrap());
        assert_eq!(home.tree(), ["~/.tma1"]);
    }

    #[test]
    fn the_lock_of_a_killed_run_or_of_an_earlier_version_goes_with_its_folder() {
        let home = Home::new();
        home.write(".tma1/install.lock", "");
        assert!(is_orphaned(&home.paths));
        drop(Lock::acquire(&home.paths).unwrap());
        assert_eq!(home.tree(), [""; 0]);
    }
}
