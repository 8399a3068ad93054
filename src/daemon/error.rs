//! Why the daemon can't run.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use crate::daemon::client::Health;
use crate::store::StoreError;

/// Why the daemon can't run.
#[derive(Debug, thiserror::Error)]
pub enum DaemonError {
    /// Another daemon has the data directory.
    #[error("a tma1 daemon is already running for `{}`{}", data.display(), described(*holder))]
    AlreadyRunning {
        /// The data directory.
        data: PathBuf,
        /// The daemon that has it, as far as it has said so.
        holder: Option<Holder>,
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

/// The daemon that has a data directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holder {
    /// Its process.
    pub pid: u32,
    /// The port that it listens on.
    pub port: u16,
}

impl Holder {
    /// Who holds the lock of a data directory, as it has written there.
    pub(super) fn read(lock: &File) -> Option<Self> {
        let mut text = String::new();
        lock.take(64).read_to_string(&mut text).ok()?;
        let (pid, port) = text.split_once(' ')?;
        Some(Self { pid: pid.parse().ok()?, port: port.parse().ok()? })
    }
}

impl DaemonError {
    /// What to do about it, where that is known.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::AlreadyRunning { .. } => {
                Some("it works already; `tma1 restart` replaces it".to_owned())
            }
            Self::PortInUse { .. } => Some(
                "end that program, or choose another port: set TMA1_PORT and run `tma1 install` \
                 again, as the hooks need to know it"
                    .to_owned(),
            ),
            Self::Store(error) => Some(error.hint()),
            Self::Listen { .. } | Self::Io(_) => None,
        }
    }
}

fn described(holder: Option<Holder>) -> String {
    holder.map_or_else(String::new, |Holder { pid, port }| format!(" (process {pid}, port {port})"))
}

fn owner(health: Option<&Health>) -> String {
    match health {
        Some(Health { pid, version, .. }) => {
            format!("another tma1 daemon (process {pid}, version {version})")
        }
        None => "another program".to_owned(),
    }
}
