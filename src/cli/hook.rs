//! `tma1 hook`: hands one event to the daemon and prints its answer. The hook scripts call it.
//!
//! Hot path: it runs before every step of an agent. It opens no file, reads no configuration and
//! starts no async runtime.

use std::io::{self, Read};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::agent::Agent;
use crate::cli::{ExitStatus, Printer};
use crate::clock;
use crate::config::DEFAULT_PORT;
use crate::daemon::MAX_EVENT_BYTES;
use crate::daemon::client;

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
}

/// Never fails: an agent must not notice that we are away.
pub(super) fn run(arguments: &Arguments, printer: Printer) -> ExitStatus {
    let deadline = clock::monotonic() + DEADLINE;
    let Arguments { agent, port } = *arguments;
    let (done, watch) = mpsc::channel::<()>();
    let worker = thread::Builder::new().spawn(move || {
        drop(relay(agent, port, deadline, printer));
        drop(done);
    });
    match worker {
        // Whatever blocks the worker, standard input or output, the process ends in time.
        Ok(_) => {
            let _ = watch.recv_timeout(client::remaining(deadline));
        }
        // A system without room for a thread: unwatched is better than unsaid.
        Err(_) => drop(relay(agent, port, deadline, printer)),
    }
    ExitStatus::Done
}

fn relay(agent: Agent, port: u16, deadline: Instant, printer: Printer) -> io::Result<()> {
    let mut event = Vec::new();
    let limit = MAX_EVENT_BYTES as u64 + 1;
    if io::stdin().lock().take(limit).read_to_end(&mut event)? > MAX_EVENT_BYTES {
        return Ok(());
    }
    let answer = client::post_event(port, agent, &event, deadline)?;
    printer.out_bytes(&answer)
}
