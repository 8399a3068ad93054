//! What is installed into each agent: which files, which entries. Install, uninstall and dry run all
//! work from this one description.

pub mod claude_code;
pub mod codex;

use std::path::PathBuf;

use crate::agent::Agent;
use crate::paths::Paths;
use crate::setup::binary::Binary;
use crate::setup::edit::hooks::{HookEntries, Tally};
use crate::setup::edit::json::JsonError;
use crate::setup::edit::trace::Trace;
use crate::setup::script::{Language, Script, UnwritablePath};

/// Where and for what is installed.
#[derive(Debug, Clone, Copy)]
pub struct Site<'a> {
    /// Where things are for this user.
    pub paths: &'a Paths,
    /// The program that the scripts run.
    pub binary: &'a Binary,
    /// The port of the daemon.
    pub port: u16,
}

impl Site<'_> {
    /// Everything that the adapters of `agents` install, in the order in which it is written.
    pub fn artifacts(&self, agents: &[Agent]) -> Result<Vec<Artifact>, UnwritablePath> {
        let mut artifacts: Vec<_> = self.program().into_iter().collect();
        for agent in agents {
            artifacts.extend(match agent {
                Agent::ClaudeCode => claude_code::artifacts(self)?,
                Agent::Codex => codex::artifacts(self)?,
            });
        }
        Ok(artifacts)
    }

    fn program(&self) -> Option<Artifact> {
        let Binary::Copy { from, to } = self.binary else { return None };
        Some(Artifact {
            path: to.clone(),
            content: Content::Whole(Whole::Program(from.clone())),
            why: "the program, kept where it is not rebuilt or cleaned up",
        })
    }

    /// The command by which an agent runs its hook script.
    pub fn hook_command(&self, agent: Agent) -> Result<String, UnwritablePath> {
        Ok(self.script(agent)?.1)
    }

    /// The hook script of an agent, and the command by which it runs it.
    fn script(&self, agent: Agent) -> Result<(Artifact, String), UnwritablePath> {
        let script = Script { agent, language: Language::of_system() };
        let path = self.paths.hooks().join(script.file_name());
        let command = script.command(&path)?;
        let text = script.render(self.binary.path(), self.port)?;
        let content = Content::Whole(Whole::Script(text));
        Ok((Artifact { path, content, why: "hands each event to the local daemon" }, command))
    }
}

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
    /// A file that is ours as a whole.
    Whole(Whole),
    /// Entries of ours in a file of the user.
    Shared(Shared),
}

/// A file that is ours as a whole.
#[derive(Debug, Clone)]
pub enum Whole {
    /// A copy of this program.
    Program(PathBuf),
    /// A script, known by its head.
    Script(String),
    /// A text that users may want to change: a skill, a command.
    Text(&'static str),
}

/// Entries of ours in a file of the user.
#[derive(Debug, Clone)]
pub enum Shared {
    /// Hook entries.
    Hooks(HookEntries),
}

/// A file with our entries put in or taken out.
#[derive(Debug)]
pub(super) struct Edited {
    pub(super) bytes: Vec<u8>,
    /// What an install has to remember for the removal.
    pub(super) trace: Trace,
    /// What was done, in hooks, if the file is about these.
    pub(super) hooks: Option<Tally>,
}

/// Why a file of the user is left alone.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// A JSON file.
    #[error(transparent)]
    Json(#[from] JsonError),
}

impl EditError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Json(error) => error.hint(),
        }
    }
}

impl Shared {
    /// `before` with our entries in it; the same bytes if they are there already.
    pub(super) fn install_into(&self, before: &[u8]) -> Result<Edited, EditError> {
        match self {
            Self::Hooks(entries) => Ok(entries.install_into(before)?.into()),
        }
    }

    /// `before` without our entries; the same bytes if there are none.
    pub(super) fn remove_from(
        &self,
        before: &[u8],
        trace: Option<&Trace>,
    ) -> Result<Edited, EditError> {
        match self {
            Self::Hooks(entries) => Ok(entries.remove_from(before, trace)?.into()),
        }
    }

    /// Whether a file that holds nothing but `bytes` is empty to its reader.
    pub(super) fn is_blank(&self, bytes: &[u8]) -> bool {
        match self {
            Self::Hooks(_) => {
                let text = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
                let meaning: Vec<u8> =
                    text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
                matches!(meaning.as_slice(), b"" | b"{}")
            }
        }
    }
}

impl From<crate::setup::edit::hooks::Edited> for Edited {
    fn from(edited: crate::setup::edit::hooks::Edited) -> Self {
        Self { bytes: edited.bytes, trace: edited.trace, hooks: Some(edited.tally) }
    }
}
