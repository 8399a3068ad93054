//! `GET /api/session-state`: what a session is and did. `GET /api/project-state`: what a project is made
//! of.

use std::borrow::Cow;
use std::path::Path;

use serde::Serialize;

use crate::agent::{Agent, SessionKey};
use crate::world::{ProjectIndex, RECENT_ACTIONS};

/// How many of the last actions are listed, unless the query says how many.
pub const DEFAULT_ACTIONS: usize = 10;

/// The most that are listed.
pub const MAX_ACTIONS: usize = RECENT_ACTIONS;

/// Which session is asked for, and how much of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Question {
    pub which: Which,
    /// How many of its last actions.
    pub actions: usize,
}

/// Which session is asked for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Which {
    /// This one. If it has ended and there is a directory, the latest one of its agent there: a
    /// program that an agent starts is not told when the agent goes on in a new session.
    Session { key: SessionKey, cwd: Option<String> },
    /// The one that did something last in the project of this directory.
    LatestIn { cwd: String, agent: Option<Agent> },
}

/// What a project is made of.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct ProjectState {
    pub project_root: String,
    #[serde(flatten)]
    pub index: ProjectIndex,
}

/// The directory whose project is asked for: `cwd`, an absolute path.
pub(super) fn directory(query: &str) -> Result<String, BadQuery> {
    let value = form_urlencoded::parse(query.as_bytes())
        .find(|(name, value)| name == "cwd" && !value.is_empty())
        .map(|(_, value)| value.into_owned())
        .ok_or(BadQuery::Directory)?;
    if Path::new(&value).is_relative() {
        return Err(BadQuery::Value { name: "cwd", value, expected: "an absolute path" });
    }
    Ok(value)
}

/// A query that asks for nothing.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadQuery {
    #[error("there is no agent `{0}`")]
    Agent(String),
    #[error("`{name}` is {value:?}, which is not {expected}")]
    Value { name: &'static str, value: String, expected: &'static str },
    #[error("name a session, by `agent` and `session`, or a directory, by `cwd`")]
    Which,
    #[error("name a directory, by `cwd`")]
    Directory,
}

impl Question {
    /// Reads `agent`, `session`, `cwd`, `verbose` and `action_limit`.
    ///
    /// Actions are listed if `verbose` is `true`, or if it is absent and `action_limit` is there.
    pub(super) fn parse(query: &str) -> Result<Self, BadQuery> {
        let parameter = |name: &str| {
            form_urlencoded::parse(query.as_bytes())
                .find(|(found, value)| found == name && !value.is_empty())
                .map(|(_, value)| value)
        };
        let agent = parameter("agent")
            .map(|name| Agent::from_name(&name).ok_or_else(|| BadQuery::Agent(name.into_owned())))
            .transpose()?;
        let cwd = parameter("cwd").map(Cow::into_owned);
        let which = match (agent, parameter("session"), cwd) {
            (Some(agent), Some(id), cwd) => {
                Which::Session { key: SessionKey { agent, id: id.into_owned() }, cwd }
            }
            (agent, None, Some(cwd)) => Which::LatestIn { cwd, agent },
            _ => return Err(BadQuery::Which),
        };
        let verbose = parse(parameter("verbose"), "verbose", "`true` or `false`")?;
        let limit: Option<i64> = parse(parameter("action_limit"), "action_limit", "a number")?;
        let actions = match (verbose, limit) {
            (Some(false), _) | (None, None) => 0,
            (Some(true), None) => DEFAULT_ACTIONS,
            (_, Some(limit)) => {
                usize::try_from(limit.max(1)).map_or(MAX_ACTIONS, |limit| limit.min(MAX_ACTIONS))
            }
        };
        Ok(Self { which, actions })
    }
}

fn parse<T: std::str::FromStr>(
    value: Option<Cow<'_, str>>,
    name: &'static str,
    expected: &'static str,
) -> Result<Option<T>, BadQuery> {
    let parse = |value: Cow<'_, str>| {
        value.parse().map_err(|_| BadQuery::Value { name, value: value.into_owned(), expected })
    };
    value.map(parse).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_names_a_session_or_a_directory() {
        let which = |query: &str| Question::parse(query).map(|question| question.which);
        let key = || SessionKey { agent: Agent::Codex, id: "a b".to_owned() };
        let cwd = || "/home/dev/shöp".to_owned();
        for (query, expected) in [
            ("agent=codex&session=a%20b", Which::Session { key: key(), cwd: None }),
            (
                "cwd=/home/dev/sh%C3%B6p&session=a+b&agent=codex",
                Which::Session { key: key(), cwd: Some(cwd()) },
            ),
            ("cwd=/home/dev/sh%C3%B6p", Which::LatestIn { cwd: cwd(), agent: None }),
            (
                "session=&agent=codex&cwd=/home/dev/sh%C3%B6p",
                Which::LatestIn { cwd: cwd(), agent: Some(Agent::Codex) },
            ),
        ] {
            assert_eq!(which(query), Ok(expected), "{query}");
        }
        for query in ["", "agent=codex", "session=a", "session=a&cwd=/"] {
            assert_eq!(which(query), Err(BadQuery::Which), "{query}");
        }
        assert_eq!(which("agent=emacs&session=a"), Err(BadQuery::Agent("emacs".to_owned())));
    }

    #[test]
    fn a_project_is_named_by_an_absolute_directory() {
        assert_eq!(directory("x=y&cwd=/home/dev/sh%C3%B6p").unwrap(), "/home/dev/shöp");
        assert_eq!(directory("cwd="), Err(BadQuery::Directory));
        let error = directory("cwd=src/a").unwrap_err().to_string();
        assert_eq!(error, "`cwd` is \"src/a\", which is not an absolute path");
    }

    #[test]
    fn the_number_of_actions_is_bounded() {
        for (query, actions) in [
            ("", 0),
            ("verbose=false&action_limit=5", 0),
            ("verbose=true", DEFAULT_ACTIONS),
            ("action_limit=5", 5),
            ("verbose=true&action_limit=0", 1),
            ("action_limit=-7", 1),
            ("action_limit=101", MAX_ACTIONS),
            ("action_limit=9223372036854775807", MAX_ACTIONS),
        ] {
            let question = Question::parse(&format!("cwd=/&{query}")).unwrap();
            assert_eq!(question.actions, actions, "{query}");
        }
        for query in ["verbose=1", "action_limit=ten", "action_limit=9223372036854775808"] {
            let error = Question::parse(&format!("cwd=/&{query}")).unwrap_err();
            assert!(matches!(error, BadQuery::Value { .. }), "{error}");
        }
    }
}
