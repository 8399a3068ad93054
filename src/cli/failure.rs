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
        let styled = |label: &str| match label {
            "error:" => console::style("error:").red().bold().for_stderr().to_string(),
            label => console::style(label).cyan().bold().for_stderr().to_string(),
        };
        printer.error_line(self.text(styled));
        ExitStatus::Failed
    }

    /// The same without colours, for a log.
    pub(super) fn plain(&self) -> String {
        self.text(str::to_owned)
    }

    fn text(&self, styled: impl Fn(&str) -> String) -> String {
        // Names of files are in them, which may hold anything.
        let mut lines =
            vec![format!("{} {}", styled("error:"), printable(&self.error.to_string()))];
        let causes = self.error.chain().skip(1);
        lines.extend(causes.map(|it| format!("  caused by: {}", printable(&it.to_string()))));
        lines.extend(self.hint.iter().map(|it| format!("{} {}", styled("hint:"), printable(it))));
        lines.join("\n")
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
