//! Integration tests: one module a capability, each with the real binary in a temporary HOME.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod about;
#[cfg(target_os = "linux")]
mod access;
mod agents;
#[cfg(unix)]
mod build;
mod daemon;
mod doctor;
mod field_cases;
mod freshness;
mod greptimedb;
mod history;
mod hook;
mod install;
mod kill;
#[cfg(target_os = "linux")]
mod lifecycle;
mod mcp;
mod observed;
mod project_index;
mod prompts;
mod races;
mod receipt;
mod redaction;
mod replay;
mod script;
#[cfg(target_os = "linux")]
mod service;
#[cfg(target_os = "linux")]
mod soak;
mod store;
mod support;
mod transcripts;
mod uninstall;
