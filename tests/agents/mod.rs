//! The real coding agents, offline, against a scripted model.

mod claude_code;
mod closed_loop;
mod mock_anthropic;
