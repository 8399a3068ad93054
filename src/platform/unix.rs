//! Linux and macOS.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use fs_err::OpenOptions;
use fs_err::os::unix::fs::OpenOptionsExt;
use tokio::signal::unix::{SignalKind, signal};

/// Creates `path` and its missing parents, readable by this user alone (mode 0700).
pub fn create_private_dir(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    builder.mode(0o700);
    builder.create(path).map_err(|error| {
        io::Error::new(
            error.kind(),
            format!("failed to create directory `{}`: {error}", path.display()),
        )
    })
}

/// Options for a file of ours that is created readable by this user alone (mode 0600).
pub fn private_file_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}

/// Completes when the process is asked to end: SIGINT or SIGTERM.
///
/// The handlers are in place when this function returns, before its future is polled.
pub fn shutdown_requested() -> io::Result<impl Future<Output = ()> + Send> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}
