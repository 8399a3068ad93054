//! What was said in a session, from the end of its transcript: for sessions of which no hook told.

use serde_json::Value;

use crate::agent::Agent;
use crate::agent::payload::beginning;

/// The longest text of a message that is kept, in bytes.
const MAX_TEXT_BYTES: usize = 4 * 1024;

/// With what a message begins that an agent put before the user's own.
const ADDED_BY_AGENTS: [&str; 7] = [
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md",
    "<system-reminder>",
    "<command-",
    "<local-command-",
    "Caveat: ",
];

/// Something that the user or the model has said.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct SpokenMessage {
    /// `user` or `assistant`.
    pub role: &'static str,
    /// What, cut if it is long.
    pub text: String,
}

/// The last `most` messages in `tail`, the last first.
///
/// `tail` may begin and end within a line. What tools were given and gave is left out, and so is what
/// subagents said and what the agent itself put in.
pub fn last_messages(agent: Agent, tail: &[u8], most: usize) -> Vec<SpokenMessage> {
    let lines = tail.split(|byte| *byte == b'\n').rev();
    let records = lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    let messages = records.filter_map(|record| match agent {
        Agent::ClaudeCode => of_claude_code(&record),
        Agent::Codex => of_codex(&record),
    });
    messages.take(most).collect()
}

fn of_claude_code(record: &Value) -> Option<SpokenMessage> {
    let is = |field: &str| record.get(field) == Some(&Value::Bool(true));
    if is("isSidechain") || is("isMeta") || is("isCompactSummary") || is("isApiErrorMessage") {
        return None;
    }
    let message = record.get("message")?;
    said(record.get("type")?.as_str()?, message.get("content")?, &["text"])
}

fn of_codex(record: &Value) -> Option<SpokenMessage> {
    let payload = record.get("payload").filter(|it| it.is_object()).unwrap_or(record);
    if payload.get("type")? != "message" {
        return None;
    }
    let kinds = ["input_text", "output_text", "text"];
    said(payload.get("role")?.as_str()?, payload.get("content")?, &kinds)
}

/// A message of `role` with the texts in `content`: a text, or parts of which those of these kinds are
/// text.
fn said(role: &str, content: &Value, kinds: &[&str]) -> Option<SpokenMessage> {
    let role = ["user", "assistant"].into_iter().find(|known| *known == role)?;
    let is_text = |part: &&Value| {
        part.get("type").and_then(Value::as_str).is_some_and(|kind| kinds.contains(&kind))
    };
    let text = match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().filter(is_text).filter_map(|part| part.get("text")?.as_str());
            texts.filter(|text| !is_added(text)).collect::<Vec<_>>().join("\n")
        }
        _ => return None,
    };
    let text = text.trim();
    (!text.is_empty() && !is_added(text))
        .then(|| SpokenMessage { role, text: beginning(text, MAX_TEXT_BYTES).to_owned() })
}

fn is_added(text: &str) -> bool {
    ADDED_BY_AGENTS.iter().any(|start| text.trim_start().starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fixture(name: &str) -> Vec<u8> {
        fs_err::read(format!("{}/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
    }

    #[test]
    fn what_was_said_is_read_from_real_transcripts() {
        for (agent, name) in [
            (Agent::ClaudeCode, "claude-code/transcript.jsonl"),
            (Agent::Codex, "codex/rollout.jsonl"),
            (Agent::Codex, "codex/rollout.legacy.jsonl"),
        ] {
            let transcript = fixture(name);
            let all = last_messages(agent, &transcript, 100);
            assert!(all.iter().any(|message| message.role == "user"), "{name}: {all:?}");
            assert!(all.iter().any(|message| message.role == "assistant"), "{name}: {all:?}");
            assert_eq!(last_messages(agent, &transcript, 1), all[..1], "{name}");
            let lines = transcript.split(|byte| *byte == b'\n').count();
            assert!(all.len() < lines, "{name}");
        }
    }

    #[test]
    fn what_nobody_said_is_left_out() {
        for line in [
            r#"{"type":"user","message":{"content":[{"type":"tool_result","content":"x"}]}}"#,
            r#"{"type":"user","isMeta":true,"message":{"content":"x"}}"#,
            r#"{"type":"assistant","isSidechain":true,"message":{"content":"x"}}"#,
            r#"{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"x"}]}}"#,
            r#"{"type":"user","message":{"content":"<command-name>/clear</command-name>"}}"#,
            r#"{"type":"user","message":{"content":" "}}"#,
        ] {
            assert_eq!(last_messages(Agent::ClaudeCode, line.as_bytes(), 9), [], "{line}");
        }
        for line in [
            r#"{"payload":{"type":"message","role":"developer","content":"x"}}"#,
            r#"{"payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>x"}]}}"#,
            r#"{"payload":{"type":"token_count"}}"#,
        ] {
            assert_eq!(last_messages(Agent::Codex, line.as_bytes(), 9), [], "{line}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_harm(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            for agent in Agent::ALL {
                prop_assert!(last_messages(agent, &bytes, 3).len() <= 3);
            }
        }

        #[test]
        fn a_tail_tells_the_end_of_what_the_whole_tells(from in 0..20_000_usize) {
            for (agent, name) in [
                (Agent::ClaudeCode, "claude-code/transcript.jsonl"),
                (Agent::Codex, "codex/rollout.jsonl"),
            ] {
                let whole = fixture(name);
                let tail = last_messages(agent, whole.get(from..).unwrap_or_default(), 100);
                let all = last_messages(agent, &whole, 100);
                prop_assert_eq!(&all[..tail.len()], tail.as_slice());
            }
        }
    }
}
