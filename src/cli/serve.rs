//! `tma1 serve`: runs the daemon in the foreground.

use std::io::{self, IsTerminal};

use anyhow::Context as _;
use tracing_subscriber::EnvFilter;

use crate::cli::{Context, ExitStatus, Failure};
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
    log_to(&messages, &config.log)?;
    let ended = daemon::run(&config, &context.paths, &messages);
    messages.flush();
    ended.map_err(|error| {
        let hint = error.hint();
        Failure::new(error, hint)
    })?;
    Ok(ExitStatus::Done)
}

fn log_to(messages: &Messages, filter: &str) -> Result<(), Failure> {
    let filter = EnvFilter::try_new(filter)
        .with_context(|| format!("TMA1_LOG is {filter:?}, which is not a log filter"))
        .map_err(|error| Failure::new(error, Some("set it to `debug`, say, or unset it".into())))?;
    let messages = messages.clone();
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(move || messages.clone())
        .with_ansi(io::stderr().is_terminal())
        // It would write to standard error itself.
        .log_internal_errors(false)
        .init();
    Ok(())
}
