use super::*;

fn asks(tool: &str, arguments: Value) -> Result<String, String> {
    let Value::Object(arguments) = arguments else { panic!("not an object") };
    let caller = Caller::ClaudeCode { session: "a&b".to_owned(), cwd: "/my shop".to_owned() };
    target(tool, arguments, &caller).unwrap().map_err(|error| error.to_string())
}

const CALLER: &str = "agent=claude-code&session=a%26b&cwd=%2Fmy+shop";

#[test]
fn the_caller_and_the_arguments_are_the_question() {
    for (tool, arguments, expected) in [
        ("get_session_state", json!({}), format!("/api/session-state?{CALLER}")),
        (
            "get_session_state",
            json!({"verbose": null, "action_limit": null}),
            format!("/api/session-state?{CALLER}"),
        ),
        (
            "get_session_state",
            json!({"verbose": true, "action_limit": -3}),
            format!("/api/session-state?{CALLER}&verbose=true&action_limit=-3"),
        ),
        ("get_context_bundle", json!({}), format!("/api/context?{CALLER}")),
        ("get_anomalies", json!({"since_min": 5}), format!("/api/findings?{CALLER}&since_min=5")),
        (
            "get_build_status",
            json!({"tag": "test"}),
            format!("/api/build-status?{CALLER}&tag=test"),
        ),
        (
            "get_external_changes",
            json!({"since_min": 90}),
            format!("/api/external-changes?{CALLER}&near=%2Fmy+shop&since_min=90"),
        ),
        (
            "get_peer_sessions",
            json!({"agent_source": "Codex CLI", "limit": 2, "message_limit": 7}),
            format!(
                "/api/peers?{CALLER}&agent_source=codex&caller_agent=claude-code&near=%2Fmy+shop&limit=2&message_limit=7"
            ),
        ),
        (
            "search_sessions",
            json!({"query": "a \"b\" OR", "kind": "error", "since_min": 30, "agent_source": "cc"}),
            "/api/search?text=a+%22b%22+OR&agent=claude-code&kind=error&since=30m&limit=10"
                .to_owned(),
        ),
    ] {
        assert_eq!(asks(tool, arguments), Ok(expected));
    }
}

#[test]
fn an_argument_that_can_not_be_used_is_named() {
    for (tool, arguments, message) in [
        (
            "get_session_state",
            json!({"limit": 3}),
            "unknown field `limit`, expected `verbose` or `action_limit`",
        ),
        (
            "get_session_state",
            json!({"action_limit": "many"}),
            "invalid type: string \"many\", expected i64",
        ),
        (
            "get_session_state",
            json!({"verbose": 1}),
            "invalid type: integer `1`, expected a boolean",
        ),
        ("get_context_bundle", json!({"x": 1}), "unknown field `x`, there are no fields"),
        (
            "get_peer_sessions",
            json!({"agent_source": "emacs"}),
            "`agent_source` is \"emacs\"; it can be `claude-code` or `codex`",
        ),
        ("search_sessions", json!({}), "missing field `query`"),
        ("search_sessions", json!({"query": " "}), "`query` is empty"),
        (
            "search_sessions",
            json!({"query": "x", "kind": "song"}),
            "unknown variant `song`, expected one of `prompt`, `answer`, `command`, `error`",
        ),
    ] {
        assert_eq!(asks(tool, arguments).unwrap_err(), message);
    }
}

#[test]
fn every_argument_of_a_schema_is_taken_and_described() {
    for spec in TOOLS {
        let properties = (spec.properties)();
        for (name, property) in properties.as_object().unwrap() {
            assert!(property["description"].is_string(), "{} {name}", spec.name);
            let value = match (property["type"].as_str().unwrap(), name.as_str()) {
                ("boolean", _) => json!(true),
                ("integer", _) => json!(1),
                (_, "agent_source") => json!("codex"),
                (_, "kind") => json!("error"),
                _ => json!("x"),
            };
            let mut arguments = json!({});
            for required in spec.required {
                arguments[*required] = "y".into();
            }
            arguments[name] = value;
            let asked = asks(spec.name, arguments).unwrap();
            assert!(asked.contains('='), "{asked}");
        }
    }
}
