//! What a rule has found.

use serde::{Deserialize, Serialize};

use crate::agent::Command;
use crate::clock::Timestamp;
use crate::world::builds::Builds;

/// Something that a rule has found.
///
/// Its texts go to models, so they are [cleaned](crate::world::value): in one line, without
/// anything that poses as a tag.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Which rule found it.
    pub kind: Kind,
    /// How much it matters.
    pub severity: Severity,
    /// Where it is said.
    pub channel: Channel,
    /// What was seen: numbers, times, places.
    pub evidence: String,
    /// What to do next, in one sentence that says why.
    pub suggestion: String,
    /// The files that it is about, as seen from the project.
    pub related_files: Vec<String>,
    /// The file, command or test that it is about, as it is; with the kind, what tells two findings
    /// apart.
    #[serde(skip)]
    pub(super) subject: String,
    /// The command that shows it, as it is; none if no command does.
    #[serde(skip)]
    pub(super) command: Option<Command>,
    /// Since when it holds. When it was resolved and comes back, this is another moment.
    #[serde(skip)]
    pub(super) since: Timestamp,
}

/// The rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The session edits a file that others have changed since it saw it.
    StaleFileView,
    /// A command failed three times in half an hour, without a success between.
    RepeatedFailedBuild,
    /// A command that had succeeded, or was never run, fails after an edit of the session.
    BuildBrokenAfterMyEdit,
    /// A test failed three times in a row.
    TestStuck,
    /// Others have changed a file since the session saw it.
    ExternalModifiedDuringSession,
    /// The window of the model is nearly full.
    ContextPressure,
}

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing before the next step.
    Medium,
    /// The next step is likely to go wrong.
    High,
}

/// Where a finding is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    /// In the block, with the next prompt.
    Prompt,
    /// In one line, after the next tool call.
    PostToolUse,
    /// As the reason why the turn must go on.
    Stop,
}

impl Kind {
    /// All rules.
    pub const ALL: [Self; 6] = [
        Self::StaleFileView,
        Self::RepeatedFailedBuild,
        Self::BuildBrokenAfterMyEdit,
        Self::TestStuck,
        Self::ExternalModifiedDuringSession,
        Self::ContextPressure,
    ];

    /// The name, on the wire and in the block.
    pub const fn name(self) -> &'static str {
        match self {
            Self::StaleFileView => "stale_file_view",
            Self::RepeatedFailedBuild => "repeated_failed_build",
            Self::BuildBrokenAfterMyEdit => "build_broken_after_my_edit",
            Self::TestStuck => "test_stuck",
            Self::ExternalModifiedDuringSession => "external_modified_during_session",
            Self::ContextPressure => "context_pressure",
        }
    }

    /// Where findings of this rule are said: a build that keeps failing keeps the turn from ending,
    /// everything else waits for the next prompt.
    pub const fn channel(self, severity: Severity) -> Channel {
        match (self, severity) {
            (Self::RepeatedFailedBuild, _) | (Self::BuildBrokenAfterMyEdit, Severity::High) => {
                Channel::Stop
            }
            _ => Channel::Prompt,
        }
    }
}

impl Channel {
    /// The name on the wire and in the log.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::PostToolUse => "post_tool_use",
            Self::Stop => "stop",
        }
    }
}

impl Finding {
    /// Whether it is still to be resolved by whoever works in the project next: not if it is about
    /// what the model of one session knows, or if its command has succeeded since, whoever ran it.
    pub(in crate::world) fn is_left_to_others(&self, builds: Option<&Builds>) -> bool {
        self.command.as_ref().is_some_and(|command| {
            !builds.is_some_and(|builds| builds.has_succeeded_since(command, self.since))
        })
    }
}

impl Severity {
    /// All severities.
    pub const ALL: [Self; 2] = [Self::Medium, Self::High];

    /// The name on the wire and in the log.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Medium => "medium",
            Self::High => "high",
        }
    }

    /// The severity of this [`name`](Self::name).
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|severity| severity.name() == name)
    }

    /// The name in the block.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Medium => "MEDIUM",
            Self::High => "HIGH",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_has_one_name_everywhere() {
        for kind in Kind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
        for severity in Severity::ALL {
            assert_eq!(serde_json::to_value(severity).unwrap(), severity.name());
        }
        for channel in [Channel::Prompt, Channel::PostToolUse, Channel::Stop] {
            assert_eq!(serde_json::to_value(channel).unwrap(), channel.name());
        }
    }
}
