//! The way of a hook event: parsed, folded into the world, appended to the log, answered.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::agent::{Agent, Envelope, EventError, HookEvent, Reply};
use crate::clock::{self, Timestamp};
use crate::daemon::state::{Question, Which};
use crate::sensor::project;
use crate::store::{Database, Entry, EventLog, StoreError};
use crate::world::{SessionState, World};

/// How long an answer waits for its event to be in the log. A hook waits 500 ms in all; a disk that
/// takes longer than this costs the log its promise, not the agent its answer.
const LOG_WAIT: Duration = Duration::from_millis(150);

/// How often requests that are no events are mentioned in the daemon's messages.
const REPORT_INTERVAL: Duration = Duration::from_secs(60);

/// Takes hook events.
#[derive(Debug)]
pub(super) struct Hooks {
    world: Mutex<World>,
    log: EventLog,
    home: PathBuf,
    injection: bool,
    rejections: Mutex<Rejections>,
}

/// Why a request is no event.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unusable {
    /// The query names an agent or an envelope that we don't know.
    #[error("the query `{0}` names an unknown agent")]
    Source(String),
    /// The body broke off, or is too large.
    #[error("the body can't be read")]
    Body(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The body did not arrive in time.
    #[error("the body did not arrive in time")]
    Slow,
    /// The body is not an event.
    #[error(transparent)]
    Event(#[from] EventError),
}

impl Hooks {
    /// Takes events into `world` and `log`; says nothing unless `injection` is on.
    pub(super) fn new(world: World, log: EventLog, home: PathBuf, injection: bool) -> Self {
        Self { world: Mutex::new(world), log, home, injection, rejections: Mutex::default() }
    }

    /// Takes one event and answers it.
    pub(super) async fn handle(&self, agent: Agent, envelope: Envelope, payload: &[u8]) -> Reply {
        let now = clock::now();
        let (event, payload) = match HookEvent::parse(agent, payload) {
            Ok(parsed) => parsed,
            Err(error) => return self.reject(&error.into()),
        };
        let (answer, logged) = {
            // Under one lock, so that the log has the events in the order in which they were folded.
            let mut world = self.world();
            fold(&mut world, &event, &self.home, now);
            let logged = self.log.append(Entry { at: now, agent, payload });
            (world.answer(&event, now), logged)
        };
        if !matches!(tokio::time::timeout(LOG_WAIT, logged).await, Ok(Ok(()))) {
            tracing::warn!(
                event = event.name,
                lost = self.log.lost(),
                "answered before it was logged"
            );
        }
        if self.injection { envelope.seal(&event.name, answer) } else { Reply::Empty }
    }

    /// What the session is and did that `question` asks for; none if we don't know it.
    pub(super) fn session_state(&self, question: &Question) -> Option<SessionState> {
        let world = self.world();
        let latest_in = |cwd: &str, agent| world.latest_session(&root_of(cwd, &self.home), agent);
        let key = match &question.which {
            Which::Session { key, cwd: Some(cwd) } if world.has_ended(key) => {
                latest_in(cwd, Some(key.agent))
            }
            Which::Session { key, .. } => Some(key),
            Which::LatestIn { cwd, agent } => latest_in(cwd, *agent),
        };
        world.session_state(key?, question.actions, clock::now())
    }

    fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a request that is no event, mentions it once a minute, and answers with nothing.
    pub(super) fn reject(&self, reason: &Unusable) -> Reply {
        let mut rejections = self.rejections.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = rejections.count(clock::now()) {
            let reason = anyhow::Chain::new(reason).map(ToString::to_string).collect::<Vec<_>>();
            tracing::warn!(count, reason = reason.join(": "), "requests that are no hook events");
        }
        Reply::Empty
    }
}

/// A world as the log tells it, from `since` on.
pub(super) fn rebuild(
    database: &Database,
    since: Timestamp,
    home: &Path,
) -> Result<World, StoreError> {
    let mut world = World::default();
    database.entries_since(since, |entry| {
        // What is no event to this version was one to the version that logged it.
        if let Ok(event) = HookEvent::from_payload(entry.agent, &entry.payload) {
            fold(&mut world, &event, home, entry.at);
        }
    })?;
    Ok(world)
}

/// Folds an event into the world, looking up its project only where that can matter.
fn fold(world: &mut World, event: &HookEvent, home: &Path, at: Timestamp) {
    let root = if world.places(event) { root_of(&event.cwd, home) } else { String::new() };
    world.apply(event, &root, at);
}

fn root_of(cwd: &str, home: &Path) -> String {
    project::root_of(Path::new(cwd), home).to_string_lossy().into_owned()
}

/// Counts requests that are no events.
#[derive(Debug, Default)]
struct Rejections {
    unreported: u64,
    reported_at: Option<Timestamp>,
}

impl Rejections {
    /// Counts one, and returns how many there are to report if it is time to.
    fn count(&mut self, now: Timestamp) -> Option<u64> {
        self.unreported += 1;
        if self.reported_at.is_some_and(|at| now.since(at) < REPORT_INTERVAL) {
            return None;
        }
        self.reported_at = Some(now);
        Some(std::mem::take(&mut self.unreported))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejections_are_reported_once_a_minute_with_their_number() {
        let mut rejections = Rejections::default();
        let at = |seconds: i64| Timestamp::from_unix_millis(seconds * 1000);
        assert_eq!(rejections.count(at(0)), Some(1));
        assert_eq!(rejections.count(at(1)), None);
        assert_eq!(rejections.count(at(59)), None);
        assert_eq!(rejections.count(at(60)), Some(3));
        assert_eq!(rejections.count(at(61)), None);
    }
}
