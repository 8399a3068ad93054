//! The installer: every change to a file of the user is planned before any is made.

pub mod adapter;
pub mod apply;
pub mod assets;
pub mod binary;
pub mod diff;
pub mod edit;
pub mod plan;
pub mod target;

#[cfg(test)]
mod cases;

use std::io;

use crate::paths::Paths;
use crate::setup::adapter::Artifact;
use crate::setup::apply::ApplyError;
use crate::setup::plan::{Plan, PlanError};

/// How often a plan is made anew because somebody else wrote a file meanwhile.
const ATTEMPTS: usize = 3;

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
    #[error("the installation can't be locked")]
    Lock(#[source] io::Error),
}

impl InstallError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Plan(error) => error.hint(),
            Self::Apply(error) => error.hint(),
            Self::Lock(_) => None,
        }
    }
}

/// Puts every artifact in place and returns the plan that was carried out.
pub fn install(artifacts: &[Artifact], paths: &Paths) -> Result<Plan, InstallError> {
    let plan = Plan::install(artifacts)?;
    if plan.is_empty() {
        return Ok(plan);
    }
    // The lock is the first thing written, so a plan has to be possible by then.
    let lock = apply::lock(paths).map_err(InstallError::Lock)?;
    let result = install_locked(artifacts);
    drop(lock);
    result
}

fn install_locked(artifacts: &[Artifact]) -> Result<Plan, InstallError> {
    let mut attempt = 1;
    loop {
        let plan = Plan::install(artifacts)?;
        match apply::apply(&plan) {
            Err(ApplyError::ChangedMeanwhile(_)) if attempt < ATTEMPTS => attempt += 1,
            result => return Ok(result.map(|()| plan)?),
        }
    }
}
