//! Runs a program for a moment: its input, its output and its time are bounded.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::clock;
use crate::platform;

/// What is kept of each output, in bytes.
const MAX_OUTPUT: u64 = 1024 * 1024;

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Run {
    /// Its exit status; none after a signal.
    pub status: Option<i32>,
    /// What it wrote to standard output.
    pub stdout: String,
    /// What it wrote to standard error.
    pub stderr: String,
    /// From its start to its end.
    pub took: Duration,
}

/// Why there is no result.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NoRun {
    /// It can't be started, for this reason.
    NotStarted(String),
    /// It did not end in time, and was ended.
    TimedOut,
}

/// Runs `command`, which leads a group of its own, with `input` on standard input, to its end or to
/// that of `patience`.
pub(crate) fn run(mut command: Command, input: &str, patience: Duration) -> Result<Run, NoRun> {
    let begun = clock::monotonic();
    platform::lead_group(&mut command);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| NoRun::NotStarted(error.to_string()))?;
    let stdin = child.stdin.take();
    let input = input.to_owned();
    thread::spawn(move || {
        // A program need not read what it is given.
        drop(stdin.map(|mut stdin| stdin.write_all(input.as_bytes())));
    });
    let (stdout, stderr) = (read(child.stdout.take()), read(child.stderr.take()));
    let deadline = begun + patience;
    let (Ok(stdout), Ok(stderr)) = (heard(&stdout, deadline), heard(&stderr, deadline)) else {
        return Err(end(&mut child));
    };
    while matches!(child.try_wait(), Ok(None)) {
        if clock::monotonic() > deadline {
            return Err(end(&mut child));
        }
        thread::sleep(Duration::from_millis(1));
    }
    let status = child.wait().ok().and_then(|status| status.code());
    Ok(Run { status, stdout, stderr, took: clock::monotonic() - begun })
}

/// Reads `output` to its end on another thread.
fn read(output: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (said, heard) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        drop(output.map(|output| output.take(MAX_OUTPUT).read_to_end(&mut bytes)));
        drop(said.send(String::from_utf8_lossy(&bytes).into_owned()));
    });
    heard
}

fn heard(output: &Receiver<String>, deadline: Instant) -> Result<String, RecvTimeoutError> {
    output.recv_timeout(deadline.saturating_duration_since(clock::monotonic()))
}

fn end(child: &mut Child) -> NoRun {
    platform::kill_group(child);
    drop(child.wait());
    NoRun::TimedOut
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(line: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", line]);
        command
    }

    #[test]
    fn a_program_gets_its_input_and_its_output_is_read() {
        let run = run(shell("cat; echo why >&2; exit 3"), "in", Duration::from_secs(10)).unwrap();
        let said = (run.status, run.stdout.as_str(), run.stderr.as_str());
        assert_eq!(said, (Some(3), "in", "why\n"));
    }

    #[test]
    fn a_program_that_does_not_end_is_ended() {
        for line in ["sleep 60", "exec >&- 2>&-; sleep 60", "sleep 60 & "] {
            let begun = clock::monotonic();
            let patience = Duration::from_millis(100);
            assert_eq!(run(shell(line), "", patience), Err(NoRun::TimedOut), "{line}");
            assert!(clock::monotonic() - begun < Duration::from_secs(10), "{line}");
        }
    }
}
