//! Removes what is not scaffolding: the history, and the copy of the program.
//!
//! A folder may have been there before us, with files of the user in it. So only files of our names
//! go, and the folder itself only if nothing else is in it.

use std::fs::TryLockError;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::paths::{Paths, older_log};
use crate::platform;
use crate::setup::adapter::Artifact;
use crate::setup::binary;
use crate::setup::lock::{Lock, LockError};
use crate::setup::plan::{Note, Reason};
use crate::setup::receipt::Receipt;
use crate::setup::registration::Remaining;
use crate::setup::replacement;
use crate::setup::service::Manager;

/// A file in each folder that we fill: where it is, the files of our names are ours.
pub const MARKER: &str = ".tma1-owned";

/// What is in that file.
pub(super) const MARKER_TEXT: &str = "Written by tma1, which keeps files of its own here.\n";

/// What `SQLite` appends to the name of a database for the files that it keeps beside it.
const DATABASE_SUFFIXES: [&str; 4] = ["", "-wal", "-shm", "-journal"];

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

/// Says of `folder`, which must be there, that the files of our names in it are ours.
pub fn mark(folder: &Path) -> io::Result<()> {
    let mut options = platform::private_file_options();
    match options.write(true).create_new(true).open(folder.join(MARKER)) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        marker => marker.map(drop),
    }
}

/// What a purge takes, worked out before anything goes.
#[derive(Debug, Clone, Default)]
pub struct Purge {
    folders: Vec<Purged>,
    notes: Vec<Note>,
}

/// One folder that files are taken from.
#[derive(Debug, Clone)]
pub struct Purged {
    /// The folder.
    pub path: PathBuf,
    /// The files of ours in it and beside it, the marker last: an interrupted purge can be taken up
    /// again.
    pub files: Vec<PathBuf>,
    /// Whether nothing else is in it, so that it goes too.
    pub whole: bool,
}

impl Purge {
    /// Looks at all that would go once `artifacts` are gone. Refuses it as a whole rather than a
    /// part.
    pub fn plan(artifacts: &[Artifact], paths: &Paths) -> Result<Self, PurgeError> {
        let mut purge = Self::default();
        purge.take(paths.data(), data_files(paths))?;
        purge.take(paths.logs(), log_files(paths))?;
        let receipt = fs_err::read(paths.receipt()).unwrap_or_default();
        let receipt = Receipt::read(&receipt);
        let remaining = Remaining::beside(artifacts, &receipt, paths);
        let registered = remaining.first().map(|user| user.path.clone());
        match registered.or_else(|| service(&receipt, paths)) {
            Some(user) if paths.bin().is_dir() => {
                let reason = Reason::InUse(paths.display(&user));
                purge.notes.push(Note { path: paths.bin(), reason });
            }
            _ => purge.take(paths.bin(), programs(paths))?,
        }
        match fs_err::File::open(paths.daemon_lock()).map(|lock| lock.try_lock()) {
            Ok(Err(TryLockError::WouldBlock)) => Err(PurgeError::InUse(paths.data())),
            _ => Ok(purge),
        }
    }

    fn take(&mut self, path: PathBuf, files: Vec<PathBuf>) -> Result<(), PurgeError> {
        if let Some(folder) = Purged::of(path, files)? {
            if !folder.whole {
                let path = folder.path.clone();
                self.notes.push(Note { path, reason: Reason::HoldsOthers });
            }
            self.folders.push(folder);
        }
        Ok(())
    }

    /// The folders that files are taken from.
    pub fn folders(&self) -> &[Purged] {
        &self.folders
    }

    /// What stays, and why.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// Whether there is nothing to take.
    pub fn is_empty(&self) -> bool {
        self.folders.is_empty()
    }

    /// Removes the files. Of a link among them the link goes, and what it leads to stays.
    pub fn carry_out(&self, paths: &Paths) -> Result<(), PurgeError> {
        if self.is_empty() {
            return Ok(());
        }
        let lock = Lock::acquire(paths)?;
        for folder in &self.folders {
            folder.files.iter().try_for_each(|file| remove_file(file))?;
            if folder.whole {
                match fs_err::remove_dir(&folder.path) {
                    // Somebody has just put something into it.
                    Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => {}
                    result => result?,
                }
            }
        }
        drop(lock);
        Ok(())
    }
}

/// The definition of the service, if it is there: it runs the copy of the program.
fn service(receipt: &Receipt, paths: &Paths) -> Option<PathBuf> {
    let definition = Manager::of_system()?.definition(paths);
    (receipt.record(&definition).is_some() && definition.is_file()).then_some(definition)
}

