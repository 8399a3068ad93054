//! `tma1 install`: wires us into coding agents.

use std::io::IsTerminal;

use dialoguer::{Confirm, MultiSelect};

use crate::agent::Agent;
use crate::cli::adapters::{self, Output};
use crate::cli::{Context, ExitStatus, Failure};
use crate::setup::Task;
use crate::setup::adapter::Artifact;
use crate::setup::diff::Summary;
use crate::setup::install::Options;

/// Wire tma1 into coding agents.
///
/// Writes a hook script and registers it in the agent's settings, where every byte that is not
/// ours is kept. Without --adapter it asks which agents, on a terminal.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// An agent to wire into; may be given several times.
    #[arg(long = "adapter", value_enum, value_name = "AGENT")]
    adapters: Vec<Agent>,
    /// Replace texts of ours that you have changed.
    #[arg(long)]
    force: bool,
    /// Do not ask for a confirmation.
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    output: Output,
}

pub(super) fn run(arguments: &Arguments, context: &Context) -> Result<ExitStatus, Failure> {
    let is_asking = arguments.adapters.is_empty();
    let Some(agents) = agents(arguments, context)? else { return Ok(ExitStatus::Usage) };
    let binary = adapters::binary(context)?;
    let artifacts = adapters::artifacts(context, &binary, &agents)?;
    let task = Task::Install(Options { force: arguments.force });
    if agents.is_empty()
        || (is_asking && !arguments.yes && !is_confirmed(task, &artifacts, context)?)
    {
        context.printer.out("Nothing was written.\n")?;
        return Ok(ExitStatus::Done);
    }
    let plan = arguments.output.run(task, &artifacts, context)?;
    if !arguments.output.talks() {
        return Ok(ExitStatus::Done);
    }
    if plan.is_empty() {
        let titles: Vec<_> = agents.iter().map(|agent| agent.title()).collect();
        let verb = if titles.len() == 1 { "is" } else { "are" };
        let titles = titles.join(" and ");
        context.printer.out(format_args!("Nothing to do: {titles} {verb} already set up.\n"))?;
    } else {
        for agent in &agents {
            context.printer.out(format_args!("{}\n", next_step(*agent)))?;
        }
        let program = context.paths.display(binary.path());
        context.printer.out(format_args!("Next, start the daemon: {program} serve\n"))?;
    }
    Ok(ExitStatus::Done)
}

/// What the user should know about an agent after an install.
fn next_step(agent: Agent) -> &'static str {
    match agent {
        // It reads its settings again by itself, so no session needs a restart.
        Agent::ClaudeCode => "Running sessions of Claude Code take the hooks up within seconds.",
        Agent::Codex => {
            "Codex runs no new hook before you trust it: at its next start it asks you to review \
             five hooks named tma1. Sessions that are open now stay as they are."
        }
    }
}

/// The agents to wire into, asked for if none was named; none where nobody can be asked.
fn agents(arguments: &Arguments, context: &Context) -> Result<Option<Vec<Agent>>, Failure> {
    if !arguments.adapters.is_empty() {
        let mut agents = arguments.adapters.clone();
        agents.sort_unstable();
        agents.dedup();
        return Ok(Some(agents));
    }
    if !std::io::stdin().is_terminal() || arguments.output.json {
        context.printer.error_line(
            "error: which agent? There is no terminal to ask on.\n\
             hint: name it: tma1 install --adapter claude-code (or codex, or both)",
        );
        return Ok(None);
    }
    let all = [Agent::ClaudeCode, Agent::Codex];
    let is_found = |agent: &Agent| match agent {
        Agent::ClaudeCode => context.paths.claude_config.is_dir(),
        Agent::Codex => context.paths.codex_home.is_dir(),
    };
    let items = all.map(|agent| (agent.title(), is_found(&agent)));
    let chosen = MultiSelect::new()
        .with_prompt("Wire tma1 into (space selects, enter goes on)")
        .items_checked(items)
        .interact()
        .map_err(|error| Failure::new(error, None))?;
    Ok(Some(chosen.into_iter().filter_map(|index| all.get(index).copied()).collect()))
}

/// Shows in short what would change, and asks.
fn is_confirmed(task: Task, artifacts: &[Artifact], context: &Context) -> Result<bool, Failure> {
    let plan = task.plan(artifacts, &context.paths)?;
    if plan.is_empty() {
        return Ok(true);
    }
    context.printer.out(Summary { plan: &plan, paths: &context.paths })?;
    Confirm::new()
        .with_prompt("Write this?")
        .default(false)
        .interact()
        .map_err(|error| Failure::new(error, None))
}
