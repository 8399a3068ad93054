//! Which answers to an event an agent takes, judged from what the agents do and not from our code.
//!
//! Stricter than the agents: an answer that they would ignore is a mistake of ours, and a decision
//! about a permission or a prompt is never ours to make.

use serde_json::{Map, Value};

/// The longest text that either agent hands to its model uncut: characters in Claude Code, bytes
/// in Codex.
const LIMIT: usize = 10_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agent {
    ClaudeCode,
    Codex,
}

/// Says what is wrong with `body` as the answer to `event`.
pub fn check(agent: Agent, event: &Value, body: &str) -> Result<(), String> {
    if body.is_empty() {
        return Ok(());
    }
    match agent {
        Agent::ClaudeCode => check_claude_code(event, body),
        Agent::Codex => check_codex(event, body),
    }
}

fn check_claude_code(event: &Value, body: &str) -> Result<(), String> {
    match name(event) {
        // Whatever it prints goes into the summary request verbatim.
        "PreCompact" => check_plain(body),
        "SessionStart" | "UserPromptSubmit" | "UserPromptExpansion" | "PostModelSwitch" => {
            if looks_like_json(body) {
                check_context(Agent::ClaudeCode, event, &object(body)?)
            } else {
                check_plain(body)
            }
        }
        "PreToolUse" | "PostToolUse" | "PostToolUseFailure" | "PostToolBatch" | "SubagentStart" => {
            check_context(Agent::ClaudeCode, event, &object(body)?)
        }
        "Stop" | "SubagentStop" => check_block(event, &object(body)?),
        other => Err(format!("{other} takes no answer")),
    }
}

fn check_codex(event: &Value, body: &str) -> Result<(), String> {
    let mut answer = object(body)?;
    if answer.is_empty() {
        return Ok(());
    }
    let event_name = name(event);
    match event_name {
        "SessionStart" | "UserPromptSubmit" | "PreToolUse" | "PostToolUse" | "SubagentStart"
        | "Stop" | "SubagentStop" | "PreCompact" | "PostCompact" => {}
        other => return Err(format!("{other} takes no answer")),
    }
    if let Some(carry_on) = answer.remove("continue") {
        if carry_on != true {
            return Err("continue:false stops the user's turn".to_owned());
        }
        if answer.is_empty() {
            return Ok(());
        }
    }
    match event_name {
        "Stop" | "SubagentStop" => check_block(event, &answer),
        "PreCompact" | "PostCompact" => Err(format!("{event_name} takes no context")),
        _ => check_context(Agent::Codex, event, &answer),
    }
}

/// Text that reaches the model as it is.
fn check_plain(body: &str) -> Result<(), String> {
    if looks_like_json(body) {
        return Err("JSON where text is due".to_owned());
    }
    check_length(Agent::ClaudeCode, body)
}

/// `{"hookSpecificOutput": {"hookEventName": …, "additionalContext": …}}` and nothing else.
fn check_context(agent: Agent, event: &Value, answer: &Map<String, Value>) -> Result<(), String> {
    let [output] = fields(answer, ["hookSpecificOutput"])?;
    let output = output.as_object().ok_or("hookSpecificOutput is not an object")?;
    let [context, event_name] = fields(output, ["additionalContext", "hookEventName"])?;
    if event_name != name(event) {
        return Err(format!("hookEventName is {event_name}"));
    }
    check_length(agent, text(context)?)
}

/// `{"decision": "block", "reason": …}` and nothing else, and not twice in a row.
fn check_block(event: &Value, answer: &Map<String, Value>) -> Result<(), String> {
    if event["stop_hook_active"] == true {
        return Err("a second block in a row".to_owned());
    }
    let [decision, reason] = fields(answer, ["decision", "reason"])?;
    if decision != "block" {
        return Err(format!("decision is {decision}"));
    }
    text(reason).map(drop)
}

fn check_length(agent: Agent, context: &str) -> Result<(), String> {
    let length = match agent {
        Agent::ClaudeCode => context.chars().count(),
        Agent::Codex => context.len(),
    };
    if length > LIMIT {
        return Err(format!("{length} is too long"));
    }
    Ok(())
}

fn name(event: &Value) -> &str {
    event["hook_event_name"].as_str().unwrap()
}

/// Claude Code takes JSON after blanks too; a bracket that starts none fails a hook of Codex.
fn looks_like_json(body: &str) -> bool {
    body.trim_start().starts_with(['{', '['])
}

fn object(body: &str) -> Result<Map<String, Value>, String> {
    serde_json::from_str(body).map_err(|error| format!("not a JSON object: {error}"))
}

fn text(value: &Value) -> Result<&str, String> {
    let text = value.as_str().unwrap_or_default();
    if text.trim().is_empty() {
        return Err(format!("{value} is not a text"));
    }
    Ok(text)
}

