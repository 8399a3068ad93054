//! One event in the log.

use rusqlite::{Connection, Row, named_params};
use serde_json::{Map, Value};

use crate::agent::Agent;
use crate::clock::Timestamp;

/// The longest string of a payload that is kept whole, in bytes. Payloads are unbounded: a `Write`
/// carries a file's content twice, a `Read` of an image all of its bytes.
const MAX_STRING_BYTES: usize = 64 * 1024;

/// One event, as the log keeps it.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// When the daemon received it.
    pub at: Timestamp,
    /// Whose hook sent it.
    pub agent: Agent,
    /// What the hook sent.
    pub payload: Map<String, Value>,
}

impl Entry {
    pub(super) fn insert(&self, connection: &Connection) -> rusqlite::Result<()> {
        let text = |field: &str| self.payload.get(field).and_then(Value::as_str);
        connection
            .prepare_cached(
                "INSERT INTO tma1_hook_events (ts, agent_source, session_id, event_type, tool_name,
                     tool_use_id, agent_id, cwd, transcript_path, payload)
                 VALUES (:ts, :agent_source, :session_id, :event_type, :tool_name, :tool_use_id,
                     :agent_id, :cwd, :transcript_path, :payload)",
            )?
            .execute(named_params! {
                ":ts": self.at.as_unix_millis(),
                ":agent_source": self.agent.name(),
                ":session_id": text("session_id").unwrap_or_default(),
                ":event_type": text("hook_event_name").unwrap_or_default(),
                ":tool_name": text("tool_name"),
                ":tool_use_id": text("tool_use_id"),
                ":agent_id": text("agent_id"),
                ":cwd": text("cwd"),
                ":transcript_path": text("transcript_path"),
                ":payload": Value::Object(cut_strings(&self.payload)).to_string(),
            })?;
        Ok(())
    }

    fn from_row(row: &Row<'_>) -> rusqlite::Result<Option<Self>> {
        let agent: String = row.get("agent_source")?;
        let payload: String = row.get("payload")?;
        let at = Timestamp::from_unix_millis(row.get("ts")?);
        let entry = Agent::from_name(&agent)
            .zip(serde_json::from_str(&payload).ok())
            .map(|(agent, payload)| Self { at, agent, payload });
        Ok(entry)
    }
}

pub(super) fn read_since(
    connection: &Connection,
    since: Timestamp,
    mut visit: impl FnMut(Entry),
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(
        "SELECT ts, agent_source, payload FROM tma1_hook_events WHERE ts >= ?1 ORDER BY id",
    )?;
    let mut rows = statement.query([since.as_unix_millis()])?;
    while let Some(row) = rows.next()? {
        if let Some(entry) = Entry::from_row(row)? {
            visit(entry);
        }
    }
    Ok(())
}

fn cut_strings(payload: &Map<String, Value>) -> Map<String, Value> {
    payload.iter().map(|(name, value)| (name.clone(), cut(value))).collect()
}

/// The value with over-long strings cut on a character boundary, and a note of what is missing.
fn cut(value: &Value) -> Value {
    match value {
        Value::String(text) if text.len() > MAX_STRING_BYTES => {
            let end = (0..=MAX_STRING_BYTES).rfind(|index| text.is_char_boundary(*index));
            let kept = end.and_then(|end| text.get(..end)).unwrap_or_default();
            Value::String(format!("{kept}[{} bytes cut]", text.len() - kept.len()))
        }
        Value::Array(items) => Value::Array(items.iter().map(cut).collect()),
        Value::Object(fields) => Value::Object(cut_strings(fields)),
        value => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_over_long_strings_are_cut_and_never_inside_a_character() {
        let exact = "x".repeat(MAX_STRING_BYTES);
        let long = format!("{}€uro", "x".repeat(MAX_STRING_BYTES - 1));
        let expected = format!("{}[6 bytes cut]", "x".repeat(MAX_STRING_BYTES - 1));
        assert_eq!(
            cut(&json!({"a": [exact, {"b": long}], "n": 1.5, "z": null})),
            json!({"a": [exact, {"b": expected}], "n": 1.5, "z": null})
        );
    }
}
