//! What the tests share: a HOME of their own, the programs that run in it, and the agents.

pub mod daemon;
#[cfg(unix)]
pub mod disk;
pub mod home;
pub mod http;
pub mod long_log;
#[cfg(target_os = "linux")]
pub mod manager;
pub mod mcp;
pub mod npm;
#[cfg(unix)]
pub mod other_version;
pub mod process;
pub mod snapshot;
#[cfg(unix)]
pub mod terminal;
pub mod transcript;
pub mod tree;
#[cfg(target_os = "linux")]
pub mod tui;
#[cfg(unix)]
pub mod user;

use std::io::Write;

/// Says it past the test runner, which keeps to itself what a test that passes prints.
pub fn say(what: &str) {
    let name = std::thread::current().name().unwrap_or_default().to_owned();
    drop(writeln!(std::io::stderr(), "{name}: {what}"));
}

/// How many times as long the long tests are to run: `TMA1_TEST_SCALE`, 1 unless it is set.
#[expect(clippy::disallowed_methods, reason = "it is the tests that are told")]
pub fn scale() -> usize {
    match std::env::var("TMA1_TEST_SCALE") {
        Ok(scale) => scale.parse().expect("TMA1_TEST_SCALE is not a number"),
        Err(_) => 1,
    }
}
