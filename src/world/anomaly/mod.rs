//! Anomalies: what goes wrong in a session without its model knowing. One file a rule; a rule is a
//! pure function of the session's state and the time.

mod build_broken;
mod context_pressure;
mod document;
mod external_modified;
mod failures;
mod finding;
mod repeated_failed_build;
mod said;
mod stale_file_view;
mod test_stuck;
mod words;

#[cfg(test)]
mod cases;

use std::cmp::Reverse;

use crate::clock::Timestamp;
use crate::world::Settings;
use crate::world::session::Session;
pub(super) use context_pressure::is_pressed;
pub(super) use document::is_document;
pub use finding::{Channel, Finding, Kind, Severity};
pub(super) use said::Said;
pub(super) use words::{MAX_REASONS, lines, one_liner, reason};

/// Which channel a finding takes.
pub(super) type Route = fn(Kind, Severity) -> Channel;

/// All findings that hold now, the most severe first; whether they were said before does not matter.
///
/// A command that failed three times in half an hour is `repeated_failed_build` and not also
/// `build_broken_after_my_edit`: one cause, one finding, which is not said again because the other
/// rule has it now. The first wins, as it is the more urgent one.
pub(super) fn find(
    session: &Session,
    settings: &Settings,
    route: Route,
    now: Timestamp,
) -> Vec<Finding> {
    let repeated = repeated_failed_build::find(session, now);
    let broken = build_broken::find(session, now);
    let mut findings = stale_file_view::find(session, now);
    findings.extend(
        broken
            .into_iter()
            .filter(|broken| !repeated.iter().any(|other| other.subject == broken.subject)),
    );
    findings.extend(repeated);
    findings.extend(test_stuck::find(session, now));
    findings.extend(external_modified::find(session, now));
    findings.extend(context_pressure::find(session, settings));
    for finding in &mut findings {
        finding.channel = route(finding.kind, finding.severity);
    }
    findings.sort_by_key(|finding| (Reverse(finding.severity), finding.kind));
    findings
}
