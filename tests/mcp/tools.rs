//! What the tools answer, over the sessions of both agents in one project.

use serde_json::{Value, json};

use super::{command, fields, open, state};
use crate::support::daemon::Daemon;
use crate::support::home::TestHome;
use crate::support::mcp::McpServer;

/// A project in which both agents have worked.
struct Project {
    home: TestHome,
    daemon: Daemon,
}

impl Project {
    fn new() -> Self {
        let home = TestHome::new();
        let daemon = Daemon::start(&home);
        let project = Self { home, daemon };
        project.tell(
            "codex",
            "c0de",
            "UserPromptSubmit",
            &json!({"prompt": "round the totals in src/cart.rs"}),
        );
        let command = json!({"command": "cargo test cart::rounds_half_up"});
        for call in ["1", "2"] {
            let run = json!({"tool_name": "Bash", "tool_use_id": call, "tool_input": command});
            project.tell("codex", "c0de", "PreToolUse", &run);
            let mut failed = run;
            let output = "Process exited with code 101\ntest cart::rounds_half_up ... FAILED\n";
            failed["tool_response"] = output.into();
            project.tell("codex", "c0de", "PostToolUse", &failed);
        }
        let said =
            json!({"last_assistant_message": "The total is cut, not rounded: 合計 is an integer."});
        project.tell("codex", "c0de", "Stop", &said);
        project.tell(
            "claude-code",
            "cc01",
            "UserPromptSubmit",
            &json!({"prompt": "go on from there"}),
        );
        let test = "running 1 test\ntest cart::rounds_half_up ... FAILED\n\nfailures:\n\n\
                    failures:\n    cart::rounds_half_up\n\ntest result: FAILED. 0 passed; 1 failed";
        let build = "error[E0308]: mismatched types\n --> src/cart.rs:41:9\n";
        let runs = [("cargo test", test), ("cargo build", build), ("cargo build", build)];
        for (call, (command, output)) in
            runs.into_iter().chain([("cargo build", build)]).enumerate()
        {
            let failed = json!({
                "tool_name": "Bash", "tool_use_id": call.to_string(),
                "tool_input": {"command": command}, "error": format!("Exit code 101\n{output}"),
            });
            project.tell("claude-code", "cc01", "PreToolUse", &failed);
            project.tell("claude-code", "cc01", "PostToolUseFailure", &failed);
        }
        let said = json!({"last_assistant_message": "It does not build yet."});
        project.tell("claude-code", "cc01", "Stop", &said);
        project
    }

    fn tell(&self, source: &str, session: &str, name: &str, more: &Value) {
        let mut event = more.clone();
        event["hook_event_name"] = name.into();
        event["session_id"] = session.into();
        event["cwd"] = self.home.project().to_str().unwrap().into();
        let query = format!("?source={source}");
        assert_eq!(self.daemon.post_event(event.to_string().as_bytes(), &query).0, 200);
    }

    /// The server as Claude Code starts it in its session.
    fn claude_code(&self) -> McpServer {
        let mut command = command(&self.home);
        command.env("CLAUDE_CODE_SESSION_ID", "cc01");
        command.env("CLAUDE_PROJECT_DIR", self.home.project());
        open(command)
    }

    fn root(&self) -> String {
        self.home.project().to_str().unwrap().to_owned()
    }
}

fn codex() -> Value {
    json!({"sessionId": "c0de", "threadId": "c0de"})
}

