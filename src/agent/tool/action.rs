//! What a tool call does.

use std::borrow::Cow;

use serde_json::Value;

use crate::agent::command::Line;
use crate::agent::shell::Script;
use crate::agent::tool::path::{MAX_PATH_BYTES, absolute};
use crate::agent::tool::reading::reading_of;
use crate::agent::{Agent, Command, patch, shell};

/// How many files of one call are looked at; a person who reads patches sends fewer.
pub(super) const MAX_FILES: usize = 256;

/// What a tool call does, as far as the world cares. Paths are absolute and without `.` and `..`
/// when the working directory is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolAction {
    /// Shows the model files, and changes nothing.
    Read {
        /// The files.
        paths: Vec<String>,
    },
    /// Changes files.
    Edit {
        /// Files that are created or changed, in the order of the call.
        written: Vec<String>,
        /// Files that are deleted, or moved away.
        removed: Vec<String>,
    },
    /// Runs a command in a shell, which can do anything.
    Run(Command),
    /// Looks for files or for text in them, and changes nothing.
    Search,
    /// Anything else.
    Other,
}

impl ToolAction {
    /// What the tool `name` of `agent` does with `input`, called in the directory `cwd`.
    pub fn of_call(agent: Agent, name: &str, input: &Value, cwd: &str) -> Self {
        let path = |names: &[&str]| names.iter().find_map(|name| input.get(name)?.as_str());
        if let Some(line) = shell_command(agent, name, input) {
            return Self::of_command(&line, cwd);
        }
        match (agent, name) {
            (Agent::ClaudeCode, "Edit" | "Write" | "MultiEdit" | "NotebookEdit") => {
                path(&["file_path", "notebook_path"]).map_or(Self::Other, |path| Self::Edit {
                    written: paths(cwd, &[path]),
                    removed: Vec::new(),
                })
            }
            (Agent::ClaudeCode, "Read" | "NotebookRead") => {
                Self::read(cwd, path(&["file_path", "notebook_path"]))
            }
            (Agent::ClaudeCode, "Grep" | "Glob" | "LS")
            | (Agent::Codex, "grep_files" | "list_dir") => Self::Search,
            (Agent::Codex, "apply_patch") => match path(&["command", "input"]) {
                Some(text) => Self::of_patch(text, cwd),
                None => Self::Other,
            },
            (Agent::Codex, "view_image" | "read_file") => {
                Self::read(cwd, path(&["path", "file_path"]))
            }
            _ => Self::Other,
        }
    }

    fn read(cwd: &str, path: Option<&str>) -> Self {
        path.map_or(Self::Other, |path| Self::Read { paths: paths(cwd, &[path]) })
    }

    fn of_patch(text: &str, cwd: &str) -> Self {
        let files = patch::files(text);
        Self::Edit { written: paths(cwd, &files.written), removed: paths(cwd, &files.removed) }
    }

    fn of_command(line: &str, cwd: &str) -> Self {
        let line = shell::unwrapped(line);
        let script = Script::parse(&line);
        if let Some((patch, directory)) = script.as_ref().and_then(|it| patch::in_script(it, cwd)) {
            return Self::of_patch(&patch, &directory);
        }
        (script.as_ref().and_then(|script| reading_of(script, cwd)))
            .unwrap_or_else(|| Self::Run(Line::new(&line, script.as_ref(), cwd).command))
    }
}

/// The command line of a call that runs one in a shell; none if the call is another.
pub(in crate::agent) fn shell_command<'a>(
    agent: Agent,
    name: &str,
    input: &'a Value,
) -> Option<Cow<'a, str>> {
    let is_shell = match agent {
        Agent::ClaudeCode => name == "Bash",
        // The hooks call every shell `Bash`; the others are what the tools themselves are called.
        Agent::Codex => {
            matches!(name, "Bash" | "shell" | "local_shell" | "shell_command" | "exec_command")
        }
    };
    let argument = match agent {
        Agent::ClaudeCode => input.get("command"),
        Agent::Codex => input.get("command").or_else(|| input.get("cmd")),
    };
    match argument.filter(|_| is_shell)? {
        Value::String(line) => Some(Cow::Borrowed(line)),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            shlex::try_join(words).ok().map(Cow::Owned)
        }
        _ => None,
    }
}

