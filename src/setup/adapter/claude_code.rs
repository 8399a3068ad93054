//! Claude Code: a hook script, registered for its events in `settings.json`.

use std::time::Duration;

use crate::agent::Agent;
use crate::setup::adapter::{Artifact, Content, Shared, Site};
use crate::setup::edit::hooks::{Dialect, HookEntries, OwnScript};
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

/// Everything that the adapter installs, in the order in which it is written: what is registered
/// exists before it is.
pub(super) fn artifacts(site: &Site<'_>) -> Result<Vec<Artifact>, UnwritablePath> {
    let (script, command) = site.script(Agent::ClaudeCode)?;
    let path = script.path.clone();
    let hooks = Artifact {
        path: site.paths.claude_config.join("settings.json"),
        content: Content::Shared(Shared::Hooks(HookEntries {
            dialect: Dialect::ClaudeCode,
            events: EVENTS,
            command,
            timeout: TIMEOUT,
            script: OwnScript { path, home: site.paths.home.clone() },
        })),
        why: "Claude Code reports what it does",
    };
    Ok(vec![script, hooks])
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
