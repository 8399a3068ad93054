//! Which hook entries are ours.
//!
//! The command decides: it runs a script of ours and nothing else, be it with settings around it. The `id` is dropped by Claude
//! Code whenever it rewrites the file, and kept by users who put another command in the place of
//! ours.

use std::collections::BTreeSet;

use crate::setup::edit::command::{self, Use};
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
    /// Handlers of others with a mark of ours: our `id`, or handlers of ours at these places.
    Mixed(BTreeSet<usize>),
}

/// The hook script by which our handlers are known, wherever it is: the folder that it is in may have
/// been another one, or be spelled in another way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnScript {
    /// The names of its file, in each language.
    pub names: [&'static str; 2],
}

impl OwnScript {
    /// The folder in which the scripts are, below that of our data.
    const FOLDER: &str = "hooks";

    pub(super) fn holding(&self, group: Value<'_>) -> Holding {
        let Some(group) = group.object() else {
            return Holding::Foreign;
        };
        let is_marked = group.members.iter().any(is_mark);
        let handlers = match group.member("hooks") {
            Some(hooks) => hooks.array(),
            None if is_marked => return Holding::Ours,
            None => None,
        };
        let Some(handlers) = handlers else {
            return if is_marked { Holding::Mixed(BTreeSet::new()) } else { Holding::Foreign };
        };
        let all = handlers.elements.iter().enumerate();
        let ours: BTreeSet<_> =
            all.filter(|(_, handler)| self.is_run_by(**handler)).map(|(index, _)| index).collect();
        match (ours.len(), handlers.elements.len()) {
            (0, 0) if is_marked => Holding::Ours,
            (0, _) if !is_marked => Holding::Foreign,
            (own, all) if own == all => Holding::Ours,
            _ => Holding::Mixed(ours),
        }
    }

    /// Whether `handler` runs the script, with whatever settings, and does nothing else.
    fn is_run_by(&self, handler: Value<'_>) -> bool {
        matches!(self.use_by(handler), Some(Use::Alone(_) | Use::Wrapped(_)))
    }

    /// Whether `command` runs the script, whatever else it does.
    pub fn is_used_by(&self, command: &str) -> bool {
        self.use_of(command).is_some()
    }

    /// What `handler` does with the script.
    pub(super) fn use_by(&self, handler: Value<'_>) -> Option<Use> {
        let handler = handler.object()?;
        let is_command = handler.string("type").is_none_or(|kind| kind == "command");
        self.use_of(handler.string("command").filter(|_| is_command)?.as_ref())
    }

    /// What `command` does with the script.
    pub(super) fn use_of(&self, command: &str) -> Option<Use> {
        command::use_of(command, &|word| self.is_path(word))
    }

    fn is_path(&self, path: &str) -> bool {
        let parts = parts(path);
        matches!(parts.as_slice(), [.., Self::FOLDER, name] if self.names.contains(name))
    }
}

/// Whether `path`, as it stands in a command, may be that of the same file as `other`, which is
/// spelled out.
pub(super) fn may_be(path: &str, other: &str) -> bool {
    let (path, other) = (parts(path), parts(other));
    match path.split_first() {
        Some((&("~" | "$HOME" | "${HOME}"), below_home)) => other.ends_with(below_home),
        Some((first, _)) if first.contains(['$', '`']) => true,
        _ => path == other,
    }
}

/// The names that a path goes through.
fn parts(path: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    for part in path.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts
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
