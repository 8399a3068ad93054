//! One file on its way from what it was to what the plan says.
//!
//! Another program can write the file at any moment, by its name or through a handle that it has
//! open, and knows nothing of our lock. So the old file and the new one are exchanged, and the old
//! one is kept aside for a while: if it is not, or no longer, what the plan was made for, somebody
//! else has written in between, and that goes back.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::hash_map::RandomState;
use std::fs::File;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use bytes::Bytes;

use crate::platform::Version;
use crate::setup::disk::Disk;
use crate::setup::plan::{After, Change};
use crate::setup::target::{Reason, Refusal, Snapshot, Target};

/// How often an exchange is taken back and forth while somebody else keeps writing.
const MAX_EXCHANGES: usize = 64;

/// As many bytes as can be read again and again. Of larger files only the version is watched, which
/// on some systems does not change if a file is written twice within one tick of the clock.
const QUICKLY_READ: usize = 64 * 1024;

const TEMPORARY_PREFIX: &str = ".tma1-";
const TEMPORARY_SUFFIX: &str = ".tmp";

/// Why a file is not as it should be.
#[derive(Debug)]
pub(super) enum Failure {
    /// Somebody else wrote it after the plan was made; it is as they wrote it.
    Changed,
    /// It is as it was.
    NotDone(io::Error),
    /// It is changed, and could not be put back.
    Stuck(io::Error),
}

impl Failure {
    /// The same as an error to report.
    pub(super) fn into_reason(self) -> io::Error {
        match self {
            Self::Changed => io::Error::other("another program has written it since"),
            Self::NotDone(error) | Self::Stuck(error) => error,
        }
    }
}

/// A change that is prepared, and then in place.
pub(super) struct Replacement<'p, D: Disk> {
    change: Cow<'p, Change>,
    disk: &'p D,
    /// Beside the target: first the new content, then what was there before.
    aside: PathBuf,
    /// The new content, while it may be lost in a crash.
    unsynced: Option<File>,
    /// The old file as it was when it was put aside.
    seen: Cell<Option<Version>>,
    /// Whether the file aside may go when this is dropped.
    disposable: Cell<bool>,
}

impl<'p, D: Disk> Replacement<'p, D> {
    /// Writes the new content beside the target.
    pub(super) fn prepare(change: &'p Change, disk: &'p D) -> Result<Self, Failure> {
        let mut replacement = Self::written(Cow::Borrowed(change), disk)?;
        replacement.sync()?;
        replacement.unsynced = None;
        Ok(replacement)
    }

    /// The same for a file that another program writes all the time: by when the new content had
    /// reached the disk, it would be outdated. So that is awaited once it is in place.
    pub(super) fn prepare_in_haste(change: Change, disk: &'p D) -> Result<Self, Failure> {
        Self::written(Cow::Owned(change), disk)
    }

    fn written(change: Cow<'p, Change>, disk: &'p D) -> Result<Self, Failure> {
        let aside = name_beside(&change.target.resolved);
        let (seen, disposable) = (Cell::new(None), Cell::new(true));
        let mut replacement = Self { change, disk, aside, unsynced: None, seen, disposable };
        replacement.write().map_err(Failure::NotDone)?;
        Ok(replacement)
    }

    /// With mode and group set before there is anything to read.
    fn write(&mut self) -> io::Result<()> {
        let Some(after) = &self.change.after else { return Ok(()) };
        let file = self.disk.create_file(&self.aside)?;
        self.disk.set_attributes(&file, after.mode, &self.change.target)?;
        self.disk.write(&file, &after.bytes)?;
        self.unsynced = Some(file);
        Ok(())
    }

    fn sync(&self) -> Result<(), Failure> {
        self.unsynced
            .iter()
            .try_for_each(|file| self.disk.sync_file(file))
            .map_err(Failure::NotDone)
    }

    /// The change that this carries out.
    pub(super) fn change(&self) -> &Change {
        &self.change
    }

    /// Puts the new content in place; what was there is aside afterwards.
    pub(super) fn put_in_place(&self) -> Result<(), Failure> {
        let change = &self.change;
        let target = &change.target.resolved;
        let seen = Version::of(target);
        self.seen.set(seen);
        if !is_unchanged(&change.target, self.disk).map_err(|refusal| not_done(&refusal))? {
            return Err(Failure::Changed);
        }
        match (&change.target.before, &change.after) {
            (_, None) => self.move_aside()?,
            (None, Some(_)) => self.disk.rename_new(&self.aside, target).map_err(|error| {
                if error.kind() == ErrorKind::AlreadyExists {
                    Failure::Changed
                } else {
                    Failure::NotDone(error)
                }
            })?,
            (Some(before), Some(after)) => {
                if Version::of(target) != seen {
                    return Err(Failure::Changed);
                }
                self.disk.exchange(&self.aside, target).map_err(changed_or_not_done)?;
                if Version::of(&self.aside) != seen {
                    self.return_at_once(&after.bytes)?;
                }
                self.return_unless(&before.bytes, &after.bytes)?;
            }
        }
        Ok(())
    }

