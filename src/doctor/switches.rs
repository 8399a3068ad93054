//! The switches by which a user or an administrator turns hooks off.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::agent::Agent;
use crate::doctor::finding::{Check, Finding, Fix};
use crate::doctor::settings;
use crate::doctor::subject::Subject;

/// Where an administrator sets what holds for Claude Code on the whole machine.
const MANAGED: &str = if cfg!(target_os = "macos") {
    "Library/Application Support/ClaudeCode"
} else if cfg!(windows) {
    "Program Files/ClaudeCode"
} else {
    "etc/claude-code"
};

const OFF: &str = "no hook of tma1 runs, and the agent does not say so";

/// Looks for a switch that keeps the agent from running our hooks.
pub(super) fn check(subject: &Subject<'_>, agent: Agent) -> Vec<Finding> {
    let check = Check::of("hooks-enabled", agent);
    let off = match agent {
        Agent::ClaudeCode => claude_code(subject),
        Agent::Codex => codex(subject),
    };
    let mut found: Vec<_> = off
        .into_iter()
        .map(|(path, switch)| {
            let name = subject.display(&path);
            let what = format!("{name} turns hooks off: {switch}");
            let fix = if path.starts_with(managed(subject)) {
                Fix::ByHand(format!("ask who manages this machine to change {name}"))
            } else {
                Fix::ByHand(format!("remove that line from {name}"))
            };
            check.failure(what, OFF, fix)
        })
        .collect();
    if found.is_empty() {
        found.push(check.ok("no switch turns hooks off"));
    }
    found
}

fn managed(subject: &Subject<'_>) -> PathBuf {
    subject.system.join(MANAGED)
}

fn claude_code(subject: &Subject<'_>) -> Vec<(PathBuf, &'static str)> {
    let user = subject.paths.claude_config.join("settings.json");
    let projects = subject.projects().into_iter().flat_map(|root| {
        ["settings.json", "settings.local.json"].map(|name| root.join(".claude").join(name))
    });
    let mut found: Vec<_> = std::iter::once(user)
        .chain(projects)
        .chain(managed_files(&managed(subject)))
        .filter(|path| is(settings::json(path).as_ref(), "disableAllHooks", true))
        .map(|path| (path, "`disableAllHooks` is true"))
        .collect();
    let own_only = managed_files(&managed(subject))
        .into_iter()
        .filter(|path| is(settings::json(path).as_ref(), "allowManagedHooksOnly", true));
    found.extend(own_only.map(|path| (path, "`allowManagedHooksOnly` is true")));
    found
}

fn managed_files(folder: &Path) -> Vec<PathBuf> {
    let more = fs_err::read_dir(folder.join("managed-settings.d")).into_iter().flatten().flatten();
    let more =
        more.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|e| e == "json"));
    std::iter::once(folder.join("managed-settings.json")).chain(more).collect()
}

fn codex(subject: &Subject<'_>) -> Vec<(PathBuf, &'static str)> {
    let user = subject.paths.codex_home.join("config.toml");
    let projects = subject.projects().into_iter().map(|root| root.join(".codex/config.toml"));
    let switch = |path: PathBuf| {
        let config = settings::toml(&path)?;
        let features = config.get("features");
        if is(features, "hooks", false) {
            Some((path, "`features.hooks` is false"))
        } else if is(features, "codex_hooks", false) {
            Some((path, "`features.codex_hooks` is false"))
        } else {
            None
        }
    };
    std::iter::once(user).chain(projects).filter_map(switch).collect()
}

fn is(settings: Option<&Value>, name: &str, flag: bool) -> bool {
    settings.and_then(|settings| settings.get(name)).and_then(Value::as_bool) == Some(flag)
}
