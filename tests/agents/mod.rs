//! The real coding agents, offline, against a scripted model.

pub mod claude_code;
pub mod closed_loop;
pub mod codex;
pub mod mock_anthropic;
pub mod mock_openai;
pub mod mock_server;
