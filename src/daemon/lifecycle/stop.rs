//! Ends the daemon, and keeps it from being started again unasked.

use std::io::{self, ErrorKind, Write};
use std::time::Duration;

use crate::clock;
use crate::daemon::client::{Health, Question};
use crate::daemon::lifecycle::start::wait;
use crate::daemon::lifecycle::{LifecycleError, Presence};
use crate::daemon::token::Token;
use crate::paths::Paths;
use crate::platform;

/// How long the daemon may take to answer.
const ANSWER: Duration = Duration::from_secs(2);

/// How long it may take to end: what it has begun, and what is still to be logged.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long a daemon that is starting may take until it can be asked.
const STARTING: Duration = Duration::from_secs(5);

/// What is in the file that keeps a daemon from being started unasked.
const NOTE: &str = "Written by `tma1 stop`: no hook starts the daemon until `tma1 start`.\n";

/// Ends the daemon of the data directory, if there is one, and waits until it is gone.
pub fn stop(paths: &Paths, port: u16) -> Result<Option<Health>, LifecycleError> {
    let deadline = clock::monotonic() + STARTING;
    loop {
        match Presence::of(paths, port)? {
            Presence::Absent => return Ok(None),
            Presence::Running { port, health } => {
                end(paths, port, health.pid)?;
                return Ok(Some(health));
            }
            Presence::Silent(holder) => wait(deadline, LifecycleError::Hangs(holder))?,
        }
    }
}

/// Asks the daemon `pid` on `port`, which has the data directory, to end, and waits until it has.
pub(super) fn end(paths: &Paths, port: u16, pid: u32) -> Result<(), LifecycleError> {
    // One that is lost or was changed must not keep the daemon that knew it from being replaced: where
    // the kernel tells whose program asks, it needs none.
    let token = Token::read(&paths.token()).ok();
    let ask = |token: Option<&Token>| {
        let question = Question { method: "POST", target: "/api/stop", token, paths };
        question.ask(port, clock::monotonic() + ANSWER)
    };
    let mut answer = ask(token.as_ref())?;
    if answer.status == 401 && token.is_some() {
        answer = ask(None)?;
    }
    if answer.status != 200 {
        return Err(LifecycleError::Refused { pid, status: answer.status });
    }
    let deadline = clock::monotonic() + PATIENCE;
    loop {
        match Presence::of(paths, port)? {
            Presence::Absent => return Ok(()),
            // Another one is there by now.
            Presence::Running { health, .. } if health.pid != pid => return Ok(()),
            Presence::Running { .. } | Presence::Silent(_) => {
                wait(deadline, LifecycleError::Stays { pid })?;
            }
        }
    }
}

/// Keeps hooks and MCP servers from starting the daemon. Where nothing of ours is, nothing is left.
pub fn forbid_autostart(paths: &Paths) -> io::Result<()> {
    if !paths.root.is_dir() {
        return Ok(());
    }
    let mut file = platform::open_private_file(&paths.stopped())?;
    file.set_len(0)?;
    file.write_all(NOTE.as_bytes())
}

/// Takes that back.
pub fn allow_autostart(paths: &Paths) -> io::Result<()> {
    match fs_err::remove_file(paths.stopped()) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
