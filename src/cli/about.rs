//! What the program says of itself: its version, its completions for a shell, its manual page.

use clap::CommandFactory;
use clap_complete::Shell;
use serde_json::json;

use crate::cli::{Cli, ExitStatus, Failure, Printer};
use crate::daemon::client::PROTOCOL_VERSION;

/// Print the version.
#[derive(Debug, clap::Args)]
pub(super) struct VersionArguments {
    /// Print it as JSON, with the version of the protocol between client and daemon.
    #[arg(long)]
    json: bool,
}

/// Print what makes a shell complete our commands.
///
/// For instance: tma1 completions bash > ~/.local/share/bash-completion/completions/tma1
#[derive(Debug, clap::Args)]
pub(super) struct CompletionsArguments {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

pub(super) fn version(
    arguments: &VersionArguments,
    printer: Printer,
) -> Result<ExitStatus, Failure> {
    let version = env!("CARGO_PKG_VERSION");
    printer.out(if arguments.json {
        format!("{:#}\n", json!({"version": version, "protocol": PROTOCOL_VERSION}))
    } else {
        format!("tma1 {version}\n")
    })?;
    Ok(ExitStatus::Done)
}

pub(super) fn completions(
    arguments: &CompletionsArguments,
    printer: Printer,
) -> Result<ExitStatus, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "tma1", &mut script);
    printer.out_bytes(&script)?;
    Ok(ExitStatus::Done)
}

/// The manual page of the program, then those of its commands.
pub(super) fn man(printer: Printer) -> Result<ExitStatus, Failure> {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    let mut pages = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut pages)?;
    for subcommand in command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()) {
        clap_mangen::Man::new(subcommand.clone()).render(&mut pages)?;
    }
    printer.out_bytes(&pages)?;
    Ok(ExitStatus::Done)
}
