//! What is to change, worked out in full before anything does. A dry run shows the plan that a
//! real run applies.

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bytes::Bytes;

use crate::platform::{self, Attributes};
use crate::setup::adapter::EditError;
use crate::setup::edit::hooks::{Remark, Tally};
use crate::setup::purge::{Purge, Purged};
use crate::setup::receipt::Receipt;
use crate::setup::target::{Refusal, Snapshot, Target};

/// Read by their user alone: settings may hold secrets.
pub(super) const PRIVATE: u32 = 0o600;

/// How long a file that is blank or broken is given to become whole: a program that truncates a
/// file before it writes it leaves it so for a moment.
const TORN_READ: Duration = Duration::from_millis(200);
const TORN_READ_PAUSE: Duration = Duration::from_millis(20);

/// One file that is created, replaced or removed.
#[derive(Debug, Clone)]
pub struct Change {
    /// The file, and what it was when the change was planned.
    pub target: Target,
    /// What it is afterwards; none if it is removed.
    pub after: Option<After>,
    /// What the change is for, in words for the user.
    pub why: &'static str,
    /// What it does to the hooks in the file, if it is about these.
    pub hooks: Option<Tally>,
}

/// What a file is after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct After {
    /// Its content.
    pub bytes: Bytes,
    /// Its mode.
    pub mode: u32,
}

/// One step of a plan.
#[derive(Debug, Clone)]
pub enum Step {
    /// Makes a folder, in which something is created.
    CreateFolder(PathBuf),
    /// Creates, replaces or removes a file.
    Change(Change),
    /// Removes a folder of ours that is empty by then.
    RemoveFolder(PathBuf),
}

/// The steps of one command, in the order in which they are taken.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    steps: Vec<Step>,
    /// How many of the first steps put the receipt in place.
    recording: usize,
    notes: Vec<Note>,
    /// The folders of all files that were looked at, changed or not.
    folders: BTreeSet<PathBuf>,
    /// What is taken beyond the steps, without a way back.
    purge: Purge,
}

/// What the user should know about a file; most often that it stays as it is although it might be
/// expected to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The file.
    pub path: PathBuf,
    /// What is to be known.
    pub reason: Reason,
}

/// Why a file stays as it is, or what follows if it does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// It is not there.
    Absent,
    /// There is nothing of ours in it.
    NothingOfOurs,
    /// It is ours, but the user has changed it.
    Modified,
    /// It is at our place, but not ours.
    Foreign,
    /// It is the user's history, not scaffolding.
    Kept,
    /// The registration of this name needs it.
    InUse(String),
    /// It is a folder with files of others in it.
    HoldsOthers,
    /// It is ours, but the user has changed it, and an uninstall takes no more than we wrote.
    Changed,
    /// It is of another profile, project or data directory; this command takes it.
    Elsewhere(String),
    /// It is of an earlier version, and may have been changed since.
    Outdated,
    /// Whether it stays or not, its edit has a consequence.
    Remark(Remark),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Absent => "it is not there",
            Self::NothingOfOurs => "there is nothing of ours in it",
            Self::Modified => "you have changed it, so it stays; install --force replaces it",
            Self::Foreign => "it is not ours, so it stays",
            Self::Kept => "left in place",
            Self::HoldsOthers => "it also holds what is not of tma1, so it stays",
            Self::Changed => "you have changed it, so it stays; remove it if you do not need it",
            Self::Elsewhere(command) => {
                return write!(f, "left in place; to take it away: {command}");
            }
            Self::InUse(by) => return write!(f, "left in place: {by} still uses it"),
            Self::Outdated => {
                "it is of an earlier tma1 and may hold changes of yours, so it stays; \
                 remove it if you do not need it"
            }
            Self::Remark(remark) => return remark.fmt(f),
        })
    }
}

impl Reason {
    /// Whether a file that an uninstall leaves for this reason is still ours to take later.
    pub(super) fn is_remembered(&self) -> bool {
        matches!(self, Self::InUse(_) | Self::Changed)
    }

    /// Whether an uninstall leaves something of ours for this reason.
    pub fn leaves_ours(&self) -> bool {
        matches!(
            self,
            Self::InUse(_)
                | Self::Changed
                | Self::Elsewhere(_)
                | Self::HoldsOthers
                | Self::Outdated
        )
    }
}

impl Note {
    /// Whether the file stays as it is for this reason.
    pub fn stays(&self) -> bool {
        !matches!(self.reason, Reason::Remark(_))
    }
}

/// Why there is no plan.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// A file may not be changed.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A file can't be edited.
    #[error("{} can't be edited: {reason}", path.display())]
    Edit {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: EditError,
    },
    /// The same for a file of a project, which an install can do without.
    #[error(transparent)]
    Project(Box<PlanError>),
    /// A file that we need is somebody else's.
    #[error("{} is in the way: it is not a file of tma1", .0.display())]
    Foreign(PathBuf),
    /// The receipt could not tell an uninstall of a file.
    #[error("{} can't be installed into: its name is not UTF-8 text", .0.display())]
    NotText(PathBuf),
    /// The program can't be copied.
    #[error("the program can't be copied")]
    Program(#[source] io::Error),
}

