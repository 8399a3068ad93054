//! The way of a hook event: parsed, folded into the world, appended to the log, answered.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hyper::body::Bytes;
use tokio::task::{JoinError, spawn_blocking};

use crate::agent::{
    Agent, Answer, Envelope, EventError, HookEvent, Payload, Redaction, Reply, SessionKey,
};
use crate::clock::{self, Tally, Timestamp};
use crate::config::Config;
use crate::daemon::builds;
use crate::daemon::callback::Callback;
use crate::daemon::client::ContextAnswer;
use crate::daemon::counters::{Counters, Outcome};
use crate::daemon::probe::Probe;
use crate::daemon::state::{ProjectState, Question, Which};
use crate::sensor::index::Indexer;
use crate::sensor::observer::{Noted, Observer};
use crate::sensor::project::Projects;
use crate::sensor::views::Views;
use crate::store::{BuildEntry, Database, Entry, EventLog, Memory, StoreError};
use crate::world::{BuildStatus, Finding, Observation, SessionState, Settings, World};

/// How long an answer waits for its event to be in the log. A hook waits 500 ms in all; a disk that
/// takes longer than this costs the log its promise, which the answer then does not give, and not the
/// agent its answer.
const LOG_WAIT: Duration = Duration::from_millis(250);

/// How long, and how many, events are folded before the first answer.
const REBUILD_TIME: Duration = Duration::from_millis(250);
const MAX_REBUILT: i64 = 20_000;
const MAX_REBUILT_BUILDS: i64 = 1_000;

/// A larger payload is read on another thread, so that small ones are answered meanwhile.
const LARGE: usize = 64 * 1024;

/// What a hook gets.
#[derive(Debug)]
pub(super) struct Answered {
    pub reply: Reply,
    /// Whether its event is in the log: even if the daemon is killed now, it is not lost.
    pub is_logged: bool,
}

impl Answered {
    fn unlogged(reply: Reply) -> Self {
        Self { reply, is_logged: false }
    }
}

