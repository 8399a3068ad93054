//! Long output on a terminal goes through the user's pager.

use std::ffi::OsString;
use std::io::{self, ErrorKind, Write};
use std::process::{Child, Command, Stdio};

use console::Term;

use crate::cli::Context;
use crate::platform;

/// What is used where `PAGER` says nothing.
const DEFAULT: &str = "less";

/// What `less` is to do unless `LESS` says something: end at once if all fits, show colours, leave the
/// text on the screen.
const LESS: &str = "FRX";

/// How wide a line may be: the terminal's width, and whatever it likes in a pipe.
pub(super) fn width() -> Option<usize> {
    let terminal = Term::stdout();
    let (_, columns) = terminal.size_checked().filter(|_| terminal.is_term())?;
    Some(columns.into())
}

/// Prints `text`, with a pager if it is for a terminal and does not fit.
pub(super) fn page(text: &str, context: &Context) -> io::Result<()> {
    let terminal = Term::stdout();
    let fits = |(rows, _): (u16, u16)| text.lines().count() < rows.into();
    if !terminal.is_term() || terminal.size_checked().is_none_or(fits) {
        return context.printer.out(text);
    }
    let Some(mut pager) = start(context) else { return context.printer.out(text) };
    // Ctrl-C is the pager's from now on; if we ended, it would lose the terminal.
    platform::outlive_interrupts()?;
    let written = pager.stdin.take().map_or(Ok(()), |mut input| input.write_all(text.as_bytes()));
    pager.wait()?;
    match written {
        // Whoever leaves a pager has read enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// The pager, unless there is none or none is wanted.
fn start(context: &Context) -> Option<Child> {
    let pager = context.config.pager.as_deref().unwrap_or(DEFAULT);
    let mut words = shlex::split(pager)?.into_iter().map(OsString::from);
    let program = words.next().filter(|program| program != "cat")?;
    let mut pager = Command::new(program);
    pager.args(words).stdin(Stdio::piped());
    if context.environment.get("LESS").is_none() {
        pager.env("LESS", LESS);
    }
    pager.spawn().ok()
}
