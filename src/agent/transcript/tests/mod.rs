mod claude_code;
mod codex;
mod fixtures;
mod properties;

use serde_json::Value;

use super::*;

pub(super) const MAIN: Owner = Owner(1);

pub(super) fn session(agent: Agent, id: &str) -> SessionKey {
    SessionKey { agent, id: id.to_owned() }
}

pub(super) fn tokens(input: u64, output: u64) -> Tokens {
    Tokens { input, output }
}

/// The one file of a session of Claude Code, read.
pub(super) fn claude_code(bytes: &[u8]) -> Transcript {
    let mut transcript = Transcript::new(&session(Agent::ClaudeCode, "s"), MAIN);
    transcript.feed(bytes, &mut Requests::default());
    transcript
}

/// The rollout of the thread `t`, read.
pub(super) fn codex(bytes: &[u8]) -> Transcript {
    let mut transcript = Transcript::new(&session(Agent::Codex, "t"), MAIN);
    transcript.feed(bytes, &mut Requests::default());
    transcript
}

/// The bytes of a file with these records.
fn lines(records: &[Value]) -> Vec<u8> {
    records
        .iter()
        .flat_map(|record| [record.to_string(), "\n".to_owned()])
        .collect::<String>()
        .into_bytes()
}

/// `record` with the fields of `changes` in place of its own.
fn with(mut record: Value, changes: &Value) -> Value {
    merge(&mut record, changes);
    record
}

fn merge(record: &mut Value, changes: &Value) {
    for (name, change) in changes.as_object().unwrap() {
        if change.is_object() && record[name].is_object() {
            merge(&mut record[name], change);
        } else if change.is_null() {
            record.as_object_mut().unwrap().remove(name);
        } else {
            record[name] = change.clone();
        }
    }
}
