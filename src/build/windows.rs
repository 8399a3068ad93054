//! Windows: the command has our console and our input; what it writes is read along where that is a file
//! or a pipe anyway.

use std::io::{self, IsTerminal, Read, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;

use super::End;
use super::tap::{Stream, Tap};

/// Runs `command` to its end, and hands to `tap` what it writes.
pub(super) fn run(command: &mut Command, tap: &Arc<Tap>) -> io::Result<End> {
    let stdio = |is_console: bool| if is_console { Stdio::inherit() } else { Stdio::piped() };
    command.stdout(stdio(io::stdout().is_terminal())).stderr(stdio(io::stderr().is_terminal()));
    let mut child = command.spawn()?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let status = thread::scope(|scope| {
        scope.spawn(|| stdout.map(|from| relay_to(from, io::stdout(), Stream::Output, tap)));
        scope.spawn(|| stderr.map(|from| relay_to(from, io::stderr(), Stream::Error, tap)));
        child.wait()
    })?;
    Ok(End::Exited(status.code().unwrap_or(1)))
}

fn relay_to(mut from: impl Read, mut to: impl Write, stream: Stream, tap: &Tap) {
    let mut chunk = vec![0; 64 * 1024];
    while let Ok(read @ 1..) = from.read(&mut chunk) {
        let said = chunk.get(..read).unwrap_or_default();
        if to.write_all(said).and_then(|()| to.flush()).is_err() {
            break;
        }
        tap.push(stream, said);
    }
}

/// Does nothing: no process dies by a signal here.
pub(super) fn die_by(_signal: i32) {}

/// Copies standard input to standard output.
pub(super) fn relay() {
    drop(io::copy(&mut io::stdin(), &mut io::stdout()));
}
