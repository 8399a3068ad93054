//! The builds and tests that a session has run, by command.

use std::collections::{BTreeMap, VecDeque};

use crate::agent::{Command, Purpose, Report};
use crate::clock::Timestamp;
use crate::world::blame::{Blame, Edited, points_to};
use crate::world::outcome::{MAX_FAILED_TESTS, Outcome, brief};
use crate::world::recent::Recent;

/// How many commands are kept, and how many runs of each.
const MAX_COMMANDS: usize = 12;
const MAX_RUNS: usize = 8;

/// Of how many failures the time is kept beyond their runs.
const MAX_TIMES: usize = 100;

/// How many exit statuses are kept whose event is yet to come, which is close behind.
const MAX_EARLY_EXITS: usize = 64;

/// How many edits before a run are kept.
const MAX_EDITED: usize = 3;
const MAX_EDITED_BYTES: usize = 1024;

/// A shorter name says too little to look for in a command.
const MIN_TEST_NAME_BYTES: usize = 4;

/// The builds and tests of a session. Commands for other purposes are not kept.
#[derive(Debug)]
pub(super) struct Runs {
    commands: Recent<CommandRuns>,
    early_exits: Recent<i64>,
}

/// The last runs of one command.
#[derive(Debug)]
struct CommandRuns {
    command: Command,
    /// The earliest first.
    runs: VecDeque<Run>,
    /// The failures of the present streak that are not kept any more.
    forgotten: Option<Forgotten>,
    /// The last success that is not kept any more.
    forgotten_success: Option<Timestamp>,
}

/// One run of a command.
#[derive(Debug)]
struct Run {
    call: Option<String>,
    at: Timestamp,
    outcome: Outcome,
    report: Report,
    /// The files that the session has edited since the run before this one, or since its start.
    edited: Vec<String>,
    /// What it says of the files that were edited since a run whose outcome was known.
    blame: Blame,
}

#[derive(Debug)]
struct Forgotten {
    first_at: Timestamp,
    failures: usize,
    /// When they were, the earliest first, as far as still known.
    times: VecDeque<Timestamp>,
    /// Of the first of them.
    edited: Vec<String>,
    blame: Blame,
}

/// The failures of a command since it last succeeded.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Streak<'a> {
    /// The command.
    pub command: &'a Command,
    /// When it last succeeded.
    pub succeeded_at: Option<Timestamp>,
    /// When it failed first.
    pub first_at: Timestamp,
    /// How often it failed.
    pub failures: usize,
    /// When it failed, as far as still known; the latest first, and at least once.
    pub times: Vec<Timestamp>,
    /// The exit status of the last failure.
    pub exit_code: Option<i64>,
    /// What the last failure said.
    pub report: &'a Report,
    /// The files that the session had edited when it failed first, since it had succeeded.
    pub edited: Vec<&'a str>,
    /// What the first failure says of them.
    pub blame: Blame,
}

/// A test that fails and fails.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FailingTest<'a> {
    /// Its name.
    pub name: &'a str,
    /// The command that ran it last.
    pub command: &'a Command,
    /// Where the first error of that run is.
    pub place: Option<&'a (String, u32)>,
    /// When it failed since it last passed, the earliest first.
    pub times: Vec<Timestamp>,
}

/// How often a test failed, while that is being counted.
#[derive(Debug, Default)]
struct Count<'a> {
    failures: Vec<(Timestamp, &'a Command, &'a Run)>,
    passed_at: Option<Timestamp>,
}

impl Runs {
    pub(super) fn new() -> Self {
        Self { commands: Recent::new(MAX_COMMANDS), early_exits: Recent::new(MAX_EARLY_EXITS) }
    }

    /// How the call exited, if the transcript has told it before the event.
    pub(super) fn early_exit(&mut self, call: &str) -> Option<i64> {
        self.early_exits.remove(call)
    }

    /// A command has ended. `edited_since` has the files that the session edited since a moment.
    pub(super) fn record<'a, Files: Iterator<Item = Edited<'a>>>(
        &mut self,
        command: &Command,
        call: Option<&String>,
        outcome: Outcome,
        report: &Report,
        at: Timestamp,
        edited_since: impl Fn(Option<Timestamp>) -> Files,
    ) {
        if command.purpose == Purpose::Other || outcome == Outcome::Interrupted {
            return;
        }
        let runs =
            self.commands.get_or_insert_with(&command.identity(), || CommandRuns::new(command));
        let last = runs.runs.back().map(|run| run.at);
        let decided = runs.runs.iter().rfind(|run| run.outcome != Outcome::Unknown);
        let blame = Blame::of(report, edited_since(decided.map(|run| run.at)));
        let mut edited: Vec<&str> = edited_since(last).map(|file| file.path).collect();
        edited.retain(|path| path.len() <= MAX_EDITED_BYTES);
        // Those that it is about come first.
        edited.sort_by_cached_key(|path| !points_to(report, path));
        edited.truncate(MAX_EDITED);
        let run = Run {
            call: call.cloned(),
            at,
            outcome,
            report: brief(report),
            edited: edited.into_iter().map(str::to_owned).collect(),
            blame,
        };
        runs.push(run);
    }

