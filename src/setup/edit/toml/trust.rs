//! What Codex keeps about our hooks once their user has trusted them.

use serde_json::{Value, json};

use crate::setup::edit::hooks::HookEntries;
use crate::setup::edit::literal::Literal;
use crate::setup::edit::splice::spliced;
use crate::setup::edit::tail;
use crate::setup::edit::toml::document::Document;
use crate::setup::edit::toml::{TomlError, read};
use crate::setup::receipt::sha256;

/// Where Codex keeps it: a table for each hook, named after the file, the event and the place there.
const PLACE: [&str; 2] = ["hooks", "state"];

/// The records of our hooks, which are to go with these.
///
/// Places change, so a record is known by the hash of what was trusted, in which our command is.
/// `docs/agents.md` has the rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustRecords {
    /// How Codex names each of our events, and the hash of our hook for it.
    hooks: Vec<(String, String)>,
}

impl TrustRecords {
    /// The records that Codex makes of `entries`.
    pub fn of(entries: &HookEntries) -> Self {
        let mut handler = entries.dialect.members(&entries.command, entries.timeout);
        handler.push(("async", Literal::Flag(false)));
        let handler = Value::from(Literal::Table(handler));
        let hooks = entries.events.iter().map(|event| {
            let event = snake_case(event);
            // The keys come out in the order of the alphabet, as they do for Codex.
            let trusted = json!({"event_name": event, "hooks": [handler]});
            let hash = format!("sha256:{}", sha256(trusted.to_string().as_bytes()));
            (event, hash)
        });
        Self { hooks: hooks.collect() }
    }

    /// `before` without the records that stand there as Codex writes them.
    pub fn remove_from(&self, before: &[u8]) -> Result<Vec<u8>, TomlError> {
        let (mark, text) = read(before)?;
        let mut kept = text.to_owned();
        while let Some(shorter) = self.without_one(&kept)? {
            kept = shorter;
        }
        if kept != text {
            kept = without_empty_place(kept)?;
        }
        Ok(format!("{mark}{kept}").into_bytes())
    }

    /// `text` without the first of the records; none if there is none.
    fn without_one(&self, text: &str) -> Result<Option<String>, TomlError> {
        let document = Document::parse(text, &PLACE)?;
        self.first(&document).map(|name| without(&document, &PLACE, name)).transpose()
    }

    fn first<'d>(&self, document: &'d Document<'_>) -> Option<&'d str> {
        let records = document.parent()?.as_table()?;
        let own = records.iter().find(|(name, record)| {
            let hash = record.as_table().and_then(|record| record.get("trusted_hash")?.as_str());
            hash.is_some_and(|hash| self.is_own(name, hash))
        });
        own.map(|(name, _)| name)
    }

    fn is_own(&self, name: &str, hash: &str) -> bool {
        let event = name.rsplit(':').nth(2);
        self.hooks.iter().any(|(own, trusted)| event == Some(own) && hash == trusted)
    }
}

/// `text` without the line by which Codex begins its records, if there are none after it.
fn without_empty_place(text: String) -> Result<String, TomlError> {
    let [hooks, state] = PLACE;
    let document = Document::parse(&text, &[hooks])?;
    let place = document.parent().and_then(|hooks| hooks.as_table()?.get(state)?.as_table());
    match place {
        Some(place) if place.is_empty() => without(&document, &[hooks], state),
        _ => Ok(text),
    }
}

/// The text of a document without the table `name`, and with everything else.
fn without(
    document: &Document<'_>,
    place: &[&'static str],
    name: &str,
) -> Result<String, TomlError> {
    let runs = document.lines_of(name).into_iter();
    let splices = runs.map(|(lines, _)| tail::cut(document.text, lines)).collect();
    let after = spliced("", document.text, splices);
    let edited = Document::parse(&after, place).map_err(|_| TomlError::Guard)?;
    let is_kept = document.foreign(name) == edited.foreign(name);
    if is_kept && after.len() < document.text.len() { Ok(after) } else { Err(TomlError::Guard) }
}

/// The name of an event as Codex has it in its records: `session_start` for `SessionStart`.
pub(crate) fn snake_case(event: &str) -> String {
    let mut name = String::new();
    for character in event.chars() {
        if character.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(character.to_ascii_lowercase());
    }
    name
}
