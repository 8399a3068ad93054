//! What a real server answered, and what it was asked.

use serde::Deserialize;
use serde_json::Value;

/// A request and the answer to it.
#[derive(Debug, Clone, Deserialize)]
pub struct Exchange {
    pub name: String,
    /// With the query.
    pub path: String,
    pub sql: Option<String>,
    pub status: u16,
    response: Value,
    /// What an exporter has to make of it.
    pub verdict: String,
}

impl Exchange {
    pub fn body(&self) -> String {
        match &self.response {
            Value::String(text) => text.clone(),
            response => response.to_string(),
        }
    }
}

/// All that was recorded.
pub fn exchanges() -> Vec<Exchange> {
    let recorded = include_str!("../fixtures/greptimedb/exchanges.jsonl");
    recorded.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
