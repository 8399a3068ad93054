//! What is installed into each agent: which files, which entries. Install, uninstall and dry run all
//! work from this one description.

pub mod claude_code;
pub mod codex;
pub(super) mod project;

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use bytes::Bytes;

use crate::agent::Agent;
use crate::paths::Paths;
use crate::setup::assets::{Asset, COMMANDS, SKILLS};
use crate::setup::binary::Binary;
use crate::setup::edit::hooks::{self, HookEntries, OwnScript, Remark, Tally};
use crate::setup::edit::json::JsonError;
use crate::setup::edit::lines;
use crate::setup::edit::literal::Literal;
use crate::setup::edit::markers::{self, MarkerError};
use crate::setup::edit::member::{self, MemberEntry};
use crate::setup::edit::toml::trust::TrustRecords;
use crate::setup::edit::toml::{TableEntry, TomlError};
use crate::setup::edit::trace::Trace;
use crate::setup::purge;
use crate::setup::script::{self, Language, Script, UnwritablePath};

/// The name of our MCP server with every agent.
pub(crate) const MCP_NAME: &str = "tma1";

/// Where and for what is installed.
#[derive(Debug, Clone, Copy)]
pub struct Site<'a> {
    /// Where things are for this user.
    pub paths: &'a Paths,
    /// The program that the scripts run.
    pub binary: &'a Binary,
    /// The port of the daemon.
    pub port: u16,
    /// The project whose own files get our block and our line, if any.
    pub project: Option<&'a Path>,
}

impl Site<'_> {
    /// Everything that the adapters of `agents` install, in the order in which it is written.
    pub fn artifacts(&self, agents: &[Agent]) -> Result<Vec<Artifact>, UnwritablePath> {
        let mut artifacts = self.program();
        for agent in agents {
            artifacts.extend(match agent {
                Agent::ClaudeCode => claude_code::artifacts(self)?,
                Agent::Codex => codex::artifacts(self)?,
            });
        }
        Ok(artifacts)
    }

    /// The copy of the program, and what tells that it is ours.
    pub(super) fn program(&self) -> Vec<Artifact> {
        let Binary::Copy { from, to } = self.binary else { return Vec::new() };
        let program = Content::Whole(Whole::Program(from.clone()));
        let marker = Content::Whole(Whole::Marker);
        let why = "the program, kept where it is not rebuilt or cleaned up";
        vec![
            Artifact::new(
                to.with_file_name(purge::MARKER),
                marker,
                "tells that the program beside it is ours",
            ),
            Artifact::new(to.clone(), program, why),
        ]
    }

    /// How an agent starts our MCP server. What it needs stands in the arguments: agents filter the
    /// environment of their servers, and rewrite entries without it.
    fn mcp_command(&self) -> Result<Vec<(&'static str, Literal)>, UnwritablePath> {
        let text = |path: &Path| script::text_of(path).map(str::to_owned);
        let arguments = [
            "mcp-serve".to_owned(),
            "--port".to_owned(),
            self.port.to_string(),
            "--data-dir".to_owned(),
            text(&self.paths.root)?,
        ];
        Ok(vec![
            ("command", text(self.binary.path())?.as_str().into()),
            ("args", Literal::texts(arguments.iter().map(String::as_str))),
        ])
    }

    /// Texts of ours below `folder`.
    fn texts(folder: &Path, assets: &[Asset], why: &'static str) -> Vec<Artifact> {
        assets
            .iter()
            .map(|asset| {
                let content = Content::Whole(Whole::Text(asset.text.into()));
                Artifact::new(folder.join(asset.path), content, why)
            })
            .collect()
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
        let text = script.render(self.binary.path(), self.port, &self.paths.root)?;
        let content = Content::Whole(Whole::Script(text));
        Ok((Artifact::new(path, content, "hands each event to the local daemon"), command))
    }
}

/// The folders of the agents in which texts of ours are, and whether these are skills.
pub(super) fn text_folders(paths: &Paths) -> [(PathBuf, bool); 3] {
    let commands = claude_code::commands(paths);
    [(claude_code::skills(paths), true), (commands, false), (codex::skills(paths), true)]
}

/// Where the hook script of `agent` may be, in each language.
pub(super) fn scripts(agent: Agent, paths: &Paths) -> [PathBuf; 2] {
    own_script(agent).names.map(|name| paths.hooks().join(name))
}

/// Where the texts of ours for `agent` are.
pub(super) fn texts(agent: Agent, paths: &Paths) -> Vec<PathBuf> {
    let below = |folder: PathBuf, assets: &'static [Asset]| {
        assets.iter().map(move |asset| folder.join(asset.path))
    };
    match agent {
        Agent::ClaudeCode => below(claude_code::skills(paths), SKILLS)
            .chain(below(claude_code::commands(paths), COMMANDS))
            .collect(),
        Agent::Codex => below(codex::skills(paths), SKILLS).collect(),
    }
}

/// By what the hooks of `agent` that are ours are known.
fn own_script(agent: Agent) -> OwnScript {
    let names = [Language::Shell, Language::PowerShell];
    OwnScript { names: names.map(|language| Script { agent, language }.file_name()) }
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
    /// Whether an install puts it there. If not, it is a place where an earlier one may have, and
    /// where an uninstall looks.
    pub wanted: bool,
    /// The project whose file it is, if it is one. Whoever made the project, not the user, may have
    /// said where its links lead.
    pub project: Option<PathBuf>,
}

