//! Properties that hold for any file.

mod generators;
mod hooks;
mod markers;
mod member;
mod mutations;
mod removal;
mod toml;

const EVENTS: &[&str] = &["SessionStart", "PostToolUse", "Stop"];
