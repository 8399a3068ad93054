//! What an MCP server costs, which every agent session has one of:
//!
//! ```sh
//! cargo bench --bench mcp
//! ```
//!
//! The time from its start to the answer of its first tool call, beside that of `tma1 --version`, which
//! is the start of the program alone; and what it holds in memory when nobody asks. It should answer
//! within 30 ms and hold less than 12 MB.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a benchmark fails by panicking"
)]

#[expect(dead_code, reason = "the tests use the rest")]
#[path = "../tests/support/mod.rs"]
mod support;

use std::time::Duration;

use serde_json::json;
use tma1::clock;

use support::daemon::Daemon;
use support::home::TestHome;
use support::mcp::McpServer;

const ROUNDS: usize = 40;
const EVENT: &str = r#"{"hook_event_name":"UserPromptSubmit","session_id":"s","cwd":"/"}"#;

#[expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]
fn main() {
    // Without the flag this is a test run, which has no use for it.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let home = TestHome::new();
    let daemon = Daemon::start(&home);
    daemon.post_event(EVENT.as_bytes(), "?source=codex");
    let (mut plain, mut answered, mut memory) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let begun = clock::monotonic();
        home.tma1(&["--version"]).succeeded();
        plain.push(begun.elapsed());
        let begun = clock::monotonic();
        let (mut server, _) = McpServer::open(home.tma1_command(&["mcp-serve"]), "2025-11-25");
        let (failed, text) =
            server.call("get_session_state", &json!({}), &json!({"sessionId": "s"}));
        answered.push(begun.elapsed());
        assert!(!failed, "{text}");
        std::thread::sleep(Duration::from_millis(20));
        memory.push(server.resident_kibibytes());
    }
    memory.sort_unstable();
    let [plain, answered] = [plain, answered].map(|mut times| {
        times.sort();
        times[times.len() / 2]
    });
    let ratio = answered.as_secs_f64() / plain.as_secs_f64();
    println!("start of the program:     {plain:.1?}");
    println!("start to the first answer: {answered:.1?}, {ratio:.2} times that");
    println!("memory when idle:         {} KiB", memory[memory.len() / 2]);
}
