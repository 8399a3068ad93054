//! One table of ours in a TOML file, such as `[mcp_servers.tma1]`.
//!
//! The parser finds the places, and the text is spliced there: a document that is written out as a
//! whole would lose line ends, a byte order mark or the lack of a final line end. Everything that a
//! removal needs stands in the text, also after the agent has written all of these tables anew.

mod document;
mod spelling;
pub mod trust;

use std::ops::Range;

use toml_edit::{InlineTable, Item, Value};

use crate::setup::edit::json::MAX_BYTES;
use crate::setup::edit::literal::Literal;
use crate::setup::edit::splice::{Splice, spliced};
use crate::setup::edit::tail::{self, end_of_line};
use crate::setup::edit::text::{self, Position, line_start};
use crate::setup::edit::toml::document::Document;
use crate::setup::edit::toml::spelling::{assignment, means, spelled};

/// Why a TOML file is left alone.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum TomlError {
    /// No agent's settings are this large.
    #[error("it is larger than {} MiB", MAX_BYTES / (1024 * 1024))]
    TooLarge,
    /// Ours would make it so large that it could not be edited again.
    #[error("with our table it would be larger than {} MiB", MAX_BYTES / (1024 * 1024))]
    WouldBeTooLarge,
    /// The bytes are not text.
    #[error("it is not UTF-8 text ({0})")]
    NotUtf8(Position),
    /// Not TOML.
    #[error("it is not valid TOML: {reason} ({position})")]
    Syntax {
        /// What the parser says.
        reason: String,
        /// Where.
        position: Position,
    },
    /// A value on our path has another type than the agent expects there.
    #[error("`{key}` is not {expected} ({position})")]
    Shape {
        /// The key.
        key: String,
        /// The type that its value should have, with its article.
        expected: &'static str,
        /// Where it starts.
        position: Position,
    },
    /// The edited text would not mean what it should. A bug, caught before anything is written.
    #[error("the edit would have changed more than our own entries")]
    Guard,
}

impl TomlError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::TooLarge | Self::WouldBeTooLarge => {
                "look what makes it so large, and move that elsewhere".to_owned()
            }
            Self::NotUtf8(_) => "save it as UTF-8, then try again".to_owned(),
            Self::Syntax { .. } => "the agent does not start while it is not valid TOML; repair \
                 it, then try again"
                .to_owned(),
            Self::Shape { expected, .. } => {
                format!("make it {expected} or remove it, then try again")
            }
            Self::Guard => "please report this, with the file if you can share it".to_owned(),
        }
    }
}

/// A table that is ours by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableEntry {
    /// The table of the root that holds it.
    pub parent: &'static str,
    /// Its name there.
    pub name: &'static str,
    /// What it holds. Other keys in it are left as they are.
    pub values: Vec<(&'static str, Literal)>,
}

impl TableEntry {
    /// `before` with our table in it; the same bytes if it is right already.
    pub fn install_into(&self, before: &[u8]) -> Result<Vec<u8>, TomlError> {
        let (mark, text) = read(before)?;
        let document = self.parse(text)?;
        let after = spliced(mark, text, self.converge(&document)?);
        if after.len() > MAX_BYTES {
            return Err(TomlError::WouldBeTooLarge);
        }
        self.guard(mark, &document, &after, |edited| Ok(self.converge(edited)?.is_empty()))?;
        Ok(after.into_bytes())
    }

    /// `before` without our table; the same bytes if it has none.
    pub fn remove_from(&self, before: &[u8]) -> Result<Vec<u8>, TomlError> {
        let (mark, text) = read(before)?;
        let document = self.parse(text)?;
        let after = spliced(mark, text, self.withdraw(&document)?);
        self.guard(mark, &document, &after, |edited| Ok(self.own(edited)?.is_none()))?;
        Ok(after.into_bytes())
    }

