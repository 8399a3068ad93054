//! `tma1 uninstall`: takes every trace away again.

use std::io::IsTerminal;
use std::path::PathBuf;

use dialoguer::Confirm;

use crate::agent::Agent;
use crate::cli::adapters::{self, Output};
use crate::cli::{Context, ExitStatus, Failure};
use crate::daemon::lifecycle::Presence;
use crate::setup::Task;
use crate::setup::purge;

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
    let purged = if arguments.purge_data { purge::targets(&context.paths)? } else { Vec::new() };
    if !purged.is_empty() && !may_purge(arguments, context)? {
        context.printer.out("Nothing was removed.\n")?;
        return Ok(ExitStatus::Done);
    }
    let binary = adapters::binary(context)?;
    let project = adapters::project(arguments.project.as_deref(), context)?;
    let site = adapters::site(context, &binary, project.as_deref());
    let artifacts = site.artifacts(&arguments.adapters)?;
    let plan = arguments.output.run(Task::Uninstall, &artifacts, context)?;
    if !purged.is_empty() && !arguments.output.dry_run {
        purge::remove(&purged, &context.paths)?;
    }
    if !arguments.output.json {
        let verb = if arguments.output.dry_run { "Would remove" } else { "Removed" };
        for folder in &purged {
            let name = context.paths.display(folder);
            context.printer.out(format_args!("{verb} {name} with all in it\n"))?;
        }
    }
    if arguments.output.talks() {
        if plan.is_empty() && purged.is_empty() {
            context.printer.out("Nothing to do: there was nothing of tma1.\n")?;
        }
        print_hints(context)?;
    }
    Ok(ExitStatus::Done)
}

/// Asks before data is removed, on a terminal.
fn may_purge(arguments: &Arguments, context: &Context) -> Result<bool, Failure> {
    if arguments.yes || arguments.output.dry_run || !std::io::stdin().is_terminal() {
        return Ok(true);
    }
    let data = context.paths.display(&context.paths.data());
    Confirm::new()
        .with_prompt(format!("Remove the history in {data} for good?"))
        .default(false)
        .interact()
        .map_err(|error| Failure::new(error, None))
}

fn print_hints(context: &Context) -> Result<(), Failure> {
    let presence = Presence::of(&context.paths, context.config.port)?;
    if let Presence::Running { health, .. } = presence {
        let pid = health.pid;
        context.printer.out(format_args!(
            "The daemon still runs as process {pid}; end it with: tma1 stop\n"
        ))?;
    }
    for folder in [context.paths.data(), context.paths.bin(), context.paths.logs()] {
        if folder.is_dir() {
            let name = context.paths.display(&folder);
            context.printer.out(format_args!("{name} is kept; --purge-data removes it.\n"))?;
        }
    }
    Ok(())
}

impl From<purge::PurgeError> for Failure {
    fn from(error: purge::PurgeError) -> Self {
        let hint = error.hint();
        Self::new(error, Some(hint))
    }
}
