//! What we know: sessions and projects, folded from events, and what an agent is told of it.
//!
//! The world does no I/O and reads no clock. The same events at the same times give the same state
//! and the same answers, which is how it is tested and how it is rebuilt after a restart.

mod anomaly;
mod answer;
mod blame;
mod build_state;
mod builds;
mod calls;
mod digest;
mod files;
mod observation;
mod outcome;
mod project;
mod project_index;
mod recent;
mod render;
mod runs;
mod session;
mod state;
mod value;

use std::collections::HashMap;

use crate::agent::{
    Agent, Command, EventKind, HookEvent, Purpose, Report, SessionKey, ToolAction, ToolResult,
};
use crate::clock::Timestamp;
use anomaly::Route;
pub use anomaly::{Channel, Finding, Kind, Severity};
pub use build_state::BuildStatus;
use builds::Builds;
pub use calls::{RECENT_ACTIONS, Totals};
use files::{Author, Change};
pub use files::{OWN_FILE, is_own_file};
pub use observation::{Observation, Usage, WrappedBuild, WrappedEnd};
use outcome::Outcome;
use project::Project;
pub use project_index::{Member, ProjectIndex, Shape, TestRunner};
use recent::Recent;
pub use render::BLOCK_BEGIN;
use session::Session;
pub use state::SessionState;

/// How many sessions are kept in memory; beyond it the one that was silent for longest goes. The
/// log still has it.
const MAX_SESSIONS: usize = 512;

/// How many projects are kept, beyond which the one that was not built for longest goes.
const MAX_PROJECTS: usize = 256;

/// Of how many projects we keep what they are made of.
const MAX_INDEXES: usize = 64;

/// What the user can set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Settings {
    /// How many tokens in the window are many, whatever its size.
    pub context_pressure_threshold: Option<u64>,
}

/// The sessions and projects that we know of.
#[derive(Debug)]
pub struct World {
    settings: Settings,
    /// Where findings are said.
    route: Route,
    sessions: HashMap<SessionKey, Session>,
    /// The builds of each project, by its root.
    builds: Recent<Builds>,
    /// What each project is made of, by its root.
    indexes: Recent<ProjectIndex>,
    /// What the answer that is being made tells.
    told: Vec<Finding>,
}

impl Default for World {
    fn default() -> Self {
        Self::new(Settings::default())
    }
}

/// The beginning of a text of somebody else, up to `chars` characters, fit for a model: in one line,
/// without anything that poses as a tag or can't be seen.
pub fn clean(text: &str, chars: usize) -> String {
    value::text(text, chars)
}

