//! `stale_file_view`: the session saw a file, somebody else changed it, and then the session edited it
//! or tried to, without having read it again.
//!
//! Reading the file resolves it. An edit that went through does not: it may have undone what the
//! others did, and the model does not know what that was.

use crate::clock::Timestamp;
use crate::world::anomaly::finding::{Channel, Finding, Kind, Severity};
use crate::world::anomaly::words;
use crate::world::session::Session;
use crate::world::value;

pub(super) fn find(session: &Session, now: Timestamp) -> Vec<Finding> {
    (session.files.outdated().into_iter())
        .filter_map(|(path, view, changed)| {
            let edited_at = changed.edited_at?;
            let file = value::path(session.project.relative(path));
            let change = words::change(&changed.latest, now);
            Some(Finding {
                kind: Kind::StaleFileView,
                severity: Severity::High,
                channel: Channel::Prompt,
                evidence: format!(
                    "{file}: last seen {}, {change}, edited {}",
                    value::ago(now.since(view.seen_at)),
                    value::ago(now.since(edited_at)),
                ),
                suggestion: if changed.latest.removed {
                    format!(
                        "Find out whether {file} is still wanted before editing it again: it was \
                         {change}, after you last saw it."
                    )
                } else {
                    format!(
                        "Re-read {file} before editing it again: it was {change}, after you last saw \
                         it, and your last edit was made without that change in view."
                    )
                },
                related_files: vec![file],
                subject: path.to_owned(),
                command: None,
                since: changed.first_at,
            })
        })
        .collect()
}

/// The suggestion for several files.
pub(super) fn together(findings: &[&Finding]) -> String {
    format!(
        "Re-read {} before editing them again: others changed them after you last saw them, and your \
         last edits were made without those changes in view.",
        words::files_of(findings)
    )
}
