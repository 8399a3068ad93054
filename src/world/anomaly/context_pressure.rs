//! `context_pressure`: the window of the model is nearly full, so that the agent will soon replace the
//! older turns by a summary.

use crate::clock::Timestamp;
use crate::world::Settings;
use crate::world::anomaly::finding::{Channel, Finding, Kind, Severity};
use crate::world::observation::Usage;
use crate::world::session::Session;
use crate::world::value;

/// How much of the window may be used, in percent, unless the settings have a number of tokens.
const PERCENT: u64 = 70;

/// What is over ten times so much of the limit is still pressed if it was before: requests differ by a
/// few thousand tokens, and to say it at each crossing would say it all the time.
const RELEASE: u64 = 9;

/// Whether the last request held more than it should, after it `was` so before or not. While that is
/// not known, nothing changes.
pub(in crate::world) fn is_pressed(usage: &Usage, settings: &Settings, was: bool) -> bool {
    let Some(used) = usage.window_used else { return was };
    let threshold = settings.context_pressure_threshold.or_else(|| {
        usage.window_size.filter(|size| *size > 0).map(|size| size.saturating_mul(PERCENT) / 100)
    });
    threshold.is_some_and(|most| used >= if was { most / 10 * RELEASE } else { most })
}

pub(super) fn find(session: &Session, settings: &Settings) -> Option<Finding> {
    let since: Timestamp = session.pressed_since?;
    let used = session.usage.window_used?;
    let holds = match (session.usage.window_size, settings.context_pressure_threshold) {
        (Some(size), _) if size > 0 => format!(
            "{} of {} tokens ({} %)",
            value::number(used),
            value::number(size),
            used.saturating_mul(100) / size
        ),
        (_, Some(threshold)) => {
            format!("{} tokens, {} are the limit", value::number(used), value::number(threshold))
        }
        _ => format!("{} tokens", value::number(used)),
    };
    Some(Finding {
        kind: Kind::ContextPressure,
        severity: Severity::Medium,
        channel: Channel::Prompt,
        evidence: format!("the last request held {holds}"),
        suggestion: format!(
            "Write down decisions and open steps, read large files in parts, and propose `/compact` to \
             the user at the next good moment: your window holds {holds}."
        ),
        related_files: Vec::new(),
        subject: String::new(),
        command: None,
        since,
    })
}
