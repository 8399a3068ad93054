//! Which lines the user wants told.

use regex::Regex;

/// Which lines are told; all of them by default.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// What a line must have in it.
    pub pattern: Option<Regex>,
    /// Whether it is the other lines that are told.
    pub inverted: bool,
}

impl Selection {
    /// Whether a line is told.
    pub(super) fn takes(&self, line: &str) -> bool {
        self.pattern.as_ref().is_none_or(|pattern| pattern.is_match(line) != self.inverted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_takes_lines_or_leaves_them() {
        let selection = |pattern: Option<&str>, inverted| Selection {
            pattern: pattern.map(|it| Regex::new(it).unwrap()),
            inverted,
        };
        for (pattern, inverted, error, note) in [
            (None, false, true, true),
            (None, true, true, true),
            (Some("^error"), false, true, false),
            (Some("^error"), true, false, true),
        ] {
            let selection = selection(pattern, inverted);
            assert_eq!((selection.takes("error: x"), selection.takes("note: y")), (error, note));
        }
    }
}
