//! `tma1 serve`: runs the daemon in the foreground.

use std::io::{self, IsTerminal};

use crate::cli::{Context, ExitStatus, Failure, log};
use crate::daemon::{self, Messages};

/// Run the daemon in the foreground until it is interrupted.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The port to listen on, on 127.0.0.1 [default: `TMA1_PORT`, else 14318].
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    port: Option<u16>,
}

pub(super) fn run(arguments: &Arguments, context: &Context) -> Result<ExitStatus, Failure> {
    let mut config = context.config.clone();
    config.port = arguments.port.unwrap_or(config.port);
    let messages = Messages::start()?;
    let writer = messages.clone();
    log::to(move || writer.clone(), io::stderr().is_terminal(), &config.log)?;
    let ended = daemon::run(&config, &context.paths, &messages);
    messages.flush();
    ended.map_err(|error| {
        let hint = error.hint();
        Failure::new(error, hint)
    })?;
    Ok(ExitStatus::Done)
}
