//! `tma1 doctor`: finds out whether everything works, and mends what an install can.

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::path::Path;

use dialoguer::Confirm;

use crate::agent::Agent;
use crate::cli::{Context, ExitStatus, Failure, adapters};
use crate::doctor::{self, Finding, Fix, FixText, Report, ReportJson, Status, Subject};
use crate::setup::Task;
use crate::setup::adapter::{Artifact, Site};
use crate::setup::diff::Diff;
use crate::setup::disk::OperatingSystem;
use crate::setup::install::Options;

/// Check that everything works, and say what mends what does not.
///
/// It runs what the agents have registered, as they run it. The exit status is 1 if something that
/// should work does not.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The adapter to look at [default: those that are installed].
    #[arg(long = "adapter", value_enum, value_name = "AGENT")]
    adapter: Option<Agent>,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
    /// Show what an install would mend, ask, and mend it.
    #[arg(long)]
    fix: bool,
    /// With --fix: do not ask.
    #[arg(long, requires = "fix")]
    yes: bool,
    /// Show what is fine, too.
    #[arg(long, short)]
    verbose: bool,
}

pub(super) fn run(arguments: &Arguments, context: &Context) -> Result<ExitStatus, Failure> {
    let working_dir = std::env::current_dir()?;
    let project = adapters::project(None, context)?;
    let subject = Subject {
        paths: &context.paths,
        config: &context.config,
        environment: &context.environment,
        working_dir: &working_dir,
        project: project.as_deref(),
        only: arguments.adapter,
        system: Path::new("/"),
    };
    let mut findings = doctor::examine(&subject);
    if arguments.fix && mend(arguments, &findings, &subject, context)? {
        findings = doctor::examine(&subject);
    }
    let fixes = FixText { program: program(&subject, context) };
    if arguments.json {
        let json = serde_json::to_string_pretty(&ReportJson::new(&findings, &fixes))?;
        context.printer.out(format_args!("{json}\n"))?;
    } else {
        let verbose = arguments.verbose;
        context.printer.out(Report { findings: &findings, fixes: &fixes, verbose })?;
    }
    let failed = doctor::worst(&findings) == Status::Failure;
    Ok(if failed { ExitStatus::Failed } else { ExitStatus::Done })
}

/// Makes the install that the findings call for, once its user has agreed; whether anything was done.
fn mend(
    arguments: &Arguments,
    findings: &[Finding],
    subject: &Subject<'_>,
    context: &Context,
) -> Result<bool, Failure> {
    let artifacts = artifacts(findings, subject, context)?;
    let task = Task::Install(Options { force: false, keeps_losses: true });
    let plan = task.plan(&artifacts, &context.paths)?;
    if plan.is_empty() {
        return Ok(false);
    }
    if !arguments.json {
        context.printer.out(Diff { plan: &plan, paths: &context.paths })?;
    }
    if !arguments.yes && !may_write(arguments, context)? {
        return Ok(false);
    }
    task.carry_out(&artifacts, &context.paths, &OperatingSystem)?;
    Ok(true)
}

/// What an install of the adapters with a fault that it mends puts in place.
fn artifacts(
    findings: &[Finding],
    subject: &Subject<'_>,
    context: &Context,
) -> Result<Vec<Artifact>, Failure> {
    let fixes = findings.iter().filter_map(|finding| finding.fix.as_ref());
    let agents: BTreeSet<_> = fixes
        .clone()
        .filter_map(|fix| match fix {
            Fix::Install(agent) | Fix::InstallProject(agent) => Some(*agent),
            Fix::Tma1(_) | Fix::Shell(_) | Fix::ByHand(_) => None,
        })
        .collect();
    if agents.is_empty() {
        return Ok(Vec::new());
    }
    let needs_project = fixes.clone().any(|fix| matches!(fix, Fix::InstallProject(_)));
    let binary = adapters::binary(context)?;
    let site = Site {
        paths: &context.paths,
        binary: &binary,
        port: subject.port(),
        project: subject.project.filter(|_| needs_project),
    };
    Ok(site.artifacts(&agents.into_iter().collect::<Vec<_>>())?)
}

fn may_write(arguments: &Arguments, context: &Context) -> Result<bool, Failure> {
    if arguments.json || !std::io::stdin().is_terminal() {
        context.printer.error_line(
            "Nothing was written: there is no terminal to ask on.\n\
             hint: say --yes to have it written without being asked",
        );
        return Ok(false);
    }
    Confirm::new()
        .with_prompt("Write this?")
        .default(false)
        .interact()
        .map_err(|error| Failure::new(error, None))
}

/// How the user starts this program, with the port that an install would not know by itself.
fn program(subject: &Subject<'_>, context: &Context) -> String {
    let own = std::env::current_exe().and_then(fs_err::canonicalize).ok();
    let found = subject.on_path("tma1").and_then(|found| fs_err::canonicalize(found).ok());
    let name = match adapters::binary(context) {
        Ok(binary) if found.is_none() || found != own => context.paths.display(binary.path()),
        _ => "tma1".to_owned(),
    };
    match subject.port() {
        port if port == context.config.port => name,
        port => format!("TMA1_PORT={port} {name}"),
    }
}
