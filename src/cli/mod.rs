//! The command line: one file a subcommand, each a plain function from arguments to an
//! [`ExitStatus`].

mod about;
mod adapters;
mod build;
mod doctor;
mod failure;
mod history;
mod hook;
mod install;
mod lifecycle;
mod log;
mod logs;
mod mcp_serve;
mod pager;
mod printer;
mod prompt;
mod serve;
mod service;
mod status;
mod table;
mod uninstall;

use std::ffi::{OsStr, OsString};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

pub use failure::Failure;
pub use printer::Printer;

use crate::config::{Config, Environment};
use crate::paths::Paths;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitStatus {
    /// Done, or there was nothing to do.
    Done,
    /// Failed or refused; the reason was printed.
    Failed,
    /// Wrong usage.
    Usage,
    /// As the command that was run.
    OfCommand(u8),
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        match status {
            ExitStatus::Done => Self::from(0),
            ExitStatus::Failed => Self::from(1),
            ExitStatus::Usage => Self::from(2),
            ExitStatus::OfCommand(status) => Self::from(status),
        }
    }
}

/// Closes the loop around coding agents: their hooks report what happens, the daemon answers with
/// what the agent should know before its next step.
#[derive(Debug, Parser)]
#[command(name = "tma1", version, arg_required_else_help = true, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Install(install::Arguments),
    Uninstall(uninstall::Arguments),
    /// Start the daemon in the background.
    ///
    /// Waits until it answers. A daemon of another version makes room for this one. Where `tma1 service
    /// install` was run, it is the service that is started.
    Start,
    /// End the daemon.
    ///
    /// Waits until it has answered and logged all that came in. Hooks do not start it again until
    /// `tma1 start`.
    Stop,
    /// End the daemon if it runs, and start it in the background.
    Restart,
    Status(status::Arguments),
    Build(build::Arguments),
    /// Carry standard input over to standard output.
    #[command(hide = true)]
    Relay,
    Logs(logs::Arguments),
    Sessions(history::SessionsArguments),
    Show(history::ShowArguments),
    Search(history::SearchArguments),
    Anomalies(history::AnomaliesArguments),
    Context(history::ContextArguments),
    Query(history::QueryArguments),
    Export(history::ExportArguments),
    Doctor(doctor::Arguments),
    Service(service::Arguments),
    Serve(serve::Arguments),
    Hook(hook::Arguments),
    McpServe(mcp_serve::Arguments),
    Version(about::VersionArguments),
    Completions(about::CompletionsArguments),
    /// Print the manual pages, in the format of man(1).
    ///
    /// For instance: tma1 man | man -l -
    Man,
}

/// What every command is given: how it was started, where things are, what is set, where to
/// print.
#[derive(Debug)]
struct Context {
    /// The name by which the program was started.
    program: OsString,
    environment: Environment,
    paths: Paths,
    config: Config,
    printer: Printer,
}

/// Runs the command line and returns the exit status: 0 done, 1 failed or refused, 2 wrong usage.
pub fn main(arguments: Vec<OsString>) -> ExitCode {
    let printer = Printer;
    let program = arguments.first().cloned().unwrap_or_default();
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => return report_usage(&error).into(),
    };
    match run(cli.command, program, printer) {
        Ok(status) => status.into(),
        Err(failure) => failure.report(printer).into(),
    }
}

/// Puts `serve` into the arguments of `tma1-server` when they name no subcommand.
pub fn serve_by_default(mut arguments: Vec<OsString>) -> Vec<OsString> {
    const ABOUT: [&str; 4] = ["-h", "--help", "-V", "--version"];
    let names_subcommand = arguments.get(1).is_some_and(|first| {
        ABOUT.map(OsStr::new).contains(&first.as_os_str())
            || !first.to_string_lossy().starts_with('-')
    });
    if !names_subcommand {
        arguments.insert(arguments.len().min(1), "serve".into());
    }
    arguments
}

