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

impl PartialEq<serde_json::Value> for Literal {
    fn eq(&self, other: &serde_json::Value) -> bool {
        use serde_json::Value;
        match (self, other) {
            (Self::Text(text), Value::String(other)) => text == other,
            (Self::Number(number), Value::Number(other)) => other.as_u64() == Some(*number),
            (Self::Flag(flag), Value::Bool(other)) => flag == other,
            (Self::List(elements), Value::Array(others)) => elements == others,
            (Self::Table(members), Value::Object(others)) => {
                members.len() == others.len()
                    && members
                        .iter()
                        .all(|(key, value)| others.get(*key).is_some_and(|other| value == other))
            }
            _ => false,
        }
    }
}
