//! Every captured event of both agents, posted to a running daemon.

mod answer;

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use self::answer::{Agent, check};
use crate::support::daemon::Daemon;
use crate::support::home::TestHome;

/// How many tools the digest names.
const TOP_TOOLS: usize = 6;

/// One captured event.
struct Fixture {
    name: String,
    text: String,
    event: Value,
}

/// The hook payloads of `agent`, in the order of their names.
fn fixtures(agent: Agent) -> Vec<Fixture> {
    let directory = match agent {
        Agent::ClaudeCode => "claude-code",
        Agent::Codex => "codex",
    };
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(directory);
    let mut fixtures: Vec<_> = fs_err::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .map(|path| {
            let text = fs_err::read_to_string(&path).unwrap();
            Fixture {
                name: path.file_name().unwrap().to_str().unwrap().to_owned(),
                event: serde_json::from_str(&text).unwrap(),
                text,
            }
        })
        // The rest are requests to an MCP server.
        .filter(|fixture| fixture.event["hook_event_name"].is_string())
        .collect();
    fixtures.sort_by(|one, other| one.name.cmp(&other.name));
    fixtures
}

/// What the digest is to say about the tools of one session.
fn expected_lines(calls: &BTreeMap<String, String>) -> Vec<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for tool in calls.values() {
        *counts.entry(tool).or_default() += 1;
    }
    let mut tools: Vec<_> = counts.into_iter().collect();
    tools.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let histogram: Vec<_> =
        tools.iter().take(TOP_TOOLS).map(|(tool, count)| format!("{tool}×{count}")).collect();
    let mut lines = vec![format!("tool_calls: {}", calls.len())];
    if !histogram.is_empty() {
        lines.push(format!("tools: {}", histogram.join(", ")));
    }
    lines
}

/// The tool of each call of each session, by the id of the call.
fn calls_by_session(fixtures: &[Fixture]) -> BTreeMap<&str, BTreeMap<String, String>> {
    let mut sessions: BTreeMap<_, BTreeMap<_, _>> = BTreeMap::new();
    for Fixture { event, .. } in fixtures {
        let text = |field: &str| event[field].as_str().unwrap();
        let calls = sessions.entry(text("session_id")).or_default();
        if text("hook_event_name") == "PreToolUse" {
            calls.insert(text("tool_use_id").to_owned(), text("tool_name").to_owned());
        }
    }
    sessions
}

fn prompt(session_id: &str) -> Value {
    json!({
        "session_id": session_id,
        "transcript_path": "/home/dev/nowhere.jsonl",
        "cwd": "/home/dev/project",
        "hook_event_name": "UserPromptSubmit",
        "model": "gpt-5.5",
        "turn_id": "turn-of-the-question",
        "permission_mode": "default",
        "prompt": "What did you do?",
    })
}

/// The text that the model gets to read.
fn context(agent: Agent, body: &str) -> String {
    match agent {
        Agent::ClaudeCode => body.to_owned(),
        Agent::Codex => {
            let answer: Value = serde_json::from_str(body).unwrap();
            let context = &answer["hookSpecificOutput"]["additionalContext"];
            context.as_str().unwrap_or_default().to_owned()
        }
    }
}

fn replay(agent: Agent, query: &str, at_least: usize) {
    let fixtures = fixtures(agent);
    assert!(fixtures.len() >= at_least, "{} fixtures", fixtures.len());
    let home = TestHome::new();
    let daemon = Daemon::start(&home);

    let mut failures = Vec::new();
    let mut expect_taken = |name: &str, event: &Value, (status, body): &(u16, String)| {
        let verdict = check(agent, event, body);
        if *status != 200 || verdict.is_err() {
            failures.push(format!("{name}: {status} {verdict:?} {body}"));
        }
    };
    for Fixture { name, text, event } in &fixtures {
        let answer = daemon.post_event(text.as_bytes(), query);
        expect_taken(name, event, &answer);
    }
    let mut wrong_counts = Vec::new();
    for (session_id, calls) in calls_by_session(&fixtures) {
        let question = prompt(session_id);
        let answer = daemon.post_event(question.to_string().as_bytes(), query);
        expect_taken(session_id, &question, &answer);
        let block = context(agent, &answer.1);
        let found: Vec<_> = block
            .lines()
            .filter(|line| line.starts_with("tool_calls:") || line.starts_with("tools:"))
            .collect();
        let expected = expected_lines(&calls);
        if found != expected {
            wrong_counts.push(format!("{session_id}: expected {expected:?}, found {block}"));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
    assert!(wrong_counts.is_empty(), "{wrong_counts:#?}");
}

#[test]
fn the_daemon_takes_and_counts_every_event_of_claude_code() {
    replay(Agent::ClaudeCode, "", 75);
}

#[test]
fn the_daemon_takes_and_counts_every_event_of_codex() {
    replay(Agent::Codex, "?source=codex&envelope=codex", 35);
}

#[test]
fn the_expected_histogram_has_the_most_used_tools_first() {
    let calls = ["B", "A", "C", "C", "D", "E", "F", "G"]
        .iter()
        .enumerate()
        .map(|(id, tool)| (id.to_string(), (*tool).to_owned()))
        .collect();
    let lines = expected_lines(&calls);
    assert_eq!(lines, ["tool_calls: 8", "tools: C×2, A×1, B×1, D×1, E×1, F×1"]);
}