/// The absolute paths of `files`, as far as they can be names.
pub(super) fn paths(cwd: &str, files: &[impl AsRef<str>]) -> Vec<String> {
    (files.iter().take(MAX_FILES))
        .map(|path| absolute(cwd, path.as_ref()))
        .filter(|path| path.len() <= MAX_PATH_BYTES)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::Purpose;
    use serde_json::json;

    fn written(agent: Agent, name: &str, input: &Value) -> Option<Vec<String>> {
        match ToolAction::of_call(agent, name, input, "/home/dev/project") {
            ToolAction::Edit { written, .. } => Some(written),
            _ => None,
        }
    }

    #[test]
    fn the_edit_tools_of_claude_code_name_their_file() {
        let agent = Agent::ClaudeCode;
        for name in ["Edit", "Write", "MultiEdit"] {
            let input = json!({"file_path": "/home/dev/project/a.txt"});
            assert_eq!(written(agent, name, &input).unwrap(), ["/home/dev/project/a.txt"]);
        }
        let input = json!({"notebook_path": "/n.ipynb"});
        assert_eq!(written(agent, "NotebookEdit", &input).unwrap(), ["/n.ipynb"]);
        assert_eq!(written(agent, "Edit", &json!({})), None);
        assert_eq!(written(agent, "Read", &json!({"file_path": "/a"})), None);
    }

    #[test]
    fn a_patch_of_codex_is_relative_to_the_calls_directory() {
        let input = json!({"command": "*** Begin Patch\n*** Add File: src/../lib/./x.py\n+1\n*** End Patch\n"});
        assert_eq!(
            written(Agent::Codex, "apply_patch", &input).unwrap(),
            ["/home/dev/project/lib/x.py"]
        );
    }

    #[test]
    fn a_hostile_patch_is_taken_in_part() {
        let patch = |file: &str| json!({"command": format!("*** Add File: {file}\n").repeat(1000)});
        let files = written(Agent::Codex, "apply_patch", &patch("a")).unwrap();
        assert_eq!(files.len(), MAX_FILES);
        let long = patch(&"a/".repeat(MAX_PATH_BYTES));
        assert_eq!(written(Agent::Codex, "apply_patch", &long), Some(Vec::new()));
    }

    #[test]
    fn each_tool_does_what_it_does() {
        let read = |path: &str| ToolAction::Read { paths: vec![path.to_owned()] };
        let cwd = "/home/dev/project";
        for (agent, name, input, expected) in [
            (Agent::ClaudeCode, "Read", json!({"file_path": "/a/b"}), read("/a/b")),
            (Agent::ClaudeCode, "NotebookRead", json!({"notebook_path": "/n"}), read("/n")),
            (Agent::ClaudeCode, "Read", json!({}), ToolAction::Other),
            (Agent::ClaudeCode, "Grep", json!({"pattern": "x"}), ToolAction::Search),
            (Agent::ClaudeCode, "Glob", json!({"pattern": "*"}), ToolAction::Search),
            (Agent::ClaudeCode, "LS", json!({"path": "/"}), ToolAction::Search),
            (Agent::ClaudeCode, "Bash", json!({"cmd": 1}), ToolAction::Other),
            (Agent::ClaudeCode, "WebFetch", json!({"url": "x"}), ToolAction::Other),
            (Agent::ClaudeCode, "mcp__a__Edit", json!({"file_path": "/a"}), ToolAction::Other),
            (Agent::ClaudeCode, "Agent", json!({"prompt": "cat a"}), ToolAction::Other),
            (Agent::ClaudeCode, "apply_patch", json!({"command": "x"}), ToolAction::Other),
            (Agent::ClaudeCode, "Bash", json!({"command": "cat a"}), read("/home/dev/project/a")),
            (Agent::Codex, "Bash", json!({"command": "cat a"}), read("/home/dev/project/a")),
            (
                Agent::Codex,
                "shell",
                json!({"command": ["bash", "-lc", "cat 'a b'"]}),
                read("/home/dev/project/a b"),
            ),
            (Agent::Codex, "view_image", json!({"path": "a.png"}), read("/home/dev/project/a.png")),
            (Agent::Codex, "spawn_agent", json!({"message": "cat a"}), ToolAction::Other),
            (Agent::Codex, "Edit", json!({"file_path": "/a"}), ToolAction::Other),
        ] {
            assert_eq!(ToolAction::of_call(agent, name, &input, cwd), expected, "{name} {input}");
        }
    }

    #[test]
    fn a_command_is_known_by_its_text_and_purpose() {
        let input = json!({"command": "cd /p && cargo test 2>&1 | tail"});
        let action = ToolAction::of_call(Agent::ClaudeCode, "Bash", &input, "/p");
        let ToolAction::Run(command) = action else { panic!("{action:?}") };
        assert_eq!((command.text.as_str(), command.purpose), ("cargo test", Purpose::Test));
        assert!(!command.tells_status);
    }

    #[test]
    fn a_patch_in_a_shell_command_is_an_edit() {
        let patch =
            "*** Begin Patch\n*** Update File: a.rs\n*** Move to: b.rs\n+$(x)\n*** End Patch\n";
        for (command, directory) in [
            (format!("apply_patch <<'EOF'\n{patch}EOF\n"), "/p"),
            (format!("apply_patch <<EOF\n{patch}EOF"), "/p"),
            (format!("cd sub && apply_patch <<'EOF'\n{patch}EOF"), "/p/sub"),
            (format!("apply_patch '{patch}'"), "/p"),
            (format!("bash -lc \"apply_patch <<'EOF'\n{}EOF\"", patch.replace('$', "\\$")), "/p"),
        ] {
            let input = json!({"command": command});
            assert_eq!(
                ToolAction::of_call(Agent::Codex, "Bash", &input, "/p"),
                ToolAction::Edit {
                    written: vec![format!("{directory}/b.rs")],
                    removed: vec![format!("{directory}/a.rs")],
                },
                "{command}"
            );
        }
        for command in ["apply_patch", "apply_patch --help", "apply_patch < p", "cd a; cargo test"]
        {
            let input = json!({"command": command});
            let action = ToolAction::of_call(Agent::Codex, "Bash", &input, "/p");
            assert!(matches!(action, ToolAction::Run(_)), "{command}: {action:?}");
        }
    }
}
