//! Files that the agents really wrote, against counts made in other ways.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{session, tokens};
use crate::agent::Agent;
use crate::agent::transcript::{Owner, Requests, Tokens, Transcript, Window};

macro_rules! fixture {
    ($name:literal) => {
        include_str!(concat!("../../../../tests/fixtures/", $name))
    };
}

const TRANSCRIPT: &str = fixture!("claude-code/transcript.jsonl");
const SUBAGENT: &str = fixture!("claude-code/transcript.subagent.jsonl");
const PARENT: &str = fixture!("claude-code/transcript.fork.parent.jsonl");
const FORK: &str = fixture!("claude-code/transcript.fork.jsonl");

fn records(file: &str) -> impl Iterator<Item = Value> {
    file.lines().map(|line| serde_json::from_str(line).unwrap())
}

/// Each request once, as the largest of all of its lines.
fn sum_of_requests(files: &[&str]) -> Tokens {
    let mut requests: BTreeMap<(String, String), (u64, u64)> = BTreeMap::new();
    for record in files.iter().flat_map(|file| records(file)) {
        if record["type"] == "assistant" {
            let message = &record["message"];
            let id = (message["id"].to_string(), record["requestId"].to_string());
            let most = requests.entry(id).or_default();
            most.0 = most.0.max(message["usage"]["input_tokens"].as_u64().unwrap());
            most.1 = most.1.max(message["usage"]["output_tokens"].as_u64().unwrap());
        }
    }
    let (inputs, outputs): (Vec<_>, Vec<_>) = requests.into_values().unzip();
    tokens(inputs.iter().sum(), outputs.iter().sum())
}

fn read(agent: Agent, id: &str, owner: Owner, file: &str, requests: &mut Requests) -> Transcript {
    let mut transcript = Transcript::new(&session(agent, id), owner);
    transcript.feed(file.as_bytes(), requests);
    transcript
}

#[test]
fn a_session_of_claude_code_and_its_subagent_are_counted() {
    let mut requests = Requests::default();
    let mut read = |file| read(Agent::ClaudeCode, "s", Owner(1), file, &mut requests);
    let (main, subagent) = (read(TRANSCRIPT), read(SUBAGENT));
    assert_eq!(main.tokens(), sum_of_requests(&[TRANSCRIPT]));
    assert_eq!(subagent.tokens(), sum_of_requests(&[SUBAGENT]));
    assert_eq!(main.window(), Some(Window { used: 53, size: Some(1_000_000) }));

    // The client's own count at the end, of both files.
    let state = records(TRANSCRIPT).find(|record| record["type"] == "cost-state").unwrap();
    let usage = &state["modelUsage"]["claude-opus-5-5"];
    let (main, subagent) = (main.tokens(), subagent.tokens());
    assert_eq!(usage["inputTokens"], main.input + subagent.input);
    assert_eq!(usage["outputTokens"], main.output + subagent.output);
}

#[test]
fn a_fork_of_claude_code_counts_its_own_requests_in_whichever_order_they_are_read() {
    let both = sum_of_requests(&[PARENT, FORK]);
    let parent = sum_of_requests(&[PARENT]);
    let own = tokens(both.input - parent.input, both.output - parent.output);
    let mut requests = Requests::default();
    let fork = read(Agent::ClaudeCode, "f", Owner(2), FORK, &mut requests);
    let main = read(Agent::ClaudeCode, "p", Owner(1), PARENT, &mut requests);
    assert_eq!((main.tokens(), fork.tokens()), (parent, own));
    // It was compacted before its last request.
    assert_eq!(fork.window(), Some(Window { used: 1500, size: Some(1_000_000) }));
}

/// What each request of the thread `id` has used, by the records that today's Codex adds.
fn sum_of_records(file: &str, id: &str) -> Tokens {
    let mut sum = Tokens::default();
    for record in records(file).filter(|record| record["type"] == "token_usage_record") {
        let payload = &record["payload"];
        if payload["thread_id"] == id {
            sum.input += payload["usage"]["input_tokens"].as_u64().unwrap();
            sum.output += payload["usage"]["output_tokens"].as_u64().unwrap();
        }
    }
    sum
}

#[test]
fn a_rollout_is_counted_without_what_its_parent_has_used() {
    for (name, file, used) in [
        ("alone", fixture!("codex/rollout.jsonl"), 10_660),
        ("fork", fixture!("codex/rollout.fork.jsonl"), 1530),
        ("fork with a copy", fixture!("codex/rollout.fork.legacy.jsonl"), 1530),
        ("subagent with a copy", fixture!("codex/rollout.subagent.jsonl"), 1330),
        ("compacted", fixture!("codex/rollout.compacted.jsonl"), 1530),
    ] {
        let first = records(file).next().unwrap();
        let id = first["payload"]["id"].as_str().unwrap();
        let rollout = read(Agent::Codex, id, Owner(1), file, &mut Requests::default());
        let expected = sum_of_records(file, id);
        assert!(expected.input > 0);
        assert_eq!(rollout.tokens(), expected, "{name}");
        assert_eq!(rollout.window(), Some(Window { used, size: Some(258_400) }), "{name}");
        let parent = first["payload"]["session_id"].as_str().unwrap();
        let named = read(Agent::Codex, parent, Owner(1), file, &mut Requests::default());
        assert_eq!(named.is_of_subagent(), id != parent, "{name}");
    }
}

#[test]
fn the_commands_of_a_rollout_have_the_ids_that_the_hooks_report() {
    let hooked = |text: &str| {
        let event: Value = serde_json::from_str(text).unwrap();
        event["tool_use_id"].as_str().unwrap().to_owned()
    };
    let succeeded = hooked(fixture!("codex/post_tool_use_shell_ok.json"));
    let failed = hooked(fixture!("codex/post_tool_use_shell_failing.json"));
    let ends = |file| {
        let mut rollout = read(Agent::Codex, "s", Owner(1), file, &mut Requests::default());
        let ended = rollout.take_ended();
        ended.into_iter().map(|end| (end.call_id, end.exit_code)).collect::<Vec<_>>()
    };
    assert_eq!(ends(fixture!("codex/rollout.jsonl")), [(succeeded, 0), (failed, 1)]);
    // One that an older client began has no items: only what the model is told.
    let legacy = [("call_0_0".to_owned(), 3), ("call_2_0".to_owned(), 4)];
    assert_eq!(ends(fixture!("codex/rollout.legacy.jsonl")), legacy);
}
