//! From when on: `30m`, `2h`, `7d`, a date, or a moment.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use jiff::civil::{Date, DateTime, Time};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::clock::{Local, Timestamp};

/// The beginning of what is asked for, as people write it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    /// So long ago.
    Ago(Duration),
    /// This moment.
    At(Timestamp),
    /// What a clock at the user's place showed.
    Local(DateTime),
}

/// A text that names no beginning.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is neither an age, such as 30m, 2h or 7d, nor a date, such as 2026-11-30")]
pub struct BadSince(String);

/// The units of an age, with their length in seconds.
const UNITS: [(char, u64); 5] = [('s', 1), ('m', 60), ('h', 3_600), ('d', 86_400), ('w', 604_800)];

impl Since {
    /// The moment. A time that the clocks skipped is the one after the gap.
    pub fn moment(self, local: &Local) -> Timestamp {
        match self {
            Self::Ago(age) => local.now.minus(age),
            Self::At(at) => at,
            Self::Local(shown) => {
                shown.to_zoned_datetime(local.zone.clone()).map_or(local.now, |zoned| {
                    Timestamp::from_unix_millis(zoned.timestamp().as_millisecond())
                })
            }
        }
    }
}

impl FromStr for Since {
    type Err = BadSince;

    fn from_str(text: &str) -> Result<Self, BadSince> {
        let text = text.trim();
        let age = UNITS.iter().find_map(|(unit, seconds)| {
            let number: u64 = text.strip_suffix(*unit)?.trim_end().parse().ok()?;
            Some(Self::Ago(Duration::from_secs(number.checked_mul(*seconds)?)))
        });
        let moment = || {
            let at: jiff::Timestamp = text.parse().ok()?;
            Some(Self::At(Timestamp::from_unix_millis(at.as_millisecond())))
        };
        let local = || text.parse().ok().map(Self::Local);
        let date = || Some(Self::Local(text.parse::<Date>().ok()?.to_datetime(Time::midnight())));
        age.or_else(moment).or_else(local).or_else(date).ok_or_else(|| BadSince(text.to_owned()))
    }
}

/// As it is read.
impl fmt::Display for Since {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ago(age) => write!(f, "{}s", age.as_secs()),
            Self::At(at) => match jiff::Timestamp::from_millisecond(at.as_unix_millis()) {
                Ok(at) => write!(f, "{at}"),
                Err(_) => Err(fmt::Error),
            },
            Self::Local(local) => write!(f, "{local}"),
        }
    }
}

impl Serialize for Since {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Since {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::tz::TimeZone;
    use proptest::prelude::*;

    /// The moment of `text` in milliseconds before 2026-12-01T00:00Z, one hour east of Greenwich.
    fn before(text: &str) -> i64 {
        let now: jiff::Timestamp = "2026-12-01T00:00:00Z".parse().unwrap();
        let now = Timestamp::from_unix_millis(now.as_millisecond());
        let local = Local { now, zone: TimeZone::fixed(jiff::tz::offset(1)) };
        let since: Since = text.parse().unwrap();
        now.as_unix_millis() - since.moment(&local).as_unix_millis()
    }

    #[test]
    fn ages_dates_and_moments_are_read() {
        for (text, expected) in [
            ("0s", 0),
            (" 90s ", 90_000),
            ("30m", 1_800_000),
            ("2 h", 7_200_000),
            ("7d", 604_800_000),
            ("2w", 1_209_600_000),
            ("2026-12-01", 3_600_000),
            ("2026-12-01T00:30", 1_800_000),
            ("2026-12-01 00:30:30", 1_770_000),
            ("2026-11-30T23:00:00Z", 3_600_000),
            ("2026-12-01T01:00:00+02:00", 3_600_000),
        ] {
            assert_eq!(before(text), expected, "{text}");
        }
    }

    #[test]
    fn anything_else_is_refused_by_name() {
        for text in ["", "m", "2", "2y", "-1h", "yesterday", "2026-13-01", "99999999999999999999h"]
        {
            let error = text.parse::<Since>().unwrap_err().to_string();
            assert!(error.starts_with(&format!("{text:?} is neither")), "{error}");
        }
        assert!(format!("{}w", u64::MAX).parse::<Since>().is_err());
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(seconds: u32, millis in 0_i64..4_000_000_000_000) {
            for since in [
                Since::Ago(Duration::from_secs(seconds.into())),
                Since::At(Timestamp::from_unix_millis(millis)),
                "2026-12-01T00:30".parse().unwrap(),
            ] {
                prop_assert_eq!(since.to_string().parse(), Ok(since));
            }
        }

        #[test]
        fn no_text_is_too_strange(text: String) {
            drop(text.parse::<Since>());
        }
    }
}
