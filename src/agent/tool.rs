//! Tool calls, normalised: the agents name their tools differently, the world asks what they do.

use serde_json::Value;

use crate::agent::{Agent, patch};

/// A longer path is longer than any system's, so it names no file.
pub(super) const MAX_PATH_BYTES: usize = 4096;

/// How many files of one patch are looked at; a person who reads patches sends fewer.
const MAX_PATCH_FILES: usize = 256;

/// One call of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// The agent's id of the call, the same before and after; absent on some events.
    pub id: Option<String>,
    /// The agent's name of the tool.
    pub name: String,
    /// What the call does.
    pub action: ToolAction,
    /// What the call is about.
    pub subject: Option<Subject>,
}

/// What a tool call is about, for its reader to recognise it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// The file that it reads or changes, or the first of them.
    File(String),
    /// The beginning of what it is given: a command, a pattern, an address.
    Input(String),
}

/// How many characters of an input are kept; it may be a whole program.
const INPUT_CHARS: usize = 200;

impl ToolCall {
    /// The call of the tool `name` of `agent` with `input`, in the directory `cwd`.
    pub fn new(agent: Agent, id: Option<String>, name: &str, input: &Value, cwd: &str) -> Self {
        let action = ToolAction::of_call(agent, name, input, cwd);
        let subject = Subject::of_call(&action, input, cwd);
        Self { id, name: name.to_owned(), action, subject }
    }
}

impl Subject {
    fn of_call(action: &ToolAction, input: &Value, cwd: &str) -> Option<Self> {
        let argument = |name: &&str| input.get(name).and_then(Value::as_str);
        let file = match action {
            ToolAction::Edit { written, removed } => written.iter().chain(removed).next().cloned(),
            ToolAction::Read { paths } => paths.first().cloned(),
            ToolAction::Run(_) | ToolAction::Search | ToolAction::Other => {
                ["file_path", "notebook_path"].iter().find_map(argument).map(|p| absolute(cwd, p))
            }
        };
        if let Some(path) = file {
            return (path.len() <= MAX_PATH_BYTES).then_some(Self::File(path));
        }
        ["command", "pattern", "query", "url", "skill", "description"]
            .iter()
            .find_map(argument)
            .map(|text| Self::Input(text.chars().take(INPUT_CHARS).collect()))
    }
}

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

/// A command that a shell runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The command in one line, without what does not tell it from another one: by it, two runs of
    /// the same command are known as such.
    pub text: String,
    /// What it is for.
    pub purpose: Purpose,
}

/// What a command is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Builds or checks the project, without running its tests.
    Build,
    /// Runs tests.
    Test,
    /// Anything else.
    Other,
}

impl ToolAction {
    /// What the tool `name` of `agent` does with `input`, called in the directory `cwd`.
    pub fn of_call(agent: Agent, name: &str, input: &Value, cwd: &str) -> Self {
        let argument = |name: &str| input.get(name).and_then(Value::as_str);
        match (agent, name) {
            (Agent::ClaudeCode, "Edit" | "Write" | "MultiEdit" | "NotebookEdit") => {
                match argument("file_path").or_else(|| argument("notebook_path")) {
                    Some(path) => Self::Edit { written: paths(cwd, &[path]), removed: Vec::new() },
                    None => Self::Other,
                }
            }
            (Agent::Codex, "apply_patch") => match argument("command") {
                Some(text) => {
                    let files = patch::files(text);
                    Self::Edit {
                        written: paths(cwd, &files.written),
                        removed: paths(cwd, &files.removed),
                    }
                }
                None => Self::Other,
            },
            _ => Self::Other,
        }
    }
}

fn paths(cwd: &str, files: &[&str]) -> Vec<String> {
    (files.iter().take(MAX_PATCH_FILES))
        .map(|path| absolute(cwd, path))
        .filter(|path| path.len() <= MAX_PATH_BYTES)
        .collect()
}

/// `path` as seen from `cwd`, with `/` between its parts and `.` and `..` resolved by the text
/// alone, as no file is looked at.
fn absolute(cwd: &str, path: &str) -> String {
    let path = path.replace('\\', "/");
    let is_absolute = path.starts_with('/') || has_drive(&path);
    let joined = if is_absolute { path } else { format!("{}/{path}", cwd.replace('\\', "/")) };
    let mut parts: Vec<&str> = Vec::new();
    for part in joined.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let root = if joined.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}

/// Whether a path begins with a Windows drive, such as `C:/`.
fn has_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [letter, b':', b'/', ..] if letter.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;
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
    fn a_call_is_about_its_file_or_its_input() {
        let call = |agent, name, input: Value| {
            ToolCall::new(agent, None, name, &input, "/home/dev").subject
        };
        let claude = |name, input| call(Agent::ClaudeCode, name, input);
        let file = |path: &str| Some(Subject::File(path.to_owned()));
        let input = |text: &str| Some(Subject::Input(text.to_owned()));
        assert_eq!(claude("Read", json!({"file_path": "a.rs"})), file("/home/dev/a.rs"));
        assert_eq!(claude("Edit", json!({"file_path": "/b.rs"})), file("/b.rs"));
        let bash = json!({"command": "cargo test", "description": "Run the tests"});
        assert_eq!(claude("Bash", bash), input("cargo test"));
        assert_eq!(claude("Grep", json!({"pattern": "fn", "path": "src"})), input("fn"));
        assert_eq!(claude("TodoWrite", json!({"todos": []})), None);
        assert_eq!(claude("Bash", json!({"command": 1})), None);
        let patch = "*** Begin Patch\n*** Delete File: old.txt\n*** End Patch\n";
        let patch = json!({"command": patch});
        assert_eq!(call(Agent::Codex, "apply_patch", patch), file("/home/dev/old.txt"));
        let long = json!({"command": "é".repeat(1000)});
        assert_eq!(claude("Bash", long), input(&"é".repeat(INPUT_CHARS)));
        assert_eq!(claude("Read", json!({"file_path": "x".repeat(5000)})), None);
    }

    #[test]
    fn a_hostile_patch_is_taken_in_part() {
        let patch = |file: &str| json!({"command": format!("*** Add File: {file}\n").repeat(1000)});
        let files = written(Agent::Codex, "apply_patch", &patch("a")).unwrap();
        assert_eq!(files.len(), MAX_PATCH_FILES);
        let long = patch(&"a/".repeat(MAX_PATH_BYTES));
        assert_eq!(written(Agent::Codex, "apply_patch", &long), Some(Vec::new()));
    }

    #[test]
    fn paths_become_absolute_by_their_text() {
        for (path, expected) in [
            ("a", "/home/a"),
            ("./a//b", "/home/a/b"),
            ("../../../etc", "/etc"),
            ("/x/../y", "/y"),
            (r"C:\src\a.rs", "C:/src/a.rs"),
            ("", "/home"),
        ] {
            assert_eq!(absolute("/home", path), expected, "{path}");
        }
    }
}
