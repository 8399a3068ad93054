//! Where a copy of another thread's lines ends in a rollout.
//!
//! A fork and a subagent that is given its parent's context can start with a copy of the parent's
//! lines, token counts and commands included. Today's Codex says where the copy ends or names the
//! thread in a line after it. Before that only the time tells: the copy is written at once, with the
//! time of the copying on each line, and the first answer of a model takes longer than that.

/// The longest time between two lines of a copy.
const MAX_PAUSE_MILLIS: u64 = 250;

const DAY_MILLIS: u64 = 24 * 60 * 60 * 1000;

/// The copy, as far as it was read.
#[derive(Debug, Default)]
pub(super) struct History {
    end: Option<u64>,
    millis: Option<u64>,
}

impl History {
    /// A copy that ends before the line with the ordinal `end`, if the rollout says one.
    pub(super) fn new(end: Option<u64>) -> Self {
        Self { end, millis: None }
    }

    /// Whether the line with this ordinal is known to come after the copy.
    pub(super) fn ends_before(&self, ordinal: Option<u64>) -> bool {
        self.end.zip(ordinal).is_some_and(|(end, ordinal)| ordinal >= end)
    }

    /// Whether a line of this time can belong to the copy, after the lines before.
    pub(super) fn reaches(&mut self, timestamp: Option<&str>) -> bool {
        let Some(millis) = timestamp.and_then(millis_of_day) else { return true };
        let before = self.millis.replace(millis).unwrap_or(millis);
        // Midnight may lie between them.
        let pause = (millis + DAY_MILLIS - before) % DAY_MILLIS;
        pause.min(DAY_MILLIS - pause) <= MAX_PAUSE_MILLIS
    }
}

/// The time of the day in a timestamp such as `2026-01-15T10:00:05.250Z`.
fn millis_of_day(timestamp: &str) -> Option<u64> {
    let (_, time) = timestamp.split_once('T')?;
    let (seconds, fraction) =
        time.trim_end_matches('Z').split_once('.').unwrap_or((time.trim_end_matches('Z'), "0"));
    let mut total = 0;
    let mut parts = 0;
    for part in seconds.split(':') {
        let part: u64 = part.parse().ok().filter(|part| *part < 61)?;
        total = total * 60 + part;
        parts += 1;
    }
    let fraction = format!("{fraction:0<3}");
    let millis: u64 = fraction.get(..3)?.parse().ok()?;
    (parts == 3).then_some((total * 1000 + millis) % DAY_MILLIS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_reaches_as_far_as_its_lines_follow_closely() {
        for (times, reaches) in [
            (&["10:00:00.000", "10:00:00.001", "10:00:00.250"][..], true),
            (&["10:00:00.000", "10:00:00.200", "10:00:00.400"], true),
            (&["10:00:00.000", "10:00:00.251"], false),
            (&["10:00:00.000", "10:00:01"], false),
            (&["10:00:00", "10:00:00.1"], true),
            (&["10:59:59.900", "11:00:00.1"], true),
            (&["23:59:59.900", "00:00:00.000"], true),
            (&["00:00:00.100", "23:59:59.000"], false),
            (&["10:00:00.000", "09:59:59.990"], true),
            (&["10:00:00.000", "no time", "10:00", "10:00:99.5"], true),
        ] {
            let mut history = History::default();
            let mut found = true;
            for time in times {
                found = history.reaches(Some(&format!("2026-01-15T{time}Z")));
            }
            assert_eq!(found, reaches, "{times:?}");
        }
        assert!(History::default().reaches(None));
    }

    #[test]
    fn a_copy_ends_where_the_rollout_says() {
        assert!(!History::default().ends_before(Some(9)));
        let history = History::new(Some(8));
        assert!(!history.ends_before(Some(7)) && !history.ends_before(None));
        assert!(history.ends_before(Some(8)));
    }
}
