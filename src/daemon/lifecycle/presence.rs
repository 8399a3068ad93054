//! Whether a data directory has a daemon.

use std::fs::TryLockError;
use std::io::{self, ErrorKind};

use crate::daemon::Holder;
use crate::daemon::client::{self, Health};
use crate::paths::Paths;
use crate::platform;

/// The daemon of a data directory.
#[derive(Debug)]
pub enum Presence {
    /// There is none.
    Absent,
    /// One has the data directory and answers.
    Running {
        /// Where it listens, on 127.0.0.1.
        port: u16,
        /// How it is.
        health: Health,
    },
    /// One has the data directory and does not answer: it is starting, ending or stuck.
    Silent(Option<Holder>),
}

impl Presence {
    /// Looks for the daemon that has the data directory. If it can't be seen where that listens, as
    /// on Windows, `port` is asked.
    pub fn of(paths: &Paths, port: u16) -> io::Result<Self> {
        let lock = match platform::open_without_following(&paths.daemon_lock()) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self::Absent),
            lock => lock?,
        };
        // Shared, so that those who look do not take each other for a daemon.
        match lock.try_lock_shared() {
            Ok(()) => return Ok(Self::Absent),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let holder = Holder::read(&lock);
        let port = holder.map_or(port, |holder| holder.port);
        // What a daemon before has left in the lock is not what the one that answers says.
        let is_holder = |health: &Health| holder.is_none_or(|holder| holder.pid == health.pid);
        Ok(match client::holder(port).filter(is_holder) {
            Some(health) => Self::Running { port, health },
            None => Self::Silent(holder),
        })
    }
}
