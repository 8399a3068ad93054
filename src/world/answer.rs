//! What an agent is told in answer to an event.

use crate::agent::{Agent, Answer, EventKind, HookEvent, SessionKey, StartSource};
use crate::clock::Timestamp;
use crate::world::anomaly::{self, Channel, Finding, Kind, Severity};
use crate::world::digest::{Digest, Previous};
use crate::world::session::Session;
use crate::world::{World, render};

impl World {
    /// What the agent is told in answer to an event that was [applied](Self::apply).
    ///
    /// A finding that is told this way is not told again soon. So this is asked for an answer that
    /// is sent, or was when the event is replayed, and for no other: not when injection is off.
    pub fn answer(&mut self, event: &HookEvent, now: Timestamp) -> Answer {
        self.tell(event, now).0
    }

    /// The [`answer`](Self::answer), and the findings that it tells, for the log.
    pub fn tell(&mut self, event: &HookEvent, now: Timestamp) -> (Answer, Vec<Finding>) {
        self.told.clear();
        let answer = self.say(event, now);
        (answer, std::mem::take(&mut self.told))
    }

    fn say(&mut self, event: &HookEvent, now: Timestamp) -> Answer {
        if event.kind == (EventKind::Stop { stop_hook_active: true }) {
            // The turn goes on because a Stop hook blocked it. To say anything would block it again,
            // and again: the agents cap that loop late or never.
            return Answer::Nothing;
        }
        let in_subagent = event.subagent.is_some();
        let answer = match event.kind {
            // A prompt that the agent wrote itself is read by the same model, so it is told as much.
            EventKind::UserPromptSubmit { .. } | EventKind::SessionStart(_) => {
                self.block(event, now).map(Answer::Context)
            }
            // Codex takes no context there.
            EventKind::PreCompact if event.session.agent == Agent::ClaudeCode && !in_subagent => {
                self.full_digest(&event.session, now)
                    .map(|digest| Answer::Context(render::preserve(&digest)))
            }
            EventKind::Stop { .. } if !in_subagent => {
                self.stop_reason(&event.session, now).map(Answer::Block)
            }
            // The agents report failures by an event of another name, whose answer is not handed on.
            EventKind::PostToolUse(_) if !in_subagent && event.name == "PostToolUse" => {
                self.one_liner(&event.session, now).map(Answer::Context)
            }
            _ => None,
        };
        answer.unwrap_or(Answer::Nothing)
    }

    /// The block as it would be told now, with every finding; none if we don't know the session. To ask
    /// changes nothing.
    pub fn context(&self, key: &SessionKey, now: Timestamp) -> Option<String> {
        let (key, _) = self.sessions.get_key_value(key)?;
        self.full_digest(key, now).map(|digest| render::block(&digest))
    }

    /// The block in answer to a prompt or the start of a session.
    fn block(&mut self, event: &HookEvent, now: Timestamp) -> Option<String> {
        let key = &event.session;
        let anomalies = match event.kind {
            // What it is about was seen and done by the session's own model, which does not read this.
            _ if event.subagent.is_some() => Vec::new(),
            EventKind::SessionStart(StartSource::Compact) => {
                // What was said before is not in the window any more. Why the turn must not end yet is
                // shown too, and still said when it is to end.
                let findings = self.findings(key, now);
                let mut of_prompts = findings.clone();
                of_prompts.retain(|finding| finding.channel == Channel::Prompt);
                self.note_said(key, &of_prompts, now);
                findings
            }
            _ => self.due(key, Channel::Prompt, usize::MAX, now),
        };
        let mut digest = self.digest(key, now)?;
        digest.anomalies = anomaly::lines(&anomalies);
        if let EventKind::SessionStart(
            StartSource::Startup | StartSource::Clear | StartSource::Other,
        ) = event.kind
            && digest.tool_calls == 0
        {
            digest.previous = self.previous(key, now);
        }
        Some(render::block(&digest))
    }

    /// Why the turn must not end yet, if there is a reason to say and none was said in this turn.
    fn stop_reason(&mut self, key: &SessionKey, now: Timestamp) -> Option<String> {
        if self.sessions.get(key)?.turn.blocked {
            return None;
        }
        let findings = self.due(key, Channel::Stop, anomaly::MAX_REASONS, now);
        let reason = anomaly::reason(&findings)?;
        self.sessions.get_mut(key)?.turn.blocked = true;
        Some(reason)
    }

    /// What is said after a tool call, in one line.
    fn one_liner(&mut self, key: &SessionKey, now: Timestamp) -> Option<String> {
        let is_used = Kind::ALL.iter().any(|kind| {
            Severity::ALL
                .iter()
                .any(|severity| (self.route)(*kind, *severity) == Channel::PostToolUse)
        });
        if !is_used {
            return None;
        }
        anomaly::one_liner(&self.due(key, Channel::PostToolUse, 1, now))
    }

    /// The digest with every finding, also with those that were said. To ask changes nothing.
    fn full_digest<'a>(&'a self, key: &'a SessionKey, now: Timestamp) -> Option<Digest<'a>> {
        let mut digest = self.digest(key, now)?;
        digest.anomalies = anomaly::lines(&self.findings(key, now));
        Some(digest)
    }

    fn digest<'a>(&'a self, key: &'a SessionKey, now: Timestamp) -> Option<Digest<'a>> {
        let session = self.sessions.get(key)?;
        let builds = self.builds.get(session.project.root());
        Some(Digest::of_session(key, session, builds, now))
    }

    /// Up to `most` findings that are to be said now by way of `channel`, which is what happens to
    /// them.
    fn due(
        &mut self,
        key: &SessionKey,
        channel: Channel,
        most: usize,
        now: Timestamp,
    ) -> Vec<Finding> {
        let mut due = self.findings(key, now);
        due.retain(|finding| finding.channel == channel);
        if let Some(session) = self.sessions.get(key) {
            due.retain(|finding| session.said.is_due(finding, now));
        }
        due.truncate(most);
        self.note_said(key, &due, now);
        due
    }

    fn note_said(&mut self, key: &SessionKey, findings: &[Finding], now: Timestamp) {
        if let Some(session) = self.sessions.get_mut(key) {
            for finding in findings {
                session.said.note(finding, now);
            }
            self.told.extend_from_slice(findings);
        }
    }

    /// What went before in the session's project, and what became of it since.
    fn previous<'a>(&'a self, key: &SessionKey, now: Timestamp) -> Option<Previous<'a>> {
        let (key, session) = self.previous_session(key, self.sessions.get(key)?)?;
        let builds = self.builds.get(session.project.root());
        let mut previous = Previous::of_session(key, session, builds, now);
        // As it was when that session fell silent. What its model has seen is of no use to another.
        let mut left = self.find(session, session.last_event_at);
        left.retain(|finding| finding.is_left_to_others(builds));
        previous.anomalies = anomaly::lines(&left);
        Some(previous)
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
                *other != key && candidate.project == session.project && candidate.calls.begun > 0
            })
            // Keys are unique, so the choice does not depend on the order of the map.
            .max_by_key(|(other, candidate)| (candidate.last_event_at, *other))
    }
}
