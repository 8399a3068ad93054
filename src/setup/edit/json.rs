//! A JSON document that is edited by splicing its text, so that all of it that is not spliced keeps
//! its bytes: key order, indentation, line ends, the spelling of numbers and strings.
//!
//! The parser checks a text as a whole and hands out its values as slices of it, one level at a
//! time: what is not on our path is never taken apart, however large it is.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::setup::edit::diagnosis;
use crate::setup::edit::splice::{Splice, spliced};
use crate::setup::edit::text::{self, Position};
use crate::setup::edit::trace::{Former, Trace};
use crate::setup::edit::value::{Array, Object, Value};

/// The largest settings file that is edited, in bytes.
pub const MAX_BYTES: usize = 8 * 1024 * 1024;

/// What JSON allows between values.
const BLANKS: [char; 4] = [' ', '\t', '\r', '\n'];

/// Why a JSON file is left alone.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum JsonError {
    /// No such file of an agent is this large.
    #[error("it is larger than {} MiB", limit / (1024 * 1024))]
    TooLarge {
        /// What would be edited, in bytes.
        limit: usize,
    },
    /// Ours would make it so large that it could not be edited again.
    #[error("with our entries it would be larger than {} MiB", limit / (1024 * 1024))]
    WouldBeTooLarge {
        /// What would be edited, in bytes.
        limit: usize,
    },
    /// The bytes are not text.
    #[error("it is not UTF-8 text ({0})")]
    NotUtf8(Position),
    /// The agent takes the mark for the start of the JSON.
    #[error("it starts with a byte order mark (line 1, column 1)")]
    ByteOrderMark,
    /// Not JSON as the agent reads it.
    #[error("{reason} ({position})")]
    Syntax {
        /// What is wrong with it.
        reason: String,
        /// Where.
        position: Position,
    },
    /// A value has another type than the agent expects there.
    #[error("{what} is not {expected} ({position})")]
    Shape {
        /// The value.
        what: String,
        /// The type that it should have, with its article.
        expected: &'static str,
        /// Where it starts.
        position: Position,
    },
    /// A value has another type than expected, for which the agent ignores the file.
    #[error("{what} is not {expected} ({position})")]
    Disabling {
        /// The value.
        what: String,
        /// The type that it should have, with its article.
        expected: &'static str,
        /// Where it starts.
        position: Position,
    },
    /// A value lacks a key without which the agent ignores the file.
    #[error("{what} has no `{key}` ({position})")]
    Missing {
        /// The value.
        what: &'static str,
        /// The key.
        key: &'static str,
        /// Where the value starts.
        position: Position,
    },
    /// A key for which the agent ignores the file.
    #[error("`{key}` is no key that the agent knows there ({position})")]
    Unknown {
        /// The key.
        key: String,
        /// Where it stands.
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
    /// The same of a value whose shape decides whether the agent reads the file.
    pub(super) fn disabling(self) -> Self {
        match self {
            Self::Shape { what, expected, position } => {
                Self::Disabling { what, expected, position }
            }
            other => other,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::TooLarge { .. } | Self::WouldBeTooLarge { .. } => {
                "look what makes it so large, and move that elsewhere".to_owned()
            }
            Self::NotUtf8(_) => "save it as UTF-8, then try again".to_owned(),
            Self::ByteOrderMark => "the agent ignores the whole file because of the mark; save it \
                 as UTF-8 without one, then try again"
                .to_owned(),
            Self::Syntax { .. } => {
                "it has to be plain JSON, or the agent does not read it at all; \
                 repair it, then try again"
                    .to_owned()
            }
            Self::Disabling { expected, .. } => format!(
                "the agent ignores the whole file because of it; make it {expected} or remove it, \
                 then try again"
            ),
            Self::Shape { expected, .. } => {
                format!("make it {expected} or remove it, then try again")
            }
            Self::Missing { key, .. } => format!(
                "the agent ignores the whole file without it; add the `{key}`, then try again"
            ),
            Self::Unknown { .. } => "the agent ignores the whole file because of it; remove it, \
                 then try again"
                .to_owned(),
            Self::Duplicate { key, .. } => {
                format!("merge the two `{key}` into one, then try again")
            }
            Self::Guard => "please report this, with the file if you can share it".to_owned(),
        }
    }
}

/// The text of a file, or `{}` in the place of blanks.
#[derive(Debug)]
pub(super) struct Source<'a> {
    pub(super) mark: &'static str,
    pub(super) text: &'a str,
    blank: Option<&'a str>,
    limit: usize,
}

impl<'a> Source<'a> {
    pub(super) fn read(bytes: &'a [u8], limit: usize) -> Result<Self, JsonError> {
        if bytes.len() > limit {
            return Err(JsonError::TooLarge { limit });
        }
        let (mark, text) = text::decode(bytes).map_err(JsonError::NotUtf8)?;
        let is_blank = text.trim_matches(BLANKS).is_empty();
        let (text, blank) = if is_blank { ("{}", Some(text)) } else { (text, None) };
        Ok(Self { mark, text, blank, limit })
    }

