//! Values of ours, before they are written in the language of a file.

use serde_json::Value;

/// A value, with its keys in the order in which they are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Literal {
    /// A string.
    Text(String),
    /// A whole number.
    Number(u64),
    /// A truth value.
    Flag(bool),
    /// An array.
    List(Vec<Literal>),
    /// An object, in TOML a table.
    Table(Vec<(&'static str, Literal)>),
}

impl Literal {
    /// A list of strings.
    pub fn texts<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        Self::List(texts.into_iter().map(Self::from).collect())
    }
}

impl From<Literal> for Value {
    fn from(literal: Literal) -> Self {
        match literal {
            Literal::Text(text) => text.into(),
            Literal::Number(number) => number.into(),
            Literal::Flag(flag) => flag.into(),
            Literal::List(items) => items.into_iter().map(Self::from).collect(),
            Literal::Table(members) => members
                .into_iter()
                .map(|(key, value)| (key.to_owned(), Self::from(value)))
                .collect(),
        }
    }
}

impl From<&str> for Literal {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}
