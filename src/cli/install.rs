//! `tma1 install`: wires us into coding agents.

use std::cell::Cell;
use std::path::{Path, PathBuf};

use crate::agent::Agent;
use crate::cli::adapters::{self, Output};
use crate::cli::{Context, ExitStatus, Failure, prompt};
use crate::printable::printable;
use crate::setup::Task;
use crate::setup::adapter::{Artifact, codex};
use crate::setup::codex_trust::{self, AppServer, Listing, TrustError, TrustStatus};
use crate::setup::diff::Summary;
use crate::setup::install::Options;
use crate::setup::plan::Plan;

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
    /// Have Codex record that you trust its hooks, without being asked for each.
    #[arg(long)]
    trust_codex_hooks: bool,
    /// Do not ask for a confirmation, nor whether Codex is to trust its hooks.
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    output: Output,
}

pub(super) fn run(arguments: &Arguments, context: &Context) -> Result<ExitStatus, Failure> {
    let is_asking = arguments.adapters.is_empty();
    let Some(agents) = agents(arguments, context)? else { return Ok(ExitStatus::Usage) };
    if agents.is_empty() {
        return nothing_written(context);
    }
    let codex = if agents.contains(&Agent::Codex) {
        Some(codex_trust::find_codex(&context.environment))
    } else if arguments.trust_codex_hooks {
        context.printer.error_line(
            "error: --trust-codex-hooks is about Codex, which is not installed into\n\
             hint: add --adapter codex",
        );
        return Ok(ExitStatus::Usage);
    } else {
        None
    };
    let codex = match codex.transpose() {
        Err(error) if arguments.trust_codex_hooks => return Err(error.into()),
        codex => codex.ok().flatten(),
    };
    let binary = adapters::binary(context)?;
    let project = if arguments.skip_project_files {
        None
    } else {
        adapters::project(arguments.project.as_deref(), context)?
    };
    let site = adapters::site(context, &binary, project.as_deref());
    let artifacts = site.artifacts(&agents)?;
    let task = Task::Install(Options { force: arguments.force, ..Options::default() });
    let must_confirm = is_asking && !arguments.yes && arguments.output.talks();
    if must_confirm && !is_confirmed(task, &artifacts, context)? {
        return nothing_written(context);
    }
    let plan = arguments.output.run(task, &artifacts, context)?;
    let trust = match codex {
        Some(codex) => arguments.trust(&codex, context, &site.hook_command(Agent::Codex)?)?,
        None => Trust::Unknown,
    };
    if arguments.output.talks() {
        let program = context.paths.display(binary.path());
        print_next_steps(&plan, &agents, trust, &program, context)?;
    }
    Ok(ExitStatus::Done)
}

fn nothing_written(context: &Context) -> Result<ExitStatus, Failure> {
    context.printer.out("Nothing was written.\n")?;
    Ok(ExitStatus::Done)
}

fn print_next_steps(
    plan: &Plan,
    agents: &[Agent],
    trust: Trust,
    program: &str,
    context: &Context,
) -> Result<(), Failure> {
    if plan.is_empty() {
        let titles: Vec<_> = agents.iter().map(|agent| agent.title()).collect();
        let verb = if titles.len() == 1 { "is" } else { "are" };
        let titles = titles.join(" and ");
        context.printer.out(format_args!("Nothing to do: {titles} {verb} already set up.\n"))?;
    }
    let hooks = context.paths.codex_home.join("hooks.json");
    let codex = trust.next_step(plan.changes().any(|change| change.path() == hooks));
    for agent in agents {
        let step = match agent {
            Agent::Codex => codex,
            // It reads its settings again by itself, so no session needs a restart.
            Agent::ClaudeCode => (!plan.is_empty())
                .then_some("Running sessions of Claude Code take the hooks up within seconds."),
        };
        if let Some(step) = step {
            context.printer.out(format_args!("{step}\n"))?;
        }
    }
    if !plan.is_empty() {
        context.printer.out(format_args!("Next, start the daemon: {program} start\n"))?;
    }
    Ok(())
}

/// Whether Codex runs our hooks, as far as this run has learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trust {
    /// Nobody has asked Codex.
    Unknown,
    /// It awaits a review.
    Missing,
    /// The user has trusted them before.
    GivenBefore,
    /// The user has trusted them now.
    GivenNow,
}