impl World {
    /// A world in which nothing has happened.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            route: Kind::channel,
            sessions: HashMap::new(),
            builds: Recent::new(MAX_PROJECTS),
            indexes: Recent::new(MAX_INDEXES),
            told: Vec::new(),
        }
    }

    /// The root of the project that the event's session is in already. There is none if it is the
    /// event that decides: the first one with a directory, and one with which a session starts anew.
    /// A command that runs elsewhere does not.
    pub fn settled_root(&self, event: &HookEvent) -> Option<&str> {
        let session = self.sessions.get(&event.session)?;
        let root = session.project.root();
        (!matches!(event.kind, EventKind::SessionStart(_)) && !root.is_empty()).then_some(root)
    }

    /// Folds an event into the world.
    ///
    /// `project_root` is the [settled](Self::settled_root) one or, if there is none, the root of the
    /// project that the event's working directory lies in; it is empty if that is not known.
    pub fn apply(&mut self, event: &HookEvent, project_root: &str, at: Timestamp) {
        if !self.sessions.contains_key(&event.session) {
            self.make_room();
        }
        let session = self
            .sessions
            .entry(event.session.clone())
            .or_insert_with(|| Session::new(Project::new(project_root), at));
        if !project_root.is_empty() {
            session.project = Project::new(project_root);
        }
        session.apply(event, at);
        let by_subagent = event.subagent.is_some();
        match &event.kind {
            EventKind::PreToolUse(call) => {
                if session.calls.begin(call, by_subagent, at)
                    && let Some(command) = build_of(&call.action)
                {
                    let builds = builds_of(&mut self.builds, &session.project);
                    builds.begin(&event.session, call.id.as_ref(), command);
                }
            }
            EventKind::PostToolUse(result) => {
                let result = session.calls.as_begun(result);
                if let Some(outcome) = session.finish(&result, by_subagent, at) {
                    self.note_result(&event.session, &result, outcome, at);
                }
            }
            EventKind::RejectedCalls(results) => {
                for result in results {
                    session.reject(&result.call, by_subagent, at);
                }
                self.give_up_builds(&event.session, at);
            }
            EventKind::SessionStart(_)
            | EventKind::SessionEnd
            | EventKind::Stop { .. }
            | EventKind::TurnBroken
            | EventKind::UserPromptSubmit { .. } => self.give_up_builds(&event.session, at),
            EventKind::PreCompact | EventKind::Other => {}
        }
    }

    /// Takes in what a sensor has seen. `at` is when it happened, as far as the sensor knows.
    pub fn observe(&mut self, observation: &Observation, at: Timestamp) {
        match observation {
            Observation::ExternalChange { path, removed } => {
                let change = Change { at, by: Author::Outside, removed: *removed };
                self.note_change(path, &change, None);
                let sessions = self.sessions.values_mut();
                for session in sessions.filter(|session| session.project.contains(path)) {
                    session.note_external(path, at);
                }
            }
            Observation::OwnChange { session, path, removed } => {
                let by = Author::Session(session.clone());
                let change = Change { at, by, removed: *removed };
                self.note_change(path, &change, Some(session));
            }
            Observation::Edited { session: key, by_subagent, written, removed } => {
                if let Some(session) = self.sessions.get_mut(key) {
                    session.files.edit(written, removed, *by_subagent, at);
                }
                self.note_edit(key, written, removed, at);
            }
            Observation::Usage { session, usage } => {
                if let Some(session) = self.sessions.get_mut(session) {
                    session.use_tokens(*usage);
                    let since = session.pressed_since;
                    let is_pressed =
                        anomaly::is_pressed(&session.usage, &self.settings, since.is_some());
                    session.pressed_since = is_pressed.then(|| since.unwrap_or(at));
                }
            }
            Observation::BuildBegan { root, build } => {
                let command = Command::of_build(&build.command, &build.cwd);
                let builds = builds_of(&mut self.builds, &Project::new(root));
                builds.begin_wrapped(&build.id, build.session.as_ref(), &command);
            }
            Observation::BuildTold { root, build, end, said } => {
                self.note_wrapped(root, build, *end, said, at);
            }
            Observation::Indexed { root, index } => self.indexes.put(root, (**index).clone()),
            Observation::CommandEnded { session: key, call_id, exit_code } => {
                if let Some(session) = self.sessions.get_mut(key)
                    && session.end_command(call_id, *exit_code)
                    && let Some(builds) = self.builds.peek_mut(session.project.root())
                {
                    builds.resolve(key, call_id, *exit_code);
                }
            }
        }
    }

    /// Whether what `tma1 build` runs as `id` in the project at `root` is a call of a session, whose hooks
    /// tell of it.
    pub fn is_build_of_call(&self, root: &str, id: &str) -> bool {
        self.builds.get(root).is_some_and(|builds| builds.is_of_call(id))
    }

    /// A command that `tma1 build` runs has ended or stands so. It is told to everyone in the project,
    /// unless a call of a session tells it.
    fn note_wrapped(
        &mut self,
        root: &str,
        build: &WrappedBuild,
        end: WrappedEnd,
        said: &[String],
        at: Timestamp,
    ) {
        let project = Project::new(root);
        let command = Command::of_build(&build.command, &build.cwd);
        let builds = builds_of(&mut self.builds, &project);
        let outcome = Outcome::of_wrapped(end, &command);
        // What goes on and has said how it stands says no more by its being ended.
        let is_over = outcome == Outcome::Interrupted && builds.has_told(&build.id);
        if is_over || builds.is_of_call(&build.id) {
            return;
        }
        let report = Report::of_lines(said);
        builds.end_wrapped(&build.id, &command, outcome, &report, at);
        let sessions = self.sessions.values_mut();
        for session in sessions.filter(|session| session.project == project) {
            session.note_run(&command, None, &report, outcome, at);
        }
    }

    /// What the project at `root` is made of; none if that was not observed.
    pub fn project_index(&self, root: &str) -> Option<&ProjectIndex> {
        self.indexes.get(root)
    }

    /// What is wrong in a session now, whether it was said or not. To ask changes nothing.
    pub fn findings(&self, key: &SessionKey, now: Timestamp) -> Vec<Finding> {
        self.sessions.get(key).map_or_else(Vec::new, |session| self.find(session, now))
    }

    /// What a session is and did, with up to `actions` of its last tool calls; none if we don't know
    /// the session.
    pub fn session_state(
        &self,
        key: &SessionKey,
        actions: usize,
        now: Timestamp,
    ) -> Option<SessionState> {
        let session = self.sessions.get(key)?;
        Some(SessionState::of(key, session, actions, self.find(session, now), now))
    }

    /// What was built and tested last in the project of a session, all of it or what has this `tag`;
    /// none if we don't know the session.
    pub fn build_status(
        &self,
        key: &SessionKey,
        tag: Option<&str>,
        now: Timestamp,
    ) -> Option<BuildStatus> {
        let session = self.sessions.get(key)?;
        let builds = self.builds.get(session.project.root());
        Some(BuildStatus::of(session, builds, tag, now))
    }

    /// The root of the project of a session.
    pub fn root_of(&self, key: &SessionKey) -> Option<&str> {
        Some(self.sessions.get(key)?.project.root())
    }

    /// The root of a project of this name in which a session is known, the one that was worked in last.
    pub fn project_named(&self, name: &str) -> Option<&str> {
        let named = self.sessions.iter().filter(|(_, session)| session.project.name() == name);
        let latest = named.max_by_key(|(key, session)| (session.last_event_at, *key));
        latest.map(|(_, session)| session.project.root())
    }

    /// How many sessions we know.
    pub fn sessions(&self) -> usize {
        self.sessions.len()
    }

    /// Whether we know that the session has ended.
    pub fn has_ended(&self, key: &SessionKey) -> bool {
        self.sessions.get(key).is_some_and(|session| session.ended)
    }

    /// The session in the project at `project_root`, of `agent` or of any, that did something last.
    pub fn latest_session(&self, project_root: &str, agent: Option<Agent>) -> Option<&SessionKey> {
        let project = Project::new(project_root);
        self.sessions
            .iter()
            .filter(|(key, session)| {
                session.project == project && agent.is_none_or(|agent| key.agent == agent)
            })
            .max_by_key(|(key, session)| (session.last_event_at, *key))
            .map(|(key, _)| key)
    }

    /// Whether the session is known.
    pub fn knows(&self, key: &SessionKey) -> bool {
        self.sessions.contains_key(key)
    }

    /// Forgets a session of which only a part was folded.
    pub fn forget(&mut self, key: &SessionKey) {
        self.sessions.remove(key);
    }

    /// Takes over a session that was folded apart, unless it is known by now. If only its last events
    /// were folded, `totals` is what it came to in all.
    pub fn take_over(&mut self, key: &SessionKey, mut other: Self, totals: Option<Totals>) {
        if self.knows(key) {
            return;
        }
        let Some(mut session) = other.sessions.remove(key) else {
            return;
        };
        if let Some(totals) = totals {
            session.started_at = session.started_at.min(totals.began_at);
            session.calls.raise(totals);
        }
        let root = session.project.root();
        if self.builds.get(root).is_none()
            && let Some(builds) = other.builds.remove(root)
        {
            self.builds.put(root, builds);
        }
        self.make_room();
        self.sessions.insert(key.clone(), session);
    }

    fn find(&self, session: &Session, now: Timestamp) -> Vec<Finding> {
        anomaly::find(session, &self.settings, self.route, now)
    }

    /// A tool call of a session has come to something.
    fn note_result(
        &mut self,
        key: &SessionKey,
        result: &ToolResult,
        outcome: Outcome,
        at: Timestamp,
    ) {
        match &result.call.action {
            ToolAction::Edit { written, removed } if session::is_done(outcome) => {
                self.note_edit(key, written, removed, at);
            }
            action => {
                if let (Some(command), Some(session)) = (build_of(action), self.sessions.get(key)) {
                    let call = result.call.id.as_ref();
                    let builds = builds_of(&mut self.builds, &session.project);
                    builds.end(key, call, command, outcome, &result.report, at);
                }
            }
        }
    }

    /// A session has edited files: tells every other one.
    fn note_edit(
        &mut self,
        key: &SessionKey,
        written: &[String],
        removed: &[String],
        at: Timestamp,
    ) {
        for (paths, removed) in [(written, false), (removed, true)] {
            let change = Change { at, by: Author::Session(key.clone()), removed };
            for path in paths {
                self.note_change(path, &change, Some(key));
            }
        }
    }

    /// A file was changed: tells every session that has seen it but the one that did it.
    fn note_change(&mut self, path: &str, change: &Change, except: Option<&SessionKey>) {
        for (key, session) in &mut self.sessions {
            if Some(key) != except {
                session.files.change(path, change);
            }
        }
    }

    /// The builds of a session whose calls are not under way any more were interrupted.
    fn give_up_builds(&mut self, key: &SessionKey, at: Timestamp) {
        if let Some(session) = self.sessions.get(key)
            && let Some(builds) = self.builds.peek_mut(session.project.root())
        {
            builds.interrupt(key, |call| session.calls.is_under_way(call), at);
        }
    }

    fn make_room(&mut self) {
        if self.sessions.len() < MAX_SESSIONS {
            return;
        }
        let oldest = self
            .sessions
            .iter()
            .min_by_key(|(key, session)| (session.last_event_at, *key))
            .map(|(key, _)| key.clone());
        if let Some(oldest) = oldest {
            self.sessions.remove(&oldest);
        }
    }
}

/// The command of a call that builds or tests.
fn build_of(action: &ToolAction) -> Option<&Command> {
    match action {
        ToolAction::Run(command) if command.purpose != Purpose::Other => Some(command),
        _ => None,
    }
}

fn builds_of<'a>(builds: &'a mut Recent<Builds>, project: &Project) -> &'a mut Builds {
    builds.get_or_insert_with(project.root(), Builds::default)
}

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod replays;
#[cfg(test)]
mod scene;
#[cfg(test)]
mod tales;
#[cfg(test)]
mod tests;
