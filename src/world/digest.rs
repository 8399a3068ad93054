//! The digest: what an agent should know before its next step, as data.

use std::time::Duration;

use crate::agent::{Agent, Report, SessionKey};
use crate::clock::Timestamp;
use crate::world::builds::Builds;
use crate::world::files::ExternalChanges;
use crate::world::outcome::Outcome;
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
    /// The tokens that went in and came out, over all requests.
    pub tokens: (u64, u64),
    /// What the session did.
    pub work: Work<'a>,
    /// The build that was begun last in the project, by whichever session.
    pub build: Option<Build<'a>>,
    /// The build that failed last, if it was while the session was there.
    pub build_error: Option<BuildError<'a>>,
    /// What was changed from outside since the session began.
    pub external: External<'a>,
    /// What went before in this project, for a session that has done nothing yet.
    pub previous: Option<Previous<'a>>,
    /// What is wrong, in lines that are ready to be shown.
    pub anomalies: Vec<String>,
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

/// A build or run of the tests.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Build<'a> {
    /// The command.
    pub command: &'a str,
    /// Where it runs, relative to the project; none if in its root.
    pub directory: Option<&'a str>,
    /// How it ended and how long ago; none while it is running.
    pub end: Option<(Outcome, Duration)>,
}

/// What a build said that failed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BuildError<'a> {
    /// How long ago it ended.
    pub age: Duration,
    /// Whether a newer build has succeeded.
    pub may_have_recovered: bool,
    /// What it said.
    pub report: &'a Report,
    /// Its exit status, where it is known.
    pub exit_code: Option<i64>,
}

/// What was changed from outside.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct External<'a> {
    /// How many changes.
    pub changes: u64,
    /// The files, latest first, relative to the project.
    pub files: Vec<&'a str>,
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
    /// The build that failed last, if it was while that session was there.
    pub build_error: Option<BuildError<'a>>,
    /// What was changed from outside since its latest event.
    pub external: External<'a>,
    /// What it left wrong, in lines that are ready to be shown.
    pub anomalies: Vec<String>,
}

impl<'a> Digest<'a> {
    /// The digest of a session, in a project with these builds.
    pub(super) fn of_session(
        key: &'a SessionKey,
        session: &'a Session,
        builds: Option<&'a Builds>,
        now: Timestamp,
    ) -> Self {
        Self {
            project: session.project.name(),
            session: &key.id,
            duration: now.since(session.started_at),
            tool_calls: session.calls.begun,
            tokens: (session.usage.input, session.usage.output),
            work: Work::of_session(session),
            build: builds.and_then(|builds| Build::latest(session, builds, now)),
            build_error: builds.and_then(|builds| BuildError::since(session, builds, now)),
            external: External::of(&session.external, session),
            previous: None,
            anomalies: Vec::new(),
        }
    }
}

impl<'a> Previous<'a> {
    /// The digest of a session that went before.
    pub(super) fn of_session(
        key: &'a SessionKey,
        session: &'a Session,
        builds: Option<&'a Builds>,
        now: Timestamp,
    ) -> Self {
        Self {
            agent: key.agent,
            session: &key.id,
            ended: session.ended,
            age: now.since(session.last_event_at),
            duration: session.last_event_at.since(session.started_at),
            tool_calls: session.calls.begun,
            work: Work::of_session(session),
            build_error: builds.and_then(|builds| BuildError::since(session, builds, now)),
            external: External::of(&session.external_since_event, session),
            anomalies: Vec::new(),
        }
    }
}

impl<'a> Work<'a> {
    fn of_session(session: &'a Session) -> Self {
        let mut tools = session.calls.tools_by_use();
        tools.truncate(TOP_TOOLS);
        let recent_files = session.relative(&session.files.recent);
        Self { current_focus: recent_files.first().copied(), tools, recent_files }
    }
}

impl<'a> External<'a> {
    fn of(changes: &'a ExternalChanges, session: &'a Session) -> Self {
        Self { changes: changes.count, files: session.relative(&changes.files) }
    }
}

impl<'a> Build<'a> {
    fn latest(session: &'a Session, builds: &'a Builds, now: Timestamp) -> Option<Self> {
        let build = builds.latest()?;
        let end = build.end.as_ref().map(|end| (end.outcome, now.since(end.at)));
        let directory = session.project.other_directory(&build.command.directory);
        Some(Self { command: &build.command.text, directory, end })
    }
}

impl<'a> BuildError<'a> {
    fn since(session: &Session, builds: &'a Builds, now: Timestamp) -> Option<Self> {
        let (end, may_have_recovered) = builds.last_failure()?;
        let Outcome::Failed { exit_code } = end.outcome else {
            return None;
        };
        (end.at >= session.started_at).then(|| Self {
            age: now.since(end.at),
            may_have_recovered,
            report: &end.report,
            exit_code,
        })
    }
}