impl Trust {
    /// What the user should know about Codex, after an install that has written its hooks or not.
    fn next_step(self, is_written: bool) -> Option<&'static str> {
        const RUNS: &str = "Codex runs the hooks in every session that starts from now on.";
        const AWAITS: &str = "Codex runs no new hook before you trust it: at its next start it asks \
             you to review five hooks named tma1. Sessions that are open now stay as they are.";
        match self {
            Self::GivenNow => Some(RUNS),
            Self::GivenBefore => is_written.then_some(RUNS),
            Self::Missing => Some(AWAITS),
            Self::Unknown => is_written.then_some(AWAITS),
        }
    }

    /// What Codex says of the hooks that run `command`.
    fn in_listing(listing: &Listing, command: &str) -> Self {
        let hooks: Vec<_> = listing.running(command).map(|hook| hook.trust_status).collect();
        let runs =
            |status: &TrustStatus| matches!(status, TrustStatus::Trusted | TrustStatus::Managed);
        if hooks.iter().any(|status| status.awaits_review()) {
            Self::Missing
        } else if !hooks.is_empty() && hooks.iter().all(runs) {
            Self::GivenBefore
        } else {
            Self::Unknown
        }
    }
}

impl Arguments {
    /// Has Codex record that the user trusts our hooks, if the user says so: by the flag, or asked
    /// on a terminal. Trust is the user's consent to run code outside of a sandbox, so the default
    /// is no.
    fn trust(&self, codex: &Path, context: &Context, command: &str) -> Result<Trust, Failure> {
        if self.output.dry_run {
            if self.trust_codex_hooks && !self.output.json {
                let count = codex::EVENTS.len();
                context.printer.out(format_args!(
                    "Codex would be told that you trust the {count} hooks that run {}\n",
                    printable(command)
                ))?;
            }
            return Ok(Trust::Unknown);
        }
        if self.trust_codex_hooks {
            return review(codex, context, command, || Ok(true));
        }
        let may_ask = !self.yes && self.output.talks() && prompt::can_ask();
        if !may_ask {
            return Ok(Trust::Unknown);
        }
        let is_wanted = Cell::new(false);
        let trust = review(codex, context, command, || {
            is_wanted.set(prompt::asks("Trust these hooks in Codex now?")?);
            Ok(is_wanted.get())
        });
        match trust {
            // Nobody has asked for it, so it is no failure of the install.
            Err(_) if !is_wanted.get() => Ok(Trust::Unknown),
            trust => trust,
        }
    }
}

/// Has Codex record that our hooks are trusted if they await a review and `is_trusted` says so.
fn review(
    codex: &Path,
    context: &Context,
    command: &str,
    is_trusted: impl Fn() -> Result<bool, Failure>,
) -> Result<Trust, Failure> {
    let mut server = AppServer::start(codex, &context.environment)?;
    // Seen from the home directory, so that a project's own hooks are not among them.
    let listing = server.hooks(&context.paths.home)?;
    for warning in &listing.warnings {
        context.printer.error_line(format_args!("warning: Codex says: {}", printable(warning)));
    }
    let trust = Trust::in_listing(&listing, command);
    if trust != Trust::Missing || !is_trusted()? {
        return Ok(trust);
    }
    server.trust(&listing, command)?;
    Ok(match Trust::in_listing(&server.hooks(&context.paths.home)?, command) {
        Trust::GivenBefore => Trust::GivenNow,
        trust => trust,
    })
}

/// The agents to wire into, asked for if none was named; none where nobody can be asked.
fn agents(arguments: &Arguments, context: &Context) -> Result<Option<Vec<Agent>>, Failure> {
    if !arguments.adapters.is_empty() {
        let mut agents = arguments.adapters.clone();
        agents.sort_unstable();
        agents.dedup();
        return Ok(Some(agents));
    }
    if arguments.output.json || !prompt::can_ask() {
        let reason = if arguments.output.json {
            "With --json nothing is asked."
        } else {
            "There is no terminal to ask on."
        };
        context.printer.error_line(format_args!(
            "error: which agent? {reason}\n\
             hint: name it: tma1 install --adapter claude-code (or codex, or both)"
        ));
        return Ok(None);
    }
    let all = [Agent::ClaudeCode, Agent::Codex];
    let is_found = |agent: &Agent| match agent {
        Agent::ClaudeCode => context.paths.claude_config.is_dir(),
        Agent::Codex => context.paths.codex_home.is_dir(),
    };
    let items = all.map(|agent| (agent.title(), is_found(&agent)));
    let chosen = prompt::selects("Wire tma1 into (space selects, enter goes on)", items)?;
    let chosen = chosen.into_iter().flatten();
    Ok(Some(chosen.filter_map(|index| all.get(index).copied()).collect()))
}

fn is_confirmed(task: Task, artifacts: &[Artifact], context: &Context) -> Result<bool, Failure> {
    let plan = task.plan(artifacts, &context.paths)?;
    if plan.is_empty() {
        return Ok(true);
    }
    context.printer.out(Summary { plan: &plan, paths: &context.paths })?;
    prompt::asks("Write this?")
}

impl From<TrustError> for Failure {
    fn from(error: TrustError) -> Self {
        let hint = error.hint();
        Self::new(error, Some(hint))
    }
}
