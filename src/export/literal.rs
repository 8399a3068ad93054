//! Literals of GreptimeDB's dialect, in which alone values reach a statement.

use std::fmt;

use crate::agent::beginning;

/// The longest text that is sent whole, in bytes. The server takes a statement of 64 MiB, each byte of
/// which may be three on the way.
const MAX_TEXT: usize = 1024 * 1024;

/// A value of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// Nothing.
    Null,
    /// For a column of text: numbers need quotes there too.
    Text(String),
    /// For a number, or a time in the unit of its column.
    Integer(i64),
    /// For a boolean: `'true'` is none.
    Boolean(bool),
}

impl Value {
    /// A text, cut if it is too long to be sent.
    pub(super) fn text(text: impl Into<String>) -> Self {
        let text = text.into();
        if text.len() <= MAX_TEXT {
            return Self::Text(text);
        }
        let start = beginning(&text, MAX_TEXT);
        Self::Text(format!("{start}[{} bytes cut]", text.len() - start.len()))
    }

    /// The same of a text that may be absent.
    pub(super) fn optional(text: Option<impl Into<String>>) -> Self {
        text.map_or(Self::Null, Self::text)
    }
}

/// As a literal: in a text only the quote is doubled, a backslash and every other character stand for
/// themselves.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("NULL"),
            Self::Text(text) => write!(f, "'{}'", text.replace('\'', "''")),
            Self::Integer(number) => write!(f, "{number}"),
            Self::Boolean(is_true) => write!(f, "{is_true}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_those_of_the_dialect() {
        for (value, literal) in [
            (Value::Null, "NULL"),
            (Value::Integer(i64::MIN), "-9223372036854775808"),
            (Value::Boolean(true), "true"),
            (Value::text("it's \"quoted\""), "'it''s \"quoted\"'"),
            (Value::text("back\\slash \\n"), "'back\\slash \\n'"),
            (Value::text("a\0b\n-- ; $1 🦀"), "'a\0b\n-- ; $1 🦀'"),
        ] {
            assert_eq!(value.to_string(), literal);
        }
    }

    #[test]
    fn a_text_is_bounded() {
        let Value::Text(text) = Value::text("é".repeat(MAX_TEXT)) else { panic!() };
        assert!(text.len() < MAX_TEXT + 64 && text.ends_with("é[1048576 bytes cut]"));
    }
}
