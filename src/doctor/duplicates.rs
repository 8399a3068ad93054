//! Our hooks in further places that an agent reads: it runs all of them.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::agent::Agent;
use crate::doctor::finding::{Check, Finding, Fix};
use crate::doctor::settings::{self, own_handlers};
use crate::doctor::subject::Subject;
use crate::setup::edit::hooks::OwnScript;

/// How many plugins are looked at. Nobody has more.
const MAX_PLUGINS: usize = 1000;

/// Looks for hooks of ours beside those that an install registers.
pub(super) fn check(subject: &Subject<'_>, agent: Agent) -> Vec<Finding> {
    let check = Check::of("duplicates", agent);
    let Some((user, entries)) = subject.hooks(agent) else { return Vec::new() };
    let has_own = |settings: Option<Value>| {
        settings.is_some_and(|settings| !own_handlers(&settings, &entries.script).is_empty())
    };
    let mut found: Vec<_> = files(subject, agent)
        .into_iter()
        .filter(|(path, _)| *path != user)
        .filter(|(path, is_toml)| {
            has_own(if *is_toml { settings::toml(path) } else { settings::json(path) })
        })
        .map(|(path, _)| {
            let name = subject.display(&path);
            let fix = Fix::ByHand(format!("remove the hooks of tma1 from {name}"));
            check.warning(format!("{name} has hooks of tma1 too"), TWICE, fix)
        })
        .collect();
    if agent == Agent::ClaudeCode {
        let plugins = plugins(&subject.paths.claude_config, &entries.script).into_iter();
        found.extend(plugins.map(|plugin| {
            let fix = Fix::Shell(format!("claude plugin uninstall {plugin}"));
            check.warning(format!("the plugin {plugin} runs the hooks of tma1 too"), TWICE, fix)
        }));
    }
    if found.is_empty() {
        found.push(check.ok("no hook of tma1 is registered in a second place"));
    }
    found
}

const TWICE: &str = "the agent runs both: every event counts twice, and the model is told twice";

/// The other settings that the agent reads, and whether they are TOML.
fn files(subject: &Subject<'_>, agent: Agent) -> Vec<(PathBuf, bool)> {
    let projects = subject.projects();
    match agent {
        Agent::ClaudeCode => ["settings.json", "settings.local.json"]
            .iter()
            .flat_map(|name| projects.iter().map(move |root| root.join(".claude").join(name)))
            .map(|path| (path, false))
            .collect(),
        Agent::Codex => {
            let mut files = vec![(subject.paths.codex_home.join("config.toml"), true)];
            for root in &projects {
                files.push((root.join(".codex").join("hooks.json"), false));
                files.push((root.join(".codex").join("config.toml"), true));
            }
            files
        }
    }
}

/// The plugins of Claude Code that are switched on and run our script.
fn plugins(claude: &Path, script: &OwnScript) -> Vec<String> {
    let settings = settings::json(&claude.join("settings.json")).unwrap_or_default();
    let enabled = settings.get("enabledPlugins").and_then(Value::as_object);
    let enabled = enabled.into_iter().flatten().filter(|(_, on)| **on == true);
    let is_ours = |name: &str| {
        let (plugin, market) = name.split_once('@')?;
        let versions = fs_err::read_dir(claude.join("plugins/cache").join(market).join(plugin));
        let hooks = versions.ok()?.flatten().map(|version| version.path().join("hooks/hooks.json"));
        let mut hooks = hooks.filter_map(|path| settings::json(&path));
        hooks.any(|hooks| !own_handlers(&hooks, script).is_empty()).then_some(())
    };
    let enabled = enabled.map(|(name, _)| name).take(MAX_PLUGINS);
    enabled.filter(|name| is_ours(name).is_some()).cloned().collect()
}
