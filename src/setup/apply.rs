//! The only writer of a user's files.
//!
//! Our own receipt comes first, so that also a run that is killed leaves nothing that an uninstall
//! does not know of. Everything else that can fail is done before the first file changes: folders are
//! made, the new contents written beside their targets. Then each is put in place, which takes one
//! rename. If one fails, those before it are taken back.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::clock;
use crate::setup::disk::Disk;
use crate::setup::plan::{Change, Plan, Step};
use crate::setup::replacement::{self, Failure, Replacement};
use crate::setup::target::Refusal;

/// How long an old file is kept aside, so that what another program writes to it through an open
/// handle is seen. Programs that rewrite a file do so within a few milliseconds.
const SETTLING: Duration = Duration::from_millis(50);

/// How long nobody looks at the old files meanwhile: less than a program takes to read again what it
/// has written.
const LOOK_PAUSE: Duration = Duration::from_micros(50);

/// How often one change is made anew because somebody else keeps writing the file.
const MAX_REDOES: usize = 100;

/// Why a plan was not carried out. Unless it says otherwise, every file is as it was.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// A file may not be changed.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Somebody else wrote the file after the plan was made; a new plan takes that in.
    #[error("{} changed meanwhile", .0.display())]
    ChangedMeanwhile(PathBuf),
    /// A step failed, and what was done before it is undone.
    #[error("{} can't be written", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// All entries and files of ours are taken away, and something empty stays.
    #[error("{} can't be removed", path.display())]
    Leftover {
        /// What stays.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A step failed, and not everything that was done could be undone.
    #[error("{cause}; not everything could be put back: {}", list(stuck))]
    HalfDone {
        /// What failed first.
        cause: Box<ApplyError>,
        /// What stays changed, and why.
        stuck: Vec<(PathBuf, io::Error)>,
    },
}

impl ApplyError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Refused(refusal) => refusal.hint(),
            Self::ChangedMeanwhile(_) => {
                "another program keeps writing the file; quit running agents, then try again"
                    .to_owned()
            }
            Self::Write { source, .. } if source.kind() == ErrorKind::ResourceBusy => {
                "every file is as it was; this one is mounted by itself, as containers do it: mount \
                 its folder instead"
                    .to_owned()
            }
            Self::Write { .. } => {
                "every file is as it was; mend the reason, then try again".to_owned()
            }
            Self::Leftover { .. } | Self::HalfDone { .. } => {
                "mend the reason, then run the same command again: it takes up where it stopped"
                    .to_owned()
            }
        }
    }

    fn write(path: &Path, source: io::Error) -> Self {
        Self::Write { path: path.to_owned(), source }
    }
}

fn list(stuck: &[(PathBuf, io::Error)]) -> String {
    let one = |(path, error): &(PathBuf, io::Error)| format!("{} ({error})", path.display());
    stuck.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Makes a change anew for a file that somebody else wrote after it was planned; none if it is no
/// longer that change alone that is to be made.
pub type Redo<'r> = &'r dyn Fn(&Change) -> Option<Change>;

/// Takes every step of `plan`.
pub fn apply(plan: &Plan, redo: Redo<'_>, disk: &impl Disk) -> Result<(), ApplyError> {
    for change in plan.changes() {
        change.target.require_replaceable()?;
    }
    for leftover in leftovers(plan) {
        // What can't be removed now does no harm, and the next run tries again.
        drop(disk.remove_file(&leftover));
    }
    let (together, afterwards) = plan.stages();
    take_together(together, redo, disk)?;
    afterwards.iter().try_for_each(|step| take_afterwards(step, disk))
}

/// Takes the steps of all `stages`, one after the other, or none of them.
fn take_together(stages: [&[Step]; 2], redo: Redo<'_>, disk: &impl Disk) -> Result<(), ApplyError> {
    let mut created = Vec::new();
    let mut in_place = InPlace::default();
    let result = (stages.into_iter())
        .try_for_each(|steps| {
            let prepared = prepare(steps, &mut created, disk)?;
            put_in_place(prepared, redo, &mut in_place, disk)
        })
        .and_then(|()| in_place.settle())
        .and_then(|()| in_place.make_last())
        .and_then(|()| in_place.look(Replacement::watch));
    match (result, in_place.outdated.take()) {
        (Ok(()), None) => Ok(()),
        (Ok(()), Some(path)) => Err(ApplyError::ChangedMeanwhile(path)),
        (Err(cause), _) => Err(undo(cause, in_place, &created, disk)),
    }
}

/// Takes a step that follows the removal of a folder, or is one.
fn take_afterwards(step: &Step, disk: &impl Disk) -> Result<(), ApplyError> {
    let leftover = |path: &Path, source| ApplyError::Leftover { path: path.to_owned(), source };
    match step {
        Step::RemoveFolder(path) => match disk.remove_folder(path) {
            // Somebody has begun to use it, unless it is we who could not clean up.
            Err(error)
                if error.kind() == ErrorKind::DirectoryNotEmpty
                    && replacement::temporary_files(path).is_empty() =>
            {
                Ok(())
            }
            result => result.map_err(|error| leftover(path, error)),
        },
        Step::Change(change) => Replacement::prepare(change, disk)
            .and_then(|replacement| {
                replacement.put_in_place()?;
                replacement.make_last()
            })
            .map_err(|failure| leftover(change.path(), failure.into_reason())),
        Step::CreateFolder(path) => disk.create_folder(path).map_err(|error| leftover(path, error)),
    }
}

/// The temporary files that runs which were killed have left where `plan` is at work.
pub fn leftovers(plan: &Plan) -> Vec<PathBuf> {
    plan.folders().flat_map(replacement::temporary_files).collect()
}

/// Makes the folders and writes the new contents beside their targets.
fn prepare<'p, D: Disk>(
    steps: &'p [Step],
    created: &mut Vec<&'p Path>,
    disk: &'p D,
) -> Result<Vec<Replacement<'p, D>>, ApplyError> {
    let mut prepared = Vec::new();
    for step in steps {
        match step {
            Step::CreateFolder(path) => match disk.create_folder(path) {
                Ok(()) => created.push(path),
                Err(error) if error.kind() == ErrorKind::AlreadyExists && path.is_dir() => {}
                Err(error) => return Err(ApplyError::write(path, error)),
            },
            Step::Change(change) => {
                let replacement = Replacement::prepare(change, disk);
                let path = &change.target.path;
                prepared.push(replacement.map_err(|failure| cause(path, failure).0)?);
            }
            Step::RemoveFolder(_) => {}
        }
    }
    Ok(prepared)
}