    /// The transcript tells how a call ended; tells whether a run of a command was waiting for it.
    pub(super) fn end(&mut self, call: &str, exit_code: i64) -> bool {
        let names: Vec<_> = self.commands.iter().map(|(name, _)| name.to_owned()).collect();
        for name in names {
            let ended = self.commands.peek_mut(&name).is_some_and(|runs| runs.end(call, exit_code));
            if ended {
                return true;
            }
        }
        self.early_exits.put(call, exit_code);
        false
    }

    /// The commands that fail, the one run last first. One that may have succeeded is not among them:
    /// if the outcome of its last run is not known, or if a more general command has succeeded since.
    pub(super) fn failing(&self) -> impl Iterator<Item = Streak<'_>> {
        (self.commands.iter())
            .filter_map(|(_, runs)| runs.streak())
            .filter(|streak| !self.has_recovered(streak))
    }

    fn has_recovered(&self, streak: &Streak<'_>) -> bool {
        let last = streak.times.first();
        (self.commands.iter())
            .filter(|(_, runs)| runs.command.covers(streak.command))
            .any(|(_, runs)| runs.succeeded_at().as_ref() > last)
    }

    /// The tests that failed at least `times` in a row, without a pass between, in the order of their
    /// names. Two of the same name are two if they are of different suites. A pass of a command clears the tests that it ran or names.
    pub(super) fn failing_tests(&self, times: usize) -> Vec<FailingTest<'_>> {
        let mut counts: BTreeMap<(&str, String), Count<'_>> = BTreeMap::new();
        for (command, run) in self.all() {
            for test in run.failed_tests() {
                let count = counts.entry((test, command.suite())).or_default();
                count.failures.push((run.at, command, run));
            }
        }
        counts.retain(|_, count| count.failures.len() >= times);
        for (_, runs) in self.commands.iter() {
            for ((test, suite), count) in &mut counts {
                let runs_it = runs.command.suite() == *suite && names(&runs.command.text, test)
                    || count.failures.iter().any(|(_, failed, _)| runs.command.covers(failed));
                if runs_it {
                    count.passed_at = count.passed_at.max(runs.passed_at(test));
                }
            }
        }
        counts.into_iter().filter_map(|((name, _), count)| count.result(name, times)).collect()
    }

    fn all(&self) -> impl Iterator<Item = (&Command, &Run)> {
        self.commands
            .iter()
            .flat_map(|(_, runs)| runs.runs.iter().map(move |run| (&runs.command, run)))
    }
}

impl<'a> Count<'a> {
    fn result(mut self, name: &'a str, times: usize) -> Option<FailingTest<'a>> {
        self.failures.retain(|(at, ..)| self.passed_at.is_none_or(|passed| *at > passed));
        self.failures.sort_by_key(|(at, command, _)| (*at, command.identity()));
        let (_, command, run) = self.failures.last().filter(|_| self.failures.len() >= times)?;
        Some(FailingTest {
            name,
            command,
            place: run.report.place.as_ref(),
            times: self.failures.iter().map(|(at, ..)| *at).collect(),
        })
    }
}

impl Forgotten {
    /// What is left of a streak that begins with `first`.
    fn new(first: &Run) -> Self {
        Self {
            first_at: first.at,
            failures: 0,
            times: VecDeque::new(),
            edited: first.edited.clone(),
            blame: first.blame,
        }
    }
}

impl CommandRuns {
    fn new(command: &Command) -> Self {
        Self {
            command: command.clone(),
            runs: VecDeque::new(),
            forgotten: None,
            forgotten_success: None,
        }
    }

    fn push(&mut self, run: Run) {
        if self.runs.len() >= MAX_RUNS
            && let Some(gone) = self.runs.pop_front()
        {
            self.forget(gone);
        }
        self.runs.push_back(run);
    }

