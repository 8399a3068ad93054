//! Claude Code: a hook script, registered for its events in `settings.json`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::agent::Agent;
use crate::paths::Paths;
use crate::setup::adapter::{Artifact, Content, MCP_NAME, Shared, Site, own_script, project};
use crate::setup::assets::{COMMANDS, SKILLS};
use crate::setup::edit::hooks::{Dialect, HookEntries};
use crate::setup::edit::literal::Literal;
use crate::setup::edit::member::MemberEntry;
use crate::setup::script::UnwritablePath;

/// The events that we listen to.
///
/// Never among them: `WorktreeCreate` and `WorktreeRemove`. A hook on these replaces what Claude
/// Code does, so a mere observer breaks it.
pub const EVENTS: &[&str] = &[
    "SessionStart",
    "SessionEnd",
    "Setup",
    "InstructionsLoaded",
    "UserPromptSubmit",
    "PreToolUse",
    "PermissionRequest",
    "PermissionDenied",
    "PostToolUse",
    "PostToolUseFailure",
    "Notification",
    "SubagentStart",
    "SubagentStop",
    "TaskCreated",
    "TaskCompleted",
    "Stop",
    "StopFailure",
    "TeammateIdle",
    "ConfigChange",
    "CwdChanged",
    "FileChanged",
    "PreCompact",
    "PostCompact",
    "Elicitation",
    "ElicitationResult",
];

/// How long Claude Code waits for the hook. The script takes half a second at most; without a
/// timeout some events would be waited for without end.
pub const TIMEOUT: Duration = Duration::from_secs(5);

/// The MCP entry in the settings of every project.
const SERVERS: &str = "mcpServers";

/// The file with the hooks, in Claude Code's directory.
pub(in crate::setup) const SETTINGS: &str = "settings.json";

/// The file with the MCP servers, unless there is the preferred one.
pub(in crate::setup) const STATE: &str = ".claude.json";

/// The file with the MCP servers that Claude Code prefers.
pub(in crate::setup) const PREFERRED_STATE: &str = ".config.json";

/// Claude Code's directory unless `CLAUDE_CONFIG_DIR` says otherwise.
pub(in crate::setup) fn default_folder(home: &Path) -> PathBuf {
    home.join(".claude")
}

/// The entries by which Claude Code runs `command`.
pub(in crate::setup) fn hooks(command: String) -> HookEntries {
    let script = own_script(Agent::ClaudeCode);
    let dialect = Dialect::ClaudeCode;
    HookEntries { dialect, events: EVENTS, command, timeout: TIMEOUT, script }
}

/// The entry by which Claude Code starts our MCP server.
pub(in crate::setup) fn server(members: Vec<(&'static str, Literal)>) -> MemberEntry {
    MemberEntry { parent: SERVERS, name: MCP_NAME, members }
}

const SKILLS_FOLDER: &str = "skills";
const COMMANDS_FOLDER: &str = "commands";

pub(super) fn skills(paths: &Paths) -> PathBuf {
    paths.claude_config.join(SKILLS_FOLDER)
}

pub(super) fn commands(paths: &Paths) -> PathBuf {
    paths.claude_config.join(COMMANDS_FOLDER)
}

/// Whether `folder` may be that of skills or commands in a directory of Claude Code.
pub(in crate::setup) fn is_text_folder(folder: &Path) -> bool {
    [SKILLS_FOLDER, COMMANDS_FOLDER].iter().any(|name| folder.ends_with(name))
}

/// Where an install may have named our MCP server when Claude Code had its state in another file.
fn other_states(paths: &Paths) -> Vec<PathBuf> {
    let folder = &paths.claude_config;
    let mut places = vec![folder.join(PREFERRED_STATE), folder.join(STATE)];
    if *folder == default_folder(&paths.home) {
        places.push(paths.home.join(STATE));
    }
    places.retain(|place| *place != paths.claude_state && place.is_file());
    places
}

/// Everything that the adapter installs, in the order in which it is written: what is registered
/// exists before it is.
pub(super) fn artifacts(site: &Site<'_>) -> Result<Vec<Artifact>, UnwritablePath> {
    let (script, command) = site.script(Agent::ClaudeCode)?;
    let mut members = vec![("type", Literal::from("stdio"))];
    members.extend(site.mcp_command()?);
    let mut artifacts = vec![script];
    let (skills, commands) = (skills(site.paths), commands(site.paths));
    artifacts.extend(Site::texts(&skills, SKILLS, "a skill: when and how to ask us"));
    artifacts.extend(Site::texts(&commands, COMMANDS, "a command for you to type"));
    if let Some(project) = site.project {
        artifacts.extend(project::artifacts(Agent::ClaudeCode, project));
    }
    let why = "Claude Code can ask our MCP server";
    let server = Content::Shared(Shared::Member(server(members)));
    for place in other_states(site.paths) {
        let content = server.clone();
        artifacts.push(Artifact { path: place, content, why, wanted: false, project: None });
    }
    artifacts.push(Artifact::new(site.paths.claude_state.clone(), server, why));
    artifacts.push(Artifact::new(
        site.paths.claude_config.join(SETTINGS),
        Content::Shared(Shared::Hooks(hooks(command))),
        "Claude Code reports what it does",
    ));
    Ok(artifacts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn observers_of_worktrees_would_break_them() {
        assert_eq!(EVENTS.len(), 25);
        assert!(!EVENTS.iter().any(|event| event.starts_with("Worktree")));
    }
}