    /// The file with `splices` put in and the blanks that it was around it, and `trace` with what
    /// these were.
    pub(super) fn installed(
        &self,
        splices: Vec<Splice>,
        trace: &mut Trace,
    ) -> Result<String, JsonError> {
        let mut edited = spliced(self.mark, self.text, splices);
        if let Some(blank) = self.blank {
            trace.note(&[], Former::Blank(blank.to_owned()));
            edited.push_str(if blank.contains('\n') { blank } else { "\n" });
        }
        if edited.len() > self.limit {
            return Err(JsonError::WouldBeTooLarge { limit: self.limit });
        }
        Ok(edited)
    }

    /// The file with `splices` put in, and as blank as it was before us if nothing else is left.
    pub(super) fn removed(&self, splices: Vec<Splice>, trace: &Trace) -> String {
        let edited = spliced(self.mark, self.text, splices);
        match trace.former(&[]) {
            Some(Former::Blank(blank)) if is_empty_object(self.unmarked(&edited)) => {
                format!("{}{blank}", self.mark)
            }
            _ => edited,
        }
    }

    /// What an edited file means.
    pub(super) fn parse_edited<'e>(&self, edited: &'e str) -> Result<Document<'e>, JsonError> {
        let text = self.unmarked(edited);
        let text = if text.trim_matches(BLANKS).is_empty() { "{}" } else { text };
        Document::parse(text).map_err(|_| JsonError::Guard)
    }

    fn unmarked<'e>(&self, edited: &'e str) -> &'e str {
        edited.strip_prefix(self.mark).unwrap_or(edited)
    }
}

fn is_empty_object(text: &str) -> bool {
    let inside = text.trim_matches(BLANKS);
    let inside = inside.strip_prefix('{').and_then(|inside| inside.strip_suffix('}'));
    inside.is_some_and(|inside| inside.trim_matches(BLANKS).is_empty())
}

/// A parsed text whose root is an object.
#[derive(Debug)]
pub(super) struct Document<'a> {
    pub(super) text: &'a str,
    pub(super) root: Object<'a>,
}

impl<'a> Document<'a> {
    pub(super) fn parse(text: &'a str) -> Result<Self, JsonError> {
        let root = Value::parse(text).map_err(|error| diagnosis::of(text, &error))?;
        root.object()
            .map(|root| Self { text, root })
            .ok_or_else(|| misshapen(text, "the whole file".to_owned(), "an object", root))
    }

    /// The object at `key`, if the key is there.
    pub(super) fn object(
        &self,
        parent: &Object<'a>,
        key: &str,
    ) -> Result<Option<Object<'a>>, JsonError> {
        self.typed(parent, key, "an object", Value::object)
    }

    /// The array at `key`, if the key is there.
    pub(super) fn array(
        &self,
        parent: &Object<'a>,
        key: &str,
    ) -> Result<Option<Array<'a>>, JsonError> {
        self.typed(parent, key, "an array", Value::array)
    }

    /// What `read` makes of the value at `key`, if the key is there.
    pub(super) fn typed<T>(
        &self,
        parent: &Object<'a>,
        key: &str,
        expected: &'static str,
        read: impl Fn(Value<'a>) -> Option<T>,
    ) -> Result<Option<T>, JsonError> {
        let Some((_, value)) = self.only(parent, key)? else {
            return Ok(None);
        };
        let read = read(value).ok_or_else(|| self.misshapen(format!("`{key}`"), expected, value));
        read.map(Some)
    }

    /// The value at `key` and its place among the members, if the key is there.
    pub(super) fn only(
        &self,
        parent: &Object<'a>,
        key: &str,
    ) -> Result<Option<(usize, Value<'a>)>, JsonError> {
        let mut named =
            parent.members.iter().enumerate().filter(|(_, member)| member.is_named(key));
        let first = named.next().map(|(index, member)| (index, member.value));
        match named.next() {
            None => Ok(first),
            Some((_, second)) => Err(JsonError::Duplicate {
                key: key.to_owned(),
                position: self.position(second.key),
            }),
        }
    }

    /// Requires that no key of `object`, which is to be edited, stands there twice.
    pub(super) fn require_unique(&self, object: &Object<'a>) -> Result<(), JsonError> {
        let mut known = BTreeSet::new();
        for member in &object.members {
            let key = member.key.string().unwrap_or(Cow::Borrowed(member.key.text));
            if !known.insert(key.clone()) {
                let position = self.position(member.key);
                return Err(JsonError::Duplicate { key: key.into_owned(), position });
            }
        }
        Ok(())
    }

    pub(super) fn position(&self, value: Value<'_>) -> Position {
        Position::of(self.text, value.start)
    }

    /// The object that `value`, which is called `what`, has to be.
    pub(super) fn require_object<'v>(
        &self,
        what: &str,
        value: Value<'v>,
    ) -> Result<Object<'v>, JsonError> {
        value.object().ok_or_else(|| self.misshapen(what.to_owned(), "an object", value))
    }

    pub(super) fn misshapen(
        &self,
        what: String,
        expected: &'static str,
        value: Value<'_>,
    ) -> JsonError {
        misshapen(self.text, what, expected, value)
    }
}

fn misshapen(text: &str, what: String, expected: &'static str, value: Value<'_>) -> JsonError {
    JsonError::Shape { what, expected, position: Position::of(text, value.start) }
}
