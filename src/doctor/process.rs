//! Runs a program for a moment, as an agent would: with nothing of our environment but what it needs.

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use crate::clock;
use crate::config::Environment;
use crate::platform;

/// What is kept of an output, in bytes.
const MAX_OUTPUT: u64 = 1024 * 1024;

/// What an agent hands on to its hooks that can matter for one.
const HANDED_ON: [&str; 12] = [
    "HOME",
    "USER",
    "PATH",
    "LANG",
    "TMPDIR",
    "SHELL",
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "USERPROFILE",
    "SystemRoot",
    "TEMP",
    "ComSpec",
];

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Run {
    /// Its exit status; none after a signal.
    pub status: Option<i32>,
    /// What it wrote to standard output.
    pub stdout: String,
    /// From its start to its end.
    pub took: Duration,
}

/// Why there is no result.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NoRun {
    /// It can't be started, for this reason.
    NotStarted(String),
    /// It did not end in time, and was ended.
    TimedOut,
}

/// `command` with the environment that a hook gets, but for this: what is only looked at starts no daemon.
pub(super) fn clean(mut command: Command, environment: &Environment) -> Command {
    command.env_clear();
    command.envs(HANDED_ON.iter().filter_map(|name| Some((name, environment.get(name)?))));
    command.env("TMA1_NO_AUTOSTART", "1");
    platform::lead_group(&mut command);
    command
}

/// Runs `command` with `input` on standard input, to its end or to that of `patience`.
pub(super) fn run(mut command: Command, input: &str, patience: Duration) -> Result<Run, NoRun> {
    let begun = clock::monotonic();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| NoRun::NotStarted(error.to_string()))?;
    let (said, heard) = channel();
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let input = input.to_owned();
    thread::spawn(move || {
        // A program need not read what it is given.
        drop(stdin.map(|mut stdin| stdin.write_all(input.as_bytes())));
    });
    thread::spawn(move || {
        let mut output = Vec::new();
        drop(stdout.map(|stdout| stdout.take(MAX_OUTPUT).read_to_end(&mut output)));
        drop(said.send(output));
    });
    let stdout = match heard.recv_timeout(patience) {
        Ok(stdout) => stdout,
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
            platform::kill_group(&mut child);
            drop(child.wait());
            return Err(NoRun::TimedOut);
        }
    };
    while matches!(child.try_wait(), Ok(None)) {
        if clock::monotonic() - begun > patience {
            platform::kill_group(&mut child);
            drop(child.wait());
            return Err(NoRun::TimedOut);
        }
        thread::sleep(Duration::from_millis(1));
    }
    let status = child.wait().ok().and_then(|status| status.code());
    let stdout = String::from_utf8_lossy(&stdout).into_owned();
    Ok(Run { status, stdout, took: clock::monotonic() - begun })
}

/// The program at the start of a `tma1 --version` that it prints.
pub(super) fn version(output: &str) -> Option<&str> {
    output.trim().strip_prefix("tma1 ")?.split_whitespace().next()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(line: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", line]);
        clean(command, &Environment::from_iter([("PATH", "/usr/bin:/bin"), ("SECRET", "x")]))
    }

    #[test]
    fn a_program_gets_its_input_and_nothing_of_our_environment() {
        let run = run(shell("cat; printf %s \"$SECRET\"; exit 3"), "in", Duration::from_secs(10));
        let run = run.unwrap();
        assert_eq!((run.status, run.stdout.as_str()), (Some(3), "in"));
    }

    #[test]
    fn a_program_that_does_not_end_is_ended() {
        for line in ["sleep 60", "exec >&-; sleep 60", "sleep 60 & "] {
            let begun = clock::monotonic();
            let patience = Duration::from_millis(100);
            assert_eq!(run(shell(line), "", patience), Err(NoRun::TimedOut), "{line}");
            assert!(clock::monotonic() - begun < Duration::from_secs(10), "{line}");
        }
    }

    #[test]
    fn a_version_is_read_from_what_our_program_prints() {
        assert_eq!(version("tma1 0.1.0\n"), Some("0.1.0"));
        for other in ["", "0.1.0", "tma2 0.1.0", "tma1 "] {
            assert_eq!(version(other), None, "{other}");
        }
    }
}
