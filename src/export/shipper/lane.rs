//! How many rows of a table go into a statement, and what is wrong with them.

use crate::clock::Timestamp;
use crate::export::backoff::LONG;

/// How many rows a statement has. The server takes the most rows a second at about this number.
const MAX_ROWS: usize = 500;

/// How many rows in a row are refused before the fault is looked for elsewhere.
const MAX_DOUBTED: u64 = 16;

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
    /// The rows that were refused since one was stored.
    doubt: Option<Doubt>,
    /// What the server said to the last row that it has refused.
    pub said: String,
    /// Where it comes to a decision on rows that were refused.
    trial: Option<Trial>,
}

/// Rows that were refused one after the other, with none stored since: it may be the fault of the rows,
/// or of the server.
#[derive(Debug)]
struct Doubt {
    /// The cursor before them.
    cursor: i64,
    /// The last of them.
    last: i64,
    rows: u64,
}

/// Rows that are sent once more, one by one, after another one was stored.
#[derive(Debug, Clone, Copy)]
struct Trial {
    /// The last of them.
    last: i64,
    /// Where it goes on after them.
    resume: i64,
}

/// What a row is that was refused alone.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// A bad one: others were stored before, and after.
    Bad,
    /// Nothing that can be said yet.
    Doubtful,
    /// One of many, which are all refused.
    All,
}

impl Default for Lane {
    fn default() -> Self {
        Self {
            rows: MAX_ROWS,
            suspected: None,
            tries: 0,
            is_migrated: false,
            halted: None,
            doubt: None,
            said: String::new(),
            trial: None,
        }
    }
}

impl Lane {
    /// How many rows the next statement has: half of those with a bad one among them.
    pub(super) fn limit(&self) -> usize {
        if self.trial.is_some() {
            return 1;
        }
        self.suspected.map_or(self.rows, |rows| (rows / 2).max(1).min(self.rows))
    }

    /// Whether no bad row is looked for.
    pub(super) const fn is_settled(&self) -> bool {
        self.suspected.is_none()
    }

    /// So many `rows` were stored, up to `last`. Where the cursor has to be then, if not there: the server
    /// takes rows, so those that it has refused are tried once more.
    pub(super) fn stored(&mut self, rows: usize, last: i64) -> Option<i64> {
        if self.trial.is_none() {
            self.suspected =
                self.suspected.and_then(|left| left.checked_sub(rows)).filter(|it| *it > 0);
            self.rows = (self.rows * 2).min(MAX_ROWS);
        }
        self.tries = 0;
        self.is_migrated = false;
        let doubt = self.doubt.take()?;
        self.trial = Some(Trial { last: doubt.last, resume: last });
        Some(doubt.cursor)
    }

    /// Where the cursor has to be when it is at `cursor`: after the rows that were tried once more it goes
    /// on where it was.
    pub(super) fn after_trial(&mut self, cursor: i64) -> i64 {
        match self.trial {
            Some(trial) if cursor >= trial.last => {
                self.trial = None;
                trial.resume
            }
            _ => cursor,
        }
    }

    /// Whether the row at `last` is none of those that are tried once more, though there are some.
    pub(super) fn is_beyond_trial(&self, last: i64) -> bool {
        self.trial.is_some_and(|trial| last > trial.last)
    }

    /// The cursor before the first row of which nothing can be said yet.
    pub(super) fn doubted_since(&self) -> Option<i64> {
        self.doubt.as_ref().map(|doubt| doubt.cursor)
    }

    /// Nothing is doubted any more; the cursor before what was.
    pub(super) fn give_up_doubt(&mut self) -> Option<i64> {
        self.doubt.take().map(|doubt| doubt.cursor)
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

    /// The row `row`, with the cursor before it at `cursor`, was refused, and it was alone.
    pub(super) fn refuse(&mut self, cursor: i64, row: i64) -> Refused {
        self.suspected = None;
        self.tries = 0;
        if self.trial.is_some() {
            return Refused::Bad;
        }
        let doubt = self.doubt.get_or_insert(Doubt { cursor, last: row, rows: 0 });
        if doubt.rows == MAX_DOUBTED {
            return Refused::All;
        }
        doubt.rows += 1;
        doubt.last = row;
        Refused::Doubtful
    }

    pub(super) fn halt(&mut self, error: String, now: Timestamp) {
        tracing::warn!(reason = error, "the export of a table is held up");
        self.halted = Some((error, now.plus(LONG)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many statements it takes to pass `bad` among `count` rows, and which rows are found bad.
    fn pass(count: i64, bad: &[i64]) -> (usize, Vec<i64>) {
        let (mut lane, mut cursor, mut statements, mut found) = (Lane::default(), 0, 0, Vec::new());
        while cursor < count {
            let rows = i64::try_from(lane.limit()).unwrap().min(count - cursor);
            let last = cursor + rows;
            statements += 1;
            if (cursor + 1..=last).all(|row| !bad.contains(&row)) {
                cursor = lane.stored(usize::try_from(rows).unwrap(), last).unwrap_or(last);
            } else if rows > 1 {
                lane.suspect(usize::try_from(rows).unwrap());
                continue;
            } else {
                match lane.refuse(cursor, last) {
                    Refused::Bad => found.push(last),
                    refused => assert_eq!(refused, Refused::Doubtful),
                }
                cursor = last;
            }
            cursor = lane.after_trial(cursor);
        }
        (statements, found)
    }

    #[test]
    fn a_bad_row_is_found_by_halves() {
        for bad in [1, 2, 250, 251, 499] {
            let (statements, found) = pass(500, &[bad]);
            assert_eq!(found, [bad]);
            assert!(statements <= 13, "{bad}: {statements}");
        }
        assert_eq!(pass(1500, &[4, 5, 1499]).1, [4, 5, 1499]);
        assert_eq!(pass(1500, &[]), (3, Vec::new()));
    }

    #[test]
    fn the_last_row_is_not_found_bad_before_another_one_is_stored() {
        assert!(pass(500, &[500]).1.is_empty());
        assert_eq!(pass(501, &[500]).1, [500]);
    }

    #[test]
    fn where_no_row_is_taken_none_is_lost() {
        let mut lane = Lane::default();
        for cursor in 7..7 + 16 {
            assert_eq!(lane.refuse(cursor, cursor + 1), Refused::Doubtful);
        }
        assert_eq!(lane.refuse(23, 24), Refused::All);
        assert_eq!((lane.give_up_doubt(), lane.doubted_since()), (Some(7), None));
        assert_eq!(lane.refuse(7, 8), Refused::Doubtful);
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
            assert_eq!(lane.stored(rows, 1), None);
        }
    }
}
