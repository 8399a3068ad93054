//! `tma1` closes the loop around coding agents: their hooks report what happens, a local daemon
//! answers with what the agent should know before its next step.
//!
//! The crate is one library with two thin binaries over it. Data flows one way in both halves:
//!
//! - installer: text of the user's files in, [`setup`] plan out, bytes written;
//! - daemon: [`agent`] event in, [`world`] changed, answer out.
//!
//! `docs/architecture.md` has the map.

pub mod agent;
pub mod build;
pub mod cli;
pub mod clock;
pub mod config;
pub mod daemon;
pub mod doctor;
pub mod export;
pub mod history;
pub mod mcp;
pub mod paths;
pub mod platform;
pub mod printable;
mod process;
pub mod sensor;
pub mod setup;
pub mod store;
pub mod world;

#[cfg(test)]
mod snapshot;
