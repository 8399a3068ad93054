//! How many rows of a table go into a statement, and what is wrong with them.

use crate::clock::Timestamp;
use crate::export::backoff::LONG;

/// How many rows a statement has. The server takes the most rows a second at about this number.
const MAX_ROWS: usize = 500;

/// How many rows in a row are set aside before the fault is looked for elsewhere.
const MAX_SET_ASIDE: u64 = 16;

/// The state of one table.
#[derive(Debug)]
pub(super) struct Lane {
    rows: usize,
    /// How many of the next rows have a bad one among them.
    suspected: Option<usize>,
    /// How often the next statement was tried that may be at fault.
    pub tries: u32,
    /// Whether columns were added since rows were stored last.
    pub is_migrated: bool,
    /// Why it is left alone, and until when.
    pub halted: Option<(String, Timestamp)>,
    /// Where the cursor was before the rows that were set aside since one was stored, and how many
    /// they are.
    since_stored: Option<(i64, u64)>,
}

/// What is set aside.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SetAside {
    /// This row.
    One,
    /// None: it is each of the last ones.
    AllSince {
        /// The cursor before them.
        cursor: i64,
        /// How many were set aside already.
        rows: u64,
    },
}

impl Default for Lane {
    fn default() -> Self {
        Self {
            rows: MAX_ROWS,
            suspected: None,
            tries: 0,
            is_migrated: false,
            halted: None,
            since_stored: None,
        }
    }
}

impl Lane {
    /// How many rows the next statement has: half of those with a bad one among them.
    pub(super) fn limit(&self) -> usize {
        self.suspected.map_or(self.rows, |rows| (rows / 2).max(1).min(self.rows))
    }

    /// Whether no bad row is looked for.
    pub(super) const fn is_settled(&self) -> bool {
        self.suspected.is_none()
    }

    pub(super) fn stored(&mut self, rows: usize) {
        self.suspected =
            self.suspected.and_then(|left| left.checked_sub(rows)).filter(|it| *it > 0);
        self.rows = (self.rows * 2).min(MAX_ROWS);
        self.tries = 0;
        self.is_migrated = false;
        self.since_stored = None;
    }

    /// There is a bad one among `rows`.
    pub(super) const fn suspect(&mut self, rows: usize) {
        self.suspected = Some(rows);
        self.tries = 0;
    }

    /// So many `rows` are too many.
    pub(super) fn shrink(&mut self, rows: usize) {
        self.rows = (rows / 2).max(1);
    }

    /// Sets the row after `cursor` aside.
    pub(super) fn set_aside(&mut self, cursor: i64) -> SetAside {
        self.suspected = None;
        self.tries = 0;
        let (first, rows) = self.since_stored.take().unwrap_or((cursor, 0));
        if rows == MAX_SET_ASIDE {
            return SetAside::AllSince { cursor: first, rows };
        }
        self.since_stored = Some((first, rows + 1));
        SetAside::One
    }

    pub(super) fn halt(&mut self, error: String, now: Timestamp) {
        tracing::warn!(reason = error, "the export of a table is held up");
        self.halted = Some((error, now.plus(LONG)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many statements it takes to pass `bad` among `count` rows, and which rows were set aside.
    fn pass(count: usize, bad: &[usize]) -> (usize, Vec<usize>) {
        let (mut lane, mut cursor, mut statements, mut aside) = (Lane::default(), 0, 0, Vec::new());
        while cursor < count {
            let rows = lane.limit().min(count - cursor);
            statements += 1;
            if (cursor..cursor + rows).all(|row| !bad.contains(&row)) {
                lane.stored(rows);
                cursor += rows;
            } else if rows > 1 {
                lane.suspect(rows);
            } else {
                assert_eq!(lane.set_aside(0), SetAside::One);
                aside.push(cursor);
                cursor += 1;
            }
        }
        (statements, aside)
    }

    #[test]
    fn a_bad_row_is_found_by_halves() {
        for bad in [0, 1, 249, 250, 498, 499] {
            let (statements, aside) = pass(500, &[bad]);
            assert_eq!(aside, [bad]);
            assert!(statements <= 12, "{bad}: {statements}");
        }
        assert_eq!(pass(1500, &[3, 4, 1499]).1, [3, 4, 1499]);
        assert_eq!(pass(1500, &[]), (3, Vec::new()));
    }

    #[test]
    fn where_no_row_is_taken_none_is_lost() {
        let mut lane = Lane::default();
        for cursor in 7..7 + 16 {
            assert_eq!(lane.set_aside(cursor), SetAside::One);
        }
        assert_eq!(lane.set_aside(23), SetAside::AllSince { cursor: 7, rows: 16 });
        assert_eq!(lane.set_aside(7), SetAside::One);
    }

    #[test]
    fn fewer_rows_become_more_again() {
        let mut lane = Lane::default();
        for rows in [500, 250, 125] {
            assert_eq!(lane.limit(), rows);
            lane.shrink(rows);
        }
        for rows in [62, 124, 248, 496, 500, 500] {
            assert_eq!(lane.limit(), rows);
            lane.stored(rows);
        }
    }
}
