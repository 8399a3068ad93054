//! What the world learns beside the events: what sensors have seen.

use serde::{Deserialize, Serialize};

use crate::agent::{Command, SessionKey};
use crate::world::ProjectIndex;
use crate::world::outcome::Outcome;

/// Something that a sensor has seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Observation {
    /// A file was changed, created or removed, and no call of an agent explains it.
    ExternalChange {
        /// Its absolute path.
        path: String,
        /// Whether it is gone.
        #[serde(default)]
        removed: bool,
    },
    /// A file was changed by a command that this session ran, such as a formatter: the session has
    /// not seen the result, and nobody else made it.
    OwnChange {
        /// The session.
        session: SessionKey,
        /// Its absolute path.
        path: String,
        /// Whether it is gone.
        #[serde(default)]
        removed: bool,
    },
    /// This session has edited files, though no event told that it did: Codex tells no result of a
    /// patch that is a shell command.
    Edited {
        /// The session.
        session: SessionKey,
        /// Whether a subagent of it did.
        by_subagent: bool,
        /// The absolute paths of what was created or changed.
        written: Vec<String>,
        /// The same of what was removed.
        removed: Vec<String>,
    },
    /// The transcript of a session was read on.
    Usage {
        /// The session.
        session: SessionKey,
        /// All that it used so far.
        usage: Usage,
    },
    /// The transcript tells how a command ended whose event did not.
    CommandEnded {
        /// The session.
        session: SessionKey,
        /// The agent's id of the call.
        call_id: String,
        /// Its exit status.
        exit_code: i64,
    },
    /// A command that `tma1 build` runs has begun.
    BuildBegan {
        /// The root of the project.
        root: String,
        /// The command.
        build: WrappedBuild,
    },
    /// A command that `tma1 build` runs has ended, or has said how it stands.
    BuildTold {
        /// The root of the project.
        root: String,
        /// The command.
        build: WrappedBuild,
        /// How it ended or stands.
        end: WrappedEnd,
        /// What it said that matters.
        said: Vec<String>,
    },
    /// A project was indexed for the first time, or its index is another one now.
    Indexed {
        /// The root of the project.
        root: String,
        /// What it is made of.
        index: Box<ProjectIndex>,
    },
}

impl Observation {
    /// Whether it is about a file of a project, and not about what a transcript tells.
    pub const fn is_of_file(&self) -> bool {
        matches!(self, Self::ExternalChange { .. } | Self::OwnChange { .. } | Self::Edited { .. })
    }
}

/// A command that `tma1 build` runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrappedBuild {
    /// What tells this run from others.
    pub id: String,
    /// The command, quoted for a shell.
    pub command: String,
    /// Where it runs, absolute.
    pub cwd: String,
    /// The session that runs it, if that is known.
    pub session: Option<SessionKey>,
}

/// How a command that `tma1 build` runs ended or stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum WrappedEnd {
    /// It goes on, and all is right.
    Green,
    /// It goes on, and something is wrong.
    Red,
    /// It has exited with this status.
    Exited(i64),
    /// This signal has ended it.
    Killed(i64),
    /// It went on until somebody ended it.
    Quit,
}

impl WrappedEnd {
    /// How the log calls what became of `command`: `passed`, `failed`, `interrupted` or `unknown`.
    pub fn name(self, command: &Command) -> &'static str {
        match Outcome::of_wrapped(self, command) {
            Outcome::Succeeded => "passed",
            Outcome::Failed { .. } => "failed",
            Outcome::Interrupted => "interrupted",
            Outcome::Unknown => "unknown",
        }
    }
}

/// The tokens that a session has used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens sent to the model, as its agent counts them, summed over all of its requests.
    pub input: u64,
    /// Tokens that the model has written, over all of its requests.
    pub output: u64,
    /// What the last request of the session itself, not of its subagents, held, with its answer.
    pub window_used: Option<u64>,
    /// How much the window of that model holds.
    pub window_size: Option<u64>,
}
