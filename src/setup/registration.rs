//! The places in which agents are told of us, and what of ours they need there.
//!
//! An agent may have several profiles (`CLAUDE_CONFIG_DIR`, `CODEX_HOME`), all of which run the same
//! script; two agents may read the same skills. What one registration needs stays when another goes.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml_edit::DocumentMut;

use crate::agent::Agent;
use crate::paths::Paths;
use crate::setup::adapter::{self, Artifact, Content, Shared, claude_code, codex};
use crate::setup::receipt::Receipt;
use crate::setup::target::Target;

/// A settings file of an agent with entries of ours in it.
#[derive(Debug, Clone)]
pub struct Registration {
    /// Whose it is.
    pub agent: Agent,
    /// The file.
    pub path: PathBuf,
    entries: Shared,
}

impl Registration {
    /// What the file at `path` is by its name, which the agent has given.
    pub(super) fn at(path: &Path) -> Option<Self> {
        let (agent, entries) = match path.file_name()?.to_str()? {
            claude_code::SETTINGS => (Agent::ClaudeCode, claude_code::hooks(String::new()).into()),
            claude_code::STATE | claude_code::PREFERRED_STATE => {
                (Agent::ClaudeCode, claude_code::server(Vec::new()).into())
            }
            codex::HOOKS => (Agent::Codex, codex::hooks(String::new()).into()),
            codex::CONFIG => (Agent::Codex, codex::server(Vec::new()).into()),
            _ => return None,
        };
        Some(Self { agent, path: path.to_owned(), entries })
    }

    /// Whether the file runs our script. Otherwise it names our MCP server.
    fn has_hooks(&self) -> bool {
        matches!(self.entries, Shared::Hooks(_))
    }

    /// Whether there is something of ours in the file. One that can't be understood may have it.
    pub(super) fn is_live(&self) -> bool {
        match fs_err::read(&self.path) {
            Ok(bytes) => self.is_live_in(&bytes),
            Err(error) => !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
        }
    }

    fn is_live_in(&self, bytes: &[u8]) -> bool {
        self.entries.remove_from(bytes, None).map_or(true, |edited| edited.bytes != bytes)
    }

    /// Whether the file runs a script of ours in the folder of `paths`.
    fn runs_script_of(&self, paths: &Paths) -> bool {
        let is_mentioned = |bytes: &[u8]| {
            let hooks = paths.hooks();
            let text = serde_json::to_string(&hooks).unwrap_or_default();
            let text = text.trim_matches('"').as_bytes();
            !text.is_empty() && bytes.windows(text.len()).any(|part| part == text)
        };
        fs_err::read(&self.path).is_ok_and(|bytes| is_mentioned(&bytes) && self.is_live_in(&bytes))
    }

    /// The directory of the agent to which the file belongs.
    pub(super) fn folder(&self, paths: &Paths) -> PathBuf {
        let folder = self.path.parent().unwrap_or(&self.path);
        let is_home = || Target::resolved(folder) == Target::resolved(&paths.home);
        if self.path.ends_with(claude_code::STATE) && is_home() {
            return claude_code::default_folder(&paths.home);
        }
        folder.to_owned()
    }

    /// The data directory that our MCP server is given there.
    pub(super) fn data_dir(&self) -> Option<PathBuf> {
        let bytes = match &self.entries {
            Shared::Member(_) | Shared::Table(_) => fs_err::read(&self.path).ok()?,
            _ => return None,
        };
        let text = str::from_utf8(&bytes).ok()?.trim_start_matches('\u{feff}');
        let arguments = match self.entries {
            Shared::Member(_) => serde_json::from_str::<State>(text).ok()?.servers.tma1?.args,
            _ => arguments_in(text)?,
        };
        let mut arguments = arguments.into_iter();
        arguments.find(|argument| argument == "--data-dir")?;
        arguments.next().map(PathBuf::from)
    }

    /// The locations of a user whose agent has its directory where this file is.
    fn locations(&self, paths: &Paths) -> Paths {
        let folder = self.folder(paths);
        match self.agent {
            Agent::ClaudeCode => Paths { claude_config: folder, ..paths.clone() },
            Agent::Codex => Paths { codex_home: folder, ..paths.clone() },
        }
    }

    /// The files of ours that go with it.
    fn companions(&self, paths: &Paths) -> Vec<PathBuf> {
        let paths = self.locations(paths);
        let mut files = adapter::texts(self.agent, &paths);
        if self.has_hooks() {
            files.extend(adapter::scripts(self.agent, &paths));
        }
        files
    }
}

/// What we want to know of the file in which Claude Code names its MCP servers.
#[derive(Deserialize)]
struct State {
    #[serde(rename = "mcpServers")]
    servers: Servers,
}

#[derive(Deserialize)]
struct Servers {
    tma1: Option<Server>,
}

#[derive(Deserialize)]
struct Server {
    args: Vec<String>,
}

/// The arguments of our MCP server in the settings of Codex.
fn arguments_in(text: &str) -> Option<Vec<String>> {
    let document = text.parse::<DocumentMut>().ok()?;
    let server = document.get("mcp_servers")?.get("tma1")?;
    let arguments = server.get("args")?.as_array()?.iter();
    Some(arguments.filter_map(|argument| argument.as_str().map(str::to_owned)).collect())
}

/// The registrations that stay when `artifacts` go, those with hooks first.
#[derive(Debug, Default)]
pub struct Remaining(Vec<Registration>);

impl Remaining {
    /// Finds them in the receipt, and in the directories that agents have by themselves in case the
    /// receipt is lost.
    pub(super) fn beside(artifacts: &[Artifact], receipt: &Receipt, paths: &Paths) -> Self {
        let is_shared = |artifact: &&Artifact| matches!(artifact.content, Content::Shared(_));
        let going: BTreeSet<_> = (artifacts.iter().filter(is_shared))
            .map(|artifact| Target::resolved(&artifact.path))
            .collect();
        let stays = |one: &Registration| !going.contains(&Target::resolved(&one.path));
        let known = receipt.paths().filter_map(Registration::at);
        let mut remaining: Vec<_> = known.filter(|one| stays(one) && one.is_live()).collect();
        let usual = [
            claude_code::default_folder(&paths.home).join(claude_code::SETTINGS),
            codex::default_folder(&paths.home).join(codex::HOOKS),
        ];
        for one in usual.iter().filter_map(|path| Registration::at(path)) {
            if receipt.record(&one.path).is_none() && stays(&one) && one.runs_script_of(paths) {
                remaining.push(one);
            }
        }
        remaining.sort_by_key(|one| !one.has_hooks());
        Self(remaining)
    }

    /// Whether there is one with `agent`.
    pub(super) fn has(&self, agent: Agent) -> bool {
        self.0.iter().any(|one| one.agent == agent)
    }

    /// One of them; as far as is known it needs the copy of the program.
    pub(super) fn first(&self) -> Option<&Registration> {
        self.0.first()
    }

    /// One that needs the file of ours at `resolved`.
    pub(super) fn user_of(&self, resolved: &Path, paths: &Paths) -> Option<&Registration> {
        self.0.iter().find(|one| {
            let mut companions = one.companions(paths).into_iter();
            companions.any(|file| Target::resolved(&file) == resolved)
        })
    }
}
