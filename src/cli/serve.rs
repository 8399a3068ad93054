//! `tma1 serve`: runs the daemon in the foreground. `tma1 start` starts it with `--detached`.

use std::io::{self, IsTerminal, Write};

use crate::cli::{Context, ExitStatus, Failure, log};
use crate::daemon::{self, LogFile, Messages};
use crate::paths::Paths;
use crate::platform;
use crate::setup::freshness::{self, FreshnessError};

/// Run the daemon in the foreground until it is interrupted.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The port to listen on, on 127.0.0.1 [default: `TMA1_PORT`, else 14318].
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    port: Option<u16>,
    /// Leave the session, and say everything to the log in ~/.tma1/logs.
    #[arg(long, hide = true)]
    detached: bool,
}

pub(super) fn run(arguments: &Arguments, context: &Context) -> Result<ExitStatus, Failure> {
    let mut config = context.config.clone();
    config.port = arguments.port.unwrap_or(config.port);
    let sink: Box<dyn Write + Send> = if arguments.detached {
        platform::leave_session();
        Box::new(LogFile::open(context.paths.daemon_log())?)
    } else {
        Box::new(io::stderr())
    };
    let messages = Messages::start(sink)?;
    let writer = messages.clone();
    let colors = !arguments.detached && io::stderr().is_terminal();
    log::to(move || writer.clone(), colors, &config.log)?;
    let (paths, port) = (context.paths.clone(), config.port);
    let begun = move || keep_fresh(&paths, port);
    let ended = if arguments.detached {
        let announce = |ready| tracing::info!("{ready}");
        let ended = daemon::run(&config, &context.paths, announce, begun);
        if ended.is_ok() {
            tracing::info!("the daemon has ended");
        }
        ended
    } else {
        let announce = |ready| messages.line(format_args!("{ready} Ctrl-C ends it."));
        daemon::run(&config, &context.paths, announce, begun)
    };
    let ended = ended.map_err(|error| {
        let hint = error.hint();
        Failure::new(error, hint)
    });
    if let (Err(failure), true) = (&ended, arguments.detached) {
        // Standard error is the log, or where a manager of services hides it from `tma1 logs`.
        messages.line(failure.plain());
        messages.flush();
        return Ok(ExitStatus::Failed);
    }
    messages.flush();
    ended.map(|()| ExitStatus::Done)
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
