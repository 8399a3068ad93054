//! The one place that writes to standard output and standard error; only clap prints its own help
//! and usage.

use std::fmt::Display;
use std::io::{self, BufWriter, Write};

/// How much of a stream is written at once, in bytes.
const STREAM_BUFFER: usize = 64 * 1024;

/// Writes what a command has to say.
///
/// Colours are the caller's, by `console::style`, which leaves them out in a pipe and under
/// `NO_COLOR`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Printer;

impl Printer {
    /// Writes `text` to standard output as it is.
    pub fn out(self, text: impl Display) -> io::Result<()> {
        self.out_bytes(text.to_string().as_bytes())
    }

    /// Writes `bytes` to standard output as they are, in one go.
    pub fn out_bytes(self, bytes: &[u8]) -> io::Result<()> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(bytes)?;
        stdout.flush()
    }

    /// Hands `write` standard output, for what is too much to be put together first.
    pub fn stream<E: From<io::Error>>(
        self,
        write: impl FnOnce(&mut dyn Write) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut stdout = BufWriter::with_capacity(STREAM_BUFFER, io::stdout().lock());
        write(&mut stdout)?;
        Ok(stdout.flush()?)
    }

    /// Writes `text` and a line end to standard error; a failure to complain is not reported.
    pub fn error_line(self, text: impl Display) {
        drop(writeln!(io::stderr().lock(), "{text}"));
    }
}
