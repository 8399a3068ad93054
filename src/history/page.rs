//! Lists come in pages, so that no answer is unbounded.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The most items of a page. With the bounds of their texts a page stays below a mebibyte.
pub const MAX_PAGE: usize = 100;

/// One page of a list, latest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page<T> {
    /// What is on it.
    pub items: Vec<T>,
    /// Where the next page begins; none if this is the last.
    pub next: Option<Cursor>,
}

impl<T> Page<T> {
    /// A page with nothing on it, and none after it.
    pub const EMPTY: Self = Self { items: Vec::new(), next: None };

    /// The first `limit` of `items`, which are one more if there is more.
    pub(super) fn of(mut items: Vec<T>, limit: usize, cursor: impl Fn(&T) -> Cursor) -> Self {
        let is_last = items.len() <= limit;
        items.truncate(limit);
        let next = items.last().filter(|_| !is_last).map(cursor);
        Self { items, next }
    }
}

/// Where a page ended. To whoever asks it is a word to be given back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    /// The time of the last row, in milliseconds since the Unix epoch.
    pub ts: i64,
    /// Its id.
    pub id: i64,
}

/// How many items a page has that was asked for `limit`.
pub(super) fn page_size(limit: Option<usize>) -> usize {
    limit.map_or(MAX_PAGE, |limit| limit.clamp(1, MAX_PAGE))
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.ts, self.id)
    }
}

impl FromStr for Cursor {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let numbers = text.split_once('.');
        numbers
            .and_then(|(ts, id)| Some(Self { ts: ts.parse().ok()?, id: id.parse().ok()? }))
            .ok_or("that is no `next` of a page")
    }
}

impl Serialize for Cursor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Cursor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}