fn run(command: Command, program: OsString, printer: Printer) -> Result<ExitStatus, Failure> {
    let context = || Context::resolve(program, printer);
    match command {
        Command::Install(arguments) => install::run(&arguments, &context()?),
        Command::Uninstall(arguments) => uninstall::run(&arguments, &context()?),
        Command::Start => lifecycle::start(&context()?),
        Command::Stop => lifecycle::stop(&context()?),
        Command::Restart => lifecycle::restart(&context()?),
        Command::Status(arguments) => status::run(&arguments, &context()?),
        Command::Logs(arguments) => logs::run(&arguments, &context()?),
        Command::Sessions(arguments) => history::sessions(&arguments, &context()?),
        Command::Show(arguments) => history::show(&arguments, &context()?),
        Command::Search(arguments) => history::search(&arguments, &context()?),
        Command::Anomalies(arguments) => history::anomalies(&arguments, &context()?),
        Command::Context(arguments) => history::context(&arguments, &context()?),
        Command::Query(arguments) => history::query(&arguments, &context()?),
        Command::Export(arguments) => history::export(&arguments, &context()?),
        Command::Doctor(arguments) => doctor::run(&arguments, &context()?),
        Command::Service(arguments) => service::run(&arguments, &context()?),
        Command::Serve(arguments) => serve::run(&arguments, &context()?),
        Command::Version(arguments) => about::version(&arguments, printer),
        Command::Completions(arguments) => about::completions(&arguments, printer),
        Command::Man => about::man(printer),
        Command::McpServe(arguments) => mcp_serve::run(&arguments, &context()?),
        // It must not matter to the command what is wrong with our settings.
        Command::Build(arguments) => Ok(build::run(&arguments, printer)),
        Command::Relay => Ok(build::relay()),
        // It runs before every step of an agent, so nothing is resolved for it, and it never fails.
        Command::Hook(arguments) => Ok(hook::run(&arguments, printer)),
    }
}

impl Context {
    fn resolve(program: OsString, printer: Printer) -> Result<Self, Failure> {
        let environment = Environment::capture();
        Ok(Self {
            paths: Paths::resolve(&environment)?,
            config: Config::from_environment(&environment)?,
            program,
            environment,
            printer,
        })
    }
}

/// Help and version are answers; anything else is wrong usage.
fn report_usage(error: &clap::Error) -> ExitStatus {
    drop(error.print());
    if error.use_stderr() { ExitStatus::Usage } else { ExitStatus::Done }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The help of a command and of everything below it.
    fn help(command: &mut clap::Command) -> String {
        let name = command.get_bin_name().unwrap().to_owned();
        let own = format!("$ {name} --help\n{}\n", command.render_long_help());
        command.get_subcommands_mut().map(help).fold(own, |text, below| text + &below)
    }

    #[test]
    fn the_help_reads_well() {
        let command = <Cli as clap::CommandFactory>::command();
        let mut command = command.bin_name("tma1").disable_help_subcommand(true);
        command.build();
        crate::snapshot::assert_snapshot("help", &help(&mut command));
    }

    fn defaulted(arguments: &[&str]) -> Vec<OsString> {
        serve_by_default(arguments.iter().map(OsString::from).collect())
    }

    #[test]
    fn the_command_line_is_consistent() {
        <Cli as clap::CommandFactory>::command().debug_assert();
    }

    #[test]
    fn the_server_binary_serves_unless_it_is_told_something_else() {
        assert_eq!(defaulted(&["tma1-server"]), ["tma1-server", "serve"]);
        assert_eq!(defaulted(&["s", "--port", "1"]), ["s", "serve", "--port", "1"]);
        assert_eq!(defaulted(&["s", "install"]), ["s", "install"]);
        assert_eq!(defaulted(&["s", "--version"]), ["s", "--version"]);
        assert_eq!(defaulted(&[]), ["serve"]);
    }
}
