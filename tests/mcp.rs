//! The MCP server as a process: the protocol that agents speak to it, and what its tools answer.

mod conformance;
mod tools;

use std::process::Command;

use serde_json::{Value, json};
use tma1::setup::assets::{COMMANDS, SKILLS};

use crate::support::daemon::Daemon;
use crate::support::home::TestHome;
use crate::support::mcp::{McpServer, initialize};
use crate::support::snapshot::assert_snapshot;

const VERSIONS: [&str; 3] = ["2024-11-05", "2025-06-18", "2025-11-25"];
const TOOL: &str = "get_session_state";

fn command(home: &TestHome) -> Command {
    home.tma1_command(&["mcp-serve"])
}

fn open(command: Command) -> McpServer {
    McpServer::open(command, "2025-11-25").0
}

/// Posts a whole tool call of a session.
fn work(daemon: &Daemon, home: &TestHome, source: &str, session: &str, tool: &str, input: &Value) {
    for name in ["PreToolUse", "PostToolUse"] {
        let event = json!({
            "hook_event_name": name,
            "session_id": session,
            "cwd": home.project(),
            "tool_name": tool,
            "tool_input": input,
        });
        let query = format!("?source={source}");
        assert_eq!(daemon.post_event(event.to_string().as_bytes(), &query).0, 200);
    }
}

fn state((failed, text): (bool, String)) -> Value {
    assert!(!failed, "{text}");
    serde_json::from_str(&text).unwrap()
}

