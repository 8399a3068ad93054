//! The real coding agents, offline, against a scripted model.

pub mod blocks;
pub mod claude_code;
pub mod closed_loop;
pub mod closed_loop_codex;
pub mod codex;
pub mod codex_trust;
mod doctor;
mod findings;
mod findings_codex;
mod installed;
mod mcp;
pub mod mock_anthropic;
pub mod mock_openai;
pub mod mock_server;
mod peers;