    /// Makes what is in place last through a crash. It takes longer than a program takes to read
    /// again what it has written, so it comes when nothing has to be watched any more.
    pub(super) fn make_last(&self) -> Result<(), Failure> {
        self.sync()?;
        self.disk.sync_folder(self.change.target.folder()).map_err(Failure::NotDone)
    }

    /// Takes the file away: aside first, so that what goes is known to be what was planned for.
    fn move_aside(&self) -> Result<(), Failure> {
        let Some(before) = &self.change.target.before else { return Ok(()) };
        self.disk.rename_new(self.target(), &self.aside).map_err(changed_or_not_done)?;
        if self.holds(&self.aside, &before.bytes) {
            return Ok(());
        }
        self.move_back()?;
        Err(Failure::Changed)
    }

    /// Puts back what came out of an exchange before anything of it is read: its writer must not find
    /// the file without it.
    fn return_at_once(&self, put_in: &Bytes) -> Result<(), Failure> {
        self.disk.exchange(&self.aside, self.target()).map_err(|error| self.keep_aside(&error))?;
        if self.holds(&self.aside, put_in) {
            return Err(Failure::Changed);
        }
        // Somebody wrote over ours all the same, and that is newer.
        let put_back =
            bytes_of(self.target(), self.disk).map_err(|error| self.keep_aside(&error))?;
        self.return_unless(put_in, &put_back)
    }

    /// Looks whether somebody writes the old file, which they had just opened, and if so puts it back
    /// before they read it again.
    pub(super) fn watch(&self) -> Result<(), Failure> {
        let (Some(before), Some(after)) = (&self.change.target.before, &self.change.after) else {
            return Ok(());
        };
        let is_as_before = Version::of(&self.aside) == self.seen.get()
            && (before.bytes.len() > QUICKLY_READ
                || fs_err::read(&self.aside).is_ok_and(|found| found == before.bytes));
        // What is over the new one is newer than what is in the old one.
        if is_as_before || !self.holds(self.target(), &after.bytes) {
            return Ok(());
        }
        self.return_at_once(&after.bytes)
    }

    /// After an exchange: unless `expected` came out, puts back what did.
    fn return_unless(&self, expected: &Bytes, put_in: &Bytes) -> Result<(), Failure> {
        let mut newest = match bytes_of(&self.aside, self.disk) {
            Ok(bytes) if bytes == expected => return Ok(()),
            Ok(bytes) => bytes,
            Err(error) => return Err(self.return_unread(put_in, error)),
        };
        // What lies aside is newer than all that we put in. What its return brings out must be what
        // we put in last, or somebody has written once more, and that goes back in turn.
        let mut put_in_last = put_in.clone();
        for _ in 0..MAX_EXCHANGES {
            if let Err(error) = self.disk.exchange(&self.aside, self.target()) {
                return Err(self.keep_aside(&error));
            }
            let came_out = self.bytes_aside()?;
            if came_out == put_in_last {
                return Err(Failure::Changed);
            }
            put_in_last = std::mem::replace(&mut newest, came_out);
        }
        Err(self.keep_aside(&io::Error::other("another program keeps writing it")))
    }

    /// Puts back what came out of an exchange and can't be read.
    fn return_unread(&self, put_in: &[u8], error: io::Error) -> Failure {
        match self.disk.exchange(&self.aside, self.target()) {
            Ok(()) if self.holds(&self.aside, put_in) => Failure::NotDone(error),
            Ok(()) | Err(_) => self.keep_aside(&error),
        }
    }

    /// A while later: looks whether somebody wrote on, through a handle that was open on the old
    /// file or over the new one, and lets that stand.
    pub(super) fn settle(&self) -> Result<(), Failure> {
        match (&self.change.target.before, &self.change.after) {
            (Some(before), None) if !self.holds(&self.aside, &before.bytes) => {
                self.move_back()?;
                Err(Failure::Changed)
            }
            (_, None) => Ok(()),
            // What is over the new one is newer than what is in the old one.
            (Some(before), Some(after)) if self.holds(self.target(), &after.bytes) => {
                self.return_unless(&before.bytes, &after.bytes)
            }
            (_, Some(after)) => self.require_in_place(after),
        }
    }

