//! The export of the history to a GreptimeDB, for those who want it beyond one machine.
//!
//! It reads the log as any other program may, on a thread of its own, and notes in it how far it has
//! come. Nothing waits for it: hooks are answered and the daemon ends as if it were not there.

mod answer;
mod backoff;
mod client;
mod event;
mod literal;
mod outbox;
mod report;
mod schema;
mod shipper;
mod target;

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::clock;
pub use answer::{Answer, Reply, Silence, Verdict, judge};
pub use literal::Value;
pub use report::Report;
pub use schema::{Column, Kind, TABLES, Table};
pub use shipper::{Next, Shipper};
pub use target::{Password, Target};

/// How long the server may take for an answer.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// How often it is looked whether the log has something new.
const LOOK: Duration = Duration::from_secs(1);

/// The pause between two statements, in which others get the disk and the processor.
const BREATH: Duration = Duration::from_millis(5);

/// After how long without anything new the log is looked at all the same.
const IDLE: Duration = Duration::from_secs(30);

/// How long the end of the daemon waits for a statement on its way. After that it is cut, and sent
/// again by the next daemon.
const LAST_STATEMENT: Duration = Duration::from_millis(500);
const LAST_LOOK: Duration = Duration::from_millis(5);

/// The running export. Dropping it ends it.
#[derive(Debug)]
pub struct Exporter {
    shared: Arc<Shared>,
    thread: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    stop: Condvar,
}

#[derive(Debug, Default)]
struct State {
    is_stopped: bool,
    report: Report,
}

impl Exporter {
    /// Begins to export the log at `path` to `target`.
    pub fn start(target: Target, path: PathBuf) -> io::Result<Self> {
        let host = gethostname::gethostname().to_string_lossy().into_owned();
        let host = if host.is_empty() { "localhost".to_owned() } else { host };
        let shipper = Shipper::new(target, path, host, PATIENCE);
        let shared = Arc::new(Shared::default());
        shared.lock().report = shipper.report();
        let thread = std::thread::Builder::new().name("export".to_owned()).spawn({
            let shared = Arc::clone(&shared);
            move || ship_until_stopped(shipper, &shared)
        })?;
        Ok(Self { shared, thread })
    }

    /// How the export is.
    pub fn report(&self) -> Report {
        self.shared.lock().report.clone()
    }
}

impl Drop for Exporter {
    fn drop(&mut self) {
        self.shared.lock().is_stopped = true;
        self.shared.stop.notify_all();
        let deadline = clock::monotonic() + LAST_STATEMENT;
        while !self.thread.is_finished() && clock::monotonic() < deadline {
            std::thread::sleep(LAST_LOOK);
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells how the export is, and waits; whether it is to end.
    fn wait(&self, report: Report, pause: Duration) -> bool {
        let mut state = self.lock();
        state.report = report;
        let waited = self.stop.wait_timeout_while(state, pause, |state| !state.is_stopped);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.is_stopped
    }
}

fn ship_until_stopped(mut shipper: Shipper, shared: &Shared) {
    let mut version = None;
    loop {
        let next = shipper.step(clock::now(), random());
        let (pause, looks) = match next {
            Next::Now => (BREATH, false),
            Next::After(pause) => (pause, false),
            Next::Idle => (IDLE, true),
        };
        let due = clock::monotonic() + pause;
        loop {
            let left = due.saturating_duration_since(clock::monotonic());
            if shared.wait(shipper.report(), left.min(LOOK)) {
                return;
            }
            if left <= LOOK || looks && shipper.has_news(&mut version) {
                break;
            }
        }
    }
}

/// Spreads the pauses of many machines; without randomness they come at once.
fn random() -> u8 {
    let mut byte = [0];
    let _ = getrandom::fill(&mut byte);
    let [byte] = byte;
    byte
}
