//! Which hook entries are ours.
//!
//! Claude Code drops the `id` of an entry whenever it rewrites the file, and Codex knows none, so
//! the command decides; our mark tells when the command no longer does.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::setup::edit::value::{Array, Member, Object, Value};

/// The `id` of our entries, and in Codex their `statusMessage`.
pub(super) const ID: &str = "tma1";

/// What a group of handlers holds.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Holding {
    /// Nothing of ours.
    Foreign,
    /// Nothing but ours.
    Ours,
    /// Handlers of others, and ours at these places.
    Mixed(BTreeSet<usize>),
}

/// The hook script by which our handlers are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnScript {
    /// Where it is installed.
    pub path: PathBuf,
    /// What `~` and `$HOME` stand for in a command.
    pub home: PathBuf,
}

impl OwnScript {
    pub(super) fn holding(&self, group: Value<'_>) -> Holding {
        let Some(group) = group.object() else {
            return Holding::Foreign;
        };
        let marked = group.string("id").is_some_and(|id| id == ID);
        let handlers = handlers(&group).map_or_else(Vec::new, |handlers| handlers.elements);
        let ours: BTreeSet<_> = handlers
            .iter()
            .enumerate()
            .filter(|(_, handler)| self.is_run_by(**handler, marked))
            .map(|(index, _)| index)
            .collect();
        match (ours.len(), handlers.len()) {
            // The `id` alone tells, as long as nobody added a handler.
            (0, 0 | 1) if marked => Holding::Ours,
            (0, _) => Holding::Foreign,
            (own, all) if own == all => Holding::Ours,
            _ => Holding::Mixed(ours),
        }
    }

    /// Whether `handler` runs the script, or under our mark a script of its name elsewhere.
    fn is_run_by(&self, handler: Value<'_>, marked: bool) -> bool {
        let Some(handler) = handler.object() else {
            return false;
        };
        let command = handler.string("command");
        let Some(run) = command.and_then(|command| self.script_of(&command)) else {
            return false;
        };
        let marked = marked || handler.string("statusMessage").is_some_and(|text| text == ID);
        run == self.path || marked && run.file_name() == self.path.file_name()
    }

    /// The script that `command` runs and does nothing else: a command that goes on is the user's.
    fn script_of(&self, command: &str) -> Option<PathBuf> {
        let words = shlex::split(command)?;
        let script = match words.as_slice() {
            [script] => script,
            [shell, script] if is_shell(shell) => script,
            _ => return None,
        };
        let below_home =
            ["~/", "$HOME/", "${HOME}/"].iter().find_map(|prefix| script.strip_prefix(prefix));
        Some(below_home.map_or_else(|| PathBuf::from(script), |rest| self.home.join(rest)))
    }
}

fn is_shell(word: &str) -> bool {
    let name = Path::new(word).file_name().and_then(|name| name.to_str());
    matches!(name, Some("sh" | "bash" | "dash" | "zsh"))
}

/// Whether `member` is the `id` that claims a group for us.
pub(super) fn is_mark(member: &Member<'_>) -> bool {
    member.is_named("id") && member.value.string().is_some_and(|id| id == ID)
}

/// The handlers of a group.
pub(super) fn handlers<'a>(group: &Object<'a>) -> Option<Array<'a>> {
    group.member("hooks")?.array()
}

/// Whether a group has no matcher, or one that matches everything.
pub(super) fn runs_for_all(group: &Object<'_>) -> bool {
    group.member("matcher").is_none_or(|matcher| {
        matcher.string().is_some_and(|matcher| matches!(matcher.as_ref(), "" | "*"))
    })
}
