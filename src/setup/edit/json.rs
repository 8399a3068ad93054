//! A JSON document that is edited by splicing its text, so that all of it that is not spliced keeps
//! its bytes: key order, indentation, line ends, the spelling of numbers and strings.

use std::fmt;

use jsonc_parser::ast::{Array, Object, ObjectProp, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde::de::IgnoredAny;

use crate::setup::edit::splice::Splice;

/// The largest file that is edited, in bytes.
pub const MAX_BYTES: usize = 8 * 1024 * 1024;

/// Not decoded as part of a text, and put back in front of an edited one.
pub(super) const BYTE_ORDER_MARK: &str = "\u{feff}";

/// The parser's defaults accept what no agent does.
const STRICT: ParseOptions = ParseOptions {
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
};

/// A place in a text as editors count: from 1, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    line: usize,
    column: usize,
}

impl Position {
    pub(super) fn of(text: &str, offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        Self {
            line: before.matches('\n').count() + 1,
            column: before.get(line_start..).unwrap_or("").chars().count() + 1,
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Why a JSON file is left alone.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum JsonError {
    /// No agent's settings are this large.
    #[error("it is larger than {} MiB", MAX_BYTES / (1024 * 1024))]
    TooLarge,
    /// The bytes are not text.
    #[error("it is not UTF-8 text ({0})")]
    NotUtf8(Position),
    /// Not JSON as the agent reads it.
    #[error("it is not valid JSON: {reason} ({position})")]
    Syntax {
        /// What the parser expected.
        reason: String,
        /// Where.
        position: Position,
    },
    /// A value on our path has another type than the agent expects there.
    #[error("{what} is not {expected} ({position})")]
    Shape {
        /// The value.
        what: String,
        /// The type that it should have, with its article.
        expected: &'static str,
        /// Where it starts.
        position: Position,
    },
    /// A key on our path stands there twice: readers obey the last one, and an edit of either
    /// would surprise.
    #[error("`{key}` is there twice ({position})")]
    Duplicate {
        /// The key.
        key: String,
        /// Where it is repeated.
        position: Position,
    },
    /// The edited text would not mean what it should. A bug, caught before anything is written.
    #[error("the edit would have changed more than our own entries")]
    Guard,
}

impl JsonError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::TooLarge => "look what makes it so large, and move that elsewhere".to_owned(),
            Self::NotUtf8(_) => "save it as UTF-8, then install again".to_owned(),
            Self::Syntax { .. } => "the agent ignores the whole file while it is not valid JSON \
                 (comments and trailing commas are not); repair it, then install again"
                .to_owned(),
            Self::Shape { expected, .. } => {
                format!("make it {expected} or remove it, then install again")
            }
            Self::Duplicate { key, .. } => {
                format!("merge the two `{key}` into one, then install again")
            }
            Self::Guard => "please report this, with the file if you can share it".to_owned(),
        }
    }
}

/// The text of a file, without its byte order mark.
pub(super) fn decode(bytes: &[u8]) -> Result<(&'static str, &str), JsonError> {
    if bytes.len() > MAX_BYTES {
        return Err(JsonError::TooLarge);
    }
    let text = str::from_utf8(bytes).map_err(|error| {
        let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
        let valid = String::from_utf8_lossy(valid);
        JsonError::NotUtf8(Position::of(&valid, valid.len()))
    })?;
    Ok(match text.strip_prefix(BYTE_ORDER_MARK) {
        Some(text) => (BYTE_ORDER_MARK, text),
        None => ("", text),
    })
}

/// A parsed text whose root is an object.
#[derive(Debug)]
pub(super) struct Document<'a> {
    pub(super) text: &'a str,
    pub(super) root: Object<'a>,
}

