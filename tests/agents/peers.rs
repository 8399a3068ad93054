//! Both agents in one project: each calls every tool of ours through its model, gets the data back in
//! the next request, and reads what the other one did minutes before.

use serde_json::{Value, json};

use super::claude_code::{ClaudeCode, final_text};
use super::closed_loop::installed_home;
use super::codex::{BYPASS_HOOK_TRUST, Codex, session_id};
use super::mock_anthropic::{self, MockAnthropic};
use super::mock_openai::{self, MockOpenai};
use crate::support::daemon::Daemon;

/// Each tool with arguments, and what its answer has to hold.
fn calls(peer: &str, peer_said: &str) -> [(&'static str, Value, Vec<String>); 8] {
    let holds = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    [
        ("get_context_bundle", json!({}), holds(&["<tma1-context>", "tool_calls"])),
        ("get_session_state", json!({"verbose": true}), holds(&["recent_actions"])),
        ("get_anomalies", json!({}), holds(&["findings", "told"])),
        ("get_build_status", json!({}), holds(&["builds", "state"])),
        ("get_external_changes", json!({"since_min": 60}), holds(&["changes"])),
        ("get_project_state", json!({}), holds(&["build_systems", "cargo"])),
        ("get_peer_sessions", json!({"limit": 1}), holds(&[peer, peer_said])),
        ("search_sessions", json!({"query": peer_said}), holds(&[peer, "items"])),
    ]
}

/// That the answer to each call is in the request after it.
#[track_caller]
fn assert_answered(requests: &[Value], calls: &[(&str, Value, Vec<String>)]) {
    for (request, (tool, _, texts)) in requests.iter().zip(calls) {
        let request = request.to_string();
        for text in texts {
            assert!(request.contains(text.as_str()), "{tool}: no {text} in the request after it");
        }
    }
    assert_eq!(requests.len(), calls.len());
}

#[test]
fn each_agent_calls_every_tool_and_sees_its_peer() {
    let (Some(claude), Some(codex)) = (ClaudeCode::installed(), Codex::installed()) else {
        return;
    };
    let home = installed_home();
    Codex::configure(&home, &json!({}));
    home.tma1(&["install", "--adapter", "codex"]).succeeded();
    home.want_no_daemon();
    let manifest = "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    fs_err::write(home.project().join("Cargo.toml"), manifest).unwrap();
    let _daemon = Daemon::start(&home);

    let mock = MockOpenai::start([
        mock_openai::Turn::text("Looking.").shell("echo listing"),
        mock_openai::Turn::text("Codex says the totals are cut."),
    ]);
    let run = codex.exec(&home, &mock, &[BYPASS_HOOK_TRUST, "round the totals"]).succeeded();
    let codex_session = session_id(&run).to_owned();

    let asked = calls(&codex_session, "Codex says the totals are cut");
    let name = |tool: &str| format!("mcp__tma1__{tool}");
    let all = asked.iter().map(|(tool, ..)| name(tool)).collect::<Vec<_>>().join(",");
    let search = json!({"query": format!("select:{all}")});
    let turns = [mock_anthropic::Turn::text("Searching.").tool("ToolSearch", search)]
        .into_iter()
        .chain(asked.iter().map(|(tool, arguments, _)| {
            mock_anthropic::Turn::text("Asking.").tool(&name(tool), arguments.clone())
        }))
        .chain([mock_anthropic::Turn::text("Claude Code says they are rounded now.")]);
    let mock = MockAnthropic::start(turns);
    let run = claude.prompt(&home, &mock, "go on from Codex", &[]).succeeded();
    assert_eq!(final_text(&run), "Claude Code says they are rounded now.");
    let requests = mock.conversation();
    for (tool, ..) in &asked {
        assert!(requests[0].to_string().contains(&name(tool)), "{tool} is not listed");
    }
    // The first request is the prompt, the second follows the search.
    assert_answered(&requests[2..], &asked);
    let claude_session = super::claude_code::Transcript::only(&home).session_id;

    let asked = calls(&claude_session, "Claude Code says they are rounded now");
    let turns =
        [mock_openai::Turn::default().tool_search("tma1")]
            .into_iter()
            .chain(asked.iter().map(|(tool, arguments, _)| {
                mock_openai::Turn::default().mcp("tma1", tool, arguments)
            }))
            .chain([mock_openai::Turn::text("All done.")]);
    let mock = MockOpenai::start(turns);
    let never = ["-c", "approval_policy=\"never\"", BYPASS_HOOK_TRUST, "what did Claude Code do?"];
    let run = codex.exec(&home, &mock, &never).succeeded();
    assert_eq!(run.stdout, "All done.\n");
    assert_answered(&mock.conversation()[2..], &asked);
}
