//! What is to change, worked out in full before anything does. A dry run shows the plan that a
//! real run applies.

use std::io;
use std::path::{Path, PathBuf};

use crate::setup::adapter::{Artifact, Content};
use crate::setup::edit::hooks::Tally;
use crate::setup::edit::json::JsonError;
use crate::setup::target::{Refusal, Target};

/// Read by their user alone: settings may hold secrets.
const PRIVATE: u32 = 0o600;
/// Run by an agent.
const EXECUTABLE: u32 = 0o755;
const OWNER_RUNS: u32 = 0o100;

/// One file that is created or replaced.
#[derive(Debug, Clone)]
pub struct Change {
    /// The file, and what it was when the change was planned.
    pub target: Target,
    /// What it is afterwards.
    pub after: Vec<u8>,
    /// Its mode afterwards.
    pub mode: u32,
    /// What the change is for, in words for the user.
    pub why: &'static str,
    /// What it does to the hooks in the file, if it is about these.
    pub hooks: Option<Tally>,
}

/// The changes of one command, in the order in which they are made.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    changes: Vec<Change>,
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
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Refused(refusal) => Some(refusal.hint()),
            Self::Json { reason, .. } => Some(reason.hint()),
            Self::Program(_) => None,
        }
    }
}

impl Plan {
    /// Plans the changes that put every artifact in place. What is in place already is no change.
    pub fn install(artifacts: &[Artifact]) -> Result<Self, PlanError> {
        let mut changes = Vec::new();
        for artifact in artifacts {
            changes.extend(change(artifact)?);
        }
        Ok(Self { changes })
    }

    /// The changes, in the order in which they are made.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Whether everything is in place.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
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

    /// The mode that the file had, if it gets another.
    pub fn former_mode(&self) -> Option<u32> {
        let before = self.target.before.as_ref()?.attributes.mode;
        (before != self.mode).then_some(before)
    }
}

fn change(artifact: &Artifact) -> Result<Option<Change>, PlanError> {
    let target = Target::inspect(&artifact.path)?;
    let before = target.before.as_ref();
    let mode = before.map(|before| before.attributes.mode);
    let (after, mode, hooks) = match &artifact.content {
        Content::Program(program) => {
            let bytes = fs_err::read(program).map_err(PlanError::Program)?;
            (bytes, executable(mode), None)
        }
        Content::Script(text) => (text.clone().into_bytes(), executable(mode), None),
        Content::Hooks(entries) => {
            let text = before.map_or(&[][..], |before| &before.bytes);
            let edited = entries
                .install_into(text)
                .map_err(|reason| PlanError::Json { path: artifact.path.clone(), reason })?;
            (edited.bytes, mode.unwrap_or(PRIVATE), Some(edited.tally))
        }
    };
    let in_place =
        before.is_some_and(|before| before.bytes == after && before.attributes.mode == mode);
    if in_place {
        return Ok(None);
    }
    target.require_writable()?;
    Ok(Some(Change { target, after, mode, why: artifact.why, hooks }))
}

/// The mode of a file that must run: as the user has set it, if it runs that way.
fn executable(mode: Option<u32>) -> u32 {
    mode.filter(|mode| mode & OWNER_RUNS != 0).unwrap_or(EXECUTABLE)
}
