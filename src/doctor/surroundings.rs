//! What was beside our entries at the last install and is not any more.

use std::path::Path;

use crate::agent::Agent;
use crate::doctor::finding::{Check, Finding, Fix};
use crate::doctor::subject::Subject;
use crate::setup::surroundings::hooks_of_others;

/// How many hooks are named before the rest is counted.
const NAMED: usize = 3;

/// Looks whether other people's hooks of `agent` have vanished.
pub(super) fn hooks(subject: &Subject<'_>, agent: Agent) -> Finding {
    let check = Check::of("other-hooks", agent);
    let Some((path, entries)) = subject.hooks(agent) else {
        return check.skipped("the paths of this home can't be written into a command");
    };
    let receipt = subject.receipt();
    let Some(record) = receipt.record(&path) else {
        return check.skipped("it is not known what was there when tma1 was installed");
    };
    let now = hooks_of_others(&fs_err::read(&path).unwrap_or_default(), &entries.script);
    let lost = record.surroundings.lost_hooks(&now);
    let name = subject.display(&path);
    let Some(first) = lost.first() else {
        return check.ok(format!("the hooks of others in {name} are there"));
    };
    let mut names: Vec<_> =
        lost.iter().take(NAMED).map(|hook| format!("{} ({})", hook.name, hook.event)).collect();
    if lost.len() > NAMED {
        names.push(format!("{} more", lost.len() - NAMED));
    }
    let what = if lost.len() == 1 {
        format!("the hook {} ({}) has gone from {name} since the install", first.name, first.event)
    } else {
        format!(
            "{} hooks have gone from {name} since the install: {}",
            lost.len(),
            names.join(", ")
        )
    };
    let meaning = "another program may have written the file from an old copy of its own";
    check.warning(what, meaning, accept(agent, "put them back from a copy of yours"))
}

/// Looks whether a link became a file.
pub(super) fn links(subject: &Subject<'_>, agents: &[Agent]) -> Finding {
    let check = Check::new("links");
    let receipt = subject.receipt();
    let lost = receipt.files().find_map(|(path, record)| {
        Some((path, record.surroundings.lost_link(path)?)).filter(|(path, _)| path.exists())
    });
    let Some((path, target)) = lost else {
        return check.ok("what was a link at the install is one");
    };
    let (name, target) = (subject.display(path), subject.display(target));
    let what = format!("{name} was a link to {target} and is a file of its own now");
    let meaning = "what is changed in one of them does not reach the other";
    let agent = agent_of(path, subject, agents);
    check.warning(
        what,
        meaning,
        accept(agent, &format!("move {name} to {target} and link it again")),
    )
}

/// What the user does, or how it is made the new state of things.
fn accept(agent: Agent, what: &str) -> Fix {
    let command = format!("tma1 install --adapter {}", agent.name());
    Fix::ByHand(format!("{what}; if it is meant to be so, `{command}` takes note of it"))
}

/// Whose file it is: an install of that adapter looks at it again.
fn agent_of(path: &Path, subject: &Subject<'_>, agents: &[Agent]) -> Agent {
    let is_of_codex = path.starts_with(&subject.paths.codex_home);
    let agent = if is_of_codex { Agent::Codex } else { Agent::ClaudeCode };
    if agents.contains(&agent) { agent } else { agents.first().copied().unwrap_or(agent) }
}