impl PlanError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Refused(refusal) => refusal.hint(),
            Self::Edit { reason: reason @ EditError::Markdown(_), .. } => {
                format!("{}; --skip-project-files leaves it alone", reason.hint())
            }
            Self::Edit { reason, .. } => reason.hint(),
            Self::Project(error) => {
                format!("{}, or leave the project alone: --skip-project-files", error.hint())
            }
            Self::Foreign(_) => "move it away, then try again".to_owned(),
            Self::NotText(_) => "rename it, then try again".to_owned(),
            Self::Program(_) => "start tma1 by a path that leads to its file".to_owned(),
        }
    }
}

impl Plan {
    /// Adds a change, and before it the folders that it needs.
    pub(super) fn push(&mut self, change: Change) {
        if change.after.is_some() {
            self.create_folders(change.target.folder());
        }
        match self.planned(&change.target.resolved) {
            // Both agents have something in the file: one change, from what it is to what both want.
            Some(planned) => planned.after = change.after,
            None => self.steps.push(Step::Change(change)),
        }
    }

    /// The change that is planned already for the file behind a path.
    fn planned(&mut self, resolved: &Path) -> Option<&mut Change> {
        self.steps.iter_mut().find_map(|step| match step {
            Step::Change(change) if change.target.resolved == resolved => Some(change),
            _ => None,
        })
    }

    /// Adds the removal of a folder.
    pub(super) fn remove_folder(&mut self, folder: &Path) {
        self.steps.push(Step::RemoveFolder(folder.to_owned()));
    }

    /// Says something of a file; that it stays only if it does.
    pub(super) fn note(&mut self, path: &Path, reason: Reason) {
        let note = Note { path: path.to_owned(), reason };
        let changes = note.stays() && self.steps.iter().any(|step| step.path() == path);
        if !changes && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Whether something is said of a file.
    pub(super) fn has_note_on(&self, path: &Path) -> bool {
        self.notes.iter().any(|note| note.path == path)
    }

    /// Follows `path` to a file that the plan is about, as it will be after the steps so far.
    pub(super) fn inspect(&mut self, path: &Path) -> Result<Target, Refusal> {
        let mut target = Target::inspect(path)?;
        self.folders.insert(target.folder().to_owned());
        if let Some(planned) = self.planned(&target.resolved) {
            target.before = planned.after.as_ref().map(|after| Snapshot {
                bytes: after.bytes.clone(),
                attributes: planned.attributes_after(after.mode),
            });
        }
        Ok(target)
    }

    /// Adds the receipt before everything that it tells of.
    pub(super) fn record_first(&mut self, path: &Path, receipt: &Receipt) -> Result<(), PlanError> {
        let later = std::mem::take(&mut self.steps);
        self.record_last(path, receipt)?;
        self.recording = self.steps.len();
        for step in later {
            let is_there = |path: &Path| self.creates_folder(path);
            if !matches!(&step, Step::CreateFolder(path) if is_there(path)) {
                self.steps.push(step);
            }
        }
        Ok(())
    }

    /// Adds the receipt after everything that it tells of; one that tells of nothing goes.
    pub(super) fn record_last(&mut self, path: &Path, receipt: &Receipt) -> Result<(), PlanError> {
        let target = self.inspect(path)?;
        let after = if receipt.is_empty() {
            None
        } else {
            let bytes = receipt.to_bytes().map_err(PlanError::NotText)?.into();
            Some(After { bytes, mode: PRIVATE })
        };
        let is_in_place = match (&target.before, &after) {
            (None, None) => true,
            (Some(file), Some(after)) => file.bytes == after.bytes,
            _ => false,
        };
        if !is_in_place {
            target.require_replaceable()?;
            let why = "what an uninstall needs to know";
            self.push(Change { target, after, why, hooks: None });
        }
        Ok(())
    }

    fn creates_folder(&self, folder: &Path) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::CreateFolder(path) if path == folder))
    }

    /// Adds the folders that are missing up to `folder`, outermost first.
    fn create_folders(&mut self, folder: &Path) {
        let missing: Vec<_> = folder.ancestors().take_while(|folder| !folder.exists()).collect();
        for folder in missing.into_iter().rev() {
            if !self.creates_folder(folder) {
                self.steps.push(Step::CreateFolder(folder.to_owned()));
            }
        }
    }

    /// Takes in a plan that was made anew after this one: for a file in both, from what it was at
    /// first to what it is in the end.
    pub fn continue_with(&mut self, later: Self) {
        self.notes = later.notes;
        for step in later.steps {
            let known = self.steps.iter_mut().find(|known| known.path() == step.path());
            match (known, step) {
                (Some(Step::Change(known)), Step::Change(later)) => {
                    known.after = later.after;
                    known.hooks = later.hooks;
                }
                (Some(_), _) => {}
                (None, step) => self.steps.push(step),
            }
        }
    }

    /// The same with the making of `folders`, which were there when the steps were planned, for the
    /// lock that they were planned under.
    pub(super) fn after_making(mut self, folders: &[PathBuf]) -> Self {
        let new = folders.iter().filter(|folder| !self.creates_folder(folder));
        let new: Vec<_> = new.map(|folder| Step::CreateFolder(folder.clone())).collect();
        if !self.steps.is_empty() {
            self.recording += new.len();
            self.steps.splice(0..0, new);
        }
        self
    }

    /// The same with the purge that goes with it, which knows better what becomes of its files.
    #[must_use]
    pub fn with_purge(mut self, purge: Purge) -> Self {
        let decides_on = |path: &Path| {
            let mut folders = purge.folders().iter().map(|folder| folder.path.as_path());
            let mut kept = purge.notes().iter().map(|note| note.path.as_path());
            folders.any(|folder| path.starts_with(folder))
                || kept.any(|kept| path.starts_with(kept))
        };
        self.notes.retain(|note| !decides_on(&note.path));
        self.notes.extend(purge.notes().iter().cloned());
        self.purge = purge;
        self
    }

    /// The folders from which files are taken for good.
    pub fn purged(&self) -> &[Purged] {
        self.purge.folders()
    }

    /// The steps, in the order in which they are taken.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The files that change, in the order in which they do.
    pub fn changes(&self) -> impl Iterator<Item = &Change> {
        self.steps.iter().filter_map(|step| match step {
            Step::Change(change) => Some(change),
            Step::CreateFolder(_) | Step::RemoveFolder(_) => None,
        })
    }

    /// The files that stay although they might be expected to change.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// The folders that are made.
    pub(super) fn created_folders(&self) -> impl Iterator<Item = &Path> {
        self.steps.iter().filter_map(|step| match step {
            Step::CreateFolder(path) => Some(path.as_path()),
            Step::Change(_) | Step::RemoveFolder(_) => None,
        })
    }

    /// The folders of all files that were looked at, changed or not.
    pub fn folders(&self) -> impl Iterator<Item = &Path> {
        self.folders.iter().map(PathBuf::as_path)
    }

    /// The steps that are taken or undone together, those first that note what the others will make;
    /// and those that follow once a folder is removed, which can't be undone.
    pub(super) fn stages(&self) -> ([&[Step]; 2], &[Step]) {
        let is_removal = |step: &Step| matches!(step, Step::RemoveFolder(_));
        let end = self.steps.iter().position(is_removal).unwrap_or(self.steps.len());
        let (together, afterwards) = self.steps.split_at(end);
        let (recording, others) = together.split_at(self.recording.min(end));
        ([recording, others], afterwards)
    }

    /// Whether everything is in place.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty() && self.purge.is_empty()
    }
}

