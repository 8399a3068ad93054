//! `build_broken_after_my_edit`: a build or test command that had succeeded in this session fails, and
//! before it failed first the session had edited files; or one that was never run fails in a file that
//! the session had edited.
//!
//! Edits of mere documentation don't count, nor does what the session's own formatter rewrote. A
//! command that failed before the session edited anything was not broken by it. Nor are tests by a
//! new test, which is to fail before there is what it tests.

use std::time::Duration;

use crate::agent::Purpose;
use crate::clock::Timestamp;
use crate::world::anomaly::failures;
use crate::world::anomaly::finding::{Finding, Kind, Severity};
use crate::world::runs::Streak;
use crate::world::session::Session;
use crate::world::value;

/// From so many failures on it keeps the turn from ending, if the turn is about it.
const SEVERE: usize = 3;

/// For so long after a failure any turn is taken to be about it; later only one that runs the command
/// or edits files.
const RECENT: Duration = Duration::from_secs(30 * 60);

pub(super) fn find(session: &Session, now: Timestamp) -> Vec<Finding> {
    (session.runs.failing())
        .filter(|streak| !streak.edited.is_empty() && is_broken_by_edit(streak))
        .map(|streak| {
            let is_current = streak
                .times
                .first()
                .is_some_and(|last| now.since(*last) <= RECENT || session.works_on(*last));
            let is_severe = streak.failures >= SEVERE && is_current;
            let severity = if is_severe { Severity::High } else { Severity::Medium };
            let edited: Vec<_> = streak.edited.iter().map(|path| session.file(path)).collect();
            let edited = value::list(edited.iter().map(String::as_str));
            let (before, cause) = match streak.succeeded_at {
                Some(at) => {
                    let ago = value::ago(now.since(at));
                    (format!("; it had succeeded {ago}"), "it has failed since")
                }
                None => (String::new(), "it failed when you first ran it, after"),
            };
            let evidence = failures::evidence(&streak, None, session, now);
            let next_step = failures::next_step(&streak, session);
            Finding {
                kind: Kind::BuildBrokenAfterMyEdit,
                severity,
                channel: Kind::BuildBrokenAfterMyEdit.channel(severity),
                evidence: format!("{evidence}{before}"),
                suggestion: format!("{next_step}: {cause} your edit of {edited}."),
                related_files: failures::related_files(&streak, session),
                subject: streak.command.identity(),
                command: Some(streak.command.clone()),
                since: streak.first_at,
            }
        })
        .collect()
}

fn is_broken_by_edit(streak: &Streak<'_>) -> bool {
    /// With what a shell exits if there is no such program.
    const NOT_FOUND: i64 = 127;
    let says_missing =
        streak.report.error.as_ref().is_some_and(|error| error.contains("Missing script"));
    let is_missing = streak.exit_code == Some(NOT_FOUND) || says_missing;
    let is_new_test = streak.command.purpose == Purpose::Test && streak.blame.only_tests;
    let is_known = streak.succeeded_at.is_some() || streak.blame.points_to_edit;
    is_known && !is_missing && !is_new_test
}
