//! Our entries in the file with the hooks of an agent: whether the agent can read it, and one entry an
//! event and no more.

use std::path::Path;

use crate::agent::Agent;
use crate::doctor::finding::{Check, Finding, Fix};
use crate::doctor::settings::{self, Handler};
use crate::doctor::subject::Subject;
use crate::setup::edit::hooks::HookEntries;

/// How many events are named before the rest is counted.
const NAMED: usize = 3;

const SILENT: &str = "the agent does not report what it does, and is told nothing";

/// What the file with the hooks holds.
#[derive(Debug)]
pub(super) struct Entries {
    /// What there is to say of it.
    pub findings: Vec<Finding>,
    /// Our hooks in it.
    pub own: Vec<Handler>,
}

/// Looks at the file with the hooks of `agent`.
pub(super) fn look(subject: &Subject<'_>, agent: Agent) -> Entries {
    let Some((path, entries)) = subject.hooks(agent) else {
        let check = Check::of("hooks", agent);
        let what = "the paths of this home can't be written into a command";
        return Entries { findings: vec![check.skipped(what)], own: Vec::new() };
    };
    let name = subject.display(&path);
    let before = fs_err::read(&path).unwrap_or_default();
    let check = Check::of("settings", agent);
    let is_settled = match entries.install_into(&before) {
        Ok(edited) => edited.bytes == before,
        Err(error) => {
            let what = format!("{name} can't be used: {error}");
            let meaning = "the agent may ignore the whole file, and tma1 does not touch it";
            let broken = check.failure(what, meaning, Fix::ByHand(error.hint()));
            let hooks = Check::of("hooks", agent).skipped(format!("{name} has to be readable"));
            return Entries { findings: vec![broken, hooks], own: Vec::new() };
        }
    };
    let readable = check.ok(format!("{name} is as the agent reads it"));
    let settings = settings::json(&path).unwrap_or_default();
    let own = settings::own_handlers(&settings, &entries.script);
    let mut hooks = judge(agent, &name, &entries, &own, is_settled);
    if own.is_empty()
        && let Some(elsewhere) = elsewhere(subject, agent, &path, &entries)
    {
        hooks.what += &elsewhere;
    }
    Entries { findings: vec![readable, hooks], own }
}

/// What our hooks `own` in the file `name` come to; `is_settled` if an install would not touch it.
fn judge(
    agent: Agent,
    name: &str,
    entries: &HookEntries,
    own: &[Handler],
    is_settled: bool,
) -> Finding {
    let check = Check::of("hooks", agent);
    let fix = || Fix::Install(agent);
    let count = |event: &str| own.iter().filter(|handler| handler.event == event).count();
    let all = entries.events.iter().copied();
    let missing: Vec<_> = all.clone().filter(|event| count(event) == 0).collect();
    let doubled: Vec<_> = all.filter(|event| count(event) > 1).collect();
    if own.is_empty() {
        return check.failure(format!("{name} has no hook of tma1"), SILENT, fix());
    }
    if !missing.is_empty() {
        let what = format!("{name} has no hook of tma1 for {}", list(&missing));
        return check.failure(what, "what happens there is not known to tma1", fix());
    }
    if !doubled.is_empty() {
        let what = format!("{name} runs the hook of tma1 more than once for {}", list(&doubled));
        let meaning = "each of these events costs time and counts twice";
        return check.warning(what, meaning, fix());
    }
    if !is_settled {
        let what = format!("the hooks of tma1 in {name} are not what this version registers");
        let meaning = "they may run at the wrong time, run another program, or not run at all";
        return check.failure(what, meaning, fix());
    }
    check.ok(format!("{name} has one hook of tma1 for each of {} events", entries.events.len()))
}

/// That our hooks are where the agent does not read, if they are.
fn elsewhere(
    subject: &Subject<'_>,
    agent: Agent,
    read: &Path,
    entries: &HookEntries,
) -> Option<String> {
    let (folder, file, variable) = match agent {
        Agent::ClaudeCode => (".claude", "settings.json", "CLAUDE_CONFIG_DIR"),
        Agent::Codex => (".codex", "hooks.json", "CODEX_HOME"),
    };
    let other = subject.paths.home.join(folder).join(file);
    let has_own = other != read
        && !settings::own_handlers(&settings::json(&other)?, &entries.script).is_empty();
    let name = subject.display(&other);
    has_own.then(|| format!("; those in {name} are not read where {variable} is set"))
}

fn list(names: &[&str]) -> String {
    match names.split_at_checked(NAMED) {
        Some((first, rest)) if !rest.is_empty() => {
            format!("{} and {} more", first.join(", "), rest.len())
        }
        _ => names.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::finding::Status;

    #[test]
    fn a_long_list_is_counted() {
        assert_eq!(list(&["a"]), "a");
        assert_eq!(list(&["a", "b", "c"]), "a, b, c");
        assert_eq!(list(&["a", "b", "c", "d", "e"]), "a, b, c and 2 more");
    }

    #[test]
    fn one_entry_an_event_is_fine_and_anything_else_is_not() {
        let subject_free = |events: &[&str], is_settled| {
            let own: Vec<_> = events
                .iter()
                .map(|event| Handler {
                    event: (*event).to_owned(),
                    group: 0,
                    index: 0,
                    matcher: None,
                    members: serde_json::Map::new(),
                })
                .collect();
            let entries = HookEntries {
                dialect: crate::setup::edit::hooks::Dialect::Codex,
                events: &["A", "B"],
                command: "/x/hooks/ours.sh".to_owned(),
                timeout: std::time::Duration::from_secs(5),
                script: crate::setup::edit::hooks::OwnScript { names: ["ours.sh", ""] },
            };
            let found = judge(Agent::Codex, "F", &entries, &own, is_settled);
            (found.status, found.what)
        };
        let said = |status, what: &str| (status, what.to_owned());
        assert_eq!(subject_free(&["A", "B"], true).0, Status::Ok);
        let none = said(Status::Failure, "F has no hook of tma1");
        assert_eq!(subject_free(&[], false), none);
        let missing = said(Status::Failure, "F has no hook of tma1 for B");
        assert_eq!(subject_free(&["A"], false), missing);
        let doubled = said(Status::Warning, "F runs the hook of tma1 more than once for A");
        assert_eq!(subject_free(&["A", "A", "B"], false), doubled);
        assert_eq!(subject_free(&["A", "B"], false).0, Status::Failure);
    }
}
