//! Whose call it is.

use std::path::Path;

use serde_json::{Map, Value};

use crate::agent::{Agent, SessionKey};
use crate::config::Environment;

/// Which session calls, as far as that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Caller {
    /// Claude Code, which says in the environment in which session it started us. It goes on in
    /// another one after `/clear`, and does not tell.
    ClaudeCode {
        /// The session that we were started in.
        session: String,
        /// The directory of the project.
        cwd: String,
    },
    /// Codex, which says with each call whose it is.
    Codex {
        /// The session that calls.
        session: String,
    },
    /// An agent that works in a directory.
    Unknown {
        /// The directory.
        cwd: String,
    },
}

impl Caller {
    /// Who started us, by the environment and the working directory.
    pub fn of_process(environment: &Environment, working_dir: &Path) -> Self {
        let text = |name| environment.get(name).map(|value| value.to_string_lossy().into_owned());
        let working_dir = || working_dir.to_string_lossy().into_owned();
        match text("CLAUDE_CODE_SESSION_ID") {
            Some(session) => {
                let cwd = text("CLAUDE_PROJECT_DIR").unwrap_or_else(working_dir);
                Self::ClaudeCode { session, cwd }
            }
            None => Self::Unknown { cwd: working_dir() },
        }
    }

    /// Who makes a call that comes with `meta`.
    pub(super) fn of_call(&self, meta: &Map<String, Value>) -> Self {
        // A subagent of Codex has a thread of its own in the session of its parent.
        ["sessionId", "threadId"]
            .into_iter()
            .find_map(|field| meta.get(field)?.as_str())
            .map_or_else(|| self.clone(), |id| Self::Codex { session: id.to_owned() })
    }

    /// The session if it is known, and the directory if it may help.
    pub(super) fn place(self) -> (Option<SessionKey>, Option<String>) {
        match self {
            Self::ClaudeCode { session, cwd } => {
                (Some(SessionKey { agent: Agent::ClaudeCode, id: session }), Some(cwd))
            }
            Self::Codex { session } => {
                (Some(SessionKey { agent: Agent::Codex, id: session }), None)
            }
            Self::Unknown { cwd } => (None, Some(cwd)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn started(variables: &[(&str, &str)]) -> Caller {
        Caller::of_process(&variables.iter().copied().collect(), Path::new("/work"))
    }

    #[test]
    fn claude_code_is_known_by_the_environment() {
        let session = || "s".to_owned();
        for (variables, expected) in [
            (&[][..], Caller::Unknown { cwd: "/work".to_owned() }),
            (&[("CLAUDE_PROJECT_DIR", "/p")], Caller::Unknown { cwd: "/work".to_owned() }),
            (
                &[("CLAUDE_CODE_SESSION_ID", "s")],
                Caller::ClaudeCode { session: session(), cwd: "/work".to_owned() },
            ),
            (
                &[("CLAUDE_CODE_SESSION_ID", "s"), ("CLAUDE_PROJECT_DIR", "/p")],
                Caller::ClaudeCode { session: session(), cwd: "/p".to_owned() },
            ),
        ] {
            assert_eq!(started(variables), expected, "{variables:?}");
        }
    }

    #[test]
    fn codex_is_known_by_the_call() {
        let caller = started(&[("CLAUDE_CODE_SESSION_ID", "s")]);
        let call = |meta: Value| caller.of_call(meta.as_object().unwrap());
        let codex = |session: &str| Caller::Codex { session: session.to_owned() };
        assert_eq!(call(json!({"sessionId": "a", "threadId": "b"})), codex("a"));
        assert_eq!(call(json!({"threadId": "b", "callId": "c"})), codex("b"));
        for meta in [json!({}), json!({"claudecode/toolUseId": "x"}), json!({"sessionId": 1})] {
            assert_eq!(call(meta), caller);
        }
    }
}