    /// Requires that `after` is what `before` was but for our table, and that it is `settled`.
    fn guard(
        &self,
        mark: &str,
        before: &Document<'_>,
        after: &str,
        is_settled: impl Fn(&Document<'_>) -> Result<bool, TomlError>,
    ) -> Result<(), TomlError> {
        let text = after.strip_prefix(mark).unwrap_or(after);
        let after = self.parse(text).map_err(|_| TomlError::Guard)?;
        let rest =
            |document: &Document<'_>| Ok(spliced("", document.text, self.withdraw(document)?));
        let is_kept =
            before.foreign(self.name) == after.foreign(self.name) && rest(before)? == rest(&after)?;
        if is_kept && is_settled(&after)? { Ok(()) } else { Err(TomlError::Guard) }
    }

    fn parse<'a>(&self, text: &'a str) -> Result<Document<'a>, TomlError> {
        Document::parse(text, &[self.parent])
    }

    fn converge(&self, document: &Document<'_>) -> Result<Vec<Splice>, TomlError> {
        let own = self.own(document)?;
        // Tables below ours may stand there without it.
        let has_own_line = |item: &&Item| {
            item.as_table().is_none_or(|table| !table.is_implicit() || table.is_dotted())
        };
        if let Some(own) = own.filter(has_own_line) {
            return self.update(document, own);
        }
        self.require_values(document, own)?;
        match document.parent() {
            Some(Item::Value(Value::InlineTable(parent))) => {
                Ok(vec![self.insert(document, parent)])
            }
            _ => Ok(vec![self.append(document)]),
        }
    }

    fn withdraw(&self, document: &Document<'_>) -> Result<Vec<Splice>, TomlError> {
        let Some(own) = self.own(document)? else {
            return Ok(Vec::new());
        };
        if let Some(Item::Value(Value::InlineTable(parent))) = document.parent() {
            let key = parent.key(self.name).and_then(toml_edit::Key::span);
            let range = key.unwrap_or_default().start..own.span().unwrap_or_default().end;
            return Ok(vec![Splice::removal(with_comma(document.text, parent, range))]);
        }
        let runs = document.lines_of(self.name).into_iter();
        let splices = runs.map(|(range, is_table)| {
            if is_table {
                tail::cut(document.text, range)
            } else {
                let (end, line_end) = end_of_line(document.text, range.end);
                Splice::removal(range.start..end + line_end.len())
            }
        });
        Ok(splices.collect())
    }

    /// Our table, if it is there.
    fn own<'d>(&self, document: &'d Document<'_>) -> Result<Option<&'d Item>, TomlError> {
        let parent = match document.parent() {
            None => return Ok(None),
            Some(parent) => parent
                .as_table_like()
                .ok_or_else(|| document.misshapen(self.parent, "a table", parent))?,
        };
        match parent.get(self.name) {
            Some(Item::Value(Value::InlineTable(table))) if table.is_dotted() => {
                let key = format!("{}.{}", self.parent, self.name);
                Err(document.misshapen_at(&key, "written as one table", table.span()))
            }
            Some(own) if own.as_table_like().is_none() => {
                let key = format!("{}.{}", self.parent, self.name);
                Err(document.misshapen(&key, "a table", own))
            }
            own => Ok(own),
        }
    }

    /// Makes the values of our table what they should be, each in its place.
    fn update(&self, document: &Document<'_>, own: &Item) -> Result<Vec<Splice>, TomlError> {
        self.require_values(document, Some(own))?;
        let mut splices = Vec::new();
        let mut missing = Vec::new();
        for (key, literal) in &self.values {
            match own.get(*key).and_then(|item| Some((item, item.span()?))) {
                None => missing.push(assignment(key, literal)),
                Some((item, _)) if means(item, literal) => {}
                Some((_, range)) => splices.push(Splice { range, text: spelled(literal) }),
            }
        }
        if !missing.is_empty() {
            splices.push(add_values(document, own, &missing));
        }
        Ok(splices)
    }

    /// Requires that none of our keys leads to a table, which is no value to replace.
    fn require_values(&self, document: &Document<'_>, own: Option<&Item>) -> Result<(), TomlError> {
        for (key, _) in &self.values {
            let item = own.and_then(|own| own.get(*key));
            let is_value = |item: &Item| match item {
                Item::Value(Value::InlineTable(table)) => !table.is_dotted(),
                item => item.is_value(),
            };
            if let Some(item) = item.filter(|item| !is_value(item)) {
                return Err(document.misshapen(key, "a value", item));
            }
        }
        Ok(())
    }

    fn insert(&self, document: &Document<'_>, parent: &InlineTable) -> Splice {
        let own = assignment(self.name, &Literal::Table(self.values.clone()));
        match document::ends_of_values(parent).into_iter().max() {
            Some(end) => Splice::insertion(end, format!(", {own}")),
            None => Splice::insertion(document.inside(parent.span()), own),
        }
    }

    /// Adds our table at the end, or in front of tables below it.
    fn append(&self, document: &Document<'_>) -> Splice {
        let below = document.lines_of(self.name).into_iter().next();
        let below = below.map(|(lines, _)| lines.start);
        let line_end = tail::line_end_at(document.text, below.unwrap_or(0));
        let mut lines = vec![format!("[{}.{}]", self.parent, self.name)];
        lines.extend(self.values.iter().map(|(key, value)| assignment(key, value)));
        let table = lines.join(line_end);
        match below {
            Some(at) => Splice::insertion(at, format!("{table}{line_end}{line_end}")),
            None => tail::append(document.text, &table, line_end),
        }
    }
}

