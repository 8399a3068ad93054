//! A terminal for what the command writes, where ours goes to one: programs look whether theirs does
//! before they show colours and progress.
//!
//! What the user types does not pass through it. The command has the user's own terminal on standard input
//! and as `/dev/tty`, with its modes, its signals and its job control.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Weak};

use rustix::fs::{Mode, OFlags, open};
use rustix::process::getpgrp;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{
    OptionalActions, OutputModes, Termios, tcgetattr, tcgetpgrp, tcgetwinsize, tcsetattr,
    tcsetwinsize,
};

/// The two terminals of a stream: the user's, and the one that the command writes to.
#[derive(Debug)]
pub(super) struct Terminal {
    user: OwnedFd,
    command: Weak<OwnedFd>,
    /// The modes of the user's terminal before the command began.
    before: Termios,
    /// The modes of the command's terminal as we last saw them.
    seen: Termios,
    /// Whether we have changed the user's terminal.
    changed: bool,
}

/// Our end of the command's terminal, and the command's.
pub(super) type Ends = (Arc<OwnedFd>, OwnedFd);

impl Terminal {
    /// A terminal like that of `user`.
    pub(super) fn like(user: BorrowedFd<'_>) -> io::Result<(Self, Ends)> {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        grantpt(&ours)?;
        unlockpt(&ours)?;
        let name = ptsname(&ours, Vec::new())?;
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let command = open(name.as_c_str(), flags, Mode::empty())?;
        let before = tcgetattr(user)?;
        let mut seen = before.clone();
        // The user's terminal does it, and once is enough.
        seen.output_modes.remove(OutputModes::OPOST);
        tcsetattr(&command, OptionalActions::Now, &seen)?;
        let ours = Arc::new(ours);
        let user = user.try_clone_to_owned()?;
        let terminal = Self { user, command: Arc::downgrade(&ours), before, seen, changed: false };
        terminal.resize();
        Ok((terminal, (ours, command)))
    }

    /// Gives the command's terminal the size of the user's.
    pub(super) fn resize(&self) {
        if let (Some(command), Ok(size)) = (self.command.upgrade(), tcgetwinsize(&self.user)) {
            let _ = tcsetwinsize(&*command, size);
        }
    }

    /// Hands on what the command has changed about how its terminal takes input: programs that draw on
    /// standard output set the modes there, and read from standard input.
    pub(super) fn follow(&mut self) {
        let Some(command) = self.command.upgrade() else { return };
        let Ok(now) = tcgetattr(&*command) else { return };
        let is_same =
            now.local_modes == self.seen.local_modes && now.input_modes == self.seen.input_modes;
        if is_same {
            return;
        }
        if let Ok(mut user) = tcgetattr(&self.user) {
            user.local_modes = now.local_modes;
            user.input_modes = now.input_modes;
            user.special_codes = now.special_codes.clone();
            self.set(&user);
            self.changed = true;
        }
        self.seen = now;
    }

    /// Gives the user's terminal back as it was, if we have changed it.
    pub(super) fn restore(&mut self) {
        if std::mem::take(&mut self.changed) {
            self.set(&self.before);
        }
    }

    /// In the background it is not ours to change, and to try would stop us.
    fn set(&self, modes: &Termios) {
        if tcgetpgrp(self.user.as_fd()).is_ok_and(|group| group == getpgrp()) {
            let _ = tcsetattr(&self.user, OptionalActions::Now, modes);
        }
    }
}
