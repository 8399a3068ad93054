//! Windows. A user's profile is private to the user by its access control list, which new files
//! inherit, so nothing needs to be set here.

use std::io;
use std::path::Path;

use fs_err::OpenOptions;
use tokio::signal::windows::{ctrl_break, ctrl_c};

/// Creates `path` and its missing parents.
pub fn create_private_dir(path: &Path) -> io::Result<()> {
    fs_err::create_dir_all(path)
}

/// Options for a file of ours.
pub fn private_file_options() -> OpenOptions {
    OpenOptions::new()
}

/// Completes when the process is asked to end: Ctrl-C or Ctrl-Break.
///
/// The handlers are in place when this function returns, before its future is polled.
pub fn shutdown_requested() -> io::Result<impl Future<Output = ()> + Send> {
    let mut interrupt = ctrl_c()?;
    let mut terminate = ctrl_break()?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}
