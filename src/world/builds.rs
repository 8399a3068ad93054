//! The builds of a project: what was built or tested last, and how it went.
//!
//! They are told by the tool calls of the project's sessions. Whatever else learns of builds tells
//! them here.

use std::collections::VecDeque;

use crate::agent::{Command, Report, SessionKey};
use crate::clock::Timestamp;
use crate::world::outcome::{Outcome, brief};

/// How many builds are kept. Few are under way at once, and only the last that failed is looked for.
const MAX_BUILDS: usize = 8;

/// The last builds of a project, in the order in which they were begun.
#[derive(Debug, Default)]
pub(super) struct Builds(VecDeque<Build>);

/// One build or run of the tests.
#[derive(Debug)]
pub(super) struct Build {
    /// The session whose call began it; none if a person did.
    pub by: Option<SessionKey>,
    call: Option<String>,
    /// By which `tma1 build` knows it, if that runs it.
    wrapper: Option<String>,
    /// The command.
    pub command: Command,
    /// None while it is running.
    pub end: Option<End>,
}

/// How a build ended.
#[derive(Debug)]
pub(super) struct End {
    /// When.
    pub at: Timestamp,
    /// How.
    pub outcome: Outcome,
    /// What it said.
    pub report: Report,
}

impl Builds {
    /// A session begins a build with the call `call`; its end may have been told before.
    pub(super) fn begin(&mut self, by: &SessionKey, call: Option<&String>, command: &Command) {
        let is_it = |it: &Build| it.by.as_ref() == Some(by) && it.call.as_ref() == call;
        if call.is_some() && self.0.iter().any(is_it) {
            return;
        }
        let (by, call, command) = (Some(by.clone()), call.cloned(), command.clone());
        self.push(Build { by, call, wrapper: None, command, end: None });
    }

    fn push(&mut self, build: Build) {
        if self.0.len() >= MAX_BUILDS {
            self.0.pop_front();
        }
        self.0.push_back(build);
    }

    /// `tma1 build` begins to run a command as `wrapper`. If it is a call of a session that has it do so,
    /// that call is the build: it tells how it goes.
    pub(super) fn begin_wrapped(
        &mut self,
        wrapper: &str,
        session: Option<&SessionKey>,
        command: &Command,
    ) {
        let runs_it = |build: &&mut Build| {
            let is_its = session.is_some() && build.by.as_ref() == session;
            let (whole, own) = (&build.command, command);
            build.by.is_some()
                && build.end.is_none()
                && build.wrapper.is_none()
                && (whole.identity() == own.identity() || is_its && whole.text.contains(&own.text))
        };
        if self.wrapped(wrapper).is_some() {
            return;
        }
        if let Some(build) = self.0.iter_mut().rev().find(runs_it) {
            build.wrapper = Some(wrapper.to_owned());
            return;
        }
        let (wrapper, command) = (Some(wrapper.to_owned()), command.clone());
        self.push(Build { by: None, call: None, wrapper, command, end: None });
    }

    /// Whether a call of a session is what `tma1 build` runs as `wrapper`.
    pub(super) fn is_of_call(&self, wrapper: &str) -> bool {
        self.wrapped(wrapper).is_some_and(|build| build.by.is_some())
    }

    /// A command that `tma1 build` runs has ended, or stands so: one that goes on has several ends.
    pub(super) fn end_wrapped(
        &mut self,
        wrapper: &str,
        command: &Command,
        outcome: Outcome,
        report: &Report,
        at: Timestamp,
    ) {
        if self.wrapped(wrapper).is_none_or(|build| build.end.is_some()) {
            let (wrapper, command) = (Some(wrapper.to_owned()), command.clone());
            self.push(Build { by: None, call: None, wrapper, command, end: None });
        }
        let is_it = |build: &&mut Build| build.wrapper.as_deref() == Some(wrapper);
        if let Some(build) = self.0.iter_mut().rev().find(is_it) {
            build.end = Some(End { at, outcome, report: brief(report) });
        }
    }

    /// Whether a command that `tma1 build` runs has said how it stands, or ended.
    pub(super) fn has_told(&self, wrapper: &str) -> bool {
        self.wrapped(wrapper).is_some_and(|build| build.end.is_some())
    }

    fn wrapped(&self, wrapper: &str) -> Option<&Build> {
        self.0.iter().rfind(|build| build.wrapper.as_deref() == Some(wrapper))
    }

    /// A build has ended. One whose beginning was not told is the latest.
    pub(super) fn end(
        &mut self,
        by: &SessionKey,
        call: Option<&String>,
        command: &Command,
        outcome: Outcome,
        report: &Report,
        at: Timestamp,
    ) {
        // One that was given up for interrupted may have been late.
        let is_it = |build: &Build| {
            build.by.as_ref() == Some(by)
                && build.call.as_ref() == call
                && (call.is_some() || (build.end.is_none() && build.command == *command))
        };
        if !self.0.iter().any(is_it) {
            self.begin(by, call, command);
        }
        if let Some(build) = self.0.iter_mut().rfind(|build| is_it(build)) {
            build.end = Some(End { at, outcome, report: brief(report) });
        }
    }

    /// How a build exited is known only now.
    pub(super) fn resolve(&mut self, by: &SessionKey, call: &String, exit_code: i64) {
        for build in &mut self.0 {
            if let Some(end) = &mut build.end
                && end.outcome == Outcome::Unknown
                && build.by.as_ref() == Some(by)
                && build.call.as_ref() == Some(call)
            {
                end.outcome = build.command.status_of_exit(exit_code).into();
            }
        }
    }

    /// The session's builds are not under way any more, unless `goes_on` says so of their call.
    pub(super) fn interrupt(
        &mut self,
        by: &SessionKey,
        goes_on: impl Fn(&str) -> bool,
        at: Timestamp,
    ) {
        for build in &mut self.0 {
            let is_over = !build.call.as_deref().is_some_and(&goes_on);
            if build.end.is_none() && build.by.as_ref() == Some(by) && is_over {
                let report = Report::default();
                build.end = Some(End { at, outcome: Outcome::Interrupted, report });
            }
        }
    }

    /// All of them, the one that was begun last first.
    pub(super) fn latest_first(&self) -> impl Iterator<Item = &Build> {
        self.0.iter().rev()
    }

    /// The build that was begun last.
    pub(super) fn latest(&self) -> Option<&Build> {
        self.0.back()
    }

    /// The build that failed last, and whether one that was begun after it has succeeded.
    pub(super) fn last_failure(&self) -> Option<(&End, bool)> {
        let mut newer_succeeded = false;
        for end in self.0.iter().rev().filter_map(|build| build.end.as_ref()) {
            if end.outcome.is_failure() {
                return Some((end, newer_succeeded));
            }
            newer_succeeded |= end.outcome == Outcome::Succeeded;
        }
        None
    }

    /// Whether the command, or a more general one, has succeeded after `since`, whoever ran it.
    pub(super) fn has_succeeded_since(&self, command: &Command, since: Timestamp) -> bool {
        self.0.iter().any(|build| {
            build.command.covers(command)
                && (build.end.as_ref())
                    .is_some_and(|end| end.outcome == Outcome::Succeeded && end.at > since)
        })
    }
}
