//! What stands around a match.

use serde::{Deserialize, Serialize};

use crate::history::needle::Needle;

/// How many characters are shown before a match and after it.
const BEFORE: usize = 60;
const AFTER: usize = 120;

/// How many characters of a match itself.
const MATCH: usize = 80;

/// What stands around a match, in one line. Together the parts are a piece of the text, but for its
/// white space.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snippet {
    /// What stands before the match, or the beginning of the text if none can be shown: one that
    /// differs by an accent is found too.
    pub before: String,
    /// The match.
    #[serde(rename = "match")]
    pub matched: String,
    /// What stands after it.
    pub after: String,
}

impl Snippet {
    /// What stands in `text` around the first match of `needle`.
    pub(super) fn around(text: &str, needle: &Needle) -> Self {
        let range = needle.find(text).unwrap_or(0..0);
        let part = |range| text.get(range).unwrap_or_default();
        let (before, after) = (part(0..range.start), part(range.end..text.len()));
        let skipped = before.chars().count().saturating_sub(BEFORE);
        let before: String = before.chars().skip(skipped).collect();
        let room = AFTER + if range.is_empty() { BEFORE + MATCH } else { 0 };
        Self {
            before: format!("{}{}", if skipped > 0 { "…" } else { "" }, one_line(&before)),
            matched: cut(part(range), MATCH),
            after: cut(after, room),
        }
    }
}

/// The first `chars` characters of `text`, in one line.
fn cut(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((end, _)) => format!("{}…", one_line(text.get(..end).unwrap_or_default())),
        None => one_line(text),
    }
}

/// `text` with one space for each run of white space.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        if !character.is_whitespace() {
            line.push(character);
        } else if !line.ends_with(' ') {
            line.push(' ');
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snippet(text: &str, words: &str) -> [String; 3] {
        let Snippet { before, matched, after } =
            Snippet::around(text, &Needle::new(words).unwrap());
        [before, matched, after]
    }

    #[test]
    fn the_match_is_marked_in_what_stands_around_it() {
        for (text, words, expected) in [
            ("in snake_case, twice", "snake_case", ["in ", "snake_case", ", twice"]),
            ("call a.b::C\n\tnow", "B::c", ["call a.", "b::C", " now"]),
            ("请修复登录错误", "登录", ["请修复", "登录", "错误"]),
            ("the end is nigh", "en", ["the ", "end", " is nigh"]),
            // The first of several words, and not part of one.
            ("rend the end", "end is", ["rend the ", "end", ""]),
        ] {
            assert_eq!(snippet(text, words), expected, "{text} {words}");
        }
        assert_eq!(snippet("le café", "cafe"), ["", "", "le café"]);
    }

    #[test]
    fn long_texts_are_cut_on_both_sides() {
        let text = format!("{}needle{}", "é ".repeat(500), " ü".repeat(500));
        let [before, matched, after] = snippet(&text, "needle");
        assert_eq!(before, format!("…{}", "é ".repeat(BEFORE / 2)));
        assert_eq!(matched, "needle");
        assert_eq!(after, format!("{}…", " ü".repeat(AFTER / 2)));
    }
}
