//! Where everything stands in a TOML text.

use std::ops::Range;

use toml_edit::{InlineTable, Item, TableLike, Value};

use crate::setup::edit::tail::end_of_line;
use crate::setup::edit::text::{Position, line_start};
use crate::setup::edit::toml::TomlError;

/// A parsed text, looked at for the tables in one place.
pub(super) struct Document<'a> {
    pub(super) text: &'a str,
    parsed: toml_edit::Document<&'a str>,
    /// The keys that lead there.
    place: Vec<&'static str>,
}

/// A line, or several, that gives a key a value or starts a table.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Statement<'d> {
    path: Vec<&'d str>,
    /// From the last key on, or the brackets of the table.
    range: Range<usize>,
    is_table: bool,
}

impl<'a> Document<'a> {
    pub(super) fn parse(text: &'a str, place: &[&'static str]) -> Result<Self, TomlError> {
        let parsed = toml_edit::Document::parse(text).map_err(|error| TomlError::Syntax {
            reason: error.message().to_owned(),
            position: Position::of(text, error.span().map_or(text.len(), |span| span.start)),
        })?;
        Ok(Self { text, parsed, place: place.to_vec() })
    }

    /// The table that holds ours.
    pub(super) fn parent(&self) -> Option<&Item> {
        let (first, others) = self.place.split_first()?;
        let root = self.parsed.as_table().get(first);
        others.iter().fold(root, |item, key| item?.as_table_like()?.get(key))
    }

    pub(super) fn misshapen(&self, key: &str, expected: &'static str, item: &Item) -> TomlError {
        self.misshapen_at(key, expected, item.span())
    }

    pub(super) fn misshapen_at(
        &self,
        key: &str,
        expected: &'static str,
        range: Option<Range<usize>>,
    ) -> TomlError {
        TomlError::Shape {
            key: key.to_owned(),
            expected,
            position: Position::of(self.text, range.unwrap_or_default().start),
        }
    }

    /// The start of what is between the brackets of the inline table at `range`.
    pub(super) fn inside(&self, range: Option<Range<usize>>) -> usize {
        range.map_or(self.text.len(), |range| range.start + 1)
    }

    /// The runs of lines that make up the table `name` of the parent, and whether each starts with
    /// the line that names a table.
    pub(super) fn lines_of(&self, name: &str) -> Vec<(Range<usize>, bool)> {
        let mut runs: Vec<(Range<usize>, bool)> = Vec::new();
        let mut was_ours = false;
        for statement in self.statements() {
            let is_ours = self.is_in(&statement.path, name);
            let end = end_of_line(self.text, statement.range.end).0;
            match runs.last_mut() {
                Some((run, _)) if is_ours && was_ours => run.end = end,
                _ if is_ours => {
                    let start = line_start(self.text, statement.range.start);
                    runs.push((start..end, statement.is_table));
                }
                _ => {}
            }
            was_ours = is_ours;
        }
        runs
    }

    /// Everything but the table `name` of the parent: each path, and how its value is spelled.
    pub(super) fn foreign(&self, name: &str) -> Vec<(Vec<&str>, &str)> {
        let others = self.statements().into_iter();
        let others = others.filter(|statement| !self.is_in(&statement.path, name));
        others
            .map(|statement| {
                let is_parent = statement.path == self.place && !statement.is_table;
                // What is in an inline parent is listed one by one.
                let spelled = if is_parent { None } else { self.text.get(statement.range) };
                (statement.path, spelled.unwrap_or(""))
            })
            .collect()
    }

    fn is_in(&self, path: &[&str], name: &str) -> bool {
        path.strip_prefix(self.place.as_slice()).and_then(|rest| rest.first()) == Some(&name)
    }

    /// All statements, in the order of the text.
    fn statements(&self) -> Vec<Statement<'_>> {
        let mut statements = Vec::new();
        self.collect(self.parsed.as_table(), &[], &mut statements);
        statements.sort_by_key(|statement| statement.range.start);
        statements
    }

    fn collect<'d>(
        &'d self,
        table: &'d dyn TableLike,
        path: &[&'d str],
        statements: &mut Vec<Statement<'d>>,
    ) {
        for (name, item) in table.iter() {
            let path = [path, &[name]].concat();
            let mut push = |range: Option<Range<usize>>, is_table| {
                let range = range.unwrap_or_default();
                statements.push(Statement { path: path.clone(), range, is_table });
            };
            match item {
                Item::None => {}
                Item::Table(table) => {
                    if !table.is_implicit() {
                        push(table.span(), true);
                    }
                    self.collect(table, &path, statements);
                }
                Item::ArrayOfTables(tables) => {
                    for table in tables {
                        statements.push(Statement {
                            path: path.clone(),
                            range: table.span().unwrap_or_default(),
                            is_table: true,
                        });
                        self.collect(table, &path, statements);
                    }
                }
                Item::Value(Value::InlineTable(inline)) if inline.is_dotted() => {
                    self.collect(inline, &path, statements);
                }
                Item::Value(value) => {
                    let start = table.key(name).and_then(toml_edit::Key::span);
                    let start = start.unwrap_or_default().start;
                    push(value.span().map(|range| start..range.end), false);
                    if let Value::InlineTable(inline) = value
                        && path == self.place
                    {
                        self.collect(inline, &path, statements);
                    }
                }
            }
        }
    }
}

/// Where the first key with a value, or with a dot, of `table` starts.
pub(super) fn start_of_values(table: &dyn TableLike) -> Option<usize> {
    let keys = table.iter().filter(|(_, item)| match item {
        Item::Table(table) => table.is_dotted(),
        item => item.is_value(),
    });
    keys.filter_map(|(name, _)| Some(table.key(name)?.span()?.start)).min()
}

/// Where each value in an inline table ends.
pub(super) fn ends_of_values(table: &InlineTable) -> Vec<usize> {
    let ends = table.iter().map(|(_, value)| match value {
        Value::InlineTable(inner) if inner.is_dotted() => ends_of_values(inner),
        value => value.span().map(|range| range.end).into_iter().collect(),
    });
    ends.flatten().collect()
}
