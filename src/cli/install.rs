//! `tma1 install`: wires us into a coding agent.

use clap::ValueEnum;

use crate::agent::Agent;
use crate::cli::{Context, ExitStatus, Failure};
use crate::platform;
use crate::setup::adapter::claude_code::{self, UnwritablePath};
use crate::setup::binary::{Binary, Started};
use crate::setup::diff::{Diff, Report};
use crate::setup::disk::OperatingSystem;
use crate::setup::install::Options;
use crate::setup::plan::PlanError;
use crate::setup::{InstallError, Task};

/// Wire tma1 into a coding agent.
///
/// Writes a hook script and registers it in the agent's settings, where every byte that is not
/// ours is kept.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The agent to wire into: claude-code.
    #[arg(long, value_parser = supported)]
    adapter: Agent,
    /// Show as a diff what would change, and write nothing.
    #[arg(long)]
    dry_run: bool,
}

fn supported(name: &str) -> Result<Agent, String> {
    match Agent::from_str(name, false) {
        Ok(Agent::ClaudeCode) => Ok(Agent::ClaudeCode),
        Ok(other) => Err(format!("{other} is not supported yet")),
        Err(_) => Err("there is no such adapter; there is claude-code".to_owned()),
    }
}

pub(super) fn run(arguments: &Arguments, context: &Context) -> Result<ExitStatus, Failure> {
    if !platform::RUNS_SHELL_SCRIPTS {
        let refusal = anyhow::anyhow!("installing the hooks on Windows is not supported yet");
        return Err(Failure::new(refusal, None));
    }
    let binary = binary(context)?;
    let paths = &context.paths;
    let artifacts = claude_code::artifacts(paths, context.config.port, &binary)?;
    let task = Task::Install(Options::default());
    let plan = if arguments.dry_run {
        task.plan(&artifacts, paths)?
    } else {
        task.carry_out(&artifacts, paths, &OperatingSystem)?
    };
    let (plan, printer) = (&plan, context.printer);
    if plan.is_empty() {
        printer.out("Nothing to do: Claude Code is already set up.\n")?;
    } else if arguments.dry_run {
        printer.out(Diff { plan, paths })?;
    } else {
        printer.out(Report { plan, paths })?;
        // Claude Code reads its settings again by itself, so no session needs a restart.
        printer.out(format_args!(
            "Running sessions take the hooks up within seconds. Next, start the daemon: {} serve\n",
            paths.display(binary.path())
        ))?;
    }
    Ok(ExitStatus::Done)
}

fn binary(context: &Context) -> Result<Binary, Failure> {
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
