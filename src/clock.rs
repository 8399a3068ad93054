//! The clock, read here and nowhere else; everything below takes the time as an argument.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use jiff::tz::TimeZone;

/// A wall clock reading: milliseconds since the Unix epoch.
///
/// The log stores it, and the digest computes ages and durations from it. The wall clock can be
/// set back, so differences saturate at zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// From milliseconds since the Unix epoch.
    pub const fn from_unix_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the Unix epoch.
    pub const fn as_unix_millis(self) -> i64 {
        self.0
    }

    /// From a time that a file system tells.
    pub fn from_system(time: SystemTime) -> Self {
        let since_epoch = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
    }

    /// How long before `self` the moment `earlier` was; zero if it was not before.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// The moment `duration` after `self`.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)))
    }

    /// The moment `duration` before `self`.
    #[must_use]
    pub fn minus(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)))
    }
}

/// Counts what may happen often, to be mentioned once a minute with its number.
#[derive(Debug, Default)]
pub struct Tally(Mutex<Unreported>);

#[derive(Debug, Default)]
struct Unreported {
    count: u64,
    reported_at: Option<Timestamp>,
}

impl Tally {
    const INTERVAL: Duration = Duration::from_secs(60);

    /// Counts one, and returns how many there are to report if it is time to.
    pub fn count(&self, now: Timestamp) -> Option<u64> {
        let mut unreported = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        unreported.count += 1;
        if unreported.reported_at.is_some_and(|at| now.since(at) < Self::INTERVAL) {
            return None;
        }
        unreported.reported_at = Some(now);
        Some(std::mem::take(&mut unreported.count))
    }
}

/// The present moment.
#[expect(clippy::disallowed_methods, reason = "this is the place that reads the wall clock")]
pub fn now() -> Timestamp {
    Timestamp::from_system(SystemTime::now())
}

/// The present moment, as clocks at the user's place show it.
#[derive(Debug, Clone)]
pub struct Local {
    /// The moment.
    pub now: Timestamp,
    /// What they differ by from Greenwich.
    pub zone: TimeZone,
}

/// The present moment and place.
pub fn local() -> Local {
    Local { now: now(), zone: TimeZone::system() }
}

/// The monotonic clock, for deadlines.
#[expect(clippy::disallowed_methods, reason = "this is the place that reads the monotonic clock")]
pub fn monotonic() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_set_back_gives_zero_and_not_a_huge_age() {
        let later = Timestamp::from_unix_millis(5_000);
        let earlier = Timestamp::from_unix_millis(2_000);
        assert_eq!(later.since(earlier), Duration::from_secs(3));
        assert_eq!(earlier.since(later), Duration::ZERO);
        assert_eq!(later.minus(Duration::from_secs(3)), earlier);
    }

    #[test]
    fn what_happens_often_is_reported_once_a_minute_with_its_number() {
        let tally = Tally::default();
        let at = |seconds: i64| Timestamp::from_unix_millis(seconds * 1000);
        assert_eq!(tally.count(at(0)), Some(1));
        assert_eq!(tally.count(at(1)), None);
        assert_eq!(tally.count(at(59)), None);
        assert_eq!(tally.count(at(60)), Some(3));
        assert_eq!(tally.count(at(61)), None);
    }
}
