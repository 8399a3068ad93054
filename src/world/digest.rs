//! The digest: what an agent should know before its next step, as data.

use std::time::Duration;

use crate::agent::{Agent, SessionKey};
use crate::clock::Timestamp;
use crate::world::session::Session;

/// How many tools the histogram names.
const TOP_TOOLS: usize = 6;

/// What an agent is told of its session. A field that is `None` or empty is left out of the block.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Digest<'a> {
    /// The name of the project.
    pub project: &'a str,
    /// The agent's id of the session.
    pub session: &'a str,
    /// Since the first event of the session.
    pub duration: Duration,
    /// How many tool calls the session has begun.
    pub tool_calls: u64,
    /// What the session did.
    pub work: Work<'a>,
    /// What went before in this project, for a session that has done nothing yet.
    pub previous: Option<Previous<'a>>,
}

/// What a session did.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Work<'a> {
    /// The file last edited, relative to the project.
    pub current_focus: Option<&'a str>,
    /// The tools most used, with their counts, most first.
    pub tools: Vec<(&'a str, u64)>,
    /// The files last edited, latest first, relative to the project.
    pub recent_files: Vec<&'a str>,
}

/// The session before this one in the same project.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Previous<'a> {
    /// Whose session it was.
    pub agent: Agent,
    /// The agent's id of it.
    pub session: &'a str,
    /// Whether it has ended; if not, it may be going on beside this one.
    pub ended: bool,
    /// How long ago its latest event was.
    pub age: Duration,
    /// From its first event to its latest.
    pub duration: Duration,
    /// How many tool calls it had begun.
    pub tool_calls: u64,
    /// What it did.
    pub work: Work<'a>,
}

impl<'a> Digest<'a> {
    /// The digest of a session.
    pub(super) fn of_session(key: &'a SessionKey, session: &'a Session, now: Timestamp) -> Self {
        Self {
            project: session.project.name(),
            session: &key.id,
            duration: now.since(session.started_at),
            tool_calls: session.tool_calls,
            work: Work::of_session(session),
            previous: None,
        }
    }

    /// The same digest, with the session that went before.
    pub(super) fn after(
        mut self,
        previous: Option<(&'a SessionKey, &'a Session)>,
        now: Timestamp,
    ) -> Self {
        self.previous = previous.map(|(key, session)| Previous {
            agent: key.agent,
            session: &key.id,
            ended: session.ended,
            age: now.since(session.last_event_at),
            duration: session.last_event_at.since(session.started_at),
            tool_calls: session.tool_calls,
            work: Work::of_session(session),
        });
        self
    }
}

impl<'a> Work<'a> {
    fn of_session(session: &'a Session) -> Self {
        let mut tools = session.tools_by_use();
        tools.truncate(TOP_TOOLS);
        let recent_files: Vec<&str> =
            session.recent_files.iter().map(|path| session.project.relative(path)).collect();
        Self { current_focus: recent_files.first().copied(), tools, recent_files }
    }
}
