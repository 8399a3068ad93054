//! What is to change, worked out in full before anything does. A dry run shows the plan that a
//! real run applies.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::setup::adapter::{Artifact, Content};
use crate::setup::edit::hooks::{HookEntries, Tally};
use crate::setup::edit::json::JsonError;
use crate::setup::target::{Refusal, Target};

/// Read by their user alone: settings may hold secrets.
const PRIVATE: u32 = 0o600;
/// Run by an agent.
const EXECUTABLE: u32 = 0o755;
const OWNER_RUNS: u32 = 0o100;

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
    pub bytes: Vec<u8>,
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
    /// The folders of all files that were looked at, changed or not.
    folders: BTreeSet<PathBuf>,
}

/// Why there is no plan.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// A file may not be changed.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A file can't be edited.
    #[error("{} can't be edited: {reason}", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: JsonError,
    },
    /// The program can't be copied.
    #[error("the program can't be copied")]
    Program(#[source] io::Error),
}

impl PlanError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Refused(refusal) => refusal.hint(),
            Self::Json { reason, .. } => reason.hint(),
            Self::Program(_) => "start tma1 by a path that leads to its file".to_owned(),
        }
    }
}

impl Plan {
    /// Plans the steps that put every artifact in place. What is in place already is no step.
    pub fn install(artifacts: &[Artifact]) -> Result<Self, PlanError> {
        let mut plan = Self::default();
        for artifact in artifacts {
            let target = Target::inspect(&artifact.path)?;
            plan.folders.insert(target.folder().to_owned());
            if let Some(change) = change(artifact, target)? {
                plan.create_folders(change.target.folder());
                plan.steps.push(Step::Change(change));
            }
        }
        Ok(plan)
    }

    /// Adds the folders that are missing up to `folder`, outermost first.
    fn create_folders(&mut self, folder: &Path) {
        let missing: Vec<_> = folder.ancestors().take_while(|folder| !folder.exists()).collect();
        for folder in missing.into_iter().rev() {
            let is_planned =
                |step: &Step| matches!(step, Step::CreateFolder(planned) if planned == folder);
            if !self.steps.iter().any(is_planned) {
                self.steps.push(Step::CreateFolder(folder.to_owned()));
            }
        }
    }

    /// Takes in a plan that was made anew after this one: for a file in both, from what it was at
    /// first to what it is in the end.
    pub fn continue_with(&mut self, later: Self) {
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

    /// The folders of all files that were looked at, changed or not.
    pub fn folders(&self) -> impl Iterator<Item = &Path> {
        self.folders.iter().map(PathBuf::as_path)
    }

    /// Whether everything is in place.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
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

    /// The mode that the file had and the one that it gets, if these differ.
    pub fn modes(&self) -> Option<(u32, u32)> {
        let before = self.target.before.as_ref()?.attributes.mode;
        let after = self.after.as_ref()?.mode;
        (before != after).then_some((before, after))
    }
}

fn change(artifact: &Artifact, target: Target) -> Result<Option<Change>, PlanError> {
    let (target, after, hooks) = match &artifact.content {
        Content::Program(program) => {
            let bytes = fs_err::read(program).map_err(PlanError::Program)?;
            let mode = executable(&target);
            (target, After { bytes, mode }, None)
        }
        Content::Script(text) => {
            let mode = executable(&target);
            (target, After { bytes: text.clone().into_bytes(), mode }, None)
        }
        Content::Hooks(entries) => install_hooks(target, entries)?,
    };
    let before = target.before.as_ref();
    let is_in_place = before
        .is_some_and(|before| before.bytes == after.bytes && before.attributes.mode == after.mode);
    if is_in_place {
        return Ok(None);
    }
    target.require_writable()?;
    Ok(Some(Change { target, after: Some(after), why: artifact.why, hooks }))
}

fn install_hooks(
    target: Target,
    entries: &HookEntries,
) -> Result<(Target, After, Option<Tally>), PlanError> {
    let (target, edited) = whole(target, |text| entries.install_into(text))?;
    let edited = edited.map_err(|reason| PlanError::Json { path: target.path.clone(), reason })?;
    let before = target.before.as_ref();
    let mode = before.map_or(PRIVATE, |before| before.attributes.mode);
    Ok((target, After { bytes: edited.bytes, mode }, Some(edited.tally)))
}

/// Edits a file that other programs write too. One that is blank or can't be edited is read again
/// for a while, as it may be in the middle of being written.
fn whole<T, E>(
    mut target: Target,
    edit: impl Fn(&[u8]) -> Result<T, E>,
) -> Result<(Target, Result<T, E>), Refusal> {
    let mut waited = Duration::ZERO;
    loop {
        let before = target.before.as_ref();
        let edited = edit(before.map_or(&[][..], |before| &before.bytes));
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

/// The mode of a file that must run: as the user has set it, if it runs that way.
fn executable(target: &Target) -> u32 {
    target
        .before
        .as_ref()
        .map(|before| before.attributes.mode)
        .filter(|mode| mode & OWNER_RUNS != 0)
        .unwrap_or(EXECUTABLE)
}
