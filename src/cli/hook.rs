//! `tma1 hook`: hands one event to the daemon and prints its answer. The hook scripts call it.
//!
//! Hot path: it runs before every step of an agent. It opens no file, reads no configuration and
//! starts no async runtime.

use std::io::Read;
use std::sync::mpsc;
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
    if let Some(answer) = answer(arguments, deadline) {
        drop(printer.out_bytes(&answer));
    }
    ExitStatus::Done
}

fn answer(arguments: &Arguments, deadline: Instant) -> Option<Vec<u8>> {
    let event = read_event(deadline)?;
    client::post_event(arguments.port, arguments.agent, &event, deadline).ok()
}

/// Reads the event in a thread of its own, so that a standard input that stays open can't hold the
/// agent beyond the deadline.
fn read_event(deadline: Instant) -> Option<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut event = Vec::new();
        let limit = MAX_EVENT_BYTES as u64 + 1;
        let read = std::io::stdin().lock().take(limit).read_to_end(&mut event);
        drop(sender.send(read.map(|_| event)));
    });
    let event = receiver.recv_timeout(client::remaining(deadline)).ok()?.ok()?;
    (event.len() <= MAX_EVENT_BYTES).then_some(event)
}