impl Purged {
    /// What goes of `folder`, in which we have, as far as they are there, `files`; none if that is
    /// nothing.
    fn of(path: PathBuf, files: Vec<PathBuf>) -> Result<Option<Self>, PurgeError> {
        if path.is_symlink() {
            return Err(PurgeError::Link(path));
        }
        let is_file =
            |file: &PathBuf| fs_err::symlink_metadata(file).is_ok_and(|found| !found.is_dir());
        let mut files: Vec<_> = files.into_iter().filter(is_file).collect();
        files.extend(replacement::temporary_files(&path));
        let marker = path.join(MARKER);
        match (marker.is_file(), files.iter().any(|file| file.starts_with(&path))) {
            (true, _) => files.push(marker),
            (false, false) => return Ok(None),
            (false, true) => return Err(PurgeError::NotOurs(path)),
        }
        let is_ours = |entry: io::Result<fs_err::DirEntry>| {
            entry.is_ok_and(|entry| files.contains(&entry.path()))
        };
        let whole = fs_err::read_dir(&path)?.all(is_ours);
        Ok(Some(Self { path, files, whole }))
    }
}

/// The files of the daemon. What it, and who starts and stops it, write beside the data is for the
/// programs that may ask it.
fn data_files(paths: &Paths) -> Vec<PathBuf> {
    let beside_database = |suffix: &str| {
        let mut path = paths.database().into_os_string();
        path.push(suffix);
        PathBuf::from(path)
    };
    let database = DATABASE_SUFFIXES.into_iter().map(beside_database);
    [paths.token(), paths.autostart(), paths.stopped()]
        .into_iter()
        .chain(database)
        .chain([paths.daemon_lock()])
        .collect()
}

/// What the daemon has said.
fn log_files(paths: &Paths) -> Vec<PathBuf> {
    vec![paths.daemon_log(), older_log(&paths.daemon_log())]
}

/// The copies of the program.
fn programs(paths: &Paths) -> Vec<PathBuf> {
    vec![paths.bin().join(binary::PROGRAM)]
}

/// All files that a purge may take.
pub(super) fn files(paths: &Paths) -> Vec<PathBuf> {
    let markers = [paths.data(), paths.bin(), paths.logs()].map(|folder| folder.join(MARKER));
    let files = data_files(paths).into_iter().chain(log_files(paths)).chain(programs(paths));
    files.chain(markers).collect()
}

fn remove_file(path: &Path) -> io::Result<()> {
    match fs_err::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::setup::cases::Home;

    #[test]
    fn only_files_of_our_names_go_and_a_folder_only_if_nothing_else_is_in_it() {
        let home = Home::new();
        let ours = ["data/tma1.db", "data/tma1.db-wal", "data/daemon.lock", "bin/tma1"];
        let theirs = ["data/thesis.txt", "data/tma1.db.bak", "data/tma1.db-shm/mine", "bin/x.sh"];
        for file in ours.iter().chain(&theirs) {
            home.write(&format!(".tma1/{file}"), "");
        }
        // Also where an earlier version has called the whole folder ours.
        for folder in ["data", "bin"] {
            mark(&home.path(&format!(".tma1/{folder}"))).unwrap();
        }
        let purge = Purge::plan(&[], &home.paths).unwrap();
        assert!(purge.folders().iter().all(|folder| !folder.whole), "{purge:?}");
        purge.carry_out(&home.paths).unwrap();
        let is_file = |path: &&String| home.path(path.trim_start_matches("~/")).is_file();
        let left: Vec<_> = home.tree().iter().filter(is_file).cloned().collect();
        let mut expected = theirs.map(|file| format!("~/.tma1/{file}"));
        expected.sort();
        assert_eq!(left, expected);
        assert!(Purge::plan(&[], &home.paths).unwrap().is_empty());
    }

    #[test]
    fn a_folder_without_our_mark_is_refused_only_if_it_has_a_file_of_our_name() {
        let home = Home::new();
        home.write(".tma1/data/thesis.txt", "");
        home.write(".tma1/bin/x.sh", "");
        assert!(Purge::plan(&[], &home.paths).unwrap().is_empty());
        home.write(".tma1/bin/tma1", "");
        let refused = Purge::plan(&[], &home.paths);
        assert!(matches!(refused, Err(PurgeError::NotOurs(path)) if path.ends_with("bin")));
    }

    #[test]
    fn no_link_is_followed() {
        use std::os::unix::fs::symlink;
        let home = Home::new();
        home.write("elsewhere/tma1.db", "mine");
        home.write(".tma1/bin/tma1", "");
        mark(&home.path(".tma1/bin")).unwrap();
        symlink(home.path("elsewhere"), home.path(".tma1/data")).unwrap();
        assert!(matches!(Purge::plan(&[], &home.paths), Err(PurgeError::Link(_))));
        fs_err::remove_file(home.path(".tma1/data")).unwrap();
        fs_err::create_dir(home.path(".tma1/data")).unwrap();
        mark(&home.path(".tma1/data")).unwrap();
        symlink(home.path("elsewhere/tma1.db"), home.path(".tma1/data/tma1.db")).unwrap();
        Purge::plan(&[], &home.paths).unwrap().carry_out(&home.paths).unwrap();
        assert_eq!(home.tree(), ["~/elsewhere", "~/elsewhere/tma1.db"]);
    }
}
