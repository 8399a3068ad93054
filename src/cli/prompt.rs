//! Questions to the person at the terminal, asked on standard error.

use std::fmt::Display;
use std::io::{self, IsTerminal};

use console::Term;
use dialoguer::{Confirm, MultiSelect};

use crate::cli::Failure;

/// Whether there is a person who sees a question and can answer it.
pub(super) fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks a question whose answer is no unless it is yes.
pub(super) fn asks(question: &str) -> Result<bool, Failure> {
    let answer = Confirm::new().with_prompt(question).default(false).interact_on_opt(&terminal());
    Ok(answer.map_err(not_asked)?.unwrap_or(false))
}

/// Asks which of `items` are meant, with those checked that are most likely; none if the person
/// leaves.
pub(super) fn selects<T: Display>(
    question: &str,
    items: impl IntoIterator<Item = (T, bool)>,
) -> Result<Option<Vec<usize>>, Failure> {
    let question = MultiSelect::new().with_prompt(question).items_checked(items);
    question.interact_on_opt(&terminal()).map_err(not_asked)
}

fn not_asked(error: dialoguer::Error) -> Failure {
    let error = anyhow::Error::new(error).context("the question could not be asked");
    Failure::new(error, Some("say it by options; --help has them".to_owned()))
}

/// Standard error, with its cursor always to be seen: one that a question has hidden would stay so
/// when the question is left by Ctrl-C, which ends the process.
#[cfg(unix)]
fn terminal() -> Term {
    Term::read_write_pair(io::stdin(), unix::Visible(io::stderr()))
}

#[cfg(not(unix))]
fn terminal() -> Term {
    Term::stderr()
}

#[cfg(unix)]
mod unix {
    use std::io::{self, Stderr, Write};
    use std::os::fd::{AsRawFd, RawFd};

    const HIDE_CURSOR: &[u8] = b"\x1b[?25l";

    /// A terminal that does not hide its cursor.
    #[derive(Debug)]
    pub(super) struct Visible(pub Stderr);

    impl Write for Visible {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if bytes == HIDE_CURSOR { Ok(bytes.len()) } else { self.0.write(bytes) }
        }

        fn flush(&mut self) -> io::Result<()> {
            self.0.flush()
        }
    }

    impl AsRawFd for Visible {
        fn as_raw_fd(&self) -> RawFd {
            self.0.as_raw_fd()
        }
    }
}
