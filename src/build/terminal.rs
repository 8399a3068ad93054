//! A terminal for what the command writes, where ours goes to one: programs look whether theirs does
//! before they show colours and progress.
//!
//! What the user types does not pass through it. The command has the user's own terminal on standard input
//! and as `/dev/tty`, with its modes, its signals and its job control. Only to a program that opens the
//! terminal of its standard error by name, in order to read keys, we hand the keys.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::{read, write};
use rustix::process::getpgrp;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{
    LocalModes, OptionalActions, OutputModes, Termios, tcgetattr, tcgetpgrp, tcgetwinsize,
    tcsetattr, tcsetwinsize,
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
    /// What the command's terminal is called.
    name: CString,
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
        let terminal =
            Self { user, command: Arc::downgrade(&ours), before, seen, changed: false, name };
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
        let reads = !now.local_modes.contains(LocalModes::ICANON) && self.is_opened_again();
        self.seen = now;
        if reads && let Ok(user) = self.user.try_clone() {
            let command = Weak::clone(&self.command);
            let hand_over = move || hand_over(&user, &command);
            // Without room for a thread the command gets no keys, but everything else.
            drop(thread::Builder::new().name("keys".to_owned()).spawn(hand_over));
        }
    }

    /// Whether a program has opened the command's terminal by its name, which it does to read from it, as
    /// pagers do: what it was given are the streams.
    fn is_opened_again(&self) -> bool {
        let numbered = |entry: &fs_err::DirEntry| {
            entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok())
        };
        let entries = |path: &Path| fs_err::read_dir(path).into_iter().flatten().flatten();
        let own = std::process::id();
        entries(Path::new("/proc"))
            .filter(|process| numbered(process).is_some_and(|id| id != own))
            .flat_map(|process| entries(&process.path().join("fd")))
            .filter(|open| numbered(open).is_some_and(|number| number > 2))
            .filter_map(|open| fs_err::read_link(open.path()).ok())
            .any(|target| target.as_os_str().as_bytes() == self.name.as_bytes())
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

/// How often it is seen whether the program still reads keys.
const LOOK: Duration = Duration::from_millis(50);

/// Hands the keys that the user presses to the command's terminal, as long as a program there reads them
/// one by one.
fn hand_over(user: &OwnedFd, command: &Weak<OwnedFd>) {
    let mut keys = [0; 1024];
    let patience = Timespec::try_from(LOOK).ok();
    while let Some(command) = command.upgrade() {
        let reads =
            tcgetattr(&*command).is_ok_and(|modes| !modes.local_modes.contains(LocalModes::ICANON));
        if !reads {
            return;
        }
        let mut fds = [PollFd::new(user, PollFlags::IN)];
        if poll(&mut fds, patience.as_ref()).is_ok_and(|ready| ready > 0)
            && let Ok(count @ 1..) = read(user, &mut keys)
        {
            let _ = write(&*command, keys.get(..count).unwrap_or_default());
        }
    }
}
