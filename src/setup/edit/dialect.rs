//! How each agent wants its hooks registered.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::setup::edit::json::{Document, JsonError};
use crate::setup::edit::literal::Literal;
use crate::setup::edit::ownership::{ID, OwnScript};
use crate::setup::edit::value::Object;
use crate::setup::edit::{claude_code, codex};

/// Keys of a handler that decide when or how its command runs. Ours has none of them.
const DECIDING_KEYS: [&str; 8] =
    ["if", "once", "async", "asyncRewake", "shell", "args", "onFailure", "commandWindows"];

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
        script: &OwnScript,
    ) -> Result<(), JsonError> {
        match self {
            Self::ClaudeCode => claude_code::require_readable(document, script),
            Self::Codex if !mark.is_empty() => Err(JsonError::ByteOrderMark),
            Self::Codex => codex::require_readable(document).map_err(JsonError::disabling),
        }
    }

    /// Whether `object` turns all hooks off.
    pub(super) fn turns_hooks_off(self, root: &Object<'_>) -> bool {
        let switch = root.member("disableAllHooks");
        self == Self::ClaudeCode && switch.is_some_and(|value| value.text == "true")
    }

    /// Those of the items at `ours` in a list of `count` that an install may take out: where places
    /// count, none before an item that stays.
    pub(super) fn removable(self, mut ours: BTreeSet<usize>, count: usize) -> BTreeSet<usize> {
        if self.keeps_places() {
            let last_kept = (0..count).rfind(|index| !ours.contains(index));
            ours.retain(|index| last_kept.is_none_or(|kept| *index > kept));
        }
        ours
    }

    /// Whether an entry of ours must stay where it is, even if another one is more correct.
    pub(super) fn keeps_places(self) -> bool {
        self == Self::Codex
    }

    /// A group that holds `handler` alone.
    pub(super) fn group(self, handler: Literal) -> Literal {
        let handlers = Literal::List(vec![handler]);
        Literal::Table(match self {
            Self::ClaudeCode => {
                vec![("id", ID.into()), ("matcher", "".into()), ("hooks", handlers)]
            }
            Self::Codex => vec![("hooks", handlers)],
        })
    }

    /// The members of our handler.
    pub(super) fn members(self, command: &str, timeout: Duration) -> Vec<(&'static str, Literal)> {
        let mut members = vec![
            ("type", "command".into()),
            ("command", command.into()),
            ("timeout", Literal::Number(timeout.as_secs())),
        ];
        if self == Self::Codex {
            // The name under which Codex asks its user to trust the hook.
            members.push(("statusMessage", ID.into()));
        }
        members
    }

    /// Whether a key of that name may change when or how our command runs.
    pub(super) fn is_deciding(key: &str) -> bool {
        DECIDING_KEYS.contains(&key)
    }
}
