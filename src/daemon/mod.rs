//! The daemon: takes the hook events, folds them into the world and the log, answers from the world.

mod access;
mod agent_api;
mod builds;
mod callback;
pub mod client;
mod counters;
mod error;
mod history;
mod hooks;
pub mod lifecycle;
mod log_file;
mod messages;
mod probe;
mod routes;
mod server;
mod state;
pub mod token;

use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::Notify;

use crate::agent::Redaction;
use crate::clock;
use crate::config::Config;
use crate::export::{Exporter, Target};
use crate::paths::Paths;
use crate::platform;
use crate::sensor::index::{Indexer, Limits};
use crate::sensor::observer::Observer;
use crate::sensor::project::Projects;
use crate::sensor::transcripts::{Folders, Transcripts};
use crate::setup::purge;
use crate::store::{Database, EventLog, Memory};
use crate::world::Settings;
pub use error::{DaemonError, Holder};
use history::History;
use hooks::{Hooks, Rebuilt};
pub use log_file::LogFile;
pub use messages::Messages;
pub use probe::PROBE_FIELD;
use routes::Routes;
pub use state::{DEFAULT_ACTIONS, MAX_ACTIONS};
use token::Token;

/// The largest event that is taken, in bytes. A 1.5 MB `Write` makes a 3 MB event; beyond this
/// limit the event is answered with nothing.
pub const MAX_EVENT_BYTES: usize = 16 * 1024 * 1024;

/// How many threads do what can take long: large events, directories on slow file systems.
const MAX_HELPERS: usize = 8;

/// How far back events are folded into the world again when the daemon starts.
const REMEMBERED: Duration = Duration::from_secs(24 * 60 * 60);

/// How long a lock that another program has may be a look of its at who holds it.
const GLANCE: Duration = Duration::from_millis(100);

/// How often the log says what became of the hooks.
const REPORT_INTERVAL: Duration = Duration::from_secs(5 * 60);

/// Runs the daemon until it is asked to end, then lets it finish what it has begun.
///
/// Once it listens, as the only daemon of its data, it says so to `announce`, and `begun` is called
/// where that holds up nobody.
pub fn run(
    config: &Config,
    paths: &Paths,
    announce: impl FnOnce(String),
    begun: impl FnOnce() + Send + 'static,
) -> Result<(), DaemonError> {
    platform::create_private_dir(&paths.data())?;
    let lock = match claim(config, paths) {
        // The log says it too; agents are answered all the same, and the port is nobody else's.
        Err(DaemonError::Io(error)) if is_refusal_to_write(&error) => {
            tracing::warn!(%error, "the data directory can't be written");
            None
        }
        claimed => Some(claimed?),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(MAX_HELPERS)
        .thread_keep_alive(Duration::MAX)
        .build()?;
    let ended = runtime.block_on(async {
        // Before anything else: a signal that comes while the daemon starts must end it too.
        let shutdown = platform::shutdown_requested()?;
        let listener = listen(config.port).await?;
        let token = Token::read_or_create(&paths.token())?;
        // The first helper is there for good: without one, the runtime panics when it gets no other.
        drop(tokio::task::spawn_blocking(|| ()).await);
        let started = clock::monotonic();
        let (hooks, port) = (start(config, paths)?, config.port);
        let stop = Notify::new();
        let export = |target: &Target| Exporter::start(target.clone(), paths.database());
        let export = config.export.as_ref().map(export).transpose()?;
        let (history, paths) = (History::new(paths.database()), paths.clone());
        let folders = Folders::new(&paths);
        let routes =
            Arc::new(Routes { export, hooks, history, folders, token, port, stop, paths, started });
        let reporting = tokio::spawn(report(Arc::clone(&routes)));
        announce(format!(
            "tma1 {} is listening on 127.0.0.1:{port}, with its data in {}.",
            env!("CARGO_PKG_VERSION"),
            routes.paths.display(&routes.paths.data()),
        ));
        drop(tokio::task::spawn_blocking(begun));
        let stopped = Arc::clone(&routes);
        let shutdown = async move {
            tokio::select! {
                () = shutdown => {}
                () = stopped.stop.notified() => {}
            }
        };
        server::serve(listener, routes, shutdown).await;
        reporting.abort();
        Ok(())
    });
    // What is still queued for the log is written when the last connection lets go of it.
    drop(runtime);
    drop(lock);
    ended
}

/// Makes the data directory ours, and this process the one that has it.
fn claim(config: &Config, paths: &Paths) -> Result<File, DaemonError> {
    platform::make_private_dir(&paths.data())?;
    purge::mark(&paths.data())?;
    lock(config, paths)
}

/// Whether a directory can't be written to at all, as on a disk that is full or read-only.
fn is_refusal_to_write(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem | ErrorKind::StorageFull
    )
}

