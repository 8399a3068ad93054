//! Starts the daemon and waits until it answers; one of another version makes room.

use std::io;
use std::process::Child;
use std::time::{Duration, Instant};

use crate::clock;
use crate::daemon::client::{self, Health};
use crate::daemon::lifecycle::{Launcher, LifecycleError, Presence, stop};

/// How long the daemon may take until it answers.
const PATIENCE: Duration = Duration::from_secs(5);

const PAUSE: Duration = Duration::from_millis(20);

/// How a daemon came to be there.
#[derive(Debug)]
pub enum Started {
    /// It was there before.
    Already(Health),
    /// It was started.
    Now(Health),
    /// It was started in the place of another.
    InPlaceOf {
        /// The version that ran before.
        version: String,
        /// The one that runs now.
        health: Health,
    },
}

impl Launcher {
    /// Has the daemon run, in this version and on this port, and waits until it answers.
    pub fn start(&self) -> Result<Started, LifecycleError> {
        self.start_by(|| self.launch().map(Some))
    }

    /// The same where `begin` starts it if there is none: as a child of ours, or through somebody
    /// else.
    pub fn start_by(
        &self,
        begin: impl FnOnce() -> io::Result<Option<Child>>,
    ) -> Result<Started, LifecycleError> {
        let deadline = clock::monotonic() + PATIENCE;
        let mut replaced = None;
        loop {
            match Presence::of(&self.paths, self.port)? {
                Presence::Running { port, health } if health.version == own_version() => {
                    return self.found(port, health);
                }
                Presence::Running { port, health } => {
                    stop::end(&self.paths, port, health.pid)?;
                    replaced = Some(health.version);
                }
                Presence::Silent(holder) => wait(deadline, LifecycleError::Hangs(holder))?,
                Presence::Absent => break,
            }
        }
        let started = self.begin_and_wait(begin)?;
        Ok(match (replaced, started) {
            (Some(version), Started::Now(health)) => Started::InPlaceOf { version, health },
            (_, started) => started,
        })
    }

    fn found(&self, port: u16, health: Health) -> Result<Started, LifecycleError> {
        if port == self.port {
            return Ok(Started::Already(health));
        }
        Err(LifecycleError::Elsewhere { pid: health.pid, port, wanted: self.port })
    }

    fn begin_and_wait(
        &self,
        begin: impl FnOnce() -> io::Result<Option<Child>>,
    ) -> Result<Started, LifecycleError> {
        let logged = self.log_length();
        let mut child = begin()?;
        let deadline = clock::monotonic() + PATIENCE;
        loop {
            let ended = child.as_mut().map_or(Ok(false), has_ended)?;
            if let Presence::Running { port, health } = Presence::of(&self.paths, self.port)? {
                let is_new = child.as_ref().is_none_or(|child| child.id() == health.pid);
                if is_new && port == self.port {
                    return Ok(Started::Now(health));
                }
                // Somebody else was faster.
                return self.found(port, health);
            }
            let late = match &child {
                Some(child) if !ended => LifecycleError::Slow { pid: child.id() },
                Some(_) => return Err(LifecycleError::Ended(self.logged_since(logged)?)),
                None => LifecycleError::Ended(self.logged_since(logged).unwrap_or_default()),
            };
            wait(deadline, late)?;
        }
    }
}

/// The version of this program.
pub(super) fn own_version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

fn has_ended(child: &mut Child) -> io::Result<bool> {
    Ok(child.try_wait()?.is_some())
}

/// Pauses, or fails if the time is up.
pub(super) fn wait(deadline: Instant, late: LifecycleError) -> Result<(), LifecycleError> {
    if client::remaining(deadline).is_zero() {
        return Err(late);
    }
    std::thread::sleep(PAUSE);
    Ok(())
}
