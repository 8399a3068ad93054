//! Values of ours, before they are written in the language of a file.

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

impl From<&str> for Literal {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}
