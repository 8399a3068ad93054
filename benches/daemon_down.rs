//! What `tma1` costs a turn of Claude Code while its daemon is down:
//!
//! ```sh
//! cargo bench --bench daemon_down
//! ```
//!
//! Runs one scripted turn of five tool calls in three ways, in turn, each in a HOME of its own:
//! without hooks, with a hook that only reads its event, and with ours while nobody listens. The
//! second is what Claude Code itself spends on having hooks at the same events; the third may cost
//! more than that only by what `tma1 hook` takes to be refused. Prints medians and ratios.

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

use serde_json::{Value, json};
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
    let hooks = f64::from(count_hooks(&claude));
    let homes: [fn() -> TestHome; 3] = [plain_home, idle_home, installed_home];
    let mut turns = homes.map(|_| Vec::new());
    for _ in 0..ROUNDS {
        for (home, times) in homes.iter().zip(&mut turns) {
            times.push(time_turn(&claude, &home()));
        }
    }
    let home = TestHome::new();
    let port = home.port().to_string();
    let refused = (0..10 * ROUNDS)
        .map(|_| time(|| drop(home.tma1(&["hook", "--port", &port]).succeeded())))
        .collect();

    let [none, idle, ours] = turns.map(median);
    let ratio = |turn: Duration| turn.as_secs_f64() / none.as_secs_f64();
    let per_hook = |turn: Duration| (turn.as_secs_f64() - none.as_secs_f64()) * 1e3 / hooks;
    println!("turn without hooks:         {none:.1?}");
    for (name, turn) in [("idle hooks", idle), ("our hooks, no daemon", ours)] {
        println!(
            "turn with {name:<21} {turn:.1?}, {:.3} times that, {:.1}ms for each of {hooks} hooks",
            ratio(turn),
            per_hook(turn)
        );
    }
    println!("`tma1 hook` alone, refused: {:.1?}", median(refused));
}

fn plain_home() -> TestHome {
    let home = TestHome::new();
    ClaudeCode::configure(&home, &json!({}));
    home
}

/// The hooks of an installation, each with a command that does nothing but read its event.
fn idle_home() -> TestHome {
    let home = installed_home();
    let path = home.home().join(".claude/settings.json");
    let mut settings: Value = serde_json::from_slice(&fs_err::read(&path).unwrap()).unwrap();
    for groups in settings["hooks"].as_object_mut().unwrap().values_mut() {
        groups[0]["hooks"][0]["command"] = "cat > /dev/null".into();
    }
    fs_err::write(path, settings.to_string()).unwrap();
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
