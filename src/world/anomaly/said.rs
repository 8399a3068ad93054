//! Suppression: what a session was told is not said again soon.

use std::time::Duration;

use crate::clock::Timestamp;
use crate::world::anomaly::finding::{Finding, Kind};
use crate::world::recent::Recent;

/// After this time a finding that still holds is said again.
const SILENCE: Duration = Duration::from_secs(10 * 60);

/// How many sayings are kept; a finding whose saying is not kept is said again.
const MAX_SAID: usize = 1024;

/// What the model of a session was told, and when.
#[derive(Debug)]
pub(in crate::world) struct Said(Recent<Saying>);

#[derive(Debug)]
struct Saying {
    at: Timestamp,
    /// Since when the finding held that was said.
    since: Timestamp,
}

impl Said {
    pub(in crate::world) fn new() -> Self {
        Self(Recent::new(MAX_SAID))
    }

    /// Whether it is time to say a finding: the first time, ten minutes after the last, and when it
    /// was resolved meanwhile and has come back.
    pub(in crate::world) fn is_due(&self, finding: &Finding, now: Timestamp) -> bool {
        self.0
            .get(&identity(finding))
            .is_none_or(|saying| saying.since != finding.since || now.since(saying.at) >= SILENCE)
    }

    /// A finding is being said.
    pub(in crate::world) fn note(&mut self, finding: &Finding, now: Timestamp) {
        self.0.put(&identity(finding), Saying { at: now, since: finding.since });
    }
}

/// A finding that takes another channel, as it has become worse, is another one. That a command fails
/// is one, whichever rule has found it.
fn identity(finding: &Finding) -> String {
    let cause = match finding.kind {
        Kind::RepeatedFailedBuild | Kind::BuildBrokenAfterMyEdit => "failing_command",
        kind => kind.name(),
    };
    format!("{cause} {:?} {}", finding.channel, finding.subject)
}
