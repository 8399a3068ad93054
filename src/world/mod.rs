//! What we know: sessions and projects, folded from events, and what an agent is told of it.
//!
//! The world does no I/O and reads no clock. The same events at the same times give the same state
//! and the same answers, which is how it is tested and how it is rebuilt after a restart.

mod digest;
mod observation;
mod project;
mod render;
mod session;
mod state;

use std::collections::HashMap;

use crate::agent::{Agent, Answer, EventKind, HookEvent, SessionKey};
use crate::clock::Timestamp;
use digest::Digest;
pub use observation::{Observation, Usage};
use project::Project;
pub use session::RECENT_ACTIONS;
use session::Session;
pub use state::SessionState;

/// How many sessions are kept in memory; beyond it the one that was silent for longest goes. The
/// log still has it.
const MAX_SESSIONS: usize = 512;

/// The sessions that we know of.
#[derive(Debug, Default)]
pub struct World {
    sessions: HashMap<SessionKey, Session>,
}

impl World {
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
        session.apply(&event.kind, at);
    }

    /// Takes in what a sensor has seen.
    pub fn observe(&mut self, _observation: &Observation, _at: Timestamp) {}

    /// What the agent should be told in answer to an event that was [applied](Self::apply).
    pub fn answer(&self, event: &HookEvent, now: Timestamp) -> Answer {
        if event.kind == (EventKind::Stop { stop_hook_active: true }) {
            // The turn goes on because a Stop hook blocked it. To say anything would block it again,
            // and again: the agents cap that loop late or never.
            return Answer::Nothing;
        }
        match event.kind {
            EventKind::UserPromptSubmit { .. } | EventKind::SessionStart(_) => self
                .digest(event, now)
                .map_or(Answer::Nothing, |digest| Answer::Context(render::block(&digest))),
            _ => Answer::Nothing,
        }
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
        Some(SessionState::of(key, session, actions, now))
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

    fn digest<'a>(&'a self, event: &'a HookEvent, now: Timestamp) -> Option<Digest<'a>> {
        let session = self.sessions.get(&event.session)?;
        let digest = Digest::of_session(&event.session, session, now);
        if matches!(event.kind, EventKind::SessionStart(_)) && session.tool_calls == 0 {
            return Some(digest.after(self.previous_session(&event.session, session), now));
        }
        Some(digest)
    }

    /// The session of the same project, of whichever agent, that did something last before this one.
    fn previous_session(
        &self,
        key: &SessionKey,
        session: &Session,
    ) -> Option<(&SessionKey, &Session)> {
        self.sessions
            .iter()
            .filter(|(other, candidate)| {
                *other != key && candidate.project == session.project && candidate.tool_calls > 0
            })
            // Keys are unique, so the choice does not depend on the order of the map.
            .max_by_key(|(other, candidate)| (candidate.last_event_at, *other))
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

#[cfg(test)]
mod tests;