fn read(bytes: &[u8]) -> Result<(&'static str, &str), TomlError> {
    if bytes.len() > MAX_BYTES {
        return Err(TomlError::TooLarge);
    }
    text::decode(bytes).map_err(TomlError::NotUtf8)
}

/// Adds values to our table, before those that it has.
fn add_values(document: &Document<'_>, own: &Item, assignments: &[String]) -> Splice {
    let text = document.text;
    let first = own.as_table_like().and_then(document::start_of_values);
    match (own, first) {
        (Item::Value(_), Some(first)) => {
            Splice::insertion(first, format!("{}, ", assignments.join(", ")))
        }
        (Item::Value(_), None) => {
            Splice::insertion(document.inside(own.span()), assignments.join(", "))
        }
        // The way to the key is part of a dotted one.
        (_, Some(first)) => {
            let start = line_start(text, first);
            let way = text.get(start..first).unwrap_or("");
            let line_end = tail::line_end_at(text, first);
            let lines: Vec<_> =
                assignments.iter().map(|line| format!("{way}{line}{line_end}")).collect();
            Splice::insertion(start, lines.concat())
        }
        (_, None) => {
            let header = own.span().unwrap_or_default();
            let line_end = tail::line_end_at(text, header.end);
            let lines = assignments.iter().map(|line| format!("{line_end}{line}"));
            Splice::insertion(end_of_line(text, header.end).0, lines.collect())
        }
    }
}

/// The value at `range` in the inline table `parent`, with the comma that goes with it.
fn with_comma(text: &str, parent: &InlineTable, range: Range<usize>) -> Range<usize> {
    let ends = document::ends_of_values(parent);
    let after = text.get(range.end..).unwrap_or("");
    let after_comma = after.split_once(',').map(|(_, next)| next.trim_start_matches([' ', '\t']));
    let previous = ends.iter().filter(|end| **end <= range.start).max();
    let comma = previous.and_then(|end| Some(end + text.get(*end..range.start)?.find(',')?));
    match (after_comma, comma) {
        // Up to the next value.
        (Some(next), _) if ends.iter().any(|end| *end > range.end) => {
            range.start..text.len() - next.len()
        }
        // From the end of the previous one.
        (_, Some(comma)) => comma..range.end,
        // A last comma can't stay alone.
        (Some(_), None) if after.trim_start().starts_with(',') => {
            range.start..range.end + after.find(',').map_or(0, |at| at + 1)
        }
        _ => range,
    }
}
