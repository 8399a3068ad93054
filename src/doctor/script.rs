//! The hook script of an adapter, and the program that it runs.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::agent::Agent;
use crate::doctor::daemon::Daemon;
use crate::doctor::finding::{Check, Finding, Fix, Status};
use crate::doctor::process::{clean, version};
use crate::doctor::subject::{Subject, port_in};
use crate::platform;
use crate::process;
use crate::setup::freshness;
use crate::setup::script::{Language, Script};

/// How long a program may take to say its version.
const PATIENCE: Duration = Duration::from_secs(5);

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Looks at the script of `agent` and at its program.
pub(super) fn check(subject: &Subject<'_>, daemon: &Daemon, agent: Agent) -> Vec<Finding> {
    let script = script(subject, daemon, agent);
    let program = freshness::program_of(&subject.script(agent));
    let program = match program.filter(|_| Language::of_system() == Language::Shell) {
        Some(program) if script.status == Status::Ok => self::program(subject, agent, &program),
        _ => Check::of("program", agent).skipped("the hook script has to be right first"),
    };
    vec![script, program]
}

fn script(subject: &Subject<'_>, daemon: &Daemon, agent: Agent) -> Finding {
    const NOTHING: &str = "the agent's hooks run nothing";
    let check = Check::of("script", agent);
    let path = subject.script(agent);
    let (name, fix) = (subject.display(&path), Fix::Install(agent));
    let text = match fs_err::read_to_string(&path) {
        Ok(text) => text,
        Err(_) if !path.exists() => {
            return check.failure(format!("{name} is not there"), NOTHING, fix);
        }
        Err(_) => return check.failure(format!("{name} can't be read"), NOTHING, fix),
    };
    if !platform::is_executable(&path) {
        return check.failure(format!("{name} is not executable"), NOTHING, fix);
    }
    let Some(program) = freshness::program_of(&path) else {
        let fix = format!("move {name} away, then run `tma1 install --adapter {agent}`");
        return check.failure(format!("{name} is no script of tma1"), NOTHING, Fix::ByHand(fix));
    };
    let (expected, port) = (subject.port(), port_in(&text).unwrap_or_default());
    let finds_daemon = matches!(daemon, Daemon::Elsewhere(other) if *other == port);
    if port != expected && !finds_daemon {
        let what = format!("{name} sends to port {port}, not to {expected}");
        return check.failure(what, "its events do not reach the daemon", fix);
    }
    let script = Script { agent, language: Language::of_system() };
    if script.render(&program, port, &subject.paths.root).ok() == Some(text) {
        return check.ok(format!("{name} is of this version and sends to port {port}"));
    }
    let what = format!("{name} is not as this version writes it");
    check.warning(what, "it may lack what this version has mended", fix)
}

fn program(subject: &Subject<'_>, agent: Agent, program: &Path) -> Finding {
    let check = Check::of("program", agent);
    let (name, fix) = (subject.display(program), Fix::Install(agent));
    if !program.is_file() || !platform::is_executable(program) {
        let what = format!("the hook script runs {name}, which is not there or not executable");
        return if subject.on_path("curl").is_some() {
            check.warning(what, "it uses curl instead, which takes longer", fix)
        } else {
            check.failure(what, "there is no curl to use instead, so no event is reported", fix)
        };
    }
    let mut command = Command::new(program);
    command.arg("--version");
    let run = process::run(clean(command, subject.environment), "", PATIENCE);
    let said = run.ok().filter(|run| run.status == Some(0)).map(|run| run.stdout);
    match said.as_deref().map(version) {
        Some(Some(VERSION)) => check.ok(format!("{name} runs, and is of this version")),
        Some(Some(other)) => check.warning(
            format!("the hook script runs {name} of version {other}; this is {VERSION}"),
            "hooks and daemon may not understand each other",
            fix,
        ),
        _ => check.failure(
            format!("the hook script runs {name}, which does not work"),
            "no event is reported",
            fix,
        ),
    }
}
