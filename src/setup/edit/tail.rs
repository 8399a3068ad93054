//! A block of ours at the end of a text, put there so that the text alone tells how to take it out.
//!
//! A blank line parts the block from what was there before. The last line keeps what the former last
//! one had, a line end or none, so that the one that we added can be told from the user's.

use std::ops::Range;

use crate::setup::edit::splice::Splice;
use crate::setup::edit::text;

/// Adds `block`, lines without a final line end, at the end of `text`.
pub(super) fn append(text: &str, block: &str, line_end: &str) -> Splice {
    let added = if text.is_empty() {
        format!("{block}{line_end}")
    } else if text.ends_with('\n') {
        format!("{line_end}{block}{line_end}")
    } else {
        format!("{line_end}{line_end}{block}")
    };
    Splice::insertion(text.len(), added)
}

/// Takes the lines at `block` out, and what `append` added around them if it is still there.
pub(super) fn cut(text: &str, block: Range<usize>) -> Splice {
    let before = text.get(..block.start).unwrap_or("");
    let line_end = line_end_at(text, block.start);
    let (_, last_end) = end_of_line(text, block.end);
    let added = if last_end.is_empty() {
        line_end.repeat(2)
    } else if before.ends_with(&format!("\n{line_end}")) {
        line_end.to_owned()
    } else {
        String::new()
    };
    let start = before.strip_suffix(&added).map_or(block.start, str::len);
    Splice::removal(start..block.end + last_end.len())
}

/// How the line at `offset` ends, or else the first one of the text.
pub(super) fn line_end_at(text: &str, offset: usize) -> &str {
    match end_of_line(text, offset).1 {
        "" => text::line_end(text),
        line_end => line_end,
    }
}

/// Where the content of the line at `offset` ends, and its line end.
pub(super) fn end_of_line(text: &str, offset: usize) -> (usize, &str) {
    let rest = text.get(offset..).unwrap_or("");
    let Some(at) = rest.find('\n') else {
        return (text.len(), "");
    };
    let content = rest.get(..at).unwrap_or("");
    let content = content.strip_suffix('\r').unwrap_or(content).len();
    (offset + content, rest.get(content..=at).unwrap_or(""))
}
