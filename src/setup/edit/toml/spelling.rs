//! How our values are written in TOML, and whether those of a file mean the same.

use std::fmt::Write;

use toml_edit::{Item, Value};

use crate::setup::edit::literal::Literal;

/// `key = value` on one line. Our keys need no quotes.
pub(super) fn assignment(key: &str, value: &Literal) -> String {
    format!("{key} = {}", spelled(value))
}

/// `literal` on one line.
pub(super) fn spelled(literal: &Literal) -> String {
    match literal {
        Literal::Text(text) => quoted(text),
        Literal::Number(number) => number.to_string(),
        Literal::Flag(flag) => flag.to_string(),
        Literal::List(elements) => {
            let elements: Vec<_> = elements.iter().map(spelled).collect();
            format!("[{}]", elements.join(", "))
        }
        Literal::Table(members) if members.is_empty() => "{}".to_owned(),
        Literal::Table(members) => {
            let members: Vec<_> =
                members.iter().map(|(key, value)| assignment(key, value)).collect();
            format!("{{ {} }}", members.join(", "))
        }
    }
}

fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            // Writing to a string can't fail.
            control if control.is_ascii_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(control));
            }
            character => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}

/// Whether `item` means `literal`, in whatever spelling.
pub(super) fn means(item: &Item, literal: &Literal) -> bool {
    item.as_value().is_some_and(|value| value_means(value, literal))
}

fn value_means(value: &Value, literal: &Literal) -> bool {
    match literal {
        Literal::Text(text) => value.as_str() == Some(text),
        Literal::Number(number) => {
            value.as_integer().and_then(|value| u64::try_from(value).ok()) == Some(*number)
        }
        Literal::Flag(flag) => value.as_bool() == Some(*flag),
        Literal::List(literals) => value.as_array().is_some_and(|array| {
            let mut pairs = array.iter().zip(literals);
            array.len() == literals.len()
                && pairs.all(|(value, literal)| value_means(value, literal))
        }),
        Literal::Table(members) => value.as_inline_table().is_some_and(|table| {
            table.len() == members.len()
                && members.iter().all(|(key, literal)| {
                    table.get(key).is_some_and(|value| value_means(value, literal))
                })
        }),
    }
}