/// Takes hook events.
#[derive(Debug)]
pub(super) struct Hooks {
    world: Mutex<World>,
    log: EventLog,
    /// What the log knows of sessions that the world does not.
    memory: Arc<Memory>,
    projects: Arc<Projects>,
    observer: Observer,
    settings: Settings,
    indexer: Indexer,
    injection: bool,
    /// How secrets are found; none if they are to stay.
    redaction: Option<Arc<Redaction>>,
    counters: Counters,
    /// Where the block is to be written to a file too.
    callback: Option<Arc<Callback>>,
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
    /// The body says that it is too large.
    #[error("the body is too large")]
    TooLarge,
    /// The body did not arrive in time.
    #[error("the body did not arrive in time")]
    Slow,
    /// We could not look at it.
    #[error("the event was not looked at")]
    Unread(#[from] JoinError),
    /// The body is not an event.
    #[error(transparent)]
    Event(#[from] EventError),
}

impl Hooks {
    /// Takes events into `world` and `log`; says nothing unless injection is on.
    pub(super) fn new(
        world: World,
        log: EventLog,
        memory: Memory,
        projects: Arc<Projects>,
        (observer, indexer): (Observer, Indexer),
        redaction: Option<Redaction>,
        config: &Config,
    ) -> Self {
        let callback = || Arc::new(Callback::new(Arc::clone(&projects)));
        Self {
            callback: config.file_callback.then(callback),
            world: Mutex::new(world),
            log,
            memory: Arc::new(memory),
            settings: Settings { context_pressure_threshold: config.context_pressure_threshold },
            projects,
            observer,
            indexer,
            injection: config.injection,
            redaction: redaction.map(Arc::new),
            counters: Counters::default(),
            rejected: Tally::default(),
            unlogged: Tally::default(),
        }
    }

    /// Takes one event and answers it.
    pub(super) async fn handle(&self, agent: Agent, envelope: Envelope, body: Bytes) -> Answered {
        if let Some(probe) = Probe::read(&body) {
            return Answered::unlogged(envelope.seal(&probe.event, probe.answer()));
        }
        let (now, begun) = (clock::now(), clock::monotonic());
        let (event, payload, root) = match self.look_at(agent, body).await {
            Ok(seen) => seen,
            Err(reason) => return self.reject(&reason),
        };
        let noted = self.look_beside(&event, &root, now).await;
        let observed = (!noted.is_empty()).then(|| serde_json::to_string(&noted).ok()).flatten();
        let (answer, logged) = {
            // Under one lock, so that the log has the events in the order in which they were folded.
            let mut world = self.world();
            fold(&mut world, &event, &root, &noted, now);
            self.call_back(&world, &event, &root, now);
            let project_root = Some(root).filter(|root| !root.is_empty());
            // What is not sent was not said, so there is no answer where none is sent.
            let (answer, said) = if self.injection {
                world.tell(&event, now)
            } else {
                (Answer::Nothing, Vec::new())
            };
            let entry = Entry { at: now, agent, project_root, observed, said, payload };
            let logged = self.log.append(entry);
            (answer, logged)
        };
        // Where nothing can be written, waiting helps nobody.
        let patience = if self.log.is_stalled() { Duration::ZERO } else { LOG_WAIT };
        let logged = matches!(tokio::time::timeout(patience, logged).await, Ok(Ok(())));
        if !logged && let Some(count) = self.unlogged.count(now) {
            tracing::warn!(
                count,
                lost = self.lost(),
                "events were answered before they were logged"
            );
        }
        let reply = if self.injection { envelope.seal(&event.name, answer) } else { Reply::Empty };
        self.counters.count(&event.name, Outcome::of(&reply), clock::monotonic() - begun);
        Answered { reply, is_logged: logged }
    }

    /// Writes the block to a file, if that is wanted, while nobody waits for it.
    fn call_back(&self, world: &World, event: &HookEvent, root: &str, now: Timestamp) {
        if let Some(callback) = self.callback.as_ref().filter(|_| Callback::is_due(event))
            && !root.is_empty()
            && let Some(block) = world.context(&event.session, now)
            && callback.offer(root, block)
        {
            let (callback, root) = (Arc::clone(callback), root.to_owned());
            drop(spawn_blocking(move || callback.write(&root)));
        }
    }

    /// The event, what the log keeps of it, and the root of its project. Whatever can take long here
    /// does not hold up other events.
    async fn look_at(
        &self,
        agent: Agent,
        body: Bytes,
    ) -> Result<(HookEvent, String, String), Unusable> {
        let (event, payload) = if body.len() > LARGE {
            let redaction = self.redaction.clone();
            spawn_blocking(move || read(agent, &body, redaction.as_deref())).await??
        } else {
            read(agent, &body, self.redaction.as_deref())?
        };
        if !self.world().knows(&event.session) {
            self.recall(&event.session).await?;
        }
        let settled = self.world().settled_root(&event).map(str::to_owned);
        let root = if let Some(root) = settled {
            root
        } else {
            let (projects, cwd) = (Arc::clone(&self.projects), event.cwd.clone());
            spawn_blocking(move || projects.root_of(&cwd)).await?
        };
        Ok((event, payload, root))
    }

    /// Folds what the log knows of a session that the world does not: it is older, or there was no
    /// time for it at the start.
    async fn recall(&self, key: &SessionKey) -> Result<(), Unusable> {
        let (memory, projects) = (Arc::clone(&self.memory), Arc::clone(&self.projects));
        let (settings, injection, key) = (self.settings, self.injection, key.clone());
        let recalled = spawn_blocking(move || {
            let recalled = memory.recall(&key).ok().flatten()?;
            let mut folding = Folding::new(settings, injection);
            for entry in recalled.entries {
                folding.take(entry, &projects);
            }
            Some((key, folding.rebuilt.world, recalled.totals))
        });
        if let Some((key, world, totals)) = recalled.await? {
            self.world().take_over(&key, world, totals);
        }
        Ok(())
    }

    /// What sensors see beside the event.
    async fn look_beside(&self, event: &HookEvent, root: &str, now: Timestamp) -> Vec<Noted> {
        let (mut noted, indexed) =
            tokio::join!(self.observer.look(event, root, now), self.indexer.look(event, root, now));
        let world = self.world();
        // After a restart the world knows from the log what the indexer finds out anew.
        let is_new = |observation: &Observation| match observation {
            Observation::Indexed { root, index } => world.project_index(root) != Some(index),
            _ => true,
        };
        noted.extend(indexed.into_iter().filter(is_new).map(Noted::Seen));
        noted
    }

    /// What the project of the directory `cwd` is made of; none if it is in none.
    pub(super) async fn project_state(&self, cwd: &str) -> Option<ProjectState> {
        let (projects, directory) = (Arc::clone(&self.projects), cwd.to_owned());
        let root = spawn_blocking(move || projects.root_of(&directory)).await.ok()?;
        if root.is_empty() {
            return None;
        }
        let index = match self.indexer.index(&root, clock::now()).await {
            Some(index) => index,
            None => self.world().project_index(&root)?.clone(),
        };
        Some(ProjectState { project_root: root, index })
    }

    /// What the session is and did that `question` asks for; none if we don't know it.
    pub(super) fn session_state(&self, question: &Question) -> Option<SessionState> {
        let world = self.world();
        let key = self.asked_for(&world, &question.which)?;
        world.session_state(key, question.actions, clock::now())
    }

    /// What the session that `question` asks for would be told now. To ask changes nothing.
    pub(super) fn context(&self, question: &Question) -> ContextAnswer {
        let world = self.world();
        let session = self.asked_for(&world, &question.which);
        ContextAnswer {
            session: session.cloned(),
            context: session.and_then(|session| world.context(session, clock::now())),
        }
    }

    /// The session that is asked for, and the root of its project; none if we don't know it.
    pub(super) fn asked(&self, which: &Which) -> Option<(SessionKey, String)> {
        let world = self.world();
        let key = self.asked_for(&world, which)?;
        Some((key.clone(), world.root_of(key)?.to_owned()))
    }

    /// What is wrong in a session now. To ask changes nothing.
    pub(super) fn findings(&self, key: &SessionKey) -> Vec<Finding> {
        self.world().findings(key, clock::now())
    }

    /// What was built and tested last in the project of a session.
    pub(super) fn build_status(&self, key: &SessionKey, tag: Option<&str>) -> Option<BuildStatus> {
        self.world().build_status(key, tag, clock::now())
    }

    /// The root of the project of a directory.
    pub(super) fn root_of(&self, cwd: &str) -> String {
        self.projects.root_of(cwd)
    }

    /// The root of the project with this name in which was worked last.
    pub(super) fn project_named(&self, name: &str) -> Option<String> {
        self.world().project_named(name).map(str::to_owned)
    }

    fn asked_for<'a>(&self, world: &'a World, which: &'a Which) -> Option<&'a SessionKey> {
        let latest_in = |cwd: &str, agent| world.latest_session(&self.projects.root_of(cwd), agent);
        match which {
            Which::Session { key, cwd: Some(cwd) } if world.has_ended(key) => {
                latest_in(cwd, Some(key.agent))
            }
            Which::Session { key, .. } => Some(key),
            Which::LatestIn { cwd, agent } => latest_in(cwd, *agent),
        }
    }

    /// What became of the events so far.
    pub(super) fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Whether agents are told anything.
    pub(super) const fn injects(&self) -> bool {
        self.injection
    }

    /// How many sessions are in memory.
    pub(super) fn sessions(&self) -> usize {
        self.world().sessions()
    }

    /// What knows which project a directory is in.
    pub(super) fn projects(&self) -> Arc<Projects> {
        Arc::clone(&self.projects)
    }

    /// How secrets are found; none if they are to stay.
    pub(super) fn redaction(&self) -> Option<Arc<Redaction>> {
        self.redaction.clone()
    }

    /// Where everything is logged.
    pub(super) const fn log(&self) -> &EventLog {
        &self.log
    }

    pub(super) fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many events were lost to the log since the daemon started.
    pub(super) fn lost(&self) -> u64 {
        self.log.lost()
    }

    /// What the user is to be told of the log.
    pub(super) fn log_problem(&self) -> Option<String> {
        self.log.problem()
    }

    /// Counts a request that is no event, mentions it once a minute, and answers with nothing.
    pub(super) fn reject(&self, reason: &Unusable) -> Answered {
        self.counters.count_rejected();
        if let Some(count) = self.rejected.count(clock::now()) {
            let reason = anyhow::Chain::new(reason).map(ToString::to_string).collect::<Vec<_>>();
            let reason = reason.join(": ");
            let redacted = self.redaction.as_ref().map(|redaction| redaction.text(&reason));
            let reason = redacted.as_deref().unwrap_or(&reason);
            tracing::warn!(count, reason, "requests that are no hook events");
        }
        Answered::unlogged(Reply::Empty)
    }
}

fn read(
    agent: Agent,
    body: &[u8],
    redaction: Option<&Redaction>,
) -> Result<(HookEvent, String), EventError> {
    let payload = match redaction {
        Some(redaction) => Payload::read_redacted(body, redaction)?,
        None => Payload::read(body)?,
    };
    Ok((HookEvent::from_payload(agent, &payload)?, payload.to_string()))
}

/// Folds an event into the world, with what was seen on the way.
///
/// A file that an event is about was changed before it. What a transcript tells is about a session
/// that has to be known.
fn fold(world: &mut World, event: &HookEvent, root: &str, noted: &[Noted], at: Timestamp) {
    let seen = noted.iter().filter_map(|noted| match noted {
        Noted::Seen(observation) => Some(observation),
        Noted::Known(_) => None,
    });
    let (of_files, of_transcripts): (Vec<_>, Vec<_>) =
        seen.partition(|observation| observation.is_of_file());
    for observation in of_files {
        world.observe(observation, at);
    }
    world.apply(event, root, at);
    for observation in of_transcripts {
        world.observe(observation, at);
    }
}

/// What the log tells again after a restart.
#[derive(Debug)]
pub(super) struct Rebuilt {
    pub world: World,
    /// What was known of files.
    pub views: Views,
    /// The sessions with their first transcripts, in the order in which they began.
    pub transcripts: Vec<(SessionKey, String)>,
}

/// What comes of the events of the log.
struct Folding {
    rebuilt: Rebuilt,
    /// What persons have built, the earliest first.
    builds: VecDeque<BuildEntry>,
    begun: HashSet<SessionKey>,
    injection: bool,
}

impl Folding {
    fn new(settings: Settings, injection: bool) -> Self {
        let (world, views) = (World::new(settings), Views::default());
        let rebuilt = Rebuilt { world, views, transcripts: Vec::new() };
        Self { rebuilt, builds: VecDeque::new(), begun: HashSet::new(), injection }
    }

    fn take(&mut self, entry: Entry, projects: &Projects) {
        // What is no event to this version was one to the version that logged it.
        let Ok((event, _)) = read(entry.agent, entry.payload.as_bytes(), None) else {
            return;
        };
        let Rebuilt { world, views, transcripts } = &mut self.rebuilt;
        let root = entry
            .project_root
            .or_else(|| world.settled_root(&event).map(str::to_owned))
            .unwrap_or_else(|| projects.root_of(&event.cwd));
        let noted = entry.observed.and_then(|noted| serde_json::from_str(&noted).ok());
        let noted: Vec<Noted> = noted.unwrap_or_default();
        // Builds that persons ran in between.
        while self.builds.front().is_some_and(|build| build.at <= entry.at)
            && let Some(build) = self.builds.pop_front()
        {
            let at = build.at;
            world.observe(&builds::observed(build), at);
        }
        fold(world, &event, &root, &noted, entry.at);
        if let Some(transcript) = &event.transcript
            && self.begun.insert(event.session.clone())
        {
            transcripts.push((event.session.clone(), transcript.clone()));
        }
        if self.injection {
            drop(world.answer(&event, entry.at));
        }
        let known = noted.into_iter().filter_map(|noted| match noted {
            Noted::Known(file) => Some(file),
            Noted::Seen(_) => None,
        });
        views.replay(&event, &root, entry.at, known);
    }
}

/// A world as the log tells it of the sessions that did something since `since`, and what is known of
/// the files. With `injection` it knows what it has said.
///
/// The latest sessions come first where there is no time for all. The others are folded when they go
/// on.
pub(super) fn rebuild(
    database: &Database,
    since: Timestamp,
    projects: &Projects,
    settings: Settings,
    injection: bool,
) -> Result<Rebuilt, StoreError> {
    let mut folding = Folding::new(settings, injection);
    folding.builds = database.builds_since(since, MAX_REBUILT_BUILDS)?.into();
    let deadline = clock::monotonic() + REBUILD_TIME;
    let incomplete = database.latest_sessions(since, MAX_REBUILT, |entry| {
        folding.take(entry, projects);
        clock::monotonic() < deadline
    })?;
    for build in std::mem::take(&mut folding.builds) {
        let at = build.at;
        folding.rebuilt.world.observe(&builds::observed(build), at);
    }
    for key in &incomplete {
        folding.rebuilt.world.forget(key);
    }
    folding.rebuilt.transcripts.retain(|(key, _)| !incomplete.contains(key));
    Ok(folding.rebuilt)
}
