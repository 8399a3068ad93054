//! What the tests share: a HOME of their own, the programs that run in it, and the agents.

pub mod daemon;
pub mod home;
pub mod http;
pub mod mcp;
pub mod npm;
pub mod process;
pub mod snapshot;
#[cfg(unix)]
pub mod terminal;
pub mod transcript;
pub mod tree;
#[cfg(target_os = "linux")]
pub mod tui;

/// How many times as long the long tests are to run: `TMA1_TEST_SCALE`, 1 unless it is set.
#[expect(clippy::disallowed_methods, reason = "it is the tests that are told")]
pub fn scale() -> usize {
    match std::env::var("TMA1_TEST_SCALE") {
        Ok(scale) => scale.parse().expect("TMA1_TEST_SCALE is not a number"),
        Err(_) => 1,
    }
}
