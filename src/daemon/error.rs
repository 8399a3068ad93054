//! Why the daemon can't run.

use std::io;
use std::path::PathBuf;

use crate::daemon::client::Health;
use crate::store::StoreError;

/// Why the daemon can't run.
#[derive(Debug, thiserror::Error)]
pub enum DaemonError {
    /// Another daemon has the data directory.
    #[error("a tma1 daemon is already running for `{}`{}", data.display(), described(holder.as_ref()))]
    AlreadyRunning {
        /// The data directory.
        data: PathBuf,
        /// What answers on the configured port, if that is a daemon.
        holder: Option<Health>,
    },
    /// Something listens on the port.
    #[error("port {port} on 127.0.0.1 is taken by {}", owner(holder.as_ref()))]
    PortInUse {
        /// The port.
        port: u16,
        /// Whether it is a daemon too, of another data directory or user.
        holder: Option<Health>,
    },
    /// The port can't be listened on for another reason.
    #[error("failed to listen on port {port} of 127.0.0.1")]
    Listen {
        /// The port.
        port: u16,
        /// The reason.
        source: io::Error,
    },
    /// The log can't be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file of ours, or a thread, can't be had.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl DaemonError {
    /// What to do about it, where that is known.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::AlreadyRunning { holder: Some(health), .. }
            | Self::PortInUse { holder: Some(health), .. } => {
                Some(format!("it works already; to replace it, end process {} first", health.pid))
            }
            Self::AlreadyRunning { holder: None, .. } => {
                Some("it works already; to replace it, end that process first".to_owned())
            }
            Self::PortInUse { holder: None, .. } => Some(
                "end that program, or choose another port: set TMA1_PORT and run `tma1 install` \
                 again, as the hooks need to know it"
                    .to_owned(),
            ),
            Self::Store(error) => Some(error.hint()),
            Self::Listen { .. } | Self::Io(_) => None,
        }
    }
}

fn described(health: Option<&Health>) -> String {
    health.map_or_else(String::new, |health| {
        format!(" (process {}, version {})", health.pid, health.version)
    })
}

fn owner(health: Option<&Health>) -> String {
    match health {
        Some(_) => format!("another tma1 daemon{}", described(health)),
        None => "another program".to_owned(),
    }
}