/// The values of these fields, if there are no others.
fn fields<'a, const N: usize>(
    map: &'a Map<String, Value>,
    names: [&str; N],
) -> Result<[&'a Value; N], String> {
    if map.len() != N || !names.iter().all(|name| map.contains_key(*name)) {
        let found: Vec<_> = map.keys().collect();
        return Err(format!("expected {names:?}, found {found:?}"));
    }
    Ok(names.map(|name| &map[name]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn event(name: &str) -> Value {
        json!({"hook_event_name": name, "stop_hook_active": false})
    }

    fn context(event_name: &str, text: &str) -> String {
        let output = json!({"hookEventName": event_name, "additionalContext": text});
        json!({"hookSpecificOutput": output}).to_string()
    }

    const BLOCK: &str = r#"{"decision":"block","reason":"The build is red."}"#;
    const TEXT: &str = "<tma1-context>\nproject: p\n</tma1-context>\n";

    #[track_caller]
    fn assert_taken(agent: Agent, event: &Value, body: &str) {
        assert_eq!(check(agent, event, body), Ok(()), "{agent:?} {event} {body}");
    }

    #[track_caller]
    fn assert_refused(agent: Agent, event: &Value, body: &str) {
        assert!(check(agent, event, body).is_err(), "{agent:?} {event} {body}");
    }

    #[test]
    fn claude_code_takes_text_where_it_is_read_and_json_elsewhere() {
        for name in ["SessionStart", "UserPromptSubmit", "PreCompact"] {
            assert_taken(Agent::ClaudeCode, &event(name), TEXT);
        }
        for name in ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"] {
            assert_taken(Agent::ClaudeCode, &event(name), &context(name, "Re-read it."));
        }
        assert_taken(Agent::ClaudeCode, &event("Stop"), BLOCK);
        assert_taken(Agent::ClaudeCode, &event("SessionEnd"), "");
        let fits = "é".repeat(LIMIT);
        assert_taken(Agent::ClaudeCode, &event("UserPromptSubmit"), &fits);
    }

    #[test]
    fn claude_code_takes_nothing_else() {
        for (name, body) in [
            ("PostToolUse", TEXT),
            ("Stop", TEXT),
            ("Notification", TEXT),
            ("SessionEnd", "{}"),
            ("WorktreeCreate", "/tmp/wt"),
            ("PreCompact", &context("PreCompact", "x")),
            ("UserPromptSubmit", " {\"log\": 1"),
            ("UserPromptSubmit", "[1]"),
            ("UserPromptSubmit", &"é".repeat(LIMIT + 1)),
            ("UserPromptSubmit", BLOCK),
            ("PostToolUse", &context("PreToolUse", "x")),
            ("PostToolUse", &context("PostToolUse", " ")),
            ("PostToolUse", r#"{"additionalContext":"x"}"#),
            ("PostToolUse", r#"{"hookSpecificOutput":{"additionalContext":"x"}}"#),
            ("PreToolUse", r#"{"continue":true}"#),
            (
                "PreToolUse",
                r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}"#,
            ),
            ("Stop", &context("Stop", "x")),
            ("Stop", r#"{"decision":"block"}"#),
            ("Stop", r#"{"decision":"block","reason":""}"#),
            ("Stop", r#"{"decision":"approve","reason":"x"}"#),
            ("Stop", r#"{"continue":false,"decision":"block","reason":"x"}"#),
        ] {
            assert_refused(Agent::ClaudeCode, &event(name), body);
        }
    }

    #[test]
    fn codex_takes_json_of_known_fields() {
        for name in ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"] {
            assert_taken(Agent::Codex, &event(name), &context(name, TEXT));
            assert_taken(Agent::Codex, &event(name), r#"{"continue":true}"#);
        }
        assert_taken(Agent::Codex, &event("Stop"), BLOCK);
        assert_taken(Agent::Codex, &event("Interrupt"), "{}");
        assert_taken(
            Agent::Codex,
            &event("SessionStart"),
            &context("SessionStart", &"x".repeat(LIMIT)),
        );
    }

    #[test]
    fn codex_takes_nothing_else() {
        for (name, body) in [
            ("UserPromptSubmit", TEXT),
            ("UserPromptSubmit", "[]"),
            ("UserPromptSubmit", "{} {}"),
            ("UserPromptSubmit", BLOCK),
            ("UserPromptSubmit", &context("SessionStart", "x")),
            ("UserPromptSubmit", &context("UserPromptSubmit", &"é".repeat(LIMIT))),
            ("UserPromptSubmit", r#"{"additionalContext":"x"}"#),
            ("PostToolUse", r#"{"continue":false}"#),
            ("PostToolUse", r#"{"continue":true,"suppressOutput":true}"#),
            ("Stop", TEXT),
            ("Stop", &context("Stop", "x")),
            ("Stop", r#"{"decision":"block"}"#),
            ("PreCompact", &context("PreCompact", "x")),
            ("Interrupt", r#"{"continue":true}"#),
            ("SessionEnd", &context("SessionEnd", "x")),
        ] {
            assert_refused(Agent::Codex, &event(name), body);
        }
    }

    #[test]
    fn an_agent_is_not_blocked_twice_in_a_row() {
        let again = json!({"hook_event_name": "Stop", "stop_hook_active": true});
        for agent in [Agent::ClaudeCode, Agent::Codex] {
            assert_taken(agent, &again, "");
            assert_refused(agent, &again, BLOCK);
        }
    }
}
