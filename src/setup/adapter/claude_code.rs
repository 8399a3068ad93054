//! Claude Code: a hook script, registered for its events in `settings.json`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::paths::Paths;
use crate::setup::adapter::{Artifact, Content, Shared, Whole};
use crate::setup::binary::Binary;
use crate::setup::edit::hooks::{Dialect, HookEntries, OwnScript};

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

const SCRIPT: &str = include_str!("../../../templates/tma1-hook.sh");

/// A path that can't be written into a shell command or a JSON string.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{} can't be part of a shell command: it is not UTF-8 text", .0.display())]
pub struct UnwritablePath(PathBuf);

impl UnwritablePath {
    /// What to do about it.
    pub fn hint(&self) -> String {
        "rename it, or set TMA1_DATA_DIR to a folder with another name".to_owned()
    }
}

/// Everything that the adapter installs, in the order in which it is written: what is registered
/// exists before it is.
pub fn artifacts(
    paths: &Paths,
    port: u16,
    binary: &Binary,
) -> Result<Vec<Artifact>, UnwritablePath> {
    let mut artifacts = Vec::new();
    if let Binary::Copy { from, to } = binary {
        artifacts.push(Artifact {
            path: to.clone(),
            content: Content::Whole(Whole::Program(from.clone())),
            why: "the program, kept where it is not rebuilt or cleaned up",
        });
    }
    let script = paths.hooks().join("tma1-hook.sh");
    artifacts.push(Artifact {
        path: script.clone(),
        content: Content::Whole(Whole::Script(render_script(binary.path(), port)?)),
        why: "hands each event to the local daemon",
    });
    artifacts.push(Artifact {
        path: paths.claude_config.join("settings.json"),
        content: Content::Shared(Shared::Hooks(HookEntries {
            dialect: Dialect::ClaudeCode,
            events: EVENTS,
            command: quoted(&script)?,
            timeout: TIMEOUT,
            script: OwnScript { path: script, home: paths.home.clone() },
        })),
        why: "Claude Code reports what it does",
    });
    Ok(artifacts)
}

fn render_script(binary: &Path, port: u16) -> Result<String, UnwritablePath> {
    let port = port.to_string();
    let script = SCRIPT.replace("@PORT@", &port);
    Ok(script.replace("@BINARY@", &quoted(binary)?))
}

/// `path` as one word of a POSIX shell.
fn quoted(path: &Path) -> Result<String, UnwritablePath> {
    path.to_str()
        .and_then(|path| shlex::try_quote(path).ok())
        .map(std::borrow::Cow::into_owned)
        .ok_or_else(|| UnwritablePath(path.to_owned()))
}

#[cfg(all(test, unix))]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn observers_of_worktrees_would_break_them() {
        assert_eq!(EVENTS.len(), 25);
        assert!(!EVENTS.iter().any(|event| event.starts_with("Worktree")));
    }

    #[test]
    fn a_quoted_path_is_one_word_to_the_shell() {
        for path in [
            "/home/dev/.tma1/hooks/tma1-hook.sh",
            "/home/John Smith/x",
            "/home/O'Brien/x",
            "/home/O'Brien \"$USER\"/x",
            "/home/José/x",
            "/home/项目/x",
            "/home/a$b/x",
            "/home/`id`/x",
            "/home/back\\slash/x",
            "/home/line\nend/x",
            "/-n/x",
            "/home/a!b/x",
            "/home/a^b/x",
        ] {
            let command = format!("printf %s {}", quoted(Path::new(path)).unwrap());
            let output = Command::new("/bin/sh").args(["-c", &command]).output().unwrap();
            assert_eq!(String::from_utf8_lossy(&output.stdout), path);
        }
    }

    #[test]
    fn a_path_that_is_not_text_is_refused() {
        use std::os::unix::ffi::OsStrExt;
        let path = Path::new(std::ffi::OsStr::from_bytes(b"/home/\xff"));
        assert!(quoted(path).unwrap_err().hint().contains("TMA1_DATA_DIR"));
    }

    #[test]
    fn nothing_in_the_script_is_left_open() {
        let script = render_script(Path::new("/home/@PORT@/it's"), 14318).unwrap();
        assert!(script.contains("\ntma1=\"/home/@PORT@/it's\"\nport=14318\n"), "{script}");
    }
}
