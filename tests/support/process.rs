//! Running a program to its end, or to the end of our patience.

use std::io::Write;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// How a program ended and what it said.
#[derive(Debug)]
pub struct Run {
    /// The exit status; none after a signal.
    pub status: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Run {
    /// Runs `command` with an empty standard input.
    ///
    /// # Panics
    ///
    /// If it can't be started, or does not end within `limit`; it is killed then.
    #[track_caller]
    pub fn of(command: &mut Command, limit: Duration) -> Self {
        Self::fed(command, Vec::new(), limit)
    }

    /// The same with `input` on standard input.
    #[track_caller]
    pub fn fed(command: &mut Command, input: Vec<u8>, limit: Duration) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("can't start {command:?}: {error}"));
        let mut stdin = child.stdin.take().unwrap();
        // A program need not read what it is fed.
        std::thread::spawn(move || drop(stdin.write_all(&input)));
        match output_within(child, limit) {
            Ok(output) => Self {
                status: output.status.code(),
                stdout: text(output.stdout),
                stderr: text(output.stderr),
            },
            Err(said) => panic!("{command:?} did not end within {limit:?}; it said {said:?}"),
        }
    }

    /// This run, which must have ended with status 0.
    #[track_caller]
    pub fn succeeded(self) -> Self {
        assert_eq!(self.status, Some(0), "{self:#?}");
        self
    }
}

/// The output of a child that ends in time; what a child that does not had said by then.
fn output_within(child: Child, limit: Duration) -> Result<Output, Option<Output>> {
    let pid = child.id();
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        // Nobody listens any more if a grandchild held the pipes open for too long.
        drop(sender.send(child.wait_with_output().unwrap()));
    });
    receiver.recv_timeout(limit).map_err(|_| {
        signal("KILL", pid);
        receiver.recv_timeout(Duration::from_secs(5)).ok()
    })
}

/// Sends a signal to a process that we started. Windows knows only the end of a process.
pub fn signal(name: &str, pid: u32) {
    let pid = pid.to_string();
    let status = if cfg!(windows) {
        Command::new("taskkill").args(["/F", "/PID", &pid]).status()
    } else {
        Command::new("kill").args(["-s", name, &pid]).status()
    };
    assert!(status.unwrap().success(), "can't send {name} to {pid}");
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("a program wrote something other than UTF-8")
}

#[cfg(unix)]
#[test]
#[should_panic(expected = "did not end within 50ms")]
fn a_program_that_does_not_end_is_killed() {
    Run::of(Command::new("sleep").arg("60"), Duration::from_millis(50));
}