impl Step {
    fn path(&self) -> &Path {
        match self {
            Self::CreateFolder(path) | Self::RemoveFolder(path) => path,
            Self::Change(change) => change.path(),
        }
    }
}

impl Change {
    /// Whether the file is new.
    pub fn creates(&self) -> bool {
        self.target.before.is_none()
    }

    /// The path as the agent knows it.
    pub fn path(&self) -> &Path {
        &self.target.path
    }

    /// What the system will keep about the file.
    fn attributes_after(&self, mode: u32) -> Attributes {
        match &self.target.before {
            Some(before) => Attributes { mode, ..before.attributes },
            None => Attributes { mode, ..platform::attributes_of_new() },
        }
    }

    /// The mode that the file had and the one that it gets, if these differ.
    pub fn modes(&self) -> Option<(u32, u32)> {
        let before = self.target.before.as_ref()?.attributes.mode;
        let after = self.after.as_ref()?.mode;
        (before != after).then_some((before, after))
    }
}

/// Edits a file that other programs write too. One that is blank or can't be edited is read again
/// for a while, as it may be in the middle of being written.
pub(super) fn edit_whole<T, E>(
    mut target: Target,
    edit: impl Fn(&Bytes) -> Result<T, E>,
) -> Result<(Target, Result<T, E>), Refusal> {
    let mut waited = Duration::ZERO;
    loop {
        let before = target.before.as_ref();
        let edited = edit(before.map_or(&Bytes::new(), |before| &before.bytes));
        let is_torn =
            before.is_some_and(|before| edited.is_err() || before.bytes.trim_ascii().is_empty());
        if !is_torn || waited >= TORN_READ {
            return Ok((target, edited));
        }
        std::thread::sleep(TORN_READ_PAUSE);
        waited += TORN_READ_PAUSE;
        target = Target::inspect(&target.path)?;
    }
}
