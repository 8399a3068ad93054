//! `tma1 uninstall`: takes every trace away again.

use std::path::PathBuf;

use crate::agent::Agent;
use crate::cli::adapters::{self, Output};
use crate::cli::{Context, ExitStatus, Failure, prompt};
use crate::daemon::client;
use crate::setup::Task;
use crate::setup::plan::Plan;
use crate::setup::purge::{Purge, PurgeError};

/// Take out of a coding agent what install put there.
///
/// Everything goes in the reverse order. Your history and the copy of the program stay unless
/// --purge-data says otherwise.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The agent to leave; may be given several times.
    #[arg(long = "adapter", value_enum, value_name = "AGENT", required = true)]
    adapters: Vec<Agent>,
    /// The project whose files have our lines [default: the Git repository of the working directory].
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Leave the files of the project alone.
    #[arg(long, conflicts_with = "project")]
    skip_project_files: bool,
    /// Also remove the log of events and the copy of the program.
    #[arg(long)]
    purge_data: bool,
    /// Do not ask before data is removed.
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    output: Output,
}

pub(super) fn run(arguments: &Arguments, context: &Context) -> Result<ExitStatus, Failure> {
    let binary = adapters::binary(context)?;
    let project = if arguments.skip_project_files {
        None
    } else {
        adapters::project(arguments.project.as_deref(), context)?
    };
    let site = adapters::site(context, &binary, project.as_deref());
    let artifacts = site.artifacts(&arguments.adapters)?;
    let purge = if arguments.purge_data {
        Purge::plan(&artifacts, &context.paths)?
    } else {
        Purge::default()
    };
    let output = arguments.output;
    if !purge.is_empty() && !may_purge(&purge, arguments, context)? {
        if output.json {
            output.show(&Plan::default(), &context.paths, context.printer)?;
        } else {
            context.printer.out("Nothing was removed.\n")?;
        }
        return Ok(ExitStatus::Done);
    }
    let plan = output.carry_out(Task::Uninstall, &artifacts, context)?;
    let purged = if output.dry_run { Ok(()) } else { purge.carry_out(&context.paths) };
    // What was done is told also if not all of it could be.
    let plan = if purged.is_ok() { plan.with_purge(purge) } else { plan };
    output.show(&plan, &context.paths, context.printer)?;
    purged?;
    if output.talks() {
        if plan.is_empty() {
            let leaves = plan.notes().iter().any(|note| note.reason.leaves_ours());
            let what = if leaves { "nothing else" } else { "nothing" };
            context.printer.out(format_args!("Nothing to do: there was {what} of tma1.\n"))?;
        }
        print_hints(arguments.purge_data, context)?;
    }
    Ok(ExitStatus::Done)
}

/// Asks before data is removed, on a terminal.
fn may_purge(purge: &Purge, arguments: &Arguments, context: &Context) -> Result<bool, Failure> {
    if arguments.yes || arguments.output.dry_run || !prompt::can_ask() {
        return Ok(true);
    }
    let folders: Vec<_> =
        purge.folders().iter().map(|folder| context.paths.display(&folder.path)).collect();
    prompt::asks(&format!("Remove for good what tma1 has in {}?", folders.join(" and ")))
}

fn print_hints(purges: bool, context: &Context) -> Result<(), Failure> {
    if let Some(health) = client::holder(context.config.port) {
        let pid = health.pid;
        context.printer.out(format_args!(
            "The daemon still runs as process {pid}; end it with: kill {pid}\n"
        ))?;
    }
    for folder in [context.paths.data(), context.paths.bin()] {
        if folder.is_dir() && !purges {
            let name = context.paths.display(&folder);
            context.printer.out(format_args!("{name} is kept; --purge-data removes it.\n"))?;
        }
    }
    Ok(())
}

impl From<PurgeError> for Failure {
    fn from(error: PurgeError) -> Self {
        let hint = error.hint();
        Self::new(error, Some(hint))
    }
}
