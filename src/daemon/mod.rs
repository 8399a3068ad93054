//! The daemon.

pub mod client;

use crate::cli::Printer;
use crate::config::Config;
use crate::paths::Paths;

/// The largest event that is taken, in bytes. A 1.5 MB `Write` makes a 3 MB event; beyond this
/// limit the event is answered with nothing.
pub const MAX_EVENT_BYTES: usize = 16 * 1024 * 1024;

/// Why the daemon can't run.
#[derive(Debug, thiserror::Error)]
pub enum DaemonError {}

impl DaemonError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        None
    }
}

/// Runs the daemon until it is asked to end.
pub fn run(_config: &Config, _paths: &Paths, _printer: Printer) -> Result<(), DaemonError> {
    Ok(())
}
