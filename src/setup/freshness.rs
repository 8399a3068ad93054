//! Whether what is installed is of this version.

use std::path::{Path, PathBuf};

use crate::agent::Agent;
use crate::paths::Paths;
use crate::setup::adapter::{Artifact, Content, Shared, Site, Whole};
use crate::setup::binary::Binary;
use crate::setup::disk::OperatingSystem;
use crate::setup::install::Options;
use crate::setup::script::{Language, Script, UnwritablePath};
use crate::setup::{InstallError, Task};

/// An adapter whose agent reads what another version of us has written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stale {
    /// Whose files they are.
    pub agent: Agent,
    /// How many skills and commands an install would write.
    pub files: usize,
}

impl Stale {
    /// The command that mends it.
    pub fn fix(&self) -> String {
        format!("tma1 install --adapter {}", self.agent)
    }
}

/// Why it can't be known, or not be mended.
#[derive(Debug, thiserror::Error)]
pub enum FreshnessError {
    /// There is no way to write where we are.
    #[error(transparent)]
    Path(#[from] UnwritablePath),
    /// A plan for our own files failed.
    #[error(transparent)]
    Install(#[from] InstallError),
}

impl FreshnessError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Path(error) => error.hint(),
            Self::Install(error) => error.hint(),
        }
    }
}

/// The adapters that are installed, by the hooks that the agents have registered: a folder of skills
/// that somebody removed is what has to be told of.
pub fn installed(paths: &Paths, port: u16) -> Result<Vec<Agent>, FreshnessError> {
    let mut installed = Vec::new();
    for agent in [Agent::ClaudeCode, Agent::Codex] {
        let artifacts = artifacts(agent, paths, Path::new("tma1"), port)?;
        if artifacts.iter().any(is_registered) {
            installed.push(agent);
        }
    }
    Ok(installed)
}

/// Those of the `installed` adapters whose skills or commands are not those of this version.
pub fn stale(installed: &[Agent], paths: &Paths, port: u16) -> Result<Vec<Stale>, FreshnessError> {
    let mut stale = Vec::new();
    for agent in installed.iter().copied() {
        let mut artifacts = artifacts(agent, paths, Path::new("tma1"), port)?;
        artifacts.retain(|artifact| matches!(artifact.content, Content::Whole(Whole::Text(_))));
        let plan = INSTALL.plan(&artifacts, paths).map_err(InstallError::from)?;
        let files = plan
            .changes()
            .filter(|change| artifacts.iter().any(|artifact| artifact.path == change.path()))
            .count();
        if files > 0 {
            stale.push(Stale { agent, files });
        }
    }
    Ok(stale)
}

/// Writes the hook scripts of the `installed` adapters again if they are not those of this version, or
/// send to another port than `port`. They go on running the program that they ran.
pub fn refresh_scripts(
    installed: &[Agent],
    paths: &Paths,
    port: u16,
) -> Result<(), FreshnessError> {
    for agent in installed.iter().copied() {
        let script = Script { agent, language: Language::of_system() };
        let path = paths.hooks().join(script.file_name());
        let Some(program) = program_of(&path) else { continue };
        let mut artifacts = artifacts(agent, paths, &program, port)?;
        artifacts.retain(|artifact| artifact.path == path);
        INSTALL.carry_out(&artifacts, paths, &OperatingSystem)?;
    }
    Ok(())
}

const INSTALL: Task = Task::Install(Options { force: false, keeps_losses: false });

fn artifacts(
    agent: Agent,
    paths: &Paths,
    program: &Path,
    port: u16,
) -> Result<Vec<Artifact>, UnwritablePath> {
    let binary = Binary::InPlace(program.to_owned());
    Site { paths, binary: &binary, port, project: None }.artifacts(&[agent])
}

/// Whether the artifact is the file in which the agent has hooks of ours.
fn is_registered(artifact: &Artifact) -> bool {
    let Content::Shared(shared @ Shared::Hooks(_)) = &artifact.content else { return false };
    let Ok(bytes) = fs_err::read(&artifact.path) else { return false };
    shared.remove_from(&bytes, None).is_ok_and(|edited| edited.bytes != bytes)
}

/// The program that the script at `path` runs.
pub(crate) fn program_of(path: &Path) -> Option<PathBuf> {
    let text = fs_err::read_to_string(path).ok()?;
    if Language::of_system() == Language::PowerShell {
        // It finds the daemon by its port alone.
        return Some(PathBuf::from("tma1"));
    }
    let word = text.lines().find_map(|line| line.strip_prefix("tma1="))?;
    let mut words = shlex::split(word)?;
    (words.len() == 1).then(|| words.pop().map(PathBuf::from)).flatten()
}
