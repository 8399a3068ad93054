//! Names what an uninstall does not reach, with the command that takes it: other profiles, other
//! projects, other data directories.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::agent::Agent;
use crate::paths::Paths;
use crate::setup::adapter::{Artifact, Shared, claude_code, codex, project};
use crate::setup::plan::{Plan, Reason};
use crate::setup::receipt::Receipt;
use crate::setup::registration::{Registration, Remaining};
use crate::setup::service::Manager;
use crate::setup::target::Target;

/// Forgets the files that are no longer there or hold nothing of ours, and names the others of the
/// agents of `artifacts`: one for each command that takes them.
pub(super) fn note(
    plan: &mut Plan,
    kept: &mut Receipt,
    artifacts: &[Artifact],
    remaining: &Remaining,
    paths: &Paths,
) {
    let agents: BTreeSet<_> = artifacts.iter().filter_map(agent_of).collect();
    let known: Vec<_> = kept.paths().map(Path::to_owned).collect();
    let mut commands = BTreeSet::new();
    for path in known {
        if !is_there(&path) || holds_nothing(&path) {
            kept.forget(&path);
            continue;
        }
        if is_service(&path, paths) {
            plan.note(&path, Reason::Elsewhere("tma1 service uninstall".to_owned()));
            continue;
        }
        let Some(place) = Place::of(&path, &agents, remaining, paths) else { continue };
        if !plan.has_note_on(&path) {
            let command = place.command(paths);
            if commands.insert(command.clone()) {
                plan.note(&path, Reason::Elsewhere(command));
            }
        }
    }
    // An ignore file keeps its line in any case, so it has nothing to tell by itself.
    let ignore_files: Vec<_> = kept
        .paths()
        .filter(|path| path.ends_with(project::IGNORE_FILE))
        .map(Path::to_owned)
        .collect();
    for path in ignore_files {
        let folder = path.parent();
        let is_beside = |other: &Path| other != path && other.parent() == folder;
        if !kept.paths().any(is_beside) {
            kept.forget(&path);
        }
    }
}

/// Names the data directory that the entries of `artifacts` lead to, if an install has used another
/// one than this uninstall.
pub(super) fn note_other_root(plan: &mut Plan, artifacts: &[Artifact], paths: &Paths) {
    for artifact in artifacts {
        let Some(registration) = Registration::at(&artifact.path) else { continue };
        let Some(root) = registration.data_dir() else { continue };
        let other = Paths { root, ..paths.clone() };
        let is_other = Target::resolved(&other.root) != Target::resolved(&paths.root);
        if is_other && other.receipt().is_file() {
            let place =
                Place { agent: registration.agent, at: At::Profile(registration.folder(paths)) };
            plan.note(&other.root, Reason::Elsewhere(place.command(&other)));
        }
    }
}

/// Whether a file is what starts the daemon when the user logs in.
fn is_service(path: &Path, paths: &Paths) -> bool {
    Manager::of_system().is_some_and(|manager| manager.definition(paths) == path)
}

/// Whose settings an artifact is in, if it is.
fn agent_of(artifact: &Artifact) -> Option<Agent> {
    Registration::at(&artifact.path).map(|registration| registration.agent)
}

/// Whether something is at `path`, as far as can be told.
fn is_there(path: &Path) -> bool {
    let is_gone = |error: &std::io::Error| {
        matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
    };
    !fs_err::symlink_metadata(path).is_err_and(|error| is_gone(&error))
}

/// Whether the file at `path`, which is the user's, is without entries of ours.
fn holds_nothing(path: &Path) -> bool {
    if let Some(registration) = Registration::at(path) {
        return !registration.is_live();
    }
    let is_instructions = project::READERS.iter().any(|(name, _)| path.ends_with(name));
    let is_without = |bytes: Vec<u8>| {
        Shared::Block("").remove_from(&bytes, None).is_ok_and(|edited| edited.bytes == bytes)
    };
    is_instructions && fs_err::read(path).is_ok_and(is_without)
}

/// Where a file is that an uninstall of this profile and this project does not reach.
struct Place {
    agent: Agent,
    at: At,
}

enum At {
    /// In this directory of the agent, or in what goes with it.
    Profile(PathBuf),
    /// In this project.
    Project(PathBuf),
}

impl Place {
    /// The place of the file at `path`, which the receipt has, if `agents` needed it there and no
    /// other agent that remains does.
    fn of(
        path: &Path,
        agents: &BTreeSet<Agent>,
        remaining: &Remaining,
        paths: &Paths,
    ) -> Option<Self> {
        if let Some((_, readers)) = project::READERS.iter().find(|(name, _)| path.ends_with(name)) {
            let is_needed =
                readers.iter().any(|agent| !agents.contains(agent) && remaining.has(*agent));
            let agent = readers.iter().copied().find(|agent| agents.contains(agent))?;
            let at = At::Project(path.parent()?.to_owned());
            return (!is_needed).then_some(Self { agent, at });
        }
        let (agent, folder) = if let Some(one) = Registration::at(path) {
            (one.agent, one.folder(paths))
        } else if path.starts_with(codex::skills(paths)) {
            (Agent::Codex, paths.codex_home.clone())
        } else {
            let texts = path.ancestors().find(|folder| claude_code::is_text_folder(folder))?;
            (Agent::ClaudeCode, texts.parent()?.to_owned())
        };
        agents.contains(&agent).then_some(Self { agent, at: At::Profile(folder) })
    }

    /// What a user types to have it taken away.
    fn command(&self, paths: &Paths) -> String {
        let mut words = Vec::new();
        let mut set = |name, value: &Path, current: &Path, usual: &Path| {
            if value == usual && current != usual {
                words.push(format!("{name}="));
            } else if value != usual {
                words.push(format!("{name}={}", word(value, paths)));
            }
        };
        set("TMA1_DATA_DIR", &paths.root, &paths.root, &Paths::usual_root(&paths.home));
        if let At::Profile(folder) = &self.at {
            match self.agent {
                Agent::ClaudeCode => {
                    let usual = claude_code::default_folder(&paths.home);
                    set("CLAUDE_CONFIG_DIR", folder, &paths.claude_config, &usual);
                }
                Agent::Codex => {
                    let usual = codex::default_folder(&paths.home);
                    set("CODEX_HOME", folder, &paths.codex_home, &usual);
                }
            }
        }
        words.push(format!("tma1 uninstall --adapter {}", self.agent.name()));
        if let At::Project(folder) = &self.at {
            words.push(format!("--project {}", word(folder, paths)));
        }
        words.join(" ")
    }
}

/// `path` as one word of a shell, with `~` where the shell expands it.
fn word(path: &Path, paths: &Paths) -> String {
    let short = paths.display(path);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '~');
    if short.chars().all(is_plain) {
        return short;
    }
    let long = path.display().to_string();
    shlex::try_quote(&long).map_or_else(|_| long.clone(), Cow::into_owned)
}
