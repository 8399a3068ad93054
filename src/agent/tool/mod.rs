//! Tool calls, normalised: the agents name their tools differently, the world asks what they do.

mod action;
mod checking;
pub(super) mod path;
mod programs;
mod reading;

use serde_json::Value;

use crate::agent::Agent;
pub use action::ToolAction;
pub(super) use action::shell_command;
use path::{MAX_PATH_BYTES, absolute};

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

    /// Whether it is certain that the call changes no source: it runs a command that only compiles,
    /// checks, tests or looks. A command that is too long to be kept whole is not certain.
    pub fn changes_no_source(&self) -> bool {
        match (&self.action, &self.subject) {
            (ToolAction::Run(_), Some(Subject::Input(line))) => {
                line.chars().count() < INPUT_CHARS && checking::changes_no_source(line)
            }
            (ToolAction::Read { .. } | ToolAction::Search, _) => true,
            _ => false,
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
}
