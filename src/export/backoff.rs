//! How long to wait before the next attempt.

use std::time::Duration;

const FIRST: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(60);

/// How long to wait where only somebody can help.
pub(super) const LONG: Duration = Duration::from_secs(300);

/// How many doublings there are.
const DOUBLINGS: u32 = 10;

/// The pause after so many failures in a row, of which the last part is up to `random`: machines that
/// have lost the same server do not come back at once.
pub(super) fn pause(failures: u32, random: u8) -> Duration {
    let doublings = failures.saturating_sub(1).min(DOUBLINGS);
    spread((FIRST * 2_u32.pow(doublings)).min(LONGEST), random)
}

/// Between half of `pause` and all of it.
pub(super) fn spread(pause: Duration, random: u8) -> Duration {
    pause / 2 + pause * u32::from(random) / (2 * u32::from(u8::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_are_bounded_whatever_the_dice_say() {
        for random in [0, 1, 128, 255] {
            let pauses: Vec<_> = (1..100).map(|failures| pause(failures, random)).collect();
            assert!(pauses.is_sorted());
            assert!(pauses[0] >= FIRST / 2 && pauses[0] <= FIRST);
            assert!(pauses[98] >= LONGEST / 2 && pauses[98] <= LONGEST);
        }
        assert_eq!(pause(1, 255), FIRST);
        assert_eq!(pause(u32::MAX, 0), LONGEST / 2);
    }
}
