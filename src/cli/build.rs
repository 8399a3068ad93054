//! `tma1 build`: runs a command, and lets the agents know how it went.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use regex::Regex;

use crate::agent::Agent;
use crate::build::{self, Caller, Daemon, End, NO_COLOR, Plan, Reporter, Selection};
use crate::cli::{ExitStatus, Printer};
use crate::config::{Config, Environment};
use crate::paths::Paths;

/// What shells exit with if there is no such command, and if it can't be run.
const NOT_FOUND: u8 = 127;
const NOT_RUN: u8 = 126;

/// Added to the number of a signal, where a process can't end by it.
const BY_SIGNAL: i32 = 128;

/// Run a build, tests or a dev server, and let the agents know how it went.
///
/// The command behaves as it does without this: the same output, terminal, signals and exit status,
/// whether the daemon runs or not. Agents that work in the project are told what it said when it fails.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The command goes on and on, as a dev server does: tell its state while it runs.
    #[arg(long)]
    watch: bool,
    /// What to call it.
    #[arg(long, value_name = "NAME")]
    tag: Option<String>,
    /// Tell only lines that match this regular expression; all of them are shown.
    #[arg(long, value_name = "RE")]
    filter_regex: Option<Regex>,
    /// Tell only the lines that do not match.
    #[arg(long, requires = "filter_regex")]
    filter_invert: bool,
    /// How long nothing must come, with --watch, before its state is told.
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = duration)]
    debounce: Duration,
    /// The project it belongs to, if it runs somewhere else.
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Ask the command for no colours.
    #[arg(long)]
    no_color: bool,
    /// The command and its arguments, after `--`.
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<OsString>,
}

/// Ends as the command does: with its status, or by the signal that has ended it.
pub(super) fn run(arguments: &Arguments, printer: Printer) -> ExitStatus {
    let environment = Environment::capture();
    let reporter = reporter(arguments, &environment);
    let Some((program, rest)) = arguments.command.split_first() else {
        return ExitStatus::Usage;
    };
    let mut command = Command::new(program);
    command.args(rest);
    if arguments.no_color {
        command.envs(NO_COLOR);
    }
    match build::run(&mut command, reporter) {
        Ok(End::Exited(code)) => ExitStatus::OfCommand(u8::try_from(code & 0xff).unwrap_or(1)),
        Ok(End::Killed(signal)) => {
            build::die_by(signal);
            ExitStatus::OfCommand(u8::try_from(BY_SIGNAL + signal).unwrap_or(u8::MAX))
        }
        Err(error) => {
            let program = Path::new(program);
            let is_path = program.components().count() > 1;
            let is_absent = error.kind() == ErrorKind::NotFound && !(is_path && program.exists());
            let reason = if is_absent { "command not found".to_owned() } else { error.to_string() };
            printer.error_line(format!("tma1 build: {}: {reason}", program.display()));
            ExitStatus::OfCommand(if is_absent { NOT_FOUND } else { NOT_RUN })
        }
    }
}

/// Carries over what a command that is gone has left behind.
pub(super) fn relay() -> ExitStatus {
    build::relay();
    ExitStatus::Done
}

/// Who tells the daemon; nobody where we can't know where it is, which is no reason not to build.
fn reporter(arguments: &Arguments, environment: &Environment) -> Option<Reporter> {
    let paths = Paths::resolve(environment).ok()?;
    let port = Config::from_environment(environment).ok()?.port;
    let cwd = std::env::current_dir().ok()?;
    let text = |path: PathBuf| path.to_string_lossy().into_owned();
    let plan = Plan {
        words: arguments.command.clone(),
        project: arguments.project.as_ref().map(|project| text(cwd.join(project))),
        cwd: text(cwd),
        tag: arguments.tag.clone(),
        watch: arguments.watch,
        debounce: arguments.debounce,
        caller: caller(environment),
    };
    let selection =
        Selection { pattern: arguments.filter_regex.clone(), inverted: arguments.filter_invert };
    Some(Reporter { plan, selection, daemon: Daemon { port, paths } })
}

/// The session of Claude Code that runs us; Codex does not say.
fn caller(environment: &Environment) -> Option<Caller> {
    let session = environment.get("CLAUDE_CODE_SESSION_ID")?.to_string_lossy().into_owned();
    Some(Caller { agent: Agent::ClaudeCode, session })
}

/// A time such as `2s`, `500ms`, `1.5s` or `1m`; without a unit, seconds.
fn duration(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let digits = text.find(|it: char| !it.is_ascii_digit() && it != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(digits).unwrap_or((text, ""));
    let factor = match unit {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        _ => return Err("a time is a number with `ms`, `s` or `m`, such as 2s".to_owned()),
    };
    let seconds: f64 = number.parse().map_err(|_| "a time begins with a number".to_owned())?;
    Duration::try_from_secs_f64(seconds * factor).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        for (text, millis) in
            [("2s", 2_000), ("500ms", 500), ("1.5s", 1_500), ("1m", 60_000), ("3", 3_000)]
        {
            assert_eq!(duration(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for text in ["", "s", "2h", "-1s", "1e99", "two"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
