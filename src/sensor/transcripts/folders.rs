//! Which files are transcripts, and may be read.

use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};

use crate::agent::Agent;
use crate::paths::Paths;
use crate::platform;

/// The folders in which the agents keep their sessions.
///
/// An agent can run with another configuration than the daemon, which is started by whichever agent
/// comes first. Each has its folder where the environment says and where it is by default.
#[derive(Debug, Clone)]
pub struct Folders {
    claude_code: Vec<PathBuf>,
    codex: Vec<PathBuf>,
}

impl Folders {
    /// Those of this user.
    pub fn new(paths: &Paths) -> Self {
        let claude = [paths.claude_config.clone(), paths.home.join(".claude")];
        let codex = [paths.codex_home.clone(), paths.home.join(".codex")];
        Self {
            claude_code: claude.iter().map(|folder| folder.join("projects")).collect(),
            codex: ["sessions", "archived_sessions"]
                .iter()
                .flat_map(|name| codex.iter().map(move |folder| folder.join(name)))
                .collect(),
        }
    }

    /// Those of an agent.
    pub fn of(&self, agent: Agent) -> &[PathBuf] {
        match agent {
            Agent::ClaudeCode => &self.claude_code,
            Agent::Codex => &self.codex,
        }
    }

    /// Opens the transcript at `path`, if it is one: a regular file of this user that lies, links
    /// resolved, below a folder of its agent. The path comes from an event, which any program of this
    /// machine can send.
    pub fn open(&self, agent: Agent, path: &Path) -> Option<(File, Metadata)> {
        let folders = self.of(agent);
        if path.is_relative() || path.extension().is_none_or(|extension| extension != "jsonl") {
            return None;
        }
        let resolved = fs_err::canonicalize(path).ok()?;
        let is_below = |folder: &PathBuf| {
            fs_err::canonicalize(folder).is_ok_and(|folder| resolved.starts_with(folder))
        };
        if !folders.iter().any(is_below) {
            return None;
        }
        let file = platform::open_without_following(&resolved).ok()?;
        let metadata = file.metadata().ok()?;
        let is_own = platform::attributes(&metadata).owner == platform::current_user();
        (metadata.is_file() && is_own).then_some((file, metadata))
    }
}
