//! The agent asks: Claude Code calls our tools over MCP.

use serde_json::{Value, json};

use super::claude_code::{ClaudeCode, Transcript, final_text, hook_complaints};
use super::closed_loop::installed_home;
use super::mock_anthropic::{MockAnthropic, Turn};
use crate::support::daemon::Daemon;
use crate::support::home::TestHome;

const TOOL: &str = "mcp__tma1__get_session_state";

/// The content of the tool result that a request ends with.
fn last_tool_result(request: &Value) -> &Value {
    request["messages"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|message| message["content"].as_array())
        .flatten()
        .rfind(|block| block["type"] == "tool_result")
        .map_or(&Value::Null, |block| &block["content"])
}

#[test]
fn claude_code_asks_what_its_session_did() {
    let Some(claude) = ClaudeCode::installed() else {
        return;
    };
    let home = installed_home();
    let _daemon = Daemon::start(&home);
    let list = json!({"command": "echo listing", "description": "List the files"});
    let notes = json!({"file_path": home.project().join("notes.txt"), "content": "one\n"});
    let mock = MockAnthropic::start([
        Turn::text("Looking.").tool("Bash", list),
        Turn::text("Writing.").tool("Write", notes),
        Turn::text("Searching.").tool("ToolSearch", json!({"query": format!("select:{TOOL}")})),
        Turn::text("Asking.").tool(TOOL, json!({"verbose": true})),
        Turn::text("All done."),
    ]);

    let run = claude.prompt(&home, &mock, "go", &[]).succeeded();

    assert_eq!(final_text(&run), "All done.");
    let requests = mock.conversation();
    let first = requests[0].to_string();
    assert!(first.contains("get_session_state: this session's work"), "{first}");
    let result = last_tool_result(requests.last().unwrap());
    let text = result.as_str().or_else(|| result[0]["text"].as_str()).unwrap();
    let state: Value = serde_json::from_str(text).unwrap();
    let transcript = Transcript::only(&home);
    assert_eq!(state["agent"], "claude-code");
    assert_eq!(state["session"], transcript.session_id);
    assert_eq!(state["project"], TestHome::PROJECT);
    assert_eq!(state["current_focus"], "notes.txt");
    // The call itself has begun.
    let actions = state["recent_actions"].as_array().unwrap();
    let tools: Vec<_> = actions.iter().map(|action| action["tool"].as_str().unwrap()).collect();
    assert_eq!(tools, [TOOL, "ToolSearch", "Write", "Bash"]);
    assert_eq!(actions[3]["input"], "echo listing");
    assert_eq!(state["tool_calls"], 4);
    assert_eq!(hook_complaints(&run, &transcript), [""; 0]);
}
