//! What is checked of each adapter, in the order in which one thing needs the other.

use crate::agent::Agent;
use crate::doctor::daemon::Daemon;
use crate::doctor::finding::{Check, Finding, Fix, Status};
use crate::doctor::subject::Subject;
use crate::doctor::{duplicates, entries, hook_run, script, surroundings, switches, trust};
use crate::setup::freshness;

/// Checks the adapter of `agent`.
pub(super) fn check(subject: &Subject<'_>, daemon: &Daemon, agent: Agent) -> Vec<Finding> {
    if !subject.is_installed(agent) {
        let what = format!("tma1 is not installed into {}", agent.title());
        let check = Check::of("hooks", agent);
        return vec![check.failure(what, "it reports nothing", Fix::Install(agent))];
    }
    let entries = entries::look(subject, agent);
    let mut found = entries.findings;
    found.push(surroundings::hooks(subject, agent));
    found.extend(duplicates::check(subject, agent));
    found.extend(switches::check(subject, agent));
    if agent == Agent::Codex {
        found.push(trust::check(subject, &entries.own));
    }
    found.extend(script::check(subject, daemon, agent));
    let needed = ["settings", "hooks", "script", "program"];
    let is_fine =
        |finding: &Finding| finding.status != Status::Failure || !needed.contains(&finding.check);
    if found.iter().all(is_fine) {
        found.extend(hook_run::check(subject, daemon, agent, &entries.own));
    } else {
        let check = Check::of("hook-run", agent);
        found.push(check.skipped("the hooks and their script have to be right first"));
    }
    found.push(texts(subject, agent));
    found
}

/// That there is nothing to check.
pub(super) fn none_installed(subject: &Subject<'_>) -> Finding {
    let uses_codex = subject.paths.codex_home.is_dir() && !subject.paths.claude_config.is_dir();
    let agent = if uses_codex { Agent::Codex } else { Agent::ClaudeCode };
    let what = "tma1 is not installed into any agent";
    Check::new("adapters").failure(what, "no agent reports anything", Fix::Install(agent))
}

/// The skills and commands.
fn texts(subject: &Subject<'_>, agent: Agent) -> Finding {
    let check = Check::of("texts", agent);
    match freshness::stale(&[agent], subject.paths, subject.port()) {
        Ok(stale) => match stale.first() {
            None => check.ok("skills and commands are of this version"),
            Some(stale) => {
                let noun = if stale.files == 1 { "text is" } else { "texts are" };
                let what = format!("{} {noun} missing or of another version", stale.files);
                let meaning = "the agent reads how an older tma1 worked, or nothing";
                check.warning(what, meaning, Fix::Install(agent))
            }
        },
        Err(error) => {
            let hint = error.hint();
            let meaning = "the agent's skills and commands can't be kept up to date";
            check.failure(error.to_string(), meaning, Fix::ByHand(hint))
        }
    }
}