#[test]
fn each_agent_sees_what_the_other_did_and_said() {
    let project = Project::new();
    let mut claude = project.claude_code();
    let peers = state(claude.call("get_peer_sessions", &json!({}), &json!({})));
    assert_eq!(peers["project"], project.root());
    assert_eq!(peers["most_recent_session"]["session"], "c0de");
    let [session] = peers["sessions"].as_array().unwrap().as_slice() else { panic!("{peers:#}") };
    assert_eq!((&session["agent"], &session["source"]), (&json!("codex"), &json!("hooks")));
    assert_eq!(
        (&session["tool_calls"], &session["title"]),
        (&json!(2), &json!("round the totals in src/cart.rs"))
    );
    let said = session["messages"].as_array().unwrap();
    assert_eq!(
        (&said[0]["role"], &said[0]["text"]),
        (&json!("user"), &json!("round the totals in src/cart.rs"))
    );
    assert_eq!(said[1]["role"], "assistant");
    assert_eq!(peers["partial_failures"], json!([]));

    let mut server = open(command(&project.home));
    let peers = state(server.call("get_peer_sessions", &json!({"message_limit": 1}), &codex()));
    let [session] = peers["sessions"].as_array().unwrap().as_slice() else { panic!("{peers:#}") };
    assert_eq!((&session["agent"], &session["session"]), (&json!("claude-code"), &json!("cc01")));
    let said = session["messages"].as_array().unwrap();
    assert_eq!((said.len(), &said[0]["text"]), (1, &json!("It does not build yet.")));

    // By an alias the own kind is asked for, but never the session that asks.
    let own = state(claude.call(
        "get_peer_sessions",
        &json!({"agent_source": "cc", "limit": 5}),
        &json!({}),
    ));
    assert_eq!(own["sessions"], json!([]));
    assert!(own["note"].as_str().unwrap().contains("since_min"), "{own}");
    let bounded =
        json!({"limit": 99, "message_limit": 0, "since_min": -4, "agent_source": "codex"});
    let peers = state(claude.call("get_peer_sessions", &bounded, &json!({})));
    assert_eq!(peers["sessions"][0]["messages"].as_array().unwrap().len(), 1);
    let name = project.home.project().file_name().unwrap().to_str().unwrap().to_owned();
    let named = state(claude.call("get_peer_sessions", &json!({"project": name}), &json!({})));
    assert_eq!(named["sessions"].as_array().unwrap().len(), 1);
}

#[test]
fn a_caller_that_is_known_only_by_its_kind_is_left_out() {
    let project = Project::new();
    let mut command = command(&project.home);
    command.env("TMA1_MCP_CALLER", "codex");
    let peers = state(open(command).call("get_peer_sessions", &json!({"limit": 5}), &json!({})));
    let [session] = peers["sessions"].as_array().unwrap().as_slice() else { panic!("{peers:#}") };
    assert_eq!(session["agent"], "claude-code");
}

#[test]
fn a_session_from_before_the_install_is_told_from_its_transcript() {
    let project = Project::new();
    let slug: String =
        project.root().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let folder = project.home.home().join(".claude/projects").join(slug);
    fs_err::create_dir_all(&folder).unwrap();
    let line = |kind: &str, text: &str| {
        json!({"type": kind, "message": {"role": kind, "content": text}}).to_string() + "\n"
    };
    let text = line("user", "what is a cart?") + &line("assistant", "A list of items.");
    fs_err::write(folder.join("01d0.jsonl"), text).unwrap();
    let mut server = open(command(&project.home));
    let asked = json!({"agent_source": "claude-code", "limit": 5});
    let peers = state(server.call("get_peer_sessions", &asked, &codex()));
    let sessions = peers["sessions"].as_array().unwrap();
    let old = sessions.iter().find(|session| session["session"] == "01d0").unwrap();
    assert_eq!(old["source"], "transcript");
    assert_eq!(old["messages"][1]["text"], "A list of items.");
    assert_eq!(sessions.len(), 2);
}

