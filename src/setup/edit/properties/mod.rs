//! Properties that hold for any file.

mod generators;
mod hooks;
mod member;
mod removal;

const EVENTS: &[&str] = &["SessionStart", "PreToolUse", "Stop"];
