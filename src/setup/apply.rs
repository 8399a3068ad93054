//! The only writer of a user's files: all of a file or nothing, and only over what was planned on.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use fs_err::File;
use tempfile::{NamedTempFile, PersistError};

use crate::paths::Paths;
use crate::platform;
use crate::setup::plan::{Change, Plan};
use crate::setup::target::{Refusal, Snapshot, Target};

/// Why a plan was not carried out.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// A file may not be changed.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Somebody else wrote the file after the plan was made; a new plan takes that in.
    #[error("{} changed meanwhile", .0.display())]
    ChangedMeanwhile(PathBuf),
    /// The file is as it was.
    #[error("{} can't be written", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file was written, and then read back with another content.
    #[error("{} is not what was written to it", .0.display())]
    NotVerified(PathBuf),
}

impl ApplyError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Refused(refusal) => Some(refusal.hint()),
            Self::ChangedMeanwhile(_) | Self::NotVerified(_) => Some(
                "another program keeps writing the file; quit running agents, then install again"
                    .to_owned(),
            ),
            Self::Write { .. } => None,
        }
    }
}

/// Makes the changes of `plan`, after all of them were checked.
pub fn apply(plan: &Plan) -> Result<(), ApplyError> {
    for change in plan.changes() {
        change.target.require_writable()?;
        require_unchanged(&change.target)?;
    }
    plan.changes().iter().try_for_each(write)
}

/// Waits until no other run installs, for as long as the returned file lives.
pub fn lock(paths: &Paths) -> io::Result<File> {
    platform::create_private_dir(&paths.root)?;
    let lock = platform::private_file_options()
        .create(true)
        .write(true)
        .truncate(false)
        .open(paths.install_lock())?;
    lock.lock()?;
    Ok(lock)
}

/// Replaces one file, if it still is what was planned on.
pub(super) fn write(change: &Change) -> Result<(), ApplyError> {
    let target = &change.target;
    let failed = |source| ApplyError::Write { path: target.path.clone(), source };
    let folder = target.folder();
    platform::create_private_dir(folder).map_err(failed)?;
    let temporary = prepare(change, folder).map_err(failed)?;
    require_unchanged(target)?;
    let persisted = if change.creates() {
        temporary.persist_noclobber(&target.resolved)
    } else {
        temporary.persist(&target.resolved)
    };
    match persisted {
        Ok(_) => {}
        Err(PersistError { error, .. }) if error.kind() == io::ErrorKind::AlreadyExists => {
            return Err(ApplyError::ChangedMeanwhile(target.path.clone()));
        }
        Err(PersistError { error, .. }) => return Err(failed(error)),
    }
    platform::sync_dir(folder).map_err(failed)?;
    verify(change)
}

/// A whole file beside the target, with its mode and group set before there is anything to read.
fn prepare(change: &Change, folder: &Path) -> io::Result<NamedTempFile> {
    let mut temporary = tempfile::Builder::new().prefix(".tma1-").tempfile_in(folder)?;
    let before = change.target.before.as_ref();
    let group = before.map(|before| before.attributes.group);
    platform::set_attributes(temporary.as_file(), change.mode, group)?;
    temporary.write_all(&change.after)?;
    temporary.as_file().sync_all()?;
    Ok(temporary)
}

fn require_unchanged(target: &Target) -> Result<(), ApplyError> {
    let now = Target::inspect(&target.path)?;
    if now.resolved == target.resolved && now.before == target.before {
        Ok(())
    } else {
        Err(ApplyError::ChangedMeanwhile(target.path.clone()))
    }
}

fn verify(change: &Change) -> Result<(), ApplyError> {
    match Snapshot::take(&change.target.resolved) {
        Ok(Some(now)) if now.bytes == change.after => Ok(()),
        _ => Err(ApplyError::NotVerified(change.target.path.clone())),
    }
}
