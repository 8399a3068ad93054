//! How a tool call ended.

use crate::agent::{Command, Report, Status, beginning};
use crate::world::WrappedEnd;

const MAX_ERROR_BYTES: usize = 512;
const MAX_PLACE_BYTES: usize = 512;

/// How many failed tests of one run are kept.
pub(super) const MAX_FAILED_TESTS: usize = 16;
const MAX_TEST_NAME_BYTES: usize = 200;

/// How a tool call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Well.
    Succeeded,
    /// Not well.
    Failed {
        /// The exit status of a command, where it is known.
        exit_code: Option<i64>,
    },
    /// Somebody ended it, which says nothing about the project.
    Interrupted,
    /// Nobody has said it yet.
    Unknown,
}

impl Outcome {
    /// What the end of a command that `tma1 build` runs says. Who ends it by hand says nothing of the
    /// project, and a command that goes on has ended when all was said.
    pub(super) fn of_wrapped(end: WrappedEnd, command: &Command) -> Self {
        /// `SIGHUP`, `SIGINT`, `SIGPIPE`, `SIGTERM`.
        const BY_HAND: [i64; 4] = [1, 2, 13, 15];
        const BY_SIGNAL: i64 = 128;
        match end {
            WrappedEnd::Green => Self::Succeeded,
            WrappedEnd::Red => Self::Failed { exit_code: None },
            WrappedEnd::Exited(code) => command.status_of_exit(code).into(),
            WrappedEnd::Quit => Self::Interrupted,
            WrappedEnd::Killed(signal) if BY_HAND.contains(&signal) => Self::Interrupted,
            WrappedEnd::Killed(signal) => {
                Self::Failed { exit_code: Some(BY_SIGNAL.saturating_add(signal)) }
            }
        }
    }

    pub(super) fn is_failure(self) -> bool {
        matches!(self, Self::Failed { .. })
    }
}

impl From<Status> for Outcome {
    fn from(status: Status) -> Self {
        match status {
            Status::Succeeded => Self::Succeeded,
            Status::Failed { interrupted: true, .. } => Self::Interrupted,
            Status::Failed { exit_code, interrupted: false } => Self::Failed { exit_code },
            Status::Unknown => Self::Unknown,
        }
    }
}

/// As much of a report as is kept.
pub(super) fn brief(report: &Report) -> Report {
    let place = report.place.as_ref();
    Report {
        error: report.error.as_deref().map(|error| beginning(error, MAX_ERROR_BYTES).to_owned()),
        place: place.filter(|(file, _)| file.len() <= MAX_PLACE_BYTES).cloned(),
        failed_tests: (report.failed_tests.iter().take(MAX_FAILED_TESTS))
            .map(|name| beginning(name, MAX_TEST_NAME_BYTES).to_owned())
            .collect(),
    }
}
