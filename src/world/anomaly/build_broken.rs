//! `build_broken_after_my_edit`: a build or test command that had succeeded in this session, or was
//! never run, fails, and before it failed first the session had edited files.
//!
//! Edits of mere documentation don't count, nor does what the session's own formatter rewrote. A
//! command that failed before the session edited anything was not broken by it.

use std::time::Duration;

use crate::clock::Timestamp;
use crate::world::anomaly::failures;
use crate::world::anomaly::finding::{Finding, Kind, Severity};
use crate::world::session::Session;
use crate::world::value;

/// From so many failures on it keeps the turn from ending, if the turn is about it.
const SEVERE: usize = 3;

/// For so long after a failure any turn is taken to be about it; later only one that runs the command
/// or edits files.
const RECENT: Duration = Duration::from_secs(30 * 60);

pub(super) fn find(session: &Session, now: Timestamp) -> Vec<Finding> {
    (session.runs.failing())
        .filter(|streak| !streak.edited.is_empty())
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
                Some(at) => (
                    format!("it had succeeded {}, before", value::ago(now.since(at))),
                    "it has failed since",
                ),
                None => {
                    ("it was not run before".to_owned(), "it failed when you first ran it, after")
                }
            };
            let evidence = failures::evidence(&streak, None, session, now);
            let next_step = failures::next_step(&streak, session);
            Finding {
                kind: Kind::BuildBrokenAfterMyEdit,
                severity,
                channel: Kind::BuildBrokenAfterMyEdit.channel(severity),
                evidence: format!("{evidence}; {before} your edit of {edited}"),
                suggestion: format!("{next_step}: {cause} your edit of {edited}."),
                related_files: failures::related_files(&streak, session),
                subject: streak.command.identity(),
                command: Some(streak.command.clone()),
                since: streak.first_at,
            }
        })
        .collect()
}
