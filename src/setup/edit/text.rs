//! Text as files hold it: byte order mark, line ends, places.

use std::fmt;

/// Not decoded as part of a text, and put back in front of an edited one.
pub(super) const BYTE_ORDER_MARK: &str = "\u{feff}";

/// A place in a text as editors count: from 1, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    pub(super) line: usize,
    pub(super) column: usize,
}

impl Position {
    pub(super) fn of(text: &str, offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let start = line_start(before, before.len());
        Self {
            line: before.matches('\n').count() + 1,
            column: before.get(start..).unwrap_or("").chars().count() + 1,
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// The byte order mark of a file, if it has one, and its text; else where it stops being text.
pub(super) fn decode(bytes: &[u8]) -> Result<(&'static str, &str), Position> {
    let text = str::from_utf8(bytes).map_err(|error| {
        let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
        let valid = String::from_utf8_lossy(valid);
        Position::of(&valid, valid.len())
    })?;
    Ok(match text.strip_prefix(BYTE_ORDER_MARK) {
        Some(text) => (BYTE_ORDER_MARK, text),
        None => ("", text),
    })
}

/// How the text ends its lines: as it ends the first one.
pub(super) fn line_end(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text.get(..at).is_some_and(|line| line.ends_with('\r')) => "\r\n",
        _ => "\n",
    }
}

/// Where the line on which `offset` is starts.
pub(super) fn line_start(text: &str, offset: usize) -> usize {
    text.get(..offset).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1)
}
