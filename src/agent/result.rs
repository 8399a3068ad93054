//! What became of a tool call.

use crate::agent::{Payload, ToolCall};

/// A tool call that has returned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// The call.
    pub call: ToolCall,
    /// How it went.
    pub status: Status,
    /// What its output says, if it was a command that [builds or tests](crate::agent::Purpose).
    pub report: Report,
}

/// How a tool call went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Well.
    Succeeded,
    /// Not well.
    Failed {
        /// The exit status of a command, where it is known.
        exit_code: Option<i64>,
        /// Whether somebody ended it: its failure says nothing about the project.
        interrupted: bool,
    },
    /// The event does not say it. Codex keeps the exit status of a command in the rollout.
    Unknown,
}

/// What the output of a build or of tests says. Whether it matters depends on the [`Status`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// The line that says what is wrong, or the last one.
    pub error: Option<String>,
    /// Where the first error is: file, as the output names it, and line.
    pub place: Option<(String, u32)>,
    /// The names of the tests that failed, in order.
    pub failed_tests: Vec<String>,
}

impl ToolResult {
    /// The result of `call` that the payload of a `PostToolUse` tells.
    pub(super) fn of_call(call: ToolCall, _payload: &Payload) -> Self {
        Self { call, status: Status::Succeeded, report: Report::default() }
    }
}
