//! `test_stuck`: the same test failed three times in a row, whichever commands ran it.
//!
//! A pass of a command clears the tests that it ran, or that it names; so does a run that lists other
//! failed tests.

use crate::clock::Timestamp;
use crate::world::anomaly::finding::{Channel, Finding, Kind, Severity};
use crate::world::session::Session;
use crate::world::value;

const TIMES: usize = 3;

pub(super) fn find(session: &Session, now: Timestamp) -> Vec<Finding> {
    (session.runs.failing_tests(TIMES).into_iter())
        .filter_map(|test| {
            let (first, last) = (*test.times.first()?, *test.times.last()?);
            let (name, command) = (value::test(test.name), session.command(test.command));
            let count = test.times.len();
            let place = test.place.map(|place| value::place(&session.project, place));
            let start = match &place {
                Some(place) => format!(", beginning at {place},"),
                None => String::new(),
            };
            Some(Finding {
                kind: Kind::TestStuck,
                severity: Severity::Medium,
                channel: Channel::Prompt,
                evidence: format!(
                    "{name} failed {count} times in a row, first {} and last {}, in {command}",
                    value::ago(now.since(first)),
                    value::ago(now.since(last)),
                ),
                suggestion: format!(
                    "Find out why the test {name} fails{start} before you run {command} again: it \
                     failed {count} times in a row."
                ),
                related_files: test.place.map(|(file, _)| session.file(file)).into_iter().collect(),
                subject: test.name.to_owned(),
                command: Some(test.command.clone()),
                since: first,
            })
        })
        .collect()
}

/// The suggestion for several tests.
pub(super) fn together(findings: &[&Finding]) -> String {
    let names: Vec<_> = findings.iter().map(|finding| value::test(&finding.subject)).collect();
    format!(
        "Find out why the tests {} fail before you run them again: each failed at least {TIMES} times \
         in a row.",
        value::list(names.iter().map(String::as_str))
    )
}
