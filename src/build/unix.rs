//! Linux and macOS: the command runs in our process group, at our terminal, so that the kernel sends it
//! what the user types as if we were not there; only what it writes takes a way around.

use std::io;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{
    Pid, Resource, Rlimit, Signal, WaitOptions, getpid, getrlimit, kill_current_process_group,
    kill_process, setrlimit, waitpid,
};
use signal_hook::consts::signal as number;
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::low_level::emulate_default_handler;
use signal_hook::low_level::siginfo::{Cause, Origin};

use super::End;
use super::streams::{Streams, Terminals, carry_over, relay_rest};
use super::tap::Tap;
use super::terminal::Terminal;

/// What is handed on to the command if it is sent to us alone.
const HANDED_ON: [i32; 7] = [
    number::SIGHUP,
    number::SIGINT,
    number::SIGQUIT,
    number::SIGTERM,
    number::SIGUSR1,
    number::SIGUSR2,
    number::SIGTSTP,
];

/// How long what was written before a stop may take to the terminal.
const BEFORE_STOP: Duration = Duration::from_millis(10);

/// Runs `command` to its end, and hands to `tap` what it writes.
pub(super) fn run(command: &mut Command, tap: &Arc<Tap>) -> io::Result<End> {
    // Before the command is there: what comes meanwhile must not be lost.
    let mut signals = SignalsInfo::<WithOrigin>::new(handled())?;
    let (until_ended, ended) = pipe_with(PipeFlags::CLOEXEC)?;
    let (streams, terminals) = Streams::open();
    let child = spawn(command, &streams);
    // Our copies of the command's ends: with them open, its output would never end.
    let relays = streams.start(tap, &Arc::new(until_ended));
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let end =
        child.map(|child| Wrapped { pid: Pid::from_child(&child), terminals }.attend(&mut signals));
    drop(ended);
    let rest: Vec<_> =
        relays?.into_iter().filter_map(|relay| relay.join().ok().flatten()).collect();
    rest.into_iter().for_each(relay_rest);
    end
}

/// Ends this process as the command has ended.
pub(super) fn die_by(signal: i32) {
    // The memory image of the command may be wanted, ours is not.
    let limit = Rlimit { current: Some(0), ..getrlimit(Resource::Core) };
    let _ = setrlimit(Resource::Core, limit);
    drop(emulate_default_handler(signal));
}

/// The signals to be told of. Those that whoever started us wants to be ignored stay so, for the command
/// too.
fn handled() -> Vec<i32> {
    let ignored = ignored_signals();
    let is_ignored = |signal: &i32| ignored >> (signal - 1) & 1 == 1;
    let mut handled: Vec<i32> = HANDED_ON.into_iter().filter(|it| !is_ignored(it)).collect();
    handled.extend([number::SIGCHLD, number::SIGCONT, number::SIGWINCH]);
    handled
}

/// A bit for each signal that is ignored, as far as the system tells.
fn ignored_signals() -> u64 {
    let status = fs_err::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default()
}

/// Starts the command; a script that does not name its interpreter is the shell's, as everywhere.
fn spawn(command: &mut Command, streams: &Streams) -> io::Result<Child> {
    let start = |command: &mut Command| {
        streams.give_to(command)?;
        command.spawn()
    };
    match start(command) {
        Err(error) if error.raw_os_error() == Some(Errno::NOEXEC.raw_os_error()) => {
            let mut shell = Command::new("/bin/sh");
            shell.arg(command.get_program()).args(command.get_args());
            for (name, value) in command.get_envs() {
                match value {
                    Some(value) => shell.env(name, value),
                    None => shell.env_remove(name),
                };
            }
            start(&mut shell)
        }
        started => started,
    }
}

/// A command that runs.
struct Wrapped {
    pid: Pid,
    terminals: Terminals,
}

impl Wrapped {
    /// Sees to it until it ends.
    fn attend(&self, signals: &mut SignalsInfo<WithOrigin>) -> End {
        loop {
            for origin in signals.wait() {
                match origin.signal {
                    number::SIGCHLD => {
                        if let Some(end) = self.look() {
                            self.each(Terminal::restore);
                            return end;
                        }
                    }
                    number::SIGWINCH => self.resize(&origin),
                    signal => self.hand_on(signal, &origin),
                }
            }
        }
    }

    /// How the command ended, if it has. If it was stopped, so are we, until somebody goes on with us.
    fn look(&self) -> Option<End> {
        loop {
            let status = match waitpid(Some(self.pid), WaitOptions::NOHANG | WaitOptions::UNTRACED)
            {
                Ok(Some((_, status))) => status,
                Ok(None) => return None,
                Err(Errno::INTR) => continue,
                // Somebody else has taken its status, which nobody does.
                Err(_) => return Some(End::Exited(1)),
            };
            if let Some(code) = status.exit_status() {
                return Some(End::Exited(code));
            }
            if let Some(signal) = status.terminating_signal() {
                return Some(End::Killed(signal));
            }
            if status.stopped() {
                std::thread::sleep(BEFORE_STOP);
                self.each(Terminal::follow);
                let _ = kill_process(getpid(), Signal::STOP);
            }
        }
    }

    fn each(&self, mut act: impl FnMut(&mut Terminal)) {
        for terminal in &self.terminals {
            act(&mut terminal.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// A signal that came from the terminal has reached the command as well: it is in our group.
    fn hand_on(&self, signal: i32, origin: &Origin) {
        if signal == number::SIGCONT {
            self.each(|it| it.resize());
        }
        if is_sent(origin)
            && let Some(signal) = Signal::from_named_raw(signal)
        {
            let _ = kill_process(self.pid, signal);
        }
    }

    /// The command may have asked for the size before we had changed it, so it is told again.
    fn resize(&self, origin: &Origin) {
        let is_ours = origin.process.is_some_and(|process| process.pid == getpid().as_raw_pid());
        if is_ours || self.terminals.is_empty() {
            return;
        }
        self.each(|it| it.resize());
        let _ = kill_current_process_group(Signal::WINCH);
    }
}

/// Whether a process has sent it, and not the terminal.
fn is_sent(origin: &Origin) -> bool {
    matches!(origin.cause, Cause::Sent(_))
}

/// Carries over from standard input what processes still write that a command has left behind.
pub(super) fn relay() {
    carry_over(&io::stdin(), &io::stdout());
}
