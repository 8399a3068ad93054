//! The files of the project in which doctor was started: our block in its instructions.

use crate::agent::Agent;
use crate::doctor::finding::{Check, Finding, Fix};
use crate::doctor::subject::Subject;
use crate::setup::adapter::{Artifact, Content, Shared};

/// What our markers begin with.
const MARKER: &[u8] = b"<!-- tma1:";

const UNTOUCHED: &str = "the block is neither kept up to date nor removed while this is so";

/// Looks at the block of each of `agents`, where there is one.
pub(super) fn check(subject: &Subject<'_>, agents: &[Agent]) -> Vec<Finding> {
    let check = Check::new("project");
    let Some(project) = subject.project else {
        return vec![check.skipped("this is no project of its own")];
    };
    let mut found = Vec::new();
    let mut looked_at = Vec::new();
    for agent in agents {
        let artifacts = subject.artifacts(*agent, std::path::Path::new("tma1"), Some(project));
        for artifact in artifacts.iter().filter(|artifact| is_block(artifact)) {
            if !looked_at.contains(&artifact.path) {
                found.extend(block(subject, *agent, artifact));
                looked_at.push(artifact.path.clone());
            }
        }
    }
    if found.is_empty() {
        found.push(check.ok("the instructions of this project are in order"));
    }
    found
}

fn is_block(artifact: &Artifact) -> bool {
    matches!(artifact.content, Content::Shared(Shared::Block(_)))
}

fn block(subject: &Subject<'_>, agent: Agent, artifact: &Artifact) -> Option<Finding> {
    let check = Check::new("project");
    let Content::Shared(shared) = &artifact.content else { return None };
    let bytes = fs_err::read(&artifact.path).ok()?;
    if !bytes.windows(MARKER.len()).any(|part| part == MARKER) {
        return None;
    }
    let name = subject.display(&artifact.path);
    match shared.is_settled(&bytes) {
        Ok(true) => None,
        Ok(false) if !artifact.wanted => None,
        Ok(false) => {
            let what = format!("our block in {name} is not the one of this version");
            let meaning = "agents are told how an older tma1 worked";
            Some(check.warning(what, meaning, Fix::InstallProject(agent)))
        }
        Err(error) => {
            let what = format!("our block in {name} is damaged: {error}");
            Some(check.failure(what, UNTOUCHED, Fix::ByHand(error.hint())))
        }
    }
}
