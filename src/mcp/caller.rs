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
        /// Where we were started, which helps where nothing is known of the session.
        near: String,
    },
    /// An agent that works in a directory.
    Unknown {
        /// Which, if whoever configured us has said so by `TMA1_MCP_CALLER`.
        agent: Option<Agent>,
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
            None => Self::Unknown {
                agent: text("TMA1_MCP_CALLER").and_then(|name| Agent::from_name(name.trim())),
                cwd: working_dir(),
            },
        }
    }

    /// Who makes a call that comes with `meta`.
    pub(super) fn of_call(&self, meta: &Map<String, Value>) -> Self {
        // A subagent of Codex has a thread of its own in the session of its parent.
        ["sessionId", "threadId"]
            .into_iter()
            .find_map(|field| meta.get(field)?.as_str())
            .map_or_else(
                || self.clone(),
                |id| Self::Codex { session: id.to_owned(), near: self.directory().to_owned() },
            )
    }

    /// The directory of the agent, as far as we know it.
    pub(super) fn directory(&self) -> &str {
        match self {
            Self::ClaudeCode { cwd, .. } | Self::Unknown { cwd, .. } => cwd,
            Self::Codex { near, .. } => near,
        }
    }

    /// Which agent calls, if that is known.
    pub(super) const fn agent(&self) -> Option<Agent> {
        match self {
            Self::ClaudeCode { .. } => Some(Agent::ClaudeCode),
            Self::Codex { .. } => Some(Agent::Codex),
            Self::Unknown { agent, .. } => *agent,
        }
    }

    /// The session if it is known, and the directory if it may help.
    pub(super) fn place(&self) -> (Option<SessionKey>, Option<String>) {
        match self.clone() {
            Self::ClaudeCode { session, cwd } => {
                (Some(SessionKey { agent: Agent::ClaudeCode, id: session }), Some(cwd))
            }
            Self::Codex { session, .. } => {
                (Some(SessionKey { agent: Agent::Codex, id: session }), None)
            }
            Self::Unknown { cwd, .. } => (None, Some(cwd)),
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
        let unknown = |agent| Caller::Unknown { agent, cwd: "/work".to_owned() };
        for (variables, expected) in [
            (&[][..], unknown(None)),
            (&[("CLAUDE_PROJECT_DIR", "/p")], unknown(None)),
            (&[("TMA1_MCP_CALLER", "codex")], unknown(Some(Agent::Codex))),
            (&[("TMA1_MCP_CALLER", "emacs")], unknown(None)),
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
        let near = || "/work".to_owned();
        let codex = |session: &str| Caller::Codex { session: session.to_owned(), near: near() };
        assert_eq!(call(json!({"sessionId": "a", "threadId": "b"})), codex("a"));
        assert_eq!(call(json!({"threadId": "b", "callId": "c"})), codex("b"));
        for meta in [json!({}), json!({"claudecode/toolUseId": "x"}), json!({"sessionId": 1})] {
            assert_eq!(call(meta), caller);
        }
    }
}
