//! The installer: every change to a file of the user is planned before any is made.

pub mod adapter;
pub mod apply;
pub mod assets;
pub mod binary;
pub mod codex_trust;
pub mod diff;
pub mod disk;
pub mod edit;
pub mod freshness;
pub mod install;
mod known;
pub mod lock;
pub mod plan;
pub mod purge;
pub mod receipt;
pub mod registration;
mod remains;
mod replacement;
pub mod script;
pub mod service;
pub mod surroundings;
mod sweep;
pub mod target;
mod uninstall;

#[cfg(test)]
mod cases;
#[cfg(test)]
mod faults;

use crate::paths::Paths;
use crate::setup::adapter::Artifact;
use crate::setup::apply::ApplyError;
use crate::setup::disk::Disk;
use crate::setup::install::Options;
use crate::setup::known::KnownEdits;
use crate::setup::lock::{Lock, LockError};
use crate::setup::plan::{Change, Plan, PlanError};

/// How often a plan is made anew because somebody else wrote a file meanwhile.
const ATTEMPTS: usize = 10;

/// Why nothing, or not everything, was installed.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// There is no plan, so nothing was written.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The plan was not carried out.
    #[error(transparent)]
    Apply(#[from] ApplyError),
    /// Another run can't be kept out.
    #[error(transparent)]
    Lock(#[from] LockError),
}

impl InstallError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Plan(error) => error.hint(),
            Self::Apply(error) => error.hint(),
            Self::Lock(error) => error.hint(),
        }
    }
}

/// What is to be done with the artifacts of an adapter.
#[derive(Debug, Clone, Copy)]
pub enum Task {
    /// Put them in place.
    Install(Options),
    /// Take them away.
    Uninstall,
}

impl Task {
    /// The plan, as a dry run shows it.
    pub fn plan(self, artifacts: &[Artifact], paths: &Paths) -> Result<Plan, PlanError> {
        self.plan_knowing(artifacts, paths, &KnownEdits::default())
    }

    fn plan_knowing(
        self,
        artifacts: &[Artifact],
        paths: &Paths,
        known: &KnownEdits,
    ) -> Result<Plan, PlanError> {
        let plan = self.plan_steps(artifacts, paths, known)?;
        if !plan.is_empty() {
            lock::require_possible(paths)?;
        }
        Ok(plan)
    }

    /// Carries the plan out and returns the steps that it took.
    pub fn carry_out(
        self,
        artifacts: &[Artifact],
        paths: &Paths,
        disk: &impl Disk,
    ) -> Result<Plan, InstallError> {
        // A plan has to be possible before the lock, which is the first thing written.
        let known = KnownEdits::default();
        let plan = self.plan_knowing(artifacts, paths, &known)?;
        if plan.is_empty() && apply::leftovers(&plan).is_empty() && !lock::is_orphaned(paths) {
            return Ok(plan);
        }
        let lock = Lock::acquire(paths)?;
        drop(plan);
        let taken = self.carry_out_locked(artifacts, paths, &known, disk);
        let taken = taken.map(|taken| taken.after_making(lock.new_folders()));
        drop(lock);
        taken
    }

    fn carry_out_locked(
        self,
        artifacts: &[Artifact],
        paths: &Paths,
        known: &KnownEdits,
        disk: &impl Disk,
    ) -> Result<Plan, InstallError> {
        let mut taken = Plan::default();
        for attempt in 1.. {
            let plan = self.plan_steps(artifacts, paths, known)?;
            let redo = |outdated: &Change| self.redo(outdated, artifacts, paths);
            let result = apply::apply(&plan, &redo, disk);
            taken.continue_with(plan);
            match result {
                Ok(()) => break,
                Err(ApplyError::ChangedMeanwhile(_)) if attempt < ATTEMPTS => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(taken)
    }

    /// The change to one file, made anew for what that holds now.
    fn redo(self, outdated: &Change, artifacts: &[Artifact], paths: &Paths) -> Option<Change> {
        let artifact = artifacts.iter().find(|artifact| artifact.path == outdated.path())?;
        let plan =
            self.plan_steps(std::slice::from_ref(artifact), paths, &KnownEdits::default()).ok()?;
        let is_receipt = |change: &Change| change.path() == paths.receipt();
        // The receipt is in place by then, and must be right for the new change too. An uninstall
        // forgets the file in any case.
        if matches!(self, Self::Install(_)) && plan.changes().any(is_receipt) {
            return None;
        }
        plan.changes().find(|change| change.path() == outdated.path()).cloned()
    }

    fn plan_steps(
        self,
        artifacts: &[Artifact],
        paths: &Paths,
        known: &KnownEdits,
    ) -> Result<Plan, PlanError> {
        match self {
            Self::Install(options) => install::plan(artifacts, paths, options, known),
            Self::Uninstall => uninstall::plan(artifacts, paths, known),
        }
    }
}
