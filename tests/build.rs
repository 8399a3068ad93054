//! `tma1 build` beside the bare command.

#[path = "build/daemon.rs"]
mod daemon;
#[cfg(target_os = "linux")]
#[path = "build/jobs.rs"]
mod jobs;
#[path = "build/pipes.rs"]
mod pipes;
#[path = "build/terminal.rs"]
mod terminal;

use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use super::support::home::TestHome;

/// How a command ended and the bytes that it wrote.
#[derive(Debug, PartialEq, Eq)]
struct Ended {
    status: Option<i32>,
    signal: Option<i32>,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

/// `tma1 build` with `options` around `words`.
fn wrapped(home: &TestHome, options: &[&str], words: &[&str]) -> Command {
    let mut command = home.tma1_command(&["build"]);
    command.args(options).arg("--").args(words);
    command
}

/// The bare command.
fn bare(home: &TestHome, words: &[&str]) -> Command {
    let mut command = home.command(words[0]);
    command.args(&words[1..]);
    command
}

/// Runs a command in pipes to its end.
fn run(mut command: Command, input: &[u8]) -> Ended {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let feeding = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    feeding.join().unwrap();
    Ended {
        status: output.status.code(),
        signal: output.status.signal(),
        stdout: output.stdout,
        stderr: output.stderr,
    }
}
