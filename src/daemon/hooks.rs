//! The way of a hook event: parsed, folded into the world, appended to the log, answered.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::agent::{Agent, Envelope, EventError, HookEvent, Reply};
use crate::clock::{self, Tally, Timestamp};
use crate::sensor::project;
use crate::store::{Database, Entry, EventLog, StoreError};
use crate::world::World;

/// How long an answer waits for its event to be in the log. A hook waits 500 ms in all; a disk that
/// takes longer than this costs the log its promise, not the agent its answer.
const LOG_WAIT: Duration = Duration::from_millis(150);

/// Takes hook events.
#[derive(Debug)]
pub(super) struct Hooks {
    world: Mutex<World>,
    log: EventLog,
    home: PathBuf,
    injection: bool,
    rejected: Tally,
    unlogged: Tally,
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
        let world = Mutex::new(world);
        Self { world, log, home, injection, rejected: Tally::default(), unlogged: Tally::default() }
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
        let logged = matches!(tokio::time::timeout(LOG_WAIT, logged).await, Ok(Ok(())));
        if !logged && let Some(count) = self.unlogged.count(now) {
            tracing::warn!(
                count,
                lost = self.lost(),
                "events were answered before they were logged"
            );
        }
        if self.injection { envelope.seal(&event.name, answer) } else { Reply::Empty }
    }

    fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many events were lost to the log since the daemon started.
    pub(super) fn lost(&self) -> u64 {
        self.log.lost()
    }

    /// Counts a request that is no event, mentions it once a minute, and answers with nothing.
    pub(super) fn reject(&self, reason: &Unusable) -> Reply {
        if let Some(count) = self.rejected.count(clock::now()) {
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
    let root = if world.places(event) {
        project::root_of(Path::new(&event.cwd), home).to_string_lossy().into_owned()
    } else {
        String::new()
    };
    world.apply(event, &root, at);
}
