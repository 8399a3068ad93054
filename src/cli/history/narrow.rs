//! The options that narrow a list.

use std::path::Path;

use crate::agent::Agent;
use crate::cli::Context;
use crate::clock::Local;
use crate::history::Since;
use crate::sensor::project::Projects;

/// What narrows a list, and how it is told.
#[derive(Debug, clap::Args)]
pub(super) struct Narrow {
    /// Only of this agent.
    #[arg(long, value_enum)]
    agent: Option<Agent>,
    /// Only of the project here, or of another by its folder or its name.
    #[arg(long, value_name = "PROJECT", num_args = 0..=1, default_missing_value = ".")]
    project: Option<String>,
    /// Only since then: 30m, 2h, 7d, or a date such as 2026-11-30.
    #[arg(long, value_name = "WHEN")]
    since: Option<Since>,
    /// Print it as JSON.
    #[arg(long)]
    pub json: bool,
}

impl Narrow {
    pub fn agent(&self) -> Option<Agent> {
        self.agent
    }

    /// The moment, which is the same whoever reads it.
    pub fn since(&self, local: &Local) -> Option<Since> {
        self.since.map(|since| Since::At(since.moment(local)))
    }

    /// The root of the project if there is such a folder, else what was given.
    pub fn project(&self, context: &Context) -> Option<String> {
        let project = self.project.as_ref()?;
        let root = fs_err::canonicalize(Path::new(project))
            .map(|folder| Projects::new(&context.paths.home).root_of(&folder.to_string_lossy()));
        Some(root.unwrap_or_else(|_| project.clone()))
    }

    /// Whether anything is left out.
    pub fn is_narrow(&self) -> bool {
        self.agent.is_some() || self.project.is_some() || self.since.is_some()
    }
}
