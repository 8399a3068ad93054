//! What `tma1` costs a turn of Claude Code while its daemon is down:
//!
//! ```sh
//! cargo bench --bench daemon_down
//! ```
//!
//! Alternates one scripted turn of five tool calls with the hooks registered and the same turn
//! without them, each in a HOME of its own, and prints the medians.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a benchmark fails by panicking"
)]

#[expect(dead_code, unused_imports, reason = "the tests use the rest")]
#[path = "../tests/agents/mod.rs"]
mod agents;
#[expect(dead_code, reason = "the tests use the rest")]
#[path = "../tests/support/mod.rs"]
mod support;

use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::json;
use tma1::clock;

use agents::claude_code::ClaudeCode;
use agents::closed_loop::{first_run, installed_home};
use support::home::TestHome;

const ROUNDS: usize = 10;

#[expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]
fn main() {
    // Without the flag this is a test run, which has no use for it.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let Some(claude) = ClaudeCode::installed() else {
        return;
    };
    let hooks = count_hooks(&claude);
    let mut without = Vec::new();
    let mut with = Vec::new();
    for _ in 0..ROUNDS {
        without.push(time_turn(&claude, &plain_home()));
        with.push(time_turn(&claude, &installed_home()));
    }
    let home = TestHome::new();
    let port = home.port().to_string();
    let refused = (0..10 * ROUNDS)
        .map(|_| time(|| drop(home.tma1(&["hook", "--port", &port]).succeeded())))
        .collect();

    let (without, with) = (median(without), median(with));
    let ratio = with.as_secs_f64() / without.as_secs_f64();
    let per_hook = (with.as_secs_f64() - without.as_secs_f64()) * 1e3 / f64::from(hooks);
    println!("turn without hooks:   {without:.1?}");
    println!("turn, daemon down:    {with:.1?} ({ratio:.3} times that)");
    println!("per hook:             {per_hook:.1}ms ({hooks} hooks)");
    println!("`tma1 hook`, refused: {:.1?}", median(refused));
}

fn plain_home() -> TestHome {
    let home = TestHome::new();
    ClaudeCode::configure(&home, &json!({}));
    home
}

fn time_turn(claude: &ClaudeCode, home: &TestHome) -> Duration {
    time(|| drop(first_run(claude, home)))
}

fn time(work: impl FnOnce()) -> Duration {
    let started = clock::monotonic();
    work();
    clock::monotonic() - started
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// How many hooks one turn runs: each connects to the daemon once, which hangs up here.
fn count_hooks(claude: &ClaudeCode) -> u32 {
    let home = installed_home();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, home.port())).unwrap();
    let hooks = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&hooks);
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            counter.fetch_add(1, Ordering::Relaxed);
            drop(connection);
        }
    });
    first_run(claude, &home);
    hooks.load(Ordering::Relaxed)
}
