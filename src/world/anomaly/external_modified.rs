//! `external_modified_during_session`: others have changed a file since the session saw it.
//!
//! Reading the file resolves it; editing it makes it a [`stale_file_view`](super::stale_file_view).
//! A file that the session never saw is only counted among the external changes. What the session's
//! own commands rewrote is nobody else's change.

use crate::clock::Timestamp;
use crate::world::anomaly::finding::{Channel, Finding, Kind, Severity};
use crate::world::anomaly::words;
use crate::world::session::Session;
use crate::world::value;

pub(super) fn find(session: &Session, now: Timestamp) -> Vec<Finding> {
    (session.files.outdated().into_iter())
        .filter(|(_, _, changed)| changed.edited_at.is_none())
        .map(|(path, view, changed)| {
            let file = value::path(session.project.relative(path));
            let change = words::change(&changed.latest, now);
            Finding {
                kind: Kind::ExternalModifiedDuringSession,
                severity: Severity::Medium,
                channel: Channel::Prompt,
                evidence: format!(
                    "{file}: last seen {}, {change}",
                    value::ago(now.since(view.seen_at))
                ),
                suggestion: if changed.latest.removed {
                    format!("Do not rely on what you saw of {file}: it was {change}.")
                } else {
                    format!("Re-read {file} before relying on what you saw of it: it was {change}.")
                },
                related_files: vec![file],
                subject: path.to_owned(),
                command: None,
                since: changed.first_at,
            }
        })
        .collect()
}

/// The suggestion for several files.
pub(super) fn together(findings: &[&Finding]) -> String {
    format!(
        "Re-read {} before relying on what you saw of them: others changed or deleted them since.",
        words::files_of(findings)
    )
}