#[test]
fn builds_anomalies_and_the_bundle_are_those_of_now() {
    let project = Project::new();
    let mut claude = project.claude_code();
    let builds = state(claude.call("get_build_status", &json!({}), &json!({})));
    assert_eq!(builds["state"], "red");
    let latest = &builds["builds"][0];
    assert_eq!((&latest["command"], &latest["exit_code"]), (&json!("cargo build"), &json!(101)));
    assert_eq!(
        (&latest["agent"], &latest["place"]),
        (&json!("claude-code"), &json!("src/cart.rs:41"))
    );
    let tests = state(claude.call("get_build_status", &json!({"tag": "test"}), &json!({})));
    let commands = tests["builds"].as_array().unwrap();
    assert!(commands.iter().all(|build| build["tag"] == "test"), "{tests:#}");
    let agents: Vec<_> = commands.iter().map(|build| &build["agent"]).collect();
    assert_eq!(agents, ["claude-code", "codex", "codex"]);
    assert_eq!(commands[0]["failed_tests"], json!(["cart::rounds_half_up"]));

    let anomalies = state(claude.call("get_anomalies", &json!({}), &json!({})));
    assert_eq!(anomalies["findings"][0]["kind"], "repeated_failed_build");
    assert!(anomalies["findings"][0]["evidence"].as_str().unwrap().contains("3 times"));
    assert_eq!(anomalies["told"][0]["kind"], "repeated_failed_build");

    // To ask uses nothing up.
    let bundle = state(claude.call("get_context_bundle", &json!({}), &json!({})));
    let context = bundle["context"].as_str().unwrap();
    assert!(context.contains("repeated_failed_build"), "{context}");
    assert_eq!(
        state(claude.call("get_anomalies", &json!({}), &json!({})))["findings"],
        anomalies["findings"]
    );
}

#[test]
fn a_project_is_told_by_its_manifests() {
    let project = Project::new();
    let manifest = "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    fs_err::write(project.home.project().join("Cargo.toml"), manifest).unwrap();
    let mut claude = project.claude_code();
    let state = state(claude.call("get_project_state", &json!({}), &json!({})));
    assert_eq!(state["project_root"], project.root());
    assert_eq!(state["build_systems"], json!(["cargo"]));
    assert_eq!(state["test_runners"][0]["command"], "cargo test");
}

#[test]
fn files_that_others_changed_are_listed() {
    let project = Project::new();
    let file = project.home.project().join("a.rs");
    fs_err::write(&file, "one").unwrap();
    let read = json!({"tool_name": "Read", "tool_use_id": "r", "tool_input": {"file_path": file}});
    project.tell("claude-code", "cc01", "PreToolUse", &read);
    project.tell("claude-code", "cc01", "PostToolUse", &read);
    fs_err::write(&file, "another").unwrap();
    project.tell("claude-code", "cc01", "UserPromptSubmit", &json!({"prompt": "and?"}));
    let mut claude = project.claude_code();
    let changes = state(claude.call("get_external_changes", &json!({}), &json!({})));
    let [change] = changes["changes"].as_array().unwrap().as_slice() else { panic!("{changes:#}") };
    assert_eq!((&change["path"], &change["removed"]), (&json!("a.rs"), &json!(false)));
}

#[test]
fn what_was_said_is_found_whatever_is_in_the_query() {
    let project = Project::new();
    let mut claude = project.claude_code();
    let mut find = |query: &str| {
        let found = state(claude.call("search_sessions", &json!({"query": query}), &json!({})));
        found["items"].as_array().unwrap().len()
    };
    for query in [
        "round totals",
        "src/cart.rs",
        "cart::rounds_half_up",
        "rounds_half_up",
        "合計",
        "cut, not",
    ] {
        assert!(find(query) > 0, "{query}");
    }
    for query in ["\"", "a AND", "NEAR(", "*", "col:x", "'; DROP TABLE x; --", "unheard"] {
        assert_eq!(find(query), 0, "{query}");
    }
}

/// Every name in an answer of a tool.
pub(super) fn known_fields() -> Vec<String> {
    let project = Project::new();
    let mut claude = project.claude_code();
    let mut known = Vec::new();
    for (tool, arguments) in [
        ("get_context_bundle", json!({})),
        ("get_session_state", json!({"verbose": true})),
        ("get_anomalies", json!({})),
        ("get_build_status", json!({})),
        ("get_external_changes", json!({})),
        ("get_peer_sessions", json!({})),
        ("get_project_state", json!({})),
        ("search_sessions", json!({"query": "cart"})),
    ] {
        known.extend(fields(&state(claude.call(tool, &arguments, &json!({})))));
    }
    known
}
