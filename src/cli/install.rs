//! `tma1 install`: wires us into coding agents.

use std::io::IsTerminal;
use std::path::PathBuf;

use dialoguer::{Confirm, MultiSelect};

use crate::agent::Agent;
use crate::cli::adapters::{self, Output};
use crate::cli::{Context, ExitStatus, Failure};
use crate::setup::Task;
use crate::setup::adapter::Artifact;
use crate::setup::codex_trust::{self, AppServer, ListedHook, TrustError, TrustStatus};
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
    /// The project whose instructions and ignore file get our lines [default: the Git repository of
    /// the working directory].
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Leave the files of the project alone.
    #[arg(long, conflicts_with = "project")]
    skip_project_files: bool,
    /// Replace texts of ours that you have changed.
    #[arg(long)]
    force: bool,
    /// Have Codex record that you trust the hooks, without being asked for each.
    #[arg(long)]
    trust_codex_hooks: bool,
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
    let project = if arguments.skip_project_files {
        None
    } else {
        adapters::project(arguments.project.as_deref(), context)?
    };
    let site = adapters::site(context, &binary, project.as_deref());
    let artifacts = site.artifacts(&agents)?;
    let task = Task::Install(Options { force: arguments.force });
    if agents.is_empty()
        || (is_asking && !arguments.yes && !is_confirmed(task, &artifacts, context)?)
    {
        context.printer.out("Nothing was written.\n")?;
        return Ok(ExitStatus::Done);
    }
    let plan = arguments.output.run(task, &artifacts, context)?;
    let mut trusts = false;
    if agents.contains(&Agent::Codex) && !arguments.output.dry_run {
        trusts = trust_codex_hooks(arguments, context, &site.hook_command(Agent::Codex)?)?;
    }
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
            context.printer.out(format_args!("{}\n", next_step(*agent, trusts)))?;
        }
        let program = context.paths.display(binary.path());
        context.printer.out(format_args!("Next, start the daemon: {program} start\n"))?;
    }
    Ok(ExitStatus::Done)
}

/// What the user should know about an agent after an install.
fn next_step(agent: Agent, trusts: bool) -> &'static str {
    match agent {
        // It reads its settings again by itself, so no session needs a restart.
        Agent::ClaudeCode => "Running sessions of Claude Code take the hooks up within seconds.",
        Agent::Codex if trusts => "Codex runs the hooks in every session that starts from now on.",
        Agent::Codex => {
            "Codex runs no new hook before you trust it: at its next start it asks you to review \
             five hooks named tma1. Sessions that are open now stay as they are."
        }
    }
}

/// Has Codex record that the user trusts our hooks, if the user says so: by the flag, or asked on a
/// terminal. Trust is the user's consent to run code outside of a sandbox, so the default is no.
fn trust_codex_hooks(
    arguments: &Arguments,
    context: &Context,
    command: &str,
) -> Result<bool, Failure> {
    if !arguments.trust_codex_hooks {
        let can_ask = std::io::stdin().is_terminal() && arguments.output.talks();
        let has_codex = codex_trust::find_codex(&context.environment).is_ok();
        if !can_ask || !has_codex || !asks("Trust these hooks in Codex now?")? {
            return Ok(false);
        }
    }
    let codex = codex_trust::find_codex(&context.environment)?;
    let mut server = AppServer::start(&codex, &context.environment)?;
    // Seen from the home directory, so that a project's own hooks are not among them.
    let listing = server.hooks(&context.paths.home)?;
    for warning in &listing.warnings {
        context.printer.error_line(format_args!("warning: Codex says: {warning}"));
    }
    server.trust(&listing, command)?;
    let listing = server.hooks(&context.paths.home)?;
    let is_trusted = |hook: &ListedHook| hook.trust_status == TrustStatus::Trusted;
    Ok(listing.running(command).count() > 0 && listing.running(command).all(is_trusted))
}

fn asks(question: &str) -> Result<bool, Failure> {
    Confirm::new()
        .with_prompt(question)
        .default(false)
        .interact()
        .map_err(|error| Failure::new(error, None))
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
    asks("Write this?")
}

impl From<TrustError> for Failure {
    fn from(error: TrustError) -> Self {
        let hint = error.hint();
        Self::new(error, Some(hint))
    }
}
