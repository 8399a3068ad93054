//! `tma1 logs`: what the daemon in the background has said.

use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use fs_err::File;

use crate::cli::{Context, ExitStatus, Failure, Printer};
use crate::paths::older_log;
use crate::platform;

/// How far back the last lines are looked for, in bytes.
const MAX_TAIL: u64 = 1024 * 1024;

/// How often a followed log is looked at.
const PAUSE: Duration = Duration::from_millis(200);

/// Print what the daemon in the background said last.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Go on with what it says from now on, until it is interrupted.
    #[arg(short, long)]
    follow: bool,
    /// How many lines.
    #[arg(short = 'n', long, value_name = "NUMBER", default_value_t = 50)]
    lines: usize,
}

pub(super) fn run(arguments: &Arguments, context: &Context) -> Result<ExitStatus, Failure> {
    let path = context.paths.daemon_log();
    let file = match File::open(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let error = anyhow::anyhow!("there is no {}", context.paths.display(&path));
            let hint = "the daemon has not run in the background here; `tma1 start` starts it";
            return Err(Failure::new(error, Some(hint.to_owned())));
        }
        file => file?,
    };
    let mut log = Log { path, file };
    let (mut before, mut said) = (log.before()?, log.end()?);
    before.append(&mut said);
    context.printer.out_bytes(last_lines(&before, arguments.lines))?;
    if arguments.follow {
        log.follow(context.printer)?;
    }
    Ok(ExitStatus::Done)
}

/// The log, read up to some place.
struct Log {
    path: PathBuf,
    file: File,
}

impl Log {
    /// The end of the file before this one, which may have the lines that are wanted.
    fn before(&self) -> io::Result<Vec<u8>> {
        match File::open(older_log(&self.path)) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
            file => tail(&mut file?),
        }
    }

    fn end(&mut self) -> io::Result<Vec<u8>> {
        tail(&mut self.file)
    }

    /// Prints what is added, in this file and in those that come after it.
    fn follow(&mut self, printer: Printer) -> io::Result<()> {
        loop {
            // Looked at before the rest is read, so that nothing is added to it in between.
            let is_current = is_current(&mut self.file, &self.path)?;
            let mut more = Vec::new();
            self.file.read_to_end(&mut more)?;
            if !more.is_empty() {
                printer.out_bytes(&more)?;
            }
            if !is_current && let Ok(next) = File::open(&self.path) {
                self.file = next;
                continue;
            }
            std::thread::sleep(PAUSE);
        }
    }
}

/// Whether the file has its name still, and all that was read.
fn is_current(file: &mut File, path: &Path) -> io::Result<bool> {
    let read = file.stream_position()?;
    Ok(platform::is_same_file(file.file(), path) && file.metadata()?.len() >= read)
}

fn tail(file: &mut File) -> io::Result<Vec<u8>> {
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(MAX_TAIL)))?;
    let mut text = Vec::new();
    file.read_to_end(&mut text)?;
    Ok(text)
}

/// The last `number` lines of `text`.
fn last_lines(text: &[u8], number: usize) -> &[u8] {
    let body = text.strip_suffix(b"\n").unwrap_or(text);
    let ends = body.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n');
    let start = match number.checked_sub(1) {
        None => text.len(),
        Some(before) => ends.map(|(at, _)| at + 1).nth(before).unwrap_or(0),
    };
    text.get(start..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_whole_ones() {
        for (text, number, expected) in [
            ("", 3, ""),
            ("a\nb\nc\n", 0, ""),
            ("a\nb\nc\n", 1, "c\n"),
            ("a\nb\nc", 2, "b\nc"),
            ("a\nb\nc\n", 3, "a\nb\nc\n"),
            ("a\nb\nc\n", 9, "a\nb\nc\n"),
            ("a\n\n", 1, "\n"),
        ] {
            assert_eq!(
                last_lines(text.as_bytes(), number),
                expected.as_bytes(),
                "{text:?} {number}"
            );
        }
    }
}
