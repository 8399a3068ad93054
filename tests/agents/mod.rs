//! The real coding agents, offline, against a scripted model.

mod claude_code;
mod mock_anthropic;
