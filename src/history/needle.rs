//! What is searched for, as the index is asked and as a text is looked through.

use std::ops::Range;

use crate::agent::beginning;
use crate::store::{is_word_of_its_own, segmented};

/// How much of what is searched for is looked at, in bytes, and how many words of it.
const MAX_BYTES: usize = 1_000;
const MAX_WORDS: usize = 32;

/// How many characters a word has at least of which it is enough to know the beginning. Too many words
/// begin with any one letter.
const MIN_PREFIX: usize = 2;

/// The words that a text must have, all of them; the last may be the beginning of one.
///
/// A word is what stands between spaces. The signs in it take it apart, as in the texts, so that
/// `a.b::c` is found where these three stand in a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Needle {
    words: Vec<Word>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Word {
    text: String,
    tokens: Vec<String>,
}

impl Needle {
    /// None if there is no word in `text`.
    pub fn new(text: &str) -> Option<Self> {
        let words = beginning(text, MAX_BYTES).split_whitespace().map(|text| Word {
            text: text.to_owned(),
            tokens: tokens(text).map(|(_, token)| token).collect(),
        });
        let words: Vec<_> = words.filter(|word| !word.tokens.is_empty()).take(MAX_WORDS).collect();
        (!words.is_empty()).then_some(Self { words })
    }

    /// The question in the language of the index: a phrase for each word, in quotes, so that nothing
    /// in it means anything else.
    ///
    /// Of each of the lists of `facets` a text must have one, too.
    pub fn fts_query(&self, facets: &[Vec<String>]) -> String {
        let phrase = |word: &Word| format!("\"{}\"", segmented(&word.text).replace('"', "\"\""));
        let words = self.words.iter().map(phrase).collect::<Vec<_>>().join(" ");
        let star = if self.last_is_prefix() { " *" } else { "" };
        let facets = facets.iter().map(|facets| format!(" AND facets : ({})", facets.join(" OR ")));
        format!("content : ({words}{star}){}", facets.collect::<String>())
    }

    fn last_is_prefix(&self) -> bool {
        let last = self.words.last().and_then(|word| word.tokens.last());
        last.is_some_and(|token| token.chars().count() >= MIN_PREFIX)
    }

    /// Where the first match of any word is in `text`, but for matches that differ by an accent.
    pub fn find(&self, text: &str) -> Option<Range<usize>> {
        let found: Vec<_> = tokens(text).collect();
        let is_prefix = self.last_is_prefix();
        (0..found.len()).find_map(|start| {
            self.words.iter().enumerate().find_map(|(index, word)| {
                let found = found.get(start..start + word.tokens.len())?;
                let may_be_prefix = is_prefix && index + 1 == self.words.len();
                is_match(found, &word.tokens, may_be_prefix).then(|| joined(found)).flatten()
            })
        })
    }
}

fn is_match(found: &[(Range<usize>, String)], tokens: &[String], may_be_prefix: bool) -> bool {
    found.iter().zip(tokens).enumerate().all(|(index, ((_, found), token))| {
        if may_be_prefix && index + 1 == tokens.len() {
            found.starts_with(token.as_str())
        } else {
            found == token
        }
    })
}

fn joined(found: &[(Range<usize>, String)]) -> Option<Range<usize>> {
    Some(found.first()?.0.start..found.last()?.0.end)
}

/// The words of `text` as the index takes it apart, and where they are.
fn tokens(text: &str) -> impl Iterator<Item = (Range<usize>, String)> {
    let mut characters = text.char_indices().peekable();
    std::iter::from_fn(move || {
        let (start, first) = characters.find(|(_, character)| character.is_alphanumeric())?;
        let mut end = start + first.len_utf8();
        if !is_word_of_its_own(first) {
            let goes_on =
                |(_, next): &(usize, char)| next.is_alphanumeric() && !is_word_of_its_own(*next);
            while let Some((at, next)) = characters.next_if(goes_on) {
                end = at + next.len_utf8();
            }
        }
        Some((start..end, text.get(start..end).unwrap_or_default().to_lowercase()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_phrases_in_quotes() {
        for (text, query) in [
            ("fix", "\"fix\" *"),
            ("x", "\"x\""),
            ("fix  the bug", "\"fix\" \"the\" \"bug\" *"),
            ("snake_case a.b::c", "\"snake_case\" \"a.b::c\""),
            ("\"quoted\" OR NOT", "\"\"\"quoted\"\"\" \"OR\" \"NOT\" *"),
            ("-- && foo*", "\"foo*\" *"),
            ("登录", "\" 登  录 \""),
            ("a\0b", "\"a b\""),
        ] {
            let expected = format!("content : ({query})");
            assert_eq!(Needle::new(text).unwrap().fts_query(&[]), expected, "{text}");
        }
        let facets = [vec!["a".to_owned()], vec!["b".to_owned(), "c".to_owned()]];
        let query = Needle::new("fix").unwrap().fts_query(&facets);
        assert_eq!(query, "content : (\"fix\" *) AND facets : (a) AND facets : (b OR c)");
        for text in ["", " ", "::", "\" *", "\0"] {
            assert_eq!(Needle::new(text), None, "{text}");
        }
    }

    #[test]
    fn a_match_is_found_where_it_stands() {
        for (text, words, found) in [
            ("fix the bug", "the", Some("the")),
            ("fix the bug", "bu", Some("bug")),
            ("fix the bug", "fi bug", Some("bug")),
            ("store::open_file()", "OPEN_FILE", Some("open_file")),
            ("src/main.rs", "main.rs", Some("main.rs")),
            ("修复bug", "复bug", Some("复bug")),
            ("bugs", "bug x", None),
            ("", "bug", None),
        ] {
            let range = Needle::new(words).unwrap().find(text);
            assert_eq!(range.and_then(|range| text.get(range)), found, "{text} {words}");
        }
    }
}
