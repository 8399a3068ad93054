//! Transcripts: the files in which the agents keep their sessions, one JSON record a line.
//!
//! What is learned is how many tokens were used, how full the window of the model is, and how
//! commands ended. The formats are internal to the agents and change: whatever is not understood is
//! skipped, and nothing is an error. The bytes come in as they are read, in pieces of any size.

mod claude_code;
mod codex;
mod context_window;
mod exit_code;
mod fields;
mod history;
mod lines;
mod messages;
mod requests;

use crate::agent::{Agent, SessionKey};
use claude_code::Chain;
use codex::Thread;
use fields::records;
use lines::Lines;
pub use lines::MAX_LINE_BYTES;
pub use messages::{SpokenMessage, last_messages};
pub use requests::{Owner, Requests};

/// What was sent to the model and came back, as its agent counts it: what Claude Code took from or
/// put into the cache is not part of its input, what Codex took from there is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tokens {
    /// Tokens sent to the model.
    pub input: u64,
    /// Tokens that the model has written, its thoughts among them.
    pub output: u64,
}

/// The window of the model at the last request of a session itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// The tokens of that request, cached ones among them, and of its answer.
    pub used: u64,
    /// How many the model can hold; none if that is not certain.
    pub size: Option<u64>,
}

/// A command has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandEnd {
    /// The agent's id of the call, the `tool_use_id` of its hook events.
    pub call_id: String,
    /// The exit status.
    pub exit_code: i64,
}

/// One file of a session, as far as it was read.
#[derive(Debug)]
pub struct Transcript {
    lines: Lines,
    content: Content,
}

#[derive(Debug)]
enum Content {
    ClaudeCode(Chain),
    Codex(Thread),
}

impl Transcript {
    /// A file of `session` of which nothing was read yet. `owner` stands for that session among the
    /// [`Requests`] that are counted.
    pub fn new(session: &SessionKey, owner: Owner) -> Self {
        let content = match session.agent {
            Agent::ClaudeCode => Content::ClaudeCode(Chain::new(owner)),
            Agent::Codex => Content::Codex(Thread::new(&session.id)),
        };
        Self { lines: Lines::default(), content }
    }

    /// Takes in the next bytes of the file. `requests` are those that were counted in all files.
    pub fn feed(&mut self, bytes: &[u8], requests: &mut Requests) {
        let Self { lines, content } = self;
        lines.feed(bytes, |line| {
            records(line, |record| match content {
                Content::ClaudeCode(chain) => chain.read(record, requests),
                Content::Codex(thread) => thread.read(record),
            });
        });
    }

    /// How many bytes are kept of a line that has no end yet.
    pub fn half_bytes(&self) -> usize {
        self.lines.half_bytes()
    }

    /// Forgets the half of a line, to be fed again from its beginning; returns how many bytes of it
    /// there were.
    pub fn forget_half(&mut self) -> usize {
        self.lines.forget_half()
    }

    /// The file begins anew, as it was replaced or cut. What it has told stays counted.
    pub fn restart(&mut self) {
        self.lines = Lines::default();
        match &mut self.content {
            Content::ClaudeCode(chain) => chain.restart(),
            Content::Codex(thread) => thread.restart(),
        }
    }

    /// All tokens that this file has told of. They never get fewer.
    pub fn tokens(&self) -> Tokens {
        match &self.content {
            Content::ClaudeCode(chain) => chain.tokens(),
            Content::Codex(thread) => thread.tokens(),
        }
    }

    /// The window at the last request; none if there was none yet, or none since the history was
    /// replaced by a summary.
    pub fn window(&self) -> Option<Window> {
        match &self.content {
            Content::ClaudeCode(chain) => chain.window(),
            Content::Codex(thread) => thread.window(),
        }
    }

    /// Whether this is the file of a subagent by what it says of itself.
    pub fn is_of_subagent(&self) -> bool {
        match &self.content {
            // Claude Code tells them apart by their place.
            Content::ClaudeCode(_) => false,
            Content::Codex(thread) => thread.is_subagent(),
        }
    }

    /// The commands that have ended since this was last asked. Claude Code tells that by its events.
    pub fn take_ended(&mut self) -> Vec<CommandEnd> {
        match &mut self.content {
            Content::ClaudeCode(_) => Vec::new(),
            Content::Codex(thread) => thread.take_ended(),
        }
    }
}

#[cfg(test)]
mod tests;
