//! Looking at what was recorded: with the daemon, without it, and beside it.

mod beside;
mod nothing_yet;
mod refusals;
mod story;
mod tables;
#[cfg(target_os = "linux")]
mod terminal;
