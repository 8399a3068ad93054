//! `tma1 start`, `stop` and `restart`: the daemon in the background.

use crate::cli::{Context, ExitStatus, Failure, adapters, service};
use crate::daemon::lifecycle::{self, Launcher, LifecycleError, Started};
use crate::paths::Paths;

/// What is needed to start the daemon of `paths` on `port`.
pub(super) fn launcher(context: &Context, paths: Paths, port: u16) -> Result<Launcher, Failure> {
    let program = adapters::binary(context)?.present().to_owned();
    Ok(Launcher { program, environment: context.environment.clone(), paths, port })
}

/// Starts the daemon in the background and waits until it answers.
pub(super) fn start(context: &Context) -> Result<ExitStatus, Failure> {
    lifecycle::allow_autostart(&context.paths)?;
    run(context)
}

/// Ends the daemon and waits until it is gone.
pub(super) fn stop(context: &Context) -> Result<ExitStatus, Failure> {
    // Before it ends, so that no hook starts it again; and it ends also where that can't be noted.
    let noted = lifecycle::forbid_autostart(&context.paths);
    let said = match lifecycle::stop(&context.paths, context.config.port)? {
        Some(health) => format!("The daemon (process {}) has ended.\n", health.pid),
        None => "The daemon is not running.\n".to_owned(),
    };
    context.printer.out(said)?;
    noted?;
    Ok(ExitStatus::Done)
}

/// Ends the daemon if it runs, and starts it.
pub(super) fn restart(context: &Context) -> Result<ExitStatus, Failure> {
    lifecycle::allow_autostart(&context.paths)?;
    lifecycle::stop(&context.paths, context.config.port)?;
    run(context)
}

/// Starts the daemon: as the service, where that is installed for this very program.
fn run(context: &Context) -> Result<ExitStatus, Failure> {
    let launcher = launcher(context, context.paths.clone(), context.config.port)?;
    let service = service::starting(&launcher, context);
    let mut as_service = "";
    let started = launcher.start_by(|| {
        match service.as_ref().map(service::Service::restart) {
            Some(Ok(())) => {
                as_service = " as a service";
                return Ok(None);
            }
            Some(Err(error)) => context
                .printer
                .error_line(format_args!("warning: {error}; the daemon is started without it")),
            None => {}
        }
        launcher.launch().map(Some)
    })?;
    let (pid, how) = match started {
        Started::Already(health) => (health.pid, "runs already".to_owned()),
        Started::Now(health) => (health.pid, format!("was started{as_service}")),
        Started::InPlaceOf { version, health } => {
            (health.pid, format!("was started{as_service} in the place of version {version}"))
        }
    };
    let port = launcher.port;
    context.printer.out(format_args!("The daemon {how} (process {pid}, port {port}).\n"))?;
    Ok(ExitStatus::Done)
}

impl From<LifecycleError> for Failure {
    fn from(error: LifecycleError) -> Self {
        let hint = error.hint();
        Self::new(error, hint)
    }
}