    fn require_in_place(&self, after: &After) -> Result<(), Failure> {
        if self.holds(self.target(), &after.bytes) { Ok(()) } else { Err(Failure::Changed) }
    }

    /// Undoes [`put_in_place`](Self::put_in_place).
    pub(super) fn take_back(&self) -> Result<(), Failure> {
        match (&self.change.target.before, &self.change.after) {
            (None, None) => Ok(()),
            (Some(_), None) => self.move_back(),
            (Some(before), Some(after)) => {
                if let Err(error) = self.disk.exchange(&self.aside, self.target()) {
                    return Err(self.keep_aside(&error));
                }
                // Ours must come out, or somebody wrote over it, and that goes back.
                match self.return_unless(&after.bytes, &before.bytes) {
                    Ok(()) => Ok(()),
                    Err(Failure::Changed) => Err(stuck("another program has written it since")),
                    Err(failure) => Err(failure),
                }
            }
            (None, Some(after)) => {
                self.disk.rename_new(self.target(), &self.aside).map_err(Failure::Stuck)?;
                if self.holds(&self.aside, &after.bytes) {
                    return Ok(());
                }
                self.move_back()?;
                Err(stuck("another program has written it since"))
            }
        }
    }

    fn move_back(&self) -> Result<(), Failure> {
        match self.disk.rename_new(&self.aside, self.target()) {
            Ok(()) => Ok(()),
            Err(error) => Err(self.keep_aside(&error)),
        }
    }

    fn target(&self) -> &Path {
        &self.change.target.resolved
    }

    fn holds(&self, path: &Path, expected: &[u8]) -> bool {
        bytes_of(path, self.disk).is_ok_and(|found| found == expected)
    }

    /// Reads what lies aside. If that fails, it may be all that is left of it.
    fn bytes_aside(&self) -> Result<Bytes, Failure> {
        bytes_of(&self.aside, self.disk).map_err(|error| self.keep_aside(&error))
    }

    /// Keeps the file aside, which holds what is nowhere else, under a name that no run sweeps.
    fn keep_aside(&self, error: &io::Error) -> Failure {
        self.disposable.set(false);
        let kept = self.aside.with_extension("kept");
        let place = if self.disk.rename_new(&self.aside, &kept).is_ok() {
            kept
        } else {
            self.aside.clone()
        };
        let message = format!("{error}; its former content is in {}", place.display());
        Failure::Stuck(io::Error::new(error.kind(), message))
    }
}

impl<D: Disk> Drop for Replacement<'_, D> {
    fn drop(&mut self) {
        if self.disposable.get() {
            // Not there any more if it was renamed; what can't be removed now is swept later.
            drop(self.disk.remove_file(&self.aside));
        }
    }
}

/// Whether the file is what the plan was made for.
pub(super) fn is_unchanged(target: &Target, disk: &impl Disk) -> Result<bool, Refusal> {
    let now = Target::inspect_on(&target.path, disk)?;
    Ok(now.resolved == target.resolved && now.before == target.before)
}

fn not_done(refusal: &Refusal) -> Failure {
    Failure::NotDone(io::Error::other(refusal.to_string()))
}

fn changed_or_not_done(error: io::Error) -> Failure {
    if error.kind() == ErrorKind::NotFound { Failure::Changed } else { Failure::NotDone(error) }
}

fn stuck(reason: &str) -> Failure {
    Failure::Stuck(io::Error::other(reason.to_owned()))
}

fn bytes_of(path: &Path, disk: &impl Disk) -> io::Result<Bytes> {
    match disk.snapshot(path) {
        Ok(Some(Snapshot { bytes, .. })) => Ok(bytes),
        Ok(None) => Err(ErrorKind::NotFound.into()),
        Err(Reason::Unreadable(error)) => Err(error),
        Err(reason) => Err(io::Error::other(reason)),
    }
}

/// A name for a temporary file beside `target` that no other run has.
fn name_beside(target: &Path) -> PathBuf {
    let number = RandomState::new().build_hasher().finish();
    target.with_file_name(format!("{TEMPORARY_PREFIX}{number:016x}{TEMPORARY_SUFFIX}"))
}

/// Whether the file at `path` is named as our temporary files are.
pub(super) fn is_temporary(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.and_then(|name| name.strip_prefix(TEMPORARY_PREFIX)?.strip_suffix(TEMPORARY_SUFFIX))
        .is_some_and(|number| number.len() == 16 && number.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// What runs that were killed have left in `folder`. Runs exclude each other by a lock, so whoever
/// has that may remove it.
pub(super) fn temporary_files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs_err::read_dir(folder) else { return Vec::new() };
    entries
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .map(|entry| entry.path())
        .filter(|path| is_temporary(path))
        .collect()
}
