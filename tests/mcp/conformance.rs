//! What a client may do to the server that is no conversation.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{TOOL, command, open};
use crate::support::daemon::Daemon;
use crate::support::home::TestHome;
use crate::support::mcp::McpServer;

fn call(id: i64, tool: &str) -> String {
    let params = json!({"name": tool, "arguments": {}});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
}

#[test]
fn a_request_that_is_cancelled_harms_no_other() {
    let home = TestHome::new();
    let _daemon = Daemon::start(&home);
    let mut server = open(command(&home));
    for id in 0..40 {
        server.send(&call(id, TOOL));
        let cancelled = json!({
            "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id},
        });
        server.send(&cancelled.to_string());
    }
    server.send(&call(1000, "search_sessions"));
    let (frames, status) = server.end();
    // One that is cancelled may be answered before that is noticed, or not at all.
    let ids: Vec<_> = frames.iter().map(|frame| frame["id"].as_i64().unwrap()).collect();
    assert!(ids.iter().all(|id| (0..40).contains(id) || *id == 1000), "{ids:?}");
    assert_eq!(ids.iter().filter(|id| **id == 1000).count(), 1, "{ids:?}");
    assert_eq!(status, Some(0));
}

#[test]
fn a_line_of_ten_megabytes_is_read_and_the_next_one_too() {
    let home = TestHome::new();
    let mut server = open(command(&home));
    let long = "x".repeat(10 * 1024 * 1024);
    let (failed, text) = server.call("search_sessions", &json!({"q": long}), &json!({}));
    assert!(failed && text.len() < 2000, "{} bytes", text.len());
    server.send(&long);
    assert!(server.request("ping", json!({}))["result"].is_object());
    // A few copies of it, and not more with each.
    #[cfg(target_os = "linux")]
    assert!(server.resident_kibibytes() < 128 * 1024);
    assert_eq!(server.end(), (vec![], Some(0)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn standard_output_carries_frames_alone_whatever_is_sent(
        lines in prop::collection::vec(
            prop_oneof![
                "[^\n]{0,60}".prop_map(|text| text),
                any::<i64>().prop_map(|id| call(id, TOOL)),
                prop::sample::select(vec!["tools/list", "ping", "initialize", "x", "resources/list"])
                    .prop_map(|method| {
                        json!({"jsonrpc": "2.0", "id": 5, "method": method}).to_string()
                    }),
                Just(json!({"jsonrpc": "2.0", "id": null, "method": "ping"}).to_string()),
                Just(json!([{"jsonrpc": "2.0", "id": 1, "method": "ping"}]).to_string()),
            ],
            0..20,
        ),
        opened in any::<bool>(),
    ) {
        let home = TestHome::new();
        let mut server =
            if opened { open(command(&home)) } else { McpServer::start(command(&home)) };
        for line in &lines {
            server.send(line);
        }
        // Every line is a frame, or the client panics.
        let (frames, status) = server.end();
        prop_assert!(frames.iter().all(|frame| frame["jsonrpc"] == "2.0" && frame["method"] == Value::Null));
        prop_assert_eq!(status, Some(0));
    }
}
