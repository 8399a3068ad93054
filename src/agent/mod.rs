//! What an agent says and wants to hear: its events, its tool calls, the envelope of an answer.

mod command;
mod envelope;
mod event;
mod patch;
mod payload;
mod redaction;
mod report;
mod result;
mod shell;
mod tool;
pub mod transcript;

use std::fmt;

pub use command::{Command, Purpose};
pub use envelope::{Answer, Envelope, GO_ON, Reply};
pub use event::{EventError, EventKind, HookEvent, SessionKey, StartSource};
pub use payload::Payload;
pub(crate) use payload::beginning;
pub use redaction::Redaction;
pub use report::Report;
pub(crate) use result::text as response_text;
pub use result::{Status, ToolResult};
pub use tool::{Subject, ToolAction, ToolCall};

/// A coding agent that we wire ourselves into.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    clap::ValueEnum,
    serde::Serialize,
    serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Agent {
    /// Anthropic's Claude Code.
    ClaudeCode,
    /// OpenAI's Codex CLI.
    Codex,
}

impl Agent {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::ClaudeCode, Self::Codex];

    /// The agent's name on the command line, on the wire and in the log.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
        }
    }

    /// The agent's name as its maker writes it.
    pub const fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
        }
    }

    /// The agent of this [`name`](Self::name).
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|agent| agent.name() == name)
    }
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests;
