//! How values read in a table.

use std::path::Path;
use std::time::Duration;

use crate::agent::{Agent, beginning};
use crate::clock::{Local, Timestamp};

/// How much of an id is shown at least. It is enough to name a session among a few.
const ID_CHARS: usize = 8;

/// `2026-11-30 17:04:09`, as the user's clock showed it.
pub(super) fn time(ts: i64, local: &Local) -> String {
    jiff::Timestamp::from_millisecond(ts).map_or_else(
        |_| "?".to_owned(),
        |at| at.to_zoned_datetime(local.zone.clone()).strftime("%Y-%m-%d %H:%M:%S").to_string(),
    )
}

/// `just now`, `5 min ago`, `3 h ago`, then the date.
pub(super) fn ago(ts: i64, local: &Local) -> String {
    match local.now.since(Timestamp::from_unix_millis(ts)).as_secs() {
        0..60 => "just now".to_owned(),
        seconds @ 60..3_600 => format!("{} min ago", seconds / 60),
        seconds @ 3_600..86_400 => format!("{} h ago", seconds / 3_600),
        _ => beginning(&time(ts, local), "2026-11-30".len()).to_owned(),
    }
}

/// `40 ms`, `1.5 s`, `12 min`, `3 h 5 min`.
pub(super) fn took(millis: i64) -> String {
    let took = Duration::from_millis(u64::try_from(millis).unwrap_or(0));
    let (millis, minutes) = (took.as_millis(), took.as_secs() / 60);
    match (millis, minutes / 60, minutes % 60) {
        (0..1_000, ..) => format!("{millis} ms"),
        (1_000..60_000, ..) => format!("{}.{} s", millis / 1_000, millis % 1_000 / 100),
        (_, 0, minutes) => format!("{minutes} min"),
        (_, hours, minutes) => format!("{hours} h {minutes} min"),
    }
}

/// `950`, `12.3k`, `4.5M`.
pub(super) fn count(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..1_000_000 => format!("{}.{}k", number / 1_000, number % 1_000 / 100),
        _ => format!("{}.{}M", number / 1_000_000, number % 1_000_000 / 100_000),
    }
}

/// The last part of a project's path.
pub(super) fn project(root: Option<&str>) -> String {
    let name = root.and_then(|root| Path::new(root).file_name());
    name.map_or_else(|| "-".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// The agent, in as few letters as tell it.
pub(super) const fn agent(agent: Agent) -> &'static str {
    match agent {
        Agent::ClaudeCode => "claude",
        Agent::Codex => "codex",
    }
}

/// How much of the ids is to be shown for each to be told from the others.
pub(super) fn id_length<'a>(ids: impl Iterator<Item = &'a str>) -> usize {
    let mut ids: Vec<_> = ids.collect();
    ids.sort_unstable();
    ids.dedup();
    let common = |(one, other): (&&str, &&str)| {
        one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count() + 1
    };
    ids.iter().zip(ids.iter().skip(1)).map(common).max().unwrap_or_default().max(ID_CHARS)
}

/// A text in one line, without what would colour it.
pub(super) fn line(text: &str) -> String {
    console::strip_ansi_codes(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The first `length` characters.
pub(super) fn short(id: &str, length: usize) -> String {
    id.chars().take(length).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::tz::TimeZone;

    #[test]
    fn times_and_numbers_read_well() {
        let now = Timestamp::from_unix_millis(1_796_083_200_000);
        let local = Local { now, zone: TimeZone::fixed(jiff::tz::offset(1)) };
        let ago = |seconds: i64| ago(now.as_unix_millis() - seconds * 1_000, &local);
        let ages = [-5, 59, 60, 3_599, 3_600, 86_399, 86_400].map(ago);
        let expected = ["just now", "just now", "1 min ago", "59 min ago", "1 h ago", "23 h ago"];
        assert_eq!(ages[..6], expected);
        assert_eq!(ages[6], "2026-11-30");
        assert_eq!(time(now.as_unix_millis(), &local), "2026-12-01 01:00:00");
        assert_eq!(time(i64::MAX, &local), "?");
        let times = [-1, 999, 1_500, 59_999, 60_000, 3_599_999, 11_100_000].map(took);
        assert_eq!(times, ["0 ms", "999 ms", "1.5 s", "59.9 s", "1 min", "59 min", "3 h 5 min"]);
        let counts = [0, 999, 1_000, 12_345, 999_999, 4_560_000].map(count);
        assert_eq!(counts, ["0", "999", "1.0k", "12.3k", "999.9k", "4.5M"]);
        assert_eq!([Some("/home/dev/shop"), Some("/"), None].map(project), ["shop", "-", "-"]);
    }

    #[test]
    fn ids_are_as_long_as_tells_them_apart() {
        for (ids, length) in [
            (&[][..], 8),
            (&["0123456789", "0123456789"], 8),
            (&["a", "b"], 8),
            (&["0123456789a", "f", "0123456789b"], 11),
            (&["0123456789", "01234567890"], 11),
        ] {
            assert_eq!(id_length(ids.iter().copied()), length, "{ids:?}");
        }
    }
}
