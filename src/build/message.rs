//! What the wrapper tells the daemon: the body of `POST /api/builds`.

use serde::{Deserialize, Serialize};

use crate::agent::Agent;

/// Something that a wrapped command did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// By which the messages of one run belong together.
    pub build_id: String,
    /// What happened.
    pub event: Event,
    /// The command, quoted for a shell.
    pub command: String,
    /// Where it runs, absolute.
    pub cwd: String,
    /// The directory whose project it is for, if not `cwd`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// What the user calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// Whether it goes on and on.
    #[serde(default)]
    pub watch: bool,
    /// For how many milliseconds it has been running.
    #[serde(default)]
    pub duration_ms: u64,
    /// What it said that matters, in its order.
    #[serde(default)]
    pub lines: Vec<String>,
    /// How many lines it has written so far, as far as they were read.
    #[serde(default)]
    pub lines_seen: u64,
    /// How many bytes it has written that nobody could read along.
    #[serde(default)]
    pub bytes_dropped: u64,
    /// The session that runs it, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<Caller>,
}

/// The session that runs a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caller {
    /// Whose session.
    pub agent: Agent,
    /// The agent's id of it.
    pub session: String,
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// It has begun.
    Start,
    /// It has said something.
    Lines,
    /// It goes on, and what it watches is all right now.
    Green,
    /// It goes on, and something is wrong with what it watches.
    Red,
    /// It has exited with this status.
    Exited(i32),
    /// This signal has ended it.
    Killed(i32),
}
