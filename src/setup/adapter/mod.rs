//! What is installed into each agent: which files, which entries.

pub mod claude_code;

use std::path::PathBuf;

use crate::setup::edit::hooks::HookEntries;

/// A file that an adapter needs, wholly ours or with our entries in it.
#[derive(Debug, Clone)]
pub struct Artifact {
    /// Where.
    pub path: PathBuf,
    /// What is in it.
    pub content: Content,
    /// What it is for, in words for the user.
    pub why: &'static str,
}

/// What an artifact holds.
#[derive(Debug, Clone)]
pub enum Content {
    /// A copy of this program.
    Program(PathBuf),
    /// A script.
    Script(String),
    /// Hook entries in a settings file of the user.
    Hooks(HookEntries),
}
