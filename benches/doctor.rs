//! What a healthy home costs `tma1 doctor`:
//!
//! ```sh
//! cargo bench --bench doctor
//! ```
//!
//! It runs the registered hook of each adapter and starts its MCP server, so these, one after the
//! other, are the baseline. Prints medians and the ratio; a user should not wait for 300 ms.

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

use tma1::clock;

use support::daemon::Daemon;
use support::home::TestHome;
use support::process::Run;

const ROUNDS: usize = 30;
const LIMIT: Duration = Duration::from_secs(10);
const EVENT: &str = r#"{"hook_event_name":"UserPromptSubmit","session_id":"s","cwd":"/"}"#;

#[expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]
fn main() {
    // Without the flag this is a test run, which has no use for it.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let home = TestHome::new();
    home.tma1(&["install", "--adapter", "claude-code", "--skip-project-files"]).succeeded();
    let _daemon = Daemon::start(&home);
    let hook = home.home().join(".tma1/hooks/tma1-hook.sh");
    let (mut parts, mut whole) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let begun = clock::monotonic();
        Run::fed(&mut home.command(&hook), EVENT.into(), LIMIT).succeeded();
        home.tma1_fed(&["mcp-serve", "--port", &home.port().to_string()], "").succeeded();
        parts.push(begun.elapsed());
        let begun = clock::monotonic();
        home.tma1(&["doctor"]).succeeded();
        whole.push(begun.elapsed());
    }
    let [parts, whole] = [parts, whole].map(|mut times| {
        times.sort();
        times[times.len() / 2]
    });
    let ratio = whole.as_secs_f64() / parts.as_secs_f64();
    println!("a hook and an MCP server: {parts:.1?}");
    println!("doctor:                   {whole:.1?}, {ratio:.2} times that");
}
