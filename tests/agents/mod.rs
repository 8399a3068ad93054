//! The real coding agents, offline, against a scripted model.

pub mod claude_code;
pub mod closed_loop;
mod mcp;
pub mod mock_anthropic;
