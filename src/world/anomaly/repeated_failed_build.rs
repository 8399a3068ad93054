//! `repeated_failed_build`: the same build or test command failed three times in 30 minutes with no
//! success between. Runs that somebody ended don't count.

use std::time::Duration;

use crate::clock::Timestamp;
use crate::world::anomaly::failures;
use crate::world::anomaly::finding::{Channel, Finding, Kind, Severity};
use crate::world::session::Session;
use crate::world::value;

const TIMES: usize = 3;
const WINDOW: Duration = Duration::from_secs(30 * 60);

pub(super) fn find(session: &Session, now: Timestamp) -> Vec<Finding> {
    (session.runs.failing())
        .filter_map(|mut streak| {
            streak.times.retain(|at| now.since(*at) <= WINDOW);
            let mut earliest = *streak.times.last().filter(|_| streak.times.len() >= TIMES)?;
            if now.since(streak.first_at) <= WINDOW {
                // More than there are times of.
                earliest = streak.first_at;
            } else {
                streak.failures = streak.times.len();
            }
            let within = match now.since(earliest) {
                span if span < Duration::from_secs(60) => "within a minute".to_owned(),
                span => format!("in {}", value::duration(span)),
            };
            let within = format!("{within} with no success between");
            Some(Finding {
                kind: Kind::RepeatedFailedBuild,
                severity: Severity::High,
                channel: Channel::Stop,
                evidence: failures::evidence(&streak, Some(&within), session, now),
                suggestion: format!(
                    "{}, or tell the user what keeps it from passing.",
                    failures::next_step(&streak, session)
                ),
                related_files: failures::related_files(&streak, session),
                subject: streak.command.identity(),
                command: Some(streak.command.clone()),
                since: streak.first_at,
            })
        })
        .collect()
}
