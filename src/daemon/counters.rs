//! How often hooks call, what they get, and how long it takes.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;

use crate::agent::{GO_ON, Reply};

/// How many kinds of events are counted by name; whoever posts more of them made the names up.
const MAX_NAMES: usize = 64;

/// Under what the others are counted.
const OTHERS: &str = "others";

/// Under what requests are counted that are no event.
const UNREADABLE: &str = "unreadable";

/// The counters of the daemon, by event.
#[derive(Debug, Default)]
pub(super) struct Counters(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    by_event: BTreeMap<String, Counter>,
    /// Whether anything was counted since the last report.
    is_fresh: bool,
}

/// What became of the calls for one event.
#[derive(Debug, Default)]
struct Counter {
    calls: u64,
    injected: u64,
    rejected: u64,
    times: Times,
}

/// What became of the calls for one event since the daemon started.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Report {
    /// How many there were.
    calls: u64,
    /// How many were answered with something for the agent.
    injected: u64,
    /// How many could not be read as an event.
    rejected: u64,
    /// The median of the time from the whole request to its answer, in milliseconds.
    p50_ms: f64,
    /// What 99 of 100 did not exceed, in milliseconds.
    p99_ms: f64,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { calls, injected, rejected, p50_ms, p99_ms } = self;
        write!(
            f,
            "calls={calls} injected={injected} rejected={rejected} p50_ms={p50_ms:.2} p99_ms={p99_ms:.2}"
        )
    }
}

/// What became of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It was answered with something.
    Injected,
    /// It was answered with nothing.
    Silent,
}

impl Outcome {
    /// What a call came to that was answered with `reply`. That Codex is told to go on says nothing.
    pub(super) fn of(reply: &Reply) -> Self {
        match reply {
            Reply::Empty => Self::Silent,
            Reply::Json(body) if body == GO_ON => Self::Silent,
            Reply::Text(_) | Reply::Json(_) => Self::Injected,
        }
    }
}

impl Counters {
    /// Counts an event that was answered after `time`.
    pub(super) fn count(&self, event: &str, outcome: Outcome, time: Duration) {
        self.with(event, |counter| {
            counter.calls += 1;
            counter.injected += u64::from(outcome == Outcome::Injected);
            counter.times.add(time);
        });
    }

    /// Counts a request that is no event.
    pub(super) fn count_rejected(&self) {
        self.with(UNREADABLE, |counter| {
            counter.calls += 1;
            counter.rejected += 1;
        });
    }

    fn with(&self, event: &str, count: impl FnOnce(&mut Counter)) {
        let mut counts = self.lock();
        let is_known = counts.by_event.contains_key(event) || counts.by_event.len() < MAX_NAMES;
        let name = if is_known { event } else { OTHERS };
        // A name is only copied the first time.
        match counts.by_event.get_mut(name) {
            Some(counter) => count(counter),
            None => count(counts.by_event.entry(name.to_owned()).or_default()),
        }
        counts.is_fresh = true;
    }

    /// The counts by event.
    pub(super) fn report(&self) -> BTreeMap<String, Report> {
        let counts = self.lock();
        counts.by_event.iter().map(|(name, counter)| (name.clone(), counter.report())).collect()
    }

    /// The same, if there was any traffic since this was asked last.
    pub(super) fn report_if_fresh(&self) -> Option<BTreeMap<String, Report>> {
        let is_fresh = std::mem::take(&mut self.lock().is_fresh);
        is_fresh.then(|| self.report())
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counter {
    fn report(&self) -> Report {
        Report {
            calls: self.calls,
            injected: self.injected,
            rejected: self.rejected,
            p50_ms: self.times.quantile(50),
            p99_ms: self.times.quantile(99),
        }
    }
}

/// How many steps there are between a time and its double: a quantile is exact to a ninth.
const STEPS: u32 = 8;
const STEP_BITS: u32 = STEPS.trailing_zeros();

/// Times up to 2^32 microseconds.
const BUCKETS: usize = (STEPS * 30) as usize;

/// Times in buckets that grow with them, so that their memory does not.
#[derive(Debug)]
struct Times {
    buckets: Vec<u64>,
    count: u64,
}

impl Default for Times {
    fn default() -> Self {
        Self { buckets: vec![0; BUCKETS], count: 0 }
    }
}

impl Times {
    fn add(&mut self, time: Duration) {
        let micros = u32::try_from(time.as_micros()).unwrap_or(u32::MAX);
        if let Some(bucket) = self.buckets.get_mut(bucket_of(micros)) {
            *bucket += 1;
            self.count += 1;
        }
    }

    /// The time that `percent` of all did not exceed, in milliseconds; zero if there are none.
    fn quantile(&self, percent: u64) -> f64 {
        let rank = (self.count * percent).div_ceil(100);
        let mut sum = 0;
        let found = self.buckets.iter().position(|count| {
            sum += count;
            sum >= rank
        });
        found.filter(|_| self.count > 0).map_or(0.0, |bucket| f64::from(upper_end(bucket)) / 1000.0)
    }
}

/// Below twice the number of steps each microsecond has its bucket; above, each step of a doubling.
fn bucket_of(micros: u32) -> usize {
    let shift = micros.checked_ilog2().unwrap_or(0).saturating_sub(STEP_BITS);
    (shift * STEPS + (micros >> shift)) as usize
}

/// The longest time in a bucket, in microseconds.
fn upper_end(bucket: usize) -> u32 {
    let bucket = u32::try_from(bucket).unwrap_or(u32::MAX);
    let shift = (bucket / STEPS).saturating_sub(1);
    let next = (bucket - shift * STEPS + 1).checked_shl(shift);
    next.map_or(u32::MAX, |next| next - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn calls_are_counted_by_event() {
        let counters = Counters::default();
        counters.count("Stop", Outcome::Silent, Duration::from_micros(500));
        counters.count("Stop", Outcome::Injected, Duration::from_micros(500));
        counters.count_rejected();
        let report = counters.report();
        let stop = report["Stop"];
        assert_eq!((stop.calls, stop.injected, stop.rejected), (2, 1, 0));
        assert_eq!((report[UNREADABLE].calls, report[UNREADABLE].rejected), (1, 1));
    }

    #[test]
    fn names_are_bounded() {
        let counters = Counters::default();
        for number in 0..1000 {
            counters.count(&number.to_string(), Outcome::Silent, Duration::ZERO);
        }
        let report = counters.report();
        assert_eq!(report.len(), MAX_NAMES + 1);
        assert_eq!(report[OTHERS].calls, 1000 - MAX_NAMES as u64);
    }

    #[test]
    fn a_report_that_says_nothing_new_is_left_out() {
        let counters = Counters::default();
        assert!(counters.report_if_fresh().is_none());
        counters.count_rejected();
        assert!(counters.report_if_fresh().is_some());
        assert!(counters.report_if_fresh().is_none());
    }

    proptest! {
        #[test]
        fn quantiles_are_exact_to_an_eighth(mut times in prop::collection::vec(0..3_000_000u32, 1..300)) {
            let mut buckets = Times::default();
            for time in &times {
                buckets.add(Duration::from_micros((*time).into()));
            }
            times.sort_unstable();
            for percent in [50, 99] {
                let exact = f64::from(times[(times.len() * percent).div_ceil(100) - 1]) / 1000.0;
                let found = buckets.quantile(percent as u64);
                prop_assert!(found >= exact && found <= exact * 1.125 + 0.001, "{found} {exact}");
            }
        }
    }
}
