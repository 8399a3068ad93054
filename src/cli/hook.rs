//! `tma1 hook`: hands one event to the daemon and prints its answer. The hook scripts call it.
//!
//! Hot path: it runs before every step of an agent. It opens no file, reads no configuration and
//! starts no async runtime; only where there is no daemon it looks whether to start one.

use std::io::{self, ErrorKind, Read};
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::agent::Agent;
use crate::cli::{ExitStatus, Printer};
use crate::clock;
use crate::config::{DEFAULT_PORT, Environment};
use crate::daemon::MAX_EVENT_BYTES;
use crate::daemon::client;
use crate::daemon::lifecycle::{Autostart, Launcher};
use crate::paths::Paths;

/// The longest that a hook may take from start to end, reading standard input included.
const DEADLINE: Duration = Duration::from_millis(500);

/// Hand one hook event from standard input to the daemon and print its answer.
///
/// Meant for the hook scripts. Prints nothing when the daemon can't be reached in time.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The agent whose event this is.
    #[arg(long, value_enum, default_value_t = Agent::ClaudeCode)]
    agent: Agent,
    /// The port of the daemon on 127.0.0.1.
    #[arg(long, default_value_t = DEFAULT_PORT)]
    port: u16,
    /// The data directory of the daemon [default: `TMA1_DATA_DIR`, else ~/.tma1].
    ///
    /// Agents need not hand on the variable.
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

/// Never fails: an agent must not notice that we are away.
pub(super) fn run(arguments: &Arguments, printer: Printer) -> ExitStatus {
    let deadline = clock::monotonic() + DEADLINE;
    let Arguments { agent, port, .. } = *arguments;
    let data_dir = arguments.data_dir.clone();
    let (done, watch) = mpsc::channel::<()>();
    let worker = thread::Builder::new().spawn(move || {
        relay(agent, port, data_dir, deadline, printer);
        drop(done);
    });
    match worker {
        // Whatever blocks the worker, standard input or output, the process ends in time.
        Ok(_) => {
            let _ = watch.recv_timeout(client::remaining(deadline));
        }
        // A system without room for a thread: unwatched is better than unsaid.
        Err(_) => relay(agent, port, arguments.data_dir.clone(), deadline, printer),
    }
    ExitStatus::Done
}

/// Hands the event on. If nobody takes it, the daemon is started, which nobody waits for: it answers
/// the next one.
fn relay(agent: Agent, port: u16, data_dir: Option<PathBuf>, deadline: Instant, printer: Printer) {
    if let Err(error) = answer(agent, port, deadline, printer)
        && error.kind() == ErrorKind::ConnectionRefused
        && let Some(autostart) = autostart(port, data_dir)
    {
        drop(autostart.launch(clock::now()));
    }
}

fn autostart(port: u16, data_dir: Option<PathBuf>) -> Option<Autostart> {
    let environment = Environment::capture();
    let paths = Paths::resolve(&environment).ok()?;
    let paths = match data_dir {
        Some(directory) => paths.with_root(directory).ok()?,
        None => paths,
    };
    let program = std::env::current_exe().ok()?;
    Autostart::new(Launcher { program, environment, paths, port })
}

fn answer(agent: Agent, port: u16, deadline: Instant, printer: Printer) -> io::Result<()> {
    let mut event = Vec::new();
    let limit = MAX_EVENT_BYTES as u64 + 1;
    if io::stdin().lock().take(limit).read_to_end(&mut event)? > MAX_EVENT_BYTES {
        return Ok(());
    }
    let answer = client::post_event(port, agent, &event, deadline)?;
    printer.out_bytes(&answer)
}
