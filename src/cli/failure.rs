//! A command that could not do what it was asked, as the user reads it: what happened, why, and
//! what to do next.

use std::io;

use crate::cli::{ExitStatus, Printer};
use crate::config::ConfigError;
use crate::paths::PathsError;
use crate::printable::printable;

/// An error on its way to the user, with what to do next where that is known.
#[derive(Debug)]
pub struct Failure {
    error: anyhow::Error,
    hint: Option<String>,
}

impl Failure {
    /// A failure with what to do next.
    pub fn new(error: impl Into<anyhow::Error>, hint: Option<String>) -> Self {
        Self { error: error.into(), hint }
    }

    /// The same with what it did not prevent.
    pub(super) fn after(self, done: &'static str) -> Self {
        Self { error: self.error.context(done), hint: self.hint }
    }

    /// Prints the error, its causes and the hint.
    pub fn report(&self, printer: Printer) -> ExitStatus {
        if self.is_broken_pipe() {
            // Whoever read our output has read enough.
            return ExitStatus::Done;
        }
        let label = console::style("error:").red().bold().for_stderr();
        // Names of files are in them, which may hold anything.
        printer.error_line(format_args!("{label} {}", printable(&self.error.to_string())));
        for cause in self.error.chain().skip(1) {
            printer.error_line(format_args!("  caused by: {}", printable(&cause.to_string())));
        }
        if let Some(hint) = &self.hint {
            let label = console::style("hint:").cyan().bold().for_stderr();
            printer.error_line(format_args!("{label} {}", printable(hint)));
        }
        ExitStatus::Failed
    }

    fn is_broken_pipe(&self) -> bool {
        self.error
            .downcast_ref::<io::Error>()
            .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::new(error, None)
    }
}

impl From<PathsError> for Failure {
    fn from(error: PathsError) -> Self {
        let hint = error.hint();
        Self::new(error, Some(hint))
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        let hint = error.hint();
        Self::new(error, Some(hint))
    }
}