impl<'a> Document<'a> {
    pub(super) fn parse(text: &'a str) -> Result<Self, JsonError> {
        // The judge: exactly the grammar of JSON. The other parser lets things pass, but knows
        // positions.
        serde_json::from_str::<IgnoredAny>(text).map_err(|error| judged(text, &error))?;
        let parsed = parse_to_ast(text, &CollectOptions::default(), &STRICT).map_err(|error| {
            JsonError::Syntax {
                reason: error.kind().to_string(),
                position: Position::of(text, error.range().start),
            }
        })?;
        match parsed.value {
            Some(Value::Object(root)) => Ok(Self { text, root }),
            Some(other) => Err(JsonError::Shape {
                what: "the whole file".to_owned(),
                expected: "an object",
                position: Position::of(text, other.start()),
            }),
            None => Err(JsonError::Guard),
        }
    }

    /// The object at `key`, if the key is there.
    pub(super) fn object<'o>(
        &self,
        parent: &'o Object<'a>,
        key: &str,
    ) -> Result<Option<&'o Object<'a>>, JsonError> {
        self.only(parent, key)?
            .map(|property| match &property.value {
                Value::Object(object) => Ok(object),
                other => Err(self.misshapen(key, "an object", other)),
            })
            .transpose()
    }

    /// The array at `key`, if the key is there.
    pub(super) fn array<'o>(
        &self,
        parent: &'o Object<'a>,
        key: &str,
    ) -> Result<Option<&'o Array<'a>>, JsonError> {
        self.only(parent, key)?
            .map(|property| match &property.value {
                Value::Array(array) => Ok(array),
                other => Err(self.misshapen(key, "an array", other)),
            })
            .transpose()
    }

    fn only<'o>(
        &self,
        parent: &'o Object<'a>,
        key: &str,
    ) -> Result<Option<&'o ObjectProp<'a>>, JsonError> {
        let mut named = parent.properties.iter().filter(|property| property.name.as_str() == key);
        let first = named.next();
        match named.next() {
            None => Ok(first),
            Some(second) => Err(JsonError::Duplicate {
                key: key.to_owned(),
                position: Position::of(self.text, second.start()),
            }),
        }
    }

    fn misshapen(&self, key: &str, expected: &'static str, value: &Value<'_>) -> JsonError {
        JsonError::Shape {
            what: format!("`{key}`"),
            expected,
            position: Position::of(self.text, value.start()),
        }
    }

    /// The text with `splices`, which must not overlap, put in.
    pub(super) fn spliced(&self, mut splices: Vec<Splice>) -> String {
        splices.sort_by_key(|splice| (splice.range.start, splice.range.end));
        let mut edited = String::with_capacity(self.text.len() + 1024);
        let mut kept_to = 0;
        for splice in splices {
            edited.push_str(self.text.get(kept_to..splice.range.start).unwrap_or(""));
            edited.push_str(&splice.text);
            kept_to = splice.range.end;
        }
        edited.push_str(self.text.get(kept_to..).unwrap_or(""));
        edited
    }
}

fn judged(text: &str, error: &serde_json::Error) -> JsonError {
    // The judge counts columns in bytes, and repeats the place in its message.
    let place = format!(" at line {} column {}", error.line(), error.column());
    let line = text.split('\n').nth(error.line().saturating_sub(1));
    let before = line.unwrap_or("").as_bytes();
    let before = before.get(..error.column().saturating_sub(1));
    JsonError::Syntax {
        reason: error.to_string().replace(&place, ""),
        position: Position {
            line: error.line(),
            column: String::from_utf8_lossy(before.unwrap_or_default()).chars().count() + 1,
        },
    }
}

/// The member of `object` that readers obey: the last of its name.
pub(super) fn member<'o, 'a>(object: &'o Object<'a>, name: &str) -> Option<&'o Value<'a>> {
    object
        .properties
        .iter()
        .rfind(|property| property.name.as_str() == name)
        .map(|property| &property.value)
}

/// The string at `name` of `object`.
pub(super) fn string<'o>(object: &'o Object<'_>, name: &str) -> Option<&'o str> {
    match member(object, name)? {
        Value::StringLit(string) => Some(&string.value),
        _ => None,
    }
}
