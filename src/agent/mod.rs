//! What an agent says and wants to hear: its events, its tool calls, the envelope of an answer.

mod envelope;
mod event;
mod patch;
mod payload;
mod tool;

use std::fmt;

pub use envelope::{Answer, Envelope, Reply};
pub use event::{EventError, EventKind, HookEvent, SessionKey};
pub use payload::Payload;
pub use tool::{Subject, ToolAction, ToolCall};

/// A coding agent that we wire ourselves into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, clap::ValueEnum)]
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
