//! Codex: a hook script, registered for its events in `hooks.json`.

use std::time::Duration;

use crate::agent::Agent;
use crate::setup::adapter::{Artifact, Content, Shared, Site};
use crate::setup::edit::hooks::{Dialect, HookEntries, OwnScript};
use crate::setup::script::UnwritablePath;

/// The events that we listen to. Codex asks its user to trust each of them, so they are few.
pub const EVENTS: &[&str] =
    &["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"];

/// How long Codex waits for the hook. The script takes half a second at most; without a timeout it
/// would be ten minutes. Part of what the user trusts, so it stays the same from version to version.
pub const TIMEOUT: Duration = Duration::from_secs(5);

/// Everything that the adapter installs, in the order in which it is written: what is registered
/// exists before it is.
pub(super) fn artifacts(site: &Site<'_>) -> Result<Vec<Artifact>, UnwritablePath> {
    let (script, command) = site.script(Agent::Codex)?;
    let path = script.path.clone();
    let hooks = Artifact {
        path: site.paths.codex_home.join("hooks.json"),
        content: Content::Shared(Shared::Hooks(HookEntries {
            dialect: Dialect::Codex,
            events: EVENTS,
            command,
            timeout: TIMEOUT,
            script: OwnScript { path, home: site.paths.home.clone() },
        })),
        why: "Codex reports what it does, once you trust the hooks there",
    };
    Ok(vec![script, hooks])
}
