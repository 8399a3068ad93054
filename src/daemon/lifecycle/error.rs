//! Why the daemon can't be started or ended.

use std::io;

use crate::daemon::Holder;

/// Why the daemon can't be started or ended.
#[derive(Debug, thiserror::Error)]
pub enum LifecycleError {
    /// It ended at once.
    #[error("the daemon did not start; it said:\n{}", .0.trim_end())]
    Ended(String),
    /// It runs and does not answer yet.
    #[error("the daemon (process {pid}) was started and does not answer yet")]
    Slow {
        /// Its process.
        pid: u32,
    },
    /// One that holds the data directory does not answer.
    #[error("a daemon{} has the data directory and does not answer", of(*.0))]
    Hangs(Option<Holder>),
    /// One that holds the data directory listens somewhere else.
    #[error("the daemon (process {pid}) listens on port {port}, and not on port {wanted}")]
    Elsewhere {
        /// Its process.
        pid: u32,
        /// Where it listens.
        port: u16,
        /// Where it was to listen.
        wanted: u16,
    },
    /// It does not end because it is asked to.
    #[error("the daemon (process {pid}) refused to end, with status {status}")]
    Refused {
        /// Its process.
        pid: u32,
        /// The HTTP status of its answer.
        status: u16,
    },
    /// It was asked to end and did not.
    #[error("the daemon (process {pid}) was asked to end and has not done so yet")]
    Stays {
        /// Its process.
        pid: u32,
    },
    /// A file of ours, a process or a connection can't be had.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl LifecycleError {
    /// What to do about it, where that is known and not said.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Slow { .. } => {
                Some("`tma1 status` tells when it does, `tma1 logs` what it is doing".to_owned())
            }
            Self::Hangs(Some(Holder { pid, .. })) | Self::Refused { pid, .. } => {
                Some(format!("look what process {pid} is, and end it"))
            }
            Self::Hangs(None) => Some("find that process and end it".to_owned()),
            Self::Elsewhere { .. } => Some("`tma1 restart` moves it".to_owned()),
            Self::Stays { pid } => {
                Some(format!("try again; if it stays, end process {pid} yourself"))
            }
            Self::Ended(_) | Self::Io(_) => None,
        }
    }
}

fn of(holder: Option<Holder>) -> String {
    holder.map_or_else(String::new, |Holder { pid, .. }| format!(" (process {pid})"))
}
