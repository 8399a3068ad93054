//! What is looked at.

use std::path::{Path, PathBuf};

use crate::agent::Agent;
use crate::config::{Config, Environment};
use crate::paths::Paths;
use crate::platform;
use crate::setup::adapter::{Artifact, Content, Shared, Site};
use crate::setup::binary::Binary;
use crate::setup::edit::hooks::HookEntries;
use crate::setup::freshness;
use crate::setup::receipt::Receipt;
use crate::setup::script::{Language, Script};

/// Both of them, in the order in which they are looked at.
pub(super) const AGENTS: [Agent; 2] = [Agent::ClaudeCode, Agent::Codex];

/// A home with what is around it.
#[derive(Debug, Clone)]
pub struct Subject<'a> {
    /// Where things are for this user.
    pub paths: &'a Paths,
    /// The settings of this shell.
    pub config: &'a Config,
    /// The environment of this shell.
    pub environment: &'a Environment,
    /// Where doctor was started.
    pub working_dir: &'a Path,
    /// The project whose own files are looked at, if any.
    pub project: Option<&'a Path>,
    /// The one adapter to look at; without it, those that are installed.
    pub only: Option<Agent>,
    /// The root of the file system: below it are the settings of the machine.
    pub system: &'a Path,
}

impl Subject<'_> {
    /// The port that everybody should use: what this shell says, else what the hooks were told, else
    /// the default.
    pub fn port(&self) -> u16 {
        if self.environment.get("TMA1_PORT").is_some() {
            return self.config.port;
        }
        let told = AGENTS.into_iter().find_map(|agent| {
            port_in(&fs_err::read_to_string(self.script(agent)).ok()?).filter(|port| *port > 0)
        });
        told.unwrap_or(self.config.port)
    }

    /// The hook script of an agent.
    pub(super) fn script(&self, agent: Agent) -> PathBuf {
        self.paths.hooks().join(Script { agent, language: Language::of_system() }.file_name())
    }

    /// What was installed, as far as the receipt tells.
    pub(super) fn receipt(&self) -> Receipt {
        Receipt::read(&fs_err::read(self.paths.receipt()).unwrap_or_default())
    }

    /// The adapters that are looked at.
    pub(super) fn agents(&self) -> Vec<Agent> {
        match self.only {
            Some(agent) => vec![agent],
            None => AGENTS.into_iter().filter(|agent| self.is_installed(*agent)).collect(),
        }
    }

    /// Whether there is a trace of an install. One trace alone may be what is wrong.
    pub(super) fn is_installed(&self, agent: Agent) -> bool {
        let script = self.script(agent);
        script.exists()
            || self.receipt().record(&script).is_some()
            || freshness::installed(self.paths, self.config.port)
                .is_ok_and(|installed| installed.contains(&agent))
    }

    /// What an install of the adapter would put in place, run by `program`; nothing where a path can't
    /// be written down, which an install says.
    pub(super) fn artifacts(
        &self,
        agent: Agent,
        program: &Path,
        project: Option<&Path>,
    ) -> Vec<Artifact> {
        let binary = Binary::InPlace(program.to_owned());
        let site = Site { paths: self.paths, binary: &binary, port: self.port(), project };
        let mut artifacts = site.artifacts(&[agent]).unwrap_or_default();
        // An earlier one may have put its block into any of a project's instructions.
        artifacts.retain(|artifact| artifact.wanted || artifact.project.is_some());
        artifacts
    }

    /// The file with the hooks of an agent, and ours.
    pub(super) fn hooks(&self, agent: Agent) -> Option<(PathBuf, HookEntries)> {
        self.artifacts(agent, Path::new("tma1"), None).into_iter().find_map(hooks_of)
    }

    /// The folders whose own settings an agent reads that is started here. Those in the home directory
    /// are the user's.
    pub(super) fn projects(&self) -> Vec<PathBuf> {
        let home = fs_err::canonicalize(&self.paths.home).unwrap_or_default();
        let mut folders = vec![self.working_dir.to_owned()];
        folders.extend(self.project.filter(|root| *root != self.working_dir).map(Path::to_owned));
        folders.retain(|folder| *folder != self.paths.home && *folder != home);
        folders
    }

    /// `path` as the user writes it.
    pub(super) fn display(&self, path: &Path) -> String {
        self.paths.display(path)
    }

    /// The program `name` on the search path.
    pub fn on_path(&self, name: &str) -> Option<PathBuf> {
        let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
        let folders = self.environment.get("PATH").map(std::env::split_paths);
        let found = folders.into_iter().flatten().map(|folder| folder.join(&name));
        found.into_iter().find(|program| program.is_file() && platform::is_executable(program))
    }
}

fn hooks_of(artifact: Artifact) -> Option<(PathBuf, HookEntries)> {
    match artifact.content {
        Content::Shared(Shared::Hooks(entries)) => Some((artifact.path, entries)),
        _ => None,
    }
}

/// The port to which a hook script sends.
pub(super) fn port_in(script: &str) -> Option<u16> {
    const ADDRESS: &str = "http://127.0.0.1:";
    let assigned = |line: &str| line.strip_prefix("port=")?.trim().parse().ok();
    let in_address = |line: &str| {
        let (_, rest) = line.split_once(ADDRESS)?;
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        rest.get(..end)?.parse().ok()
    };
    script.lines().find_map(|line| assigned(line).or_else(|| in_address(line)))
}