/// Makes this process the only daemon of its data directory, for as long as the file is open.
fn lock(config: &Config, paths: &Paths) -> Result<File, DaemonError> {
    let path = paths.daemon_lock();
    let mut file = platform::open_private_file(&path)?;
    let mut taken = file.try_lock();
    let deadline = clock::monotonic() + GLANCE;
    while matches!(taken, Err(TryLockError::WouldBlock)) && clock::monotonic() < deadline {
        std::thread::sleep(GLANCE / 10);
        taken = file.try_lock();
    }
    match taken {
        Ok(()) => {
            // Whoever finds the file locked reads there who holds it.
            file.set_len(0)?;
            write!(file, "{} {}", std::process::id(), config.port)?;
            Ok(file)
        }
        Err(TryLockError::WouldBlock) => {
            Err(DaemonError::AlreadyRunning { data: paths.data(), holder: Holder::read(&file) })
        }
        Err(TryLockError::Error(error)) => Err(error.into()),
    }
}

async fn listen(port: u16) -> Result<TcpListener, DaemonError> {
    match TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await {
        Err(error) if error.kind() == ErrorKind::AddrInUse => {
            Err(DaemonError::PortInUse { port, holder: client::holder(port) })
        }
        Err(source) => Err(DaemonError::Listen { port, source }),
        Ok(listener) => Ok(listener),
    }
}

/// Says every few minutes what became of the hooks, if there were any.
async fn report(routes: Arc<Routes>) {
    loop {
        tokio::time::sleep(REPORT_INTERVAL).await;
        for (event, report) in routes.hooks.counters().report_if_fresh().unwrap_or_default() {
            tracing::info!(event, %report, "hooks");
        }
    }
}

/// Opens the log and folds what it holds of the last day into a new world.
fn start(config: &Config, paths: &Paths) -> Result<Hooks, DaemonError> {
    let mut opened = Database::open_in_any_state(&paths.database())?;
    let projects = Arc::new(Projects::new(&paths.home));
    let settings = Settings { context_pressure_threshold: config.context_pressure_threshold };
    let since = clock::now().minus(REMEMBERED);
    let fold = |database: &Database| {
        hooks::rebuild(database, since, &projects, settings, config.injection)
    };
    let Rebuilt { world, views, transcripts: begun } = match fold(&opened.database) {
        Err(error) if error.is_damage() => {
            opened = Database::replace(&paths.database(), &error.cause())?;
            fold(&opened.database)?
        }
        folded => folded?,
    };
    let mut transcripts = Transcripts::new(paths);
    for (session, transcript) in begun {
        transcripts.began(&session, &transcript);
    }
    let memory = Memory::new(&paths.database());
    let log = EventLog::start(opened, config.retention)?;
    let observer = Observer::start(transcripts, views)?;
    let indexer = Indexer::start(Arc::clone(&projects), Limits::default())?;
    let redaction = config.redaction.then(Redaction::new).transpose().map_err(io::Error::other)?;
    Ok(Hooks::new(world, log, memory, projects, (observer, indexer), redaction, config))
}
