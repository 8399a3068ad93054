//! The installer: every change to a file of the user is planned before any is made.

pub mod adapter;
pub mod apply;
pub mod binary;
pub mod diff;
pub mod disk;
pub mod edit;
pub mod lock;
pub mod plan;
mod replacement;
pub mod target;

#[cfg(test)]
mod cases;
#[cfg(test)]
mod faults;

use crate::paths::Paths;
use crate::setup::adapter::Artifact;
use crate::setup::apply::ApplyError;
use crate::setup::disk::Disk;
use crate::setup::lock::{Lock, LockError};
use crate::setup::plan::{Plan, PlanError};

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

/// The plan that puts every artifact in place, as a dry run shows it.
pub fn plan(artifacts: &[Artifact], paths: &Paths) -> Result<Plan, PlanError> {
    let plan = Plan::install(artifacts)?;
    if !plan.is_empty() {
        lock::require_possible(paths)?;
    }
    Ok(plan)
}

/// Puts every artifact in place and returns the steps that it took.
pub fn install(
    artifacts: &[Artifact],
    paths: &Paths,
    disk: &impl Disk,
) -> Result<Plan, InstallError> {
    // A plan has to be possible before the lock, which is the first thing written.
    let plan = plan(artifacts, paths)?;
    if plan.is_empty() && apply::leftovers(&plan).is_empty() {
        return Ok(plan);
    }
    let lock = Lock::acquire(paths)?;
    let taken = install_locked(artifacts, disk);
    drop(lock);
    taken
}

fn install_locked(artifacts: &[Artifact], disk: &impl Disk) -> Result<Plan, InstallError> {
    let mut taken = Plan::default();
    for attempt in 1.. {
        let plan = Plan::install(artifacts)?;
        let result = apply::apply(&plan, disk);
        taken.continue_with(plan);
        match result {
            Ok(()) => break,
            Err(ApplyError::ChangedMeanwhile(_)) if attempt < ATTEMPTS => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(taken)
}
