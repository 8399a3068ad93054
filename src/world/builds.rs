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
    /// Who began it.
    pub by: SessionKey,
    call: Option<String>,
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
        if call.is_some() && self.0.iter().any(|it| it.by == *by && it.call.as_ref() == call) {
            return;
        }
        if self.0.len() >= MAX_BUILDS {
            self.0.pop_front();
        }
        let (by, call, command) = (by.clone(), call.cloned(), command.clone());
        self.0.push_back(Build { by, call, command, end: None });
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
            build.by == *by
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
                && build.by == *by
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
            if build.end.is_none() && build.by == *by && is_over {
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
