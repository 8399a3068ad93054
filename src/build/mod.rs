//! `tma1 build`: runs a command as if we were not there, and tells the daemon what it says.
//!
//! The way of a byte: the command writes it, [`streams`](self) carries it over to where we write, and a
//! bounded [`Tap`] gets a copy. Everything behind the tap, the lines, what matters of them and the daemon,
//! is another thread's, for which nobody waits.

mod excerpt;
mod lines;
mod message;
mod reporter;
mod selection;
#[cfg(unix)]
mod streams;
mod tap;
#[cfg(unix)]
mod terminal;
#[cfg(unix)]
mod unix;
mod verdict;
#[cfg(windows)]
mod windows;

use std::ffi::OsString;
use std::io;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

pub(crate) use excerpt::tells_error;
pub use message::{Caller, Event, Message};
pub use reporter::{Daemon, Reporter};
pub use selection::Selection;
use tap::Tap;
#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It exited with this status.
    Exited(i32),
    /// This signal ended it.
    Killed(i32),
}

/// What is told about a command.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The command and its arguments; the first one is there.
    pub words: Vec<OsString>,
    /// Where it runs.
    pub cwd: String,
    /// The directory whose project it is told of, if not `cwd`.
    pub project: Option<String>,
    /// What the user calls it.
    pub tag: Option<String>,
    /// Whether it goes on and on, so that its state is told while it runs.
    pub watch: bool,
    /// How long nothing must come before its state is told.
    pub debounce: Duration,
    /// The session that runs it, if that is known.
    pub caller: Option<Caller>,
}

/// The variables that ask programs for no colours.
pub const NO_COLOR: [(&str, &str); 4] =
    [("NO_COLOR", "1"), ("CARGO_TERM_COLOR", "never"), ("CLICOLOR", "0"), ("FORCE_COLOR", "0")];

/// Runs `command` to its end. `reporter` is told what it says, which makes no difference to it.
pub fn run(command: &mut Command, reporter: Option<Reporter>) -> io::Result<End> {
    let tap = Arc::new(Tap::default());
    let reading = reporter.and_then(|reporter| reporter.start(&tap));
    let end = system::run(command, &tap);
    tap.close();
    if let (Some(reading), Ok(end)) = (reading, &end) {
        reading.finish(*end);
    }
    end
}

/// Ends this process by `signal`, as the command was ended; returns where that can't be done.
pub fn die_by(signal: i32) {
    system::die_by(signal);
}

/// Carries over from standard input to standard output what processes still write that a command has left
/// behind.
pub fn relay() {
    system::relay();
}
