//! What matters of an output, bounded: the first errors with what stands around them, and its end.

use std::collections::VecDeque;

/// How many lines are kept around the first errors.
const MAX_ERRORS: usize = 96;

/// How many lines belong to an error: the code that it is about, what was expected.
const AFTER_ERROR: usize = 6;

/// How many of the last lines are kept.
const MAX_LAST: usize = 64;

/// An excerpt of the lines that came so far.
#[derive(Debug, Default)]
pub(super) struct Excerpt {
    seen: u64,
    errors: Vec<(u64, String)>,
    /// How many lines more belong to the error before.
    follow: usize,
    last: VecDeque<(u64, String)>,
}

impl Excerpt {
    /// Takes in the next line.
    pub(super) fn add(&mut self, line: String) {
        let number = self.seen;
        self.seen += 1;
        if tells_error(&line) {
            self.follow = AFTER_ERROR + 1;
        }
        if self.follow > 0 && self.errors.len() < MAX_ERRORS {
            self.follow -= 1;
            self.errors.push((number, line));
            return;
        }
        if self.last.len() >= MAX_LAST {
            self.last.pop_front();
        }
        self.last.push_back((number, line));
    }

    /// What is kept, in order.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines: Vec<_> = self.errors.iter().chain(&self.last).collect();
        lines.sort_by_key(|(number, _)| *number);
        lines.into_iter().map(|(_, line)| line.clone()).collect()
    }
}

/// Whether a line may tell what is wrong. To take too many costs room, to take too few the point.
pub(crate) fn tells_error(line: &str) -> bool {
    const SIGNS: [&str; 12] = [
        "error",
        "fail",
        "panicked",
        "fatal",
        "exception",
        "traceback",
        "undefined",
        "cannot find",
        "unresolved",
        "not found",
        "✗",
        "×",
    ];
    let lower = line.to_lowercase();
    SIGNS.iter().any(|sign| lower.contains(sign))
        && !["0 error", "0 fail", "no error"].iter().any(|none| lower.contains(none))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_kept_with_what_follows_them_and_so_is_the_end() {
        let mut excerpt = Excerpt::default();
        for number in 0..1_000 {
            excerpt.add(format!("Compiling crate {number}"));
        }
        excerpt.add("error[E0308]: mismatched types".to_owned());
        excerpt.add(" --> src/cart.rs:12:5".to_owned());
        for number in 0..1_000 {
            excerpt.add(format!("Checking crate {number}"));
        }
        let lines = excerpt.lines();
        assert_eq!(excerpt.seen, 2_002);
        assert_eq!(lines.len(), MAX_LAST + AFTER_ERROR + 1);
        assert_eq!(lines[..2], ["error[E0308]: mismatched types", " --> src/cart.rs:12:5"]);
        assert_eq!(lines.last().unwrap(), "Checking crate 999");
    }

    #[test]
    fn however_many_errors_there_are_it_stays_small() {
        let mut excerpt = Excerpt::default();
        for number in 0..10_000 {
            excerpt.add(format!("error {number}"));
        }
        let lines = excerpt.lines();
        assert_eq!(lines.len(), MAX_ERRORS + MAX_LAST);
        assert_eq!((lines[0].as_str(), lines.last().unwrap().as_str()), ("error 0", "error 9999"));
    }

    #[test]
    fn lines_that_tell_no_error_are_told_from_those_that_do() {
        for line in ["src/a.c:3:4: error: x", "FAILED tests/a.py::b", "thread 'a' panicked at"] {
            assert!(tells_error(line), "{line}");
        }
        for line in ["Compiling serde", "Found 0 errors. Watching", "12 passed, 0 failed"] {
            assert!(!tells_error(line), "{line}");
        }
    }
}