impl Artifact {
    pub(super) fn new(path: PathBuf, content: Content, why: &'static str) -> Self {
        Self { path, content, why, wanted: true, project: None }
    }

    /// Whether an uninstall leaves it, for a purge to take.
    pub(super) fn is_kept(&self) -> bool {
        matches!(self.content, Content::Whole(Whole::Program(_) | Whole::Marker))
    }
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
    /// What tells that the files of our names beside it are ours.
    Marker,
    /// A script, known by its head.
    Script(String),
    /// A text that users may want to change: a skill, a command, a service.
    Text(Cow<'static, str>),
}

/// Entries of ours in a file of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shared {
    /// Hook entries.
    Hooks(HookEntries),
    /// A named entry of a JSON object.
    Member(MemberEntry),
    /// A named table in TOML.
    Table(TableEntry),
    /// What Codex itself keeps there of our hooks. Only an uninstall has to do with it.
    Trust(TrustRecords),
    /// A block between markers in Markdown, with this text.
    Block(&'static str),
    /// A line of an ignore file. It is left there by an uninstall, as it may be the user's.
    Line(&'static str),
}

/// A file with our entries put in or taken out.
#[derive(Debug, Clone)]
pub(super) struct Edited {
    pub(super) bytes: Bytes,
    /// What an install has to remember for the removal.
    pub(super) trace: Trace,
    /// What was done, in hooks, if the file is about these.
    pub(super) hooks: Option<Tally>,
    /// What the user should know of it.
    pub(super) remarks: Vec<Remark>,
}

/// Why a file of the user is left alone.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// A JSON file.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// A TOML file.
    #[error(transparent)]
    Toml(#[from] TomlError),
    /// A Markdown file.
    #[error(transparent)]
    Markdown(#[from] MarkerError),
}

impl EditError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Json(error) => error.hint(),
            Self::Toml(error) => error.hint(),
            Self::Markdown(error) => error.hint(),
        }
    }
}

impl Shared {
    /// Whether an install would leave a file of these bytes as it is.
    pub fn is_settled(&self, bytes: &[u8]) -> Result<bool, EditError> {
        Ok(self.install_into(bytes)?.bytes == bytes)
    }

    /// `before` with our entries in it; the same bytes if they are there already.
    pub(super) fn install_into(&self, before: &[u8]) -> Result<Edited, EditError> {
        match self {
            Self::Hooks(entries) => Ok(entries.install_into(before)?.into()),
            Self::Member(entry) => Ok(entry.install_into(before)?.into()),
            Self::Table(entry) => Ok(entry.install_into(before)?.into()),
            Self::Block(inside) => Ok(markers::install_into(before, inside)?.into()),
            Self::Line(line) => Ok(lines::install_into(before, line).into()),
            Self::Trust(_) => Ok(before.to_vec().into()),
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
            Self::Member(entry) => Ok(entry.remove_from(before, trace)?.into()),
            Self::Table(entry) => Ok(entry.remove_from(before)?.into()),
            Self::Trust(records) => Ok(records.remove_from(before)?.into()),
            Self::Block(_) => Ok(markers::remove_from(before)?.into()),
            Self::Line(_) => Ok(before.to_vec().into()),
        }
    }

    /// Whether a file that holds nothing but `bytes` is empty to its reader.
    pub(super) fn is_blank(&self, bytes: &[u8]) -> bool {
        let text = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
        let meaning: Vec<u8> =
            text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
        match self {
            Self::Hooks(_) | Self::Member(_) => matches!(meaning.as_slice(), b"" | b"{}"),
            Self::Table(_) | Self::Trust(_) | Self::Block(_) | Self::Line(_) => meaning.is_empty(),
        }
    }

    /// The mode of the file if it is new: files that may hold secrets are for their user alone.
    pub(super) const fn mode_of_new(&self) -> u32 {
        match self {
            Self::Hooks(_) | Self::Member(_) | Self::Table(_) | Self::Trust(_) => 0o600,
            Self::Block(_) | Self::Line(_) => 0o644,
        }
    }
}

impl From<HookEntries> for Shared {
    fn from(entries: HookEntries) -> Self {
        Self::Hooks(entries)
    }
}

impl From<MemberEntry> for Shared {
    fn from(entry: MemberEntry) -> Self {
        Self::Member(entry)
    }
}

impl From<TableEntry> for Shared {
    fn from(entry: TableEntry) -> Self {
        Self::Table(entry)
    }
}

impl From<Vec<u8>> for Edited {
    fn from(bytes: Vec<u8>) -> Self {
        Self { bytes: bytes.into(), trace: Trace::default(), hooks: None, remarks: Vec::new() }
    }
}

impl From<member::Edited> for Edited {
    fn from(edited: member::Edited) -> Self {
        Self { trace: edited.trace, ..edited.bytes.into() }
    }
}

impl From<hooks::Edited> for Edited {
    fn from(edited: hooks::Edited) -> Self {
        Self {
            bytes: edited.bytes.into(),
            trace: edited.trace,
            hooks: Some(edited.tally).filter(|tally| *tally != Tally::default()),
            remarks: edited.remarks,
        }
    }
}
