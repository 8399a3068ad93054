//! Why a text is not JSON, in the words of its user.

use jsonc_parser::errors::ParseErrorKind;
use jsonc_parser::{CollectOptions, ParseOptions, ParseStringErrorKind, parse_to_ast};

use crate::setup::edit::json::JsonError;
use crate::setup::edit::text::Position;

/// The error for a `text` that the strict parser refuses with `error`.
pub(super) fn of(text: &str, error: &serde_json::Error) -> JsonError {
    let known = conflict(text).or_else(|| habit(text));
    let (reason, position) = known.unwrap_or_else(|| strict(text, error));
    JsonError::Syntax { reason, position }
}

/// A merge of two versions that was not brought to its end.
fn conflict(text: &str) -> Option<(String, Position)> {
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        if line.starts_with("<<<<<<<") {
            let reason = "it has an unresolved merge conflict, `<<<<<<<`";
            return Some((reason.to_owned(), Position::of(text, offset)));
        }
        offset += line.len();
    }
    None
}

/// Something that other languages, or other readers of JSON, allow.
fn habit(text: &str) -> Option<(String, Position)> {
    let error = parse_to_ast(text, &CollectOptions::default(), &strict_options()).err()?;
    let at = error.range().start;
    let reason = match error.kind() {
        ParseErrorKind::CommentsNotAllowed | ParseErrorKind::UnterminatedCommentBlock => {
            "it has a comment".to_owned()
        }
        ParseErrorKind::TrailingCommasNotAllowed => "it has a trailing comma".to_owned(),
        ParseErrorKind::SingleQuotedStringsNotAllowed => "it has single quotes".to_owned(),
        ParseErrorKind::String(
            ParseStringErrorKind::InvalidEscape
            | ParseStringErrorKind::InvalidEscapeInDoubleQuoteString
            | ParseStringErrorKind::ExpectedFourHexDigits,
        ) => {
            let escaped = text.get(at + 1..)?.chars().next()?;
            format!(
                "it has a backslash that starts no escape, `\\{escaped}` (in a path, write `\\\\`)"
            )
        }
        _ => return None,
    };
    Some((reason, Position::of(text, at)))
}

/// What the strict parser says. It counts columns in bytes, and repeats the place in its message.
fn strict(text: &str, error: &serde_json::Error) -> (String, Position) {
    let place = format!(" at line {} column {}", error.line(), error.column());
    let line = text.split('\n').nth(error.line().saturating_sub(1));
    let before = line.unwrap_or("").as_bytes();
    let before = before.get(..error.column().saturating_sub(1));
    let position = Position {
        line: error.line(),
        column: String::from_utf8_lossy(before.unwrap_or_default()).chars().count() + 1,
    };
    (format!("it is not valid JSON: {}", error.to_string().replace(&place, "")), position)
}

const fn strict_options() -> ParseOptions {
    ParseOptions {
        allow_comments: false,
        allow_loose_object_property_names: false,
        allow_trailing_commas: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}
