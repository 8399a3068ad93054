//! How each agent wants its hooks registered.

use std::time::Duration;

use crate::setup::edit::codex;
use crate::setup::edit::json::{Document, JsonError};
use crate::setup::edit::literal::Literal;
use crate::setup::edit::ownership::ID;
use crate::setup::edit::value::Object;

/// The agent that reads the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// `settings.json` of Claude Code: entries carry our `id`, and their order means nothing.
    ClaudeCode,
    /// `hooks.json` of Codex: only documented keys, and every entry stays where it is, because the
    /// user's trust in a hook is recorded by its position.
    Codex,
}

impl Dialect {
    /// Requires that the agent would read the file.
    pub(super) fn require_readable(
        self,
        mark: &str,
        document: &Document<'_>,
    ) -> Result<(), JsonError> {
        match self {
            Self::ClaudeCode => Ok(()),
            Self::Codex if !mark.is_empty() => Err(JsonError::ByteOrderMark),
            Self::Codex => codex::require_readable(document),
        }
    }

    /// Whether an entry of ours must stay where it is, even if another one is more correct.
    pub(super) fn keeps_places(self) -> bool {
        self == Self::Codex
    }

    /// A group that holds our handler alone.
    pub(super) fn group(self, command: &str, timeout: Duration) -> Literal {
        let handlers = Literal::List(vec![self.handler(command, timeout)]);
        Literal::Table(match self {
            Self::ClaudeCode => {
                vec![("id", ID.into()), ("matcher", "".into()), ("hooks", handlers)]
            }
            Self::Codex => vec![("hooks", handlers)],
        })
    }

    /// Our handler.
    pub(super) fn handler(self, command: &str, timeout: Duration) -> Literal {
        let mut members = vec![
            ("type", "command".into()),
            ("command", command.into()),
            ("timeout", Literal::Number(timeout.as_secs())),
        ];
        if self == Self::Codex {
            // The name under which Codex asks its user to trust the hook.
            members.push(("statusMessage", ID.into()));
        }
        Literal::Table(members)
    }

    /// Whether `handler` does what ours does. Any key that is not ours may change when or how the
    /// command runs; the name that a hook of Codex has is worth no new question to the user.
    pub(super) fn is_current(self, handler: &Object<'_>, command: &str, timeout: Duration) -> bool {
        let seconds = handler.member("timeout");
        let seconds = seconds.and_then(|seconds| seconds.text.parse::<f64>().ok());
        let is_named = self == Self::Codex && handler.member("statusMessage").is_some();
        handler.members.len() == if is_named { 4 } else { 3 }
            && handler.string("type").is_some_and(|kind| kind == "command")
            && handler.string("command").is_some_and(|text| text == command)
            && seconds == Some(timeout.as_secs_f64())
    }
}