#[test]
fn it_opens_with_each_version_that_agents_speak() {
    let home = TestHome::new();
    for version in VERSIONS {
        let (server, about) = McpServer::open(command(&home), version);
        assert_eq!(about["protocolVersion"], version);
        assert_eq!(about["serverInfo"]["name"], "tma1");
        assert_eq!(about["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(about["capabilities"], json!({"tools": {}}));
        assert!(about["instructions"].as_str().unwrap().contains(TOOL), "{about}");
        assert_eq!(server.end(), (vec![], Some(0)));
    }
    let (_server, about) = McpServer::open(command(&home), "2099-01-01");
    assert!(VERSIONS.contains(&about["protocolVersion"].as_str().unwrap()), "{about}");
}

#[test]
fn its_tools_read_only() {
    let home = TestHome::new();
    let mut server = open(command(&home));
    let answer = server.request("tools/list", json!({}));
    let tools = answer["result"]["tools"].as_array().unwrap();
    for tool in tools {
        assert_eq!(
            tool["annotations"],
            json!({"readOnlyHint": true, "destructiveHint": false, "openWorldHint": false})
        );
        assert_eq!(tool["outputSchema"], Value::Null);
        let schema = &tool["inputSchema"];
        assert_eq!(
            (&schema["type"], &schema["additionalProperties"]),
            (&json!("object"), &json!(false))
        );
    }
    assert_snapshot("mcp-tools", &serde_json::to_string_pretty(tools).unwrap(), &[]);
}

/// The names of all fields in a value.
fn fields(value: &Value) -> Vec<String> {
    match value {
        Value::Object(object) => object
            .iter()
            .flat_map(|(name, value)| [vec![name.clone()], fields(value)].concat())
            .collect(),
        Value::Array(values) => values.iter().flat_map(fields).collect(),
        _ => vec![],
    }
}

#[test]
fn what_skills_and_commands_name_is_there() {
    let home = TestHome::new();
    let mut server = open(command(&home));
    let tools = server.request("tools/list", json!({}))["result"]["tools"].clone();
    let mut known = tools::known_fields();
    for tool in tools.as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        known.extend([name.to_owned(), format!("mcp__tma1__{name}")]);
        known.extend(tool["inputSchema"]["properties"].as_object().unwrap().keys().cloned());
    }
    for asset in SKILLS.iter().chain(COMMANDS) {
        let names_a_tool = |tool: &Value| asset.text.contains(tool["name"].as_str().unwrap());
        assert!(tools.as_array().unwrap().iter().any(names_a_tool), "{}", asset.path);
        let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        for word in asset.text.split(|c| !is_name(c)).filter(|word| word.contains('_')) {
            let is_variable = word.chars().all(|c| c == '_' || c.is_ascii_digit());
            assert!(
                is_variable || known.iter().any(|name| name == word),
                "{word} in {}",
                asset.path
            );
        }
    }
}

#[test]
fn what_comes_before_the_opening_is_answered_and_does_no_harm() {
    let home = TestHome::new();
    let mut server = McpServer::start(command(&home));
    let newest = json!({"_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }});
    for (method, params) in [
        ("server/discover", json!({})),
        ("server/discover", newest.clone()),
        ("tools/list", json!({})),
        ("tools/list", newest),
        ("no/such/method", json!({})),
        ("initialize", json!({})),
    ] {
        let answer = server.request(method, params);
        assert!(answer["error"]["code"].is_i64(), "{method}: {answer}");
    }
    for method in ["notifications/cancelled", "notifications/initialized", "no/such"] {
        let params = json!({"requestId": 1});
        server.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
    }
    server.send(&json!({"jsonrpc": "2.0", "id": 1, "result": {}}).to_string());
    assert!(server.request("ping", json!({}))["result"].is_object());
    assert!(server.request("initialize", initialize("2025-11-25"))["result"].is_object());
    assert!(server.request("tools/list", json!({}))["result"].is_object());
    assert_eq!(server.end(), (vec![], Some(0)));
}

#[test]
fn what_it_does_not_understand_does_no_harm() {
    let home = TestHome::new();
    let mut server = open(command(&home));
    for garbage in ["garbage", "", "{", "\u{feff}", "[1", "\0\u{1b}[31m"] {
        server.send(garbage);
    }
    // JSON, but no message: that is answered.
    for odd in ["{}", "[]", "7", r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#] {
        server.send(odd);
        assert!(server.frame().unwrap()["error"].is_object(), "{odd}");
    }
    assert_eq!(server.request("no/such/method", json!({}))["error"]["code"], -32601);
    let unknown = server.request("tools/call", json!({"name": "no_such_tool"}));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    for (arguments, named) in [
        (json!({"limit": 1}), "`limit`"),
        (json!({"verbose": "yes"}), "\"yes\""),
        (json!({"action_limit": 1.5}), "1.5"),
    ] {
        let (failed, text) = server.call(TOOL, &arguments, &json!({}));
        assert!(failed && text.contains(named), "{text}");
    }
    assert!(server.request("ping", json!({}))["result"].is_object());
    assert_eq!(server.end(), (vec![], Some(0)));
}

#[test]
fn the_end_of_the_input_is_the_end_and_every_request_is_answered_first() {
    let home = TestHome::new();
    let _daemon = Daemon::start(&home);
    assert_eq!(McpServer::start(command(&home)).end(), (vec![], Some(0)));
    let mut server = open(command(&home));
    for id in 100..200 {
        let params = json!({"name": TOOL});
        let request = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
        server.send(&request.to_string());
    }
    server.send(r#"{"jsonrpc":"2.0","id":200,"method":"tools/li"#);
    let (frames, status) = server.end();
    let mut answered: Vec<_> = frames.iter().map(|frame| frame["id"].as_i64().unwrap()).collect();
    answered.sort_unstable();
    assert_eq!(answered, (100..200).collect::<Vec<_>>());
    assert_eq!(status, Some(0));
}

#[test]
fn a_session_is_told_what_it_did() {
    let home = TestHome::new();
    let daemon = Daemon::start(&home);
    let file = json!({"file_path": home.project().join("src/cart.rs")});
    work(&daemon, &home, "claude-code", "claude-1", "Write", &file);
    work(&daemon, &home, "claude-code", "claude-1", "Bash", &json!({"command": "cargo test"}));
    let patch = "*** Begin Patch\n*** Add File: a.py\n+1\n*** End Patch\n";
    work(&daemon, &home, "codex", "codex-1", "apply_patch", &json!({"command": patch}));

    let mut claude = command(&home);
    claude.env("CLAUDE_CODE_SESSION_ID", "claude-1").env("CLAUDE_PROJECT_DIR", home.project());
    let mut server = open(claude);
    let plain = state(server.call(TOOL, &json!({}), &json!({"claudecode/toolUseId": "x"})));
    assert_eq!(plain["project"], TestHome::PROJECT);
    assert_eq!(plain["session"], "claude-1");
    assert_eq!(plain["tool_calls"], 2);
    assert_eq!(plain["current_focus"], "src/cart.rs");
    assert_eq!(
        plain["tools"],
        json!([{"name": "Bash", "calls": 1}, {"name": "Write", "calls": 1}])
    );
    assert_eq!(plain["recent_actions"], Value::Null);
    let mut verbose = state(server.call(TOOL, &json!({"verbose": true}), &json!({})));
    for action in verbose["recent_actions"].as_array_mut().unwrap() {
        assert!(action.as_object_mut().unwrap().remove("ago_s").unwrap().is_u64());
    }
    assert_eq!(
        verbose["recent_actions"],
        json!([
            {"tool": "Bash", "input": "cargo test"},
            {"tool": "Write", "file": "src/cart.rs"},
        ])
    );
    for (limit, shown) in [(-1, 1), (0, 1), (1, 1), (1000, 2)] {
        let state = state(server.call(TOOL, &json!({"action_limit": limit}), &json!({})));
        assert_eq!(state["recent_actions"].as_array().unwrap().len(), shown, "{limit}");
    }
    // Codex says with the call whose it is.
    let codex = state(server.call(TOOL, &json!({}), &json!({"sessionId": "codex-1"})));
    assert_eq!((&codex["agent"], &codex["current_focus"]), (&json!("codex"), &json!("a.py")));

    let mut server = open(command(&home));
    let latest = state(server.call(TOOL, &json!({}), &json!({})));
    assert_eq!(latest["session"], "codex-1");
}

#[test]
fn the_options_find_a_daemon_that_the_environment_does_not() {
    let home = TestHome::new();
    let data = home.root().join("data dir");
    let mut serve = home.tma1_command(&["serve"]);
    serve.env("TMA1_DATA_DIR", &data);
    let daemon = Daemon::start_command(&home, serve);
    work(&daemon, &home, "codex", "s", "Bash", &json!({"command": "ls"}));
    let port = home.port().to_string();
    let options = ["mcp-serve", "--port", &port, "--data-dir", data.to_str().unwrap()];
    let mut command = home.tma1_command(&options);
    command.env_remove("TMA1_PORT");
    let state = state(open(command).call(TOOL, &json!({}), &json!({"threadId": "s"})));
    assert_eq!(state["tool_calls"], 1);
}

#[test]
fn why_there_is_no_answer_is_said_with_what_to_run() {
    let home = TestHome::new();
    let mut server = open(command(&home));
    let mut complaint = |meta: Value| {
        let (failed, text) = server.call(TOOL, &json!({}), &meta);
        assert!(failed, "{text}");
        text
    };
    let text = complaint(json!({}));
    assert!(text.contains("never ran") && text.contains("`tma1 start`"), "{text}");

    let daemon = Daemon::start(&home);
    let text = complaint(json!({"sessionId": "unheard of"}));
    assert!(text.contains("not seen") && text.contains("`tma1 install`"), "{text}");
    daemon.kill();
    let text = complaint(json!({}));
    assert!(text.contains("not running") && text.contains("`tma1 start`"), "{text}");

    let other = TestHome::new();
    let mut elsewhere = other.tma1_command(&["serve"]);
    elsewhere.env("TMA1_PORT", home.port().to_string());
    let _stranger = Daemon::start_command(&home, elsewhere);
    let text = complaint(json!({}));
    assert!(text.contains("another data directory"), "{text}");
    assert_eq!(server.end(), (vec![], Some(0)));
}