/// Puts everything in place, in order; on an error `in_place` has what is.
fn put_in_place<'p, D: Disk>(
    prepared: Vec<Replacement<'p, D>>,
    redo: Redo<'_>,
    in_place: &mut InPlace<'p, D>,
    disk: &'p D,
) -> Result<(), ApplyError> {
    for mut replacement in prepared {
        let mut result = replacement.put_in_place();
        for _ in 0..MAX_REDOES {
            if !matches!(result, Err(Failure::Changed)) {
                break;
            }
            let Some(change) = redo(replacement.change()) else { break };
            result = Replacement::prepare_in_haste(change, disk).and_then(|again| {
                replacement = again;
                replacement.put_in_place()
            });
        }
        match result {
            Ok(()) => in_place.replacements.push(replacement),
            Err(failure) => {
                let (cause, stuck) = cause(&replacement.change().target.path, failure);
                return Err(half_done(cause, stuck.into_iter().collect()));
            }
        }
        in_place.look(Replacement::watch)?;
    }
    Ok(())
}

/// What is in place, while others may still write to it.
struct InPlace<'p, D: Disk> {
    replacements: Vec<Replacement<'p, D>>,
    /// A file that somebody else has written since. It is as they wrote it, and no longer among the
    /// replacements.
    outdated: Option<PathBuf>,
}

impl<D: Disk> Default for InPlace<'_, D> {
    fn default() -> Self {
        Self { replacements: Vec::new(), outdated: None }
    }
}

impl<'p, D: Disk> InPlace<'p, D> {
    /// Waits, and lets stand what others write meanwhile.
    fn settle(&mut self) -> Result<(), ApplyError> {
        if self.replacements.iter().any(|one| one.change().target.before.is_some()) {
            let end = clock::monotonic() + SETTLING;
            while clock::monotonic() < end {
                self.look(Replacement::watch)?;
                std::thread::sleep(LOOK_PAUSE);
            }
        }
        self.look(Replacement::settle)
    }

    /// Looks at each, and lets go what is no longer in place.
    fn look(
        &mut self,
        look: impl Fn(&Replacement<'p, D>) -> Result<(), Failure>,
    ) -> Result<(), ApplyError> {
        let mut failed = None;
        let outdated = &mut self.outdated;
        self.replacements.retain(|replacement| {
            let path = &replacement.change().target.path;
            match look(replacement) {
                Ok(()) => return true,
                Err(Failure::Changed) => *outdated = Some(path.clone()),
                Err(failure) => {
                    let (cause, stuck) = cause(path, failure);
                    failed.get_or_insert(half_done(cause, stuck.into_iter().collect()));
                }
            }
            false
        });
        failed.map_or(Ok(()), Err)
    }

    /// Makes all of it last through a crash.
    fn make_last(&self) -> Result<(), ApplyError> {
        self.replacements.iter().try_for_each(|replacement| {
            let path = &replacement.change().target.path;
            replacement.make_last().map_err(|failure| cause(path, failure).0)
        })
    }
}

/// Takes back what is in place, last first, and removes the folders that were made for it.
fn undo<D: Disk>(
    cause: ApplyError,
    mut in_place: InPlace<'_, D>,
    created: &[&Path],
    disk: &D,
) -> ApplyError {
    let mut stuck = Vec::new();
    while let Some(replacement) = in_place.replacements.pop() {
        if let Err(failure) = replacement.take_back() {
            let path = replacement.change().target.path.clone();
            stuck.push((path, failure.into_reason()));
        }
    }
    for folder in created.iter().rev() {
        // It stays if somebody has put something into it.
        drop(disk.remove_folder(folder));
    }
    half_done(cause, stuck)
}

fn half_done(cause: ApplyError, mut more: Vec<(PathBuf, io::Error)>) -> ApplyError {
    match cause {
        cause if more.is_empty() => cause,
        ApplyError::HalfDone { cause, mut stuck } => {
            stuck.append(&mut more);
            ApplyError::HalfDone { cause, stuck }
        }
        cause => ApplyError::HalfDone { cause: Box::new(cause), stuck: more },
    }
}

/// What a failure with the file at `path` means for the plan, and what stays changed.
fn cause(path: &Path, failure: Failure) -> (ApplyError, Option<(PathBuf, io::Error)>) {
    match failure {
        Failure::Changed => (ApplyError::ChangedMeanwhile(path.to_owned()), None),
        Failure::NotDone(error) => (ApplyError::write(path, error), None),
        Failure::Stuck(error) => {
            (ApplyError::ChangedMeanwhile(path.to_owned()), Some((path.to_owned(), error)))
        }
    }
}
