//! What install and uninstall have in common on the command line.

use std::path::{Path, PathBuf};

use crate::cli::{Context, Failure, Printer};
use crate::paths::Paths;
use crate::sensor::project::Projects;
use crate::setup::adapter::{Artifact, Site};
use crate::setup::binary::{Binary, Started};
use crate::setup::diff::{Diff, PlanJson, Report};
use crate::setup::disk::OperatingSystem;
use crate::setup::plan::{Plan, PlanError};
use crate::setup::script::UnwritablePath;
use crate::setup::{InstallError, Task};

/// How a plan is shown, and whether it is carried out.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(super) struct Output {
    /// Show as a diff what would change, and write nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Print the plan as JSON.
    #[arg(long)]
    pub json: bool,
}

/// The program that the scripts run.
pub(super) fn binary(context: &Context) -> Result<Binary, Failure> {
    let started = Started {
        argument: context.program.clone(),
        working_dir: std::env::current_dir()?,
        executable: std::env::current_exe()?,
    };
    let paths = &context.paths;
    started.binary(&context.environment, &paths.home, &paths.bin()).map_err(|error| {
        let hint = error.hint();
        Failure::new(error, Some(hint))
    })
}

/// The project whose own files are meant.
///
/// Without --project it is the Git repository of the working directory, if there is one.
pub(super) fn project(named: Option<&Path>, context: &Context) -> Result<Option<PathBuf>, Failure> {
    if let Some(named) = named {
        let path = fs_err::canonicalize(named)?;
        if path.is_dir() {
            return Ok(Some(path));
        }
        let error = anyhow::anyhow!("{} is not a folder", named.display());
        return Err(Failure::new(error, Some("name the root folder of a project".to_owned())));
    }
    let projects = Projects::new(&context.paths.home);
    let root = projects.root_of(&std::env::current_dir()?.to_string_lossy());
    Ok(Some(PathBuf::from(root))
        .filter(|root| root.join(".git").exists() && *root != context.paths.home))
}

/// Where and for what is installed.
pub(super) fn site<'a>(
    context: &'a Context,
    binary: &'a Binary,
    project: Option<&'a Path>,
) -> Site<'a> {
    Site { paths: &context.paths, binary, port: context.config.port, project }
}

impl Output {
    /// Carries `task` out unless this is a dry run, and shows the plan.
    pub(super) fn run(
        self,
        task: Task,
        artifacts: &[Artifact],
        context: &Context,
    ) -> Result<Plan, Failure> {
        let plan = self.carry_out(task, artifacts, context)?;
        self.show(&plan, &context.paths, context.printer)?;
        Ok(plan)
    }

    /// The same without showing anything.
    pub(super) fn carry_out(
        self,
        task: Task,
        artifacts: &[Artifact],
        context: &Context,
    ) -> Result<Plan, Failure> {
        let paths = &context.paths;
        Ok(if self.dry_run {
            task.plan(artifacts, paths)?
        } else {
            task.carry_out(artifacts, paths, &OperatingSystem)?
        })
    }

    /// Whether there is a person to talk to.
    pub(super) fn talks(self) -> bool {
        !self.json && !self.dry_run
    }

    pub(super) fn show(self, plan: &Plan, paths: &Paths, printer: Printer) -> Result<(), Failure> {
        if self.json {
            let json = PlanJson::new(plan, paths, self.dry_run);
            printer.out(format_args!("{}\n", serde_json::to_string_pretty(&json)?))?;
        } else if self.dry_run {
            printer.out(Diff { plan, paths })?;
        } else {
            printer.out(Report { plan, paths })?;
        }
        Ok(())
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::new(error, None)
    }
}

impl From<UnwritablePath> for Failure {
    fn from(error: UnwritablePath) -> Self {
        let hint = error.hint();
        Self::new(error, Some(hint))
    }
}

impl From<PlanError> for Failure {
    fn from(error: PlanError) -> Self {
        let hint = error.hint();
        Self::new(error, Some(hint))
    }
}

impl From<InstallError> for Failure {
    fn from(error: InstallError) -> Self {
        let hint = error.hint();
        Self::new(error, Some(hint))
    }
}
