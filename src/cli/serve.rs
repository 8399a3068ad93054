//! `tma1 serve`: runs the daemon in the foreground.

use std::io::{self, IsTerminal};

use crate::cli::{Context, ExitStatus, Failure, log};
use crate::daemon::{self, Messages};
use crate::paths::Paths;
use crate::setup::freshness::{self, FreshnessError};

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
    let (paths, port) = (context.paths.clone(), config.port);
    let ended = daemon::run(&config, &context.paths, &messages, move || keep_fresh(&paths, port));
    messages.flush();
    ended.map_err(|error| {
        let hint = error.hint();
        Failure::new(error, hint)
    })?;
    Ok(ExitStatus::Done)
}

/// Makes the hook scripts those of this version, and says which skills and commands are not. Those
/// are in folders of the agents, where nothing is written without being asked.
fn keep_fresh(paths: &Paths, port: u16) {
    let stale = freshness::installed(paths, port).and_then(|installed| {
        freshness::refresh_scripts(&installed, paths, port)?;
        freshness::stale(&installed, paths, port)
    });
    match stale {
        Ok(stale) => stale.iter().for_each(|stale| {
            tracing::warn!(
                adapter = stale.agent.name(),
                stale_files = stale.files,
                fix = stale.fix(),
                "installed tma1 skills are out of date — agents will read the old contract"
            );
        }),
        Err(error) => warn_of(&error),
    }
}

fn warn_of(error: &FreshnessError) {
    let reasons = anyhow::Chain::new(error).map(ToString::to_string).collect::<Vec<_>>();
    tracing::warn!(reason = reasons.join(": "), "what is installed was not looked at");
}
