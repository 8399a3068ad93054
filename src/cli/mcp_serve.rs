//! `tma1 mcp-serve`: answers the questions of an agent. What install registers starts it.

use std::io::{self, IsTerminal};
use std::path::PathBuf;

use crate::cli::{Context, ExitStatus, Failure, lifecycle, log};
use crate::daemon::lifecycle::Autostart;
use crate::mcp::{self, Caller, Upstream};

/// Answer an agent's questions over MCP, on standard input and output.
///
/// Agents start it, one for each session.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The port of the daemon on 127.0.0.1 [default: `TMA1_PORT`, else 14318].
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    port: Option<u16>,
    /// The data directory of the daemon [default: `TMA1_DATA_DIR`, else ~/.tma1].
    ///
    /// Codex does not hand on the variable.
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

pub(super) fn run(arguments: &Arguments, context: &Context) -> Result<ExitStatus, Failure> {
    log::to(io::stderr, io::stderr().is_terminal(), &context.config.log)?;
    let paths = match &arguments.data_dir {
        Some(directory) => context.paths.clone().with_root(directory.clone())?,
        None => context.paths.clone(),
    };
    let caller = Caller::of_process(&context.environment, &std::env::current_dir()?);
    let port = arguments.port.unwrap_or(context.config.port);
    // Without a program to start there is still a daemon to ask.
    let launcher = lifecycle::launcher(context, paths.clone(), port).ok();
    let autostart = launcher.and_then(Autostart::new);
    mcp::serve(caller, Upstream { port, paths, autostart })?;
    Ok(ExitStatus::Done)
}