    fn forget(&mut self, gone: Run) {
        match gone.outcome {
            Outcome::Failed { .. } => {
                let forgotten = self.forgotten.get_or_insert_with(|| Forgotten::new(&gone));
                forgotten.failures += 1;
                if forgotten.times.len() >= MAX_TIMES {
                    forgotten.times.pop_front();
                }
                forgotten.times.push_back(gone.at);
            }
            Outcome::Succeeded => {
                self.forgotten = None;
                self.forgotten_success = Some(gone.at);
            }
            Outcome::Interrupted | Outcome::Unknown => {
                // What was edited before the first failure stays known.
                if self.forgotten.is_none()
                    && let Some(next) = self.runs.front_mut()
                    && next.edited.is_empty()
                {
                    next.edited = gone.edited;
                }
            }
        }
    }

    fn end(&mut self, call: &str, exit_code: i64) -> bool {
        let Some(index) = self.runs.iter().position(|run| run.call.as_deref() == Some(call)) else {
            return false;
        };
        match (Outcome::from(self.command.status_of_exit(exit_code)), self.runs.get_mut(index)) {
            (Outcome::Interrupted, _) => drop(self.runs.remove(index)),
            (outcome, Some(run)) if run.outcome == Outcome::Unknown => run.outcome = outcome,
            _ => {}
        }
        true
    }

    fn streak(&self) -> Option<Streak<'_>> {
        let last = self.runs.back()?;
        let Outcome::Failed { exit_code } = last.outcome else {
            return None;
        };
        let success = self.runs.iter().rposition(|run| run.outcome == Outcome::Succeeded);
        let since: Vec<&Run> =
            self.runs.iter().skip(success.map_or(0, |index| index + 1)).collect();
        let failures: Vec<&Run> =
            since.iter().copied().filter(|run| run.outcome.is_failure()).collect();
        let first = failures.first()?;
        let forgotten = self.forgotten.as_ref().filter(|_| success.is_none());
        let mut edited: Vec<&str> = Vec::new();
        let before_first = since.iter().take_while(|run| run.at <= first.at);
        let before_first: Vec<&String> = match forgotten {
            Some(forgotten) => forgotten.edited.iter().collect(),
            None => before_first.flat_map(|run| &run.edited).collect(),
        };
        for path in before_first {
            if !edited.contains(&path.as_str()) {
                edited.push(path);
            }
        }
        edited.truncate(MAX_EDITED);
        let times = failures.iter().rev().map(|run| run.at);
        let forgotten_times = forgotten.into_iter().flat_map(|it| it.times.iter().rev().copied());
        Some(Streak {
            command: &self.command,
            succeeded_at: (success.and_then(|index| self.runs.get(index)).map(|run| run.at))
                .or(self.forgotten_success),
            first_at: forgotten.map_or(first.at, |forgotten| forgotten.first_at),
            failures: failures.len() + forgotten.map_or(0, |forgotten| forgotten.failures),
            times: times.chain(forgotten_times).collect(),
            exit_code,
            report: &last.report,
            edited,
            blame: forgotten.map_or(first.blame, |forgotten| forgotten.blame),
        })
    }

    fn succeeded_at(&self) -> Option<Timestamp> {
        (self.runs.iter().rev()).find(|run| run.outcome == Outcome::Succeeded).map(|run| run.at)
    }

    /// When `test`, which this command runs, last passed in it, as far as can be told.
    fn passed_at(&self, test: &str) -> Option<Timestamp> {
        self.runs.iter().rev().find(|run| run.may_have_passed(test)).map(|run| run.at)
    }
}

impl Run {
    fn failed_tests(&self) -> impl Iterator<Item = &str> {
        let failed = self.outcome.is_failure();
        self.report.failed_tests.iter().filter(move |_| failed).map(String::as_str)
    }

    fn has_failed(&self, test: &str) -> bool {
        self.failed_tests().any(|failed| failed == test)
    }

    /// Whether a test that this run has run did not fail in it. A run whose outcome is not known is
    /// taken for a pass: what can't be known is no reason to speak.
    fn may_have_passed(&self, test: &str) -> bool {
        match self.outcome {
            Outcome::Succeeded | Outcome::Unknown => true,
            Outcome::Failed { .. } => {
                // Without a list the tests may not even have been built.
                let listed = self.report.failed_tests.len();
                (1..MAX_FAILED_TESTS).contains(&listed) && !self.has_failed(test)
            }
            Outcome::Interrupted => false,
        }
    }
}

/// Whether a command asks for a test by the last part of its name.
fn names(command: &str, test: &str) -> bool {
    let last = test.rsplit([':', '/', '.', '>', '#', ' ']).find(|part| !part.is_empty());
    last.is_some_and(|last| last.len() >= MIN_TEST_NAME_BYTES && command.contains(last))
}
