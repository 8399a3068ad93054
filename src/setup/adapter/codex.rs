//! Codex: a hook script, registered for its events in `hooks.json`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::agent::Agent;
use crate::paths::Paths;
use crate::setup::adapter::{Artifact, Content, MCP_NAME, Shared, Site, own_script, project};
use crate::setup::assets::SKILLS;
use crate::setup::edit::hooks::{Dialect, HookEntries};
use crate::setup::edit::literal::Literal;
use crate::setup::edit::toml::TableEntry;
use crate::setup::edit::toml::trust::TrustRecords;
use crate::setup::script::UnwritablePath;

/// The events that we listen to. Codex asks its user to trust each of them, so they are few.
pub const EVENTS: &[&str] =
    &["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"];

/// How long Codex waits for the hook. The script takes half a second at most; without a timeout it
/// would be ten minutes. Part of what the user trusts, so it stays the same from version to version.
pub const TIMEOUT: Duration = Duration::from_secs(5);

/// The file with the hooks, in Codex's directory.
pub(in crate::setup) const HOOKS: &str = "hooks.json";

/// The file with the MCP servers, in Codex's directory.
pub(in crate::setup) const CONFIG: &str = "config.toml";

/// Codex's directory unless `CODEX_HOME` says otherwise.
pub(in crate::setup) fn default_folder(home: &Path) -> PathBuf {
    home.join(".codex")
}

/// The entries by which Codex runs `command`.
pub(in crate::setup) fn hooks(command: String) -> HookEntries {
    let script = own_script(Agent::Codex);
    HookEntries { dialect: Dialect::Codex, events: EVENTS, command, timeout: TIMEOUT, script }
}

/// The table by which Codex starts our MCP server.
pub(in crate::setup) fn server(values: Vec<(&'static str, Literal)>) -> TableEntry {
    TableEntry { parent: "mcp_servers", name: MCP_NAME, values }
}

/// Codex reads them there for every agent of the user, not below its own home.
pub(in crate::setup) fn skills(paths: &Paths) -> PathBuf {
    paths.home.join(".agents").join("skills")
}

/// Everything that the adapter installs, in the order in which it is written: what is registered
/// exists before it is.
pub(super) fn artifacts(site: &Site<'_>) -> Result<Vec<Artifact>, UnwritablePath> {
    let (script, command) = site.script(Agent::Codex)?;
    let hooks = hooks(command);
    let server = server(site.mcp_command()?);
    let mut artifacts = vec![script];
    artifacts.extend(Site::texts(&skills(site.paths), SKILLS, "a skill: when and how to ask us"));
    if let Some(project) = site.project {
        artifacts.extend(project::artifacts(Agent::Codex, project));
    }
    let config = site.paths.codex_home.join(CONFIG);
    artifacts.push(Artifact {
        wanted: false,
        ..Artifact::new(
            config.clone(),
            Content::Shared(Shared::Trust(TrustRecords::of(&hooks))),
            "that you trusted our hooks",
        )
    });
    artifacts.push(Artifact::new(
        config,
        Content::Shared(Shared::Table(server)),
        "Codex can ask our MCP server",
    ));
    artifacts.push(Artifact::new(
        site.paths.codex_home.join(HOOKS),
        Content::Shared(Shared::Hooks(hooks)),
        "Codex reports what it does, once you trust the hooks there",
    ));
    Ok(artifacts)
}
