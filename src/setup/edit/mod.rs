//! Pure editors: the text of a user's file in, the text with our entries out.
//!
//! Every byte that is not ours is kept. No I/O happens here.

mod claude_code;
mod codex;
mod command;
mod diagnosis;
mod dialect;
mod edits;
mod fences;
pub mod hooks;
pub mod json;
mod layout;
pub mod lines;
pub mod literal;
pub mod markers;
mod meaning;
pub mod member;
mod ownership;
mod splice;
mod tail;
mod text;
pub mod toml;
pub mod trace;
mod update;
mod value;

#[cfg(test)]
mod cases;
#[cfg(test)]
mod properties;
