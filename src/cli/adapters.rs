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
        working_dir: working_dir()?,
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
        let hint = || Some("name the root folder of a project".to_owned());
        let not_found = |error| {
            let error = anyhow::Error::new(error).context("the project can't be found");
            Failure::new(error, hint())
        };
        let path = fs_err::canonicalize(named).map_err(not_found)?;
        if path.is_dir() {
            return Ok(Some(path));
        }
        return Err(Failure::new(anyhow::anyhow!("{} is not a folder", named.display()), hint()));
    }
    Ok(repository(&working_dir()?, &context.paths.home))
}

/// The folder in which the command was started.
fn working_dir() -> Result<PathBuf, Failure> {
    std::env::current_dir().map_err(|error| {
        let error = anyhow::Error::new(error).context("the working directory can't be found");
        Failure::new(error, Some("go to a folder that is there, then try again".to_owned()))
    })
}

/// The root of the Git repository that `directory` lies in. One at `home`, by whatever name, holds the
/// user's dotfiles and is no project.
fn repository(directory: &Path, home: &Path) -> Option<PathBuf> {
    let root = PathBuf::from(Projects::new(home).root_of(&directory.to_string_lossy()));
    let real = |path: &Path| fs_err::canonicalize(path).ok();
    (root.join(".git").exists() && root != home && real(&root) != real(home)).then_some(root)
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

    /// Shows what would be done, or was.
    pub(super) fn show(self, plan: &Plan, paths: &Paths, printer: Printer) -> Result<(), Failure> {
        let shown = self.print(plan, paths, printer);
        if self.dry_run {
            return shown;
        }
        shown.map_err(|error| error.after("all was done, but the report of it can't be written"))
    }

    fn print(self, plan: &Plan, paths: &Paths, printer: Printer) -> Result<(), Failure> {
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

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_repository_at_home_is_no_project_whatever_home_is_called() {
        let folder = tempfile::tempdir().unwrap();
        let folder = fs_err::canonicalize(folder.path()).unwrap();
        let (real, link) = (folder.join("real"), folder.join("link"));
        fs_err::create_dir_all(real.join(".git")).unwrap();
        fs_err::create_dir_all(real.join("shop/.git")).unwrap();
        fs_err::create_dir_all(real.join("shop/src")).unwrap();
        fs_err::os::unix::fs::symlink(&real, &link).unwrap();
        for home in [&real, &link] {
            for name in [&real, &link] {
                assert_eq!(repository(name, home), None, "{name:?}");
                let shop = name.join("shop");
                assert_eq!(repository(&shop.join("src"), home), Some(shop), "{name:?}");
            }
        }
    }
}
