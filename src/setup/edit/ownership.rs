//! Which hook entries are ours.
//!
//! Claude Code drops the `id` of an entry whenever it rewrites the file, so the command decides;
//! the `id` tells when the command no longer does.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use jsonc_parser::ast::{Object, ObjectProp, Value};

use crate::setup::edit::json::{member, string};

/// The `id` of our entries.
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
    pub(super) fn holding(&self, group: &Value<'_>) -> Holding {
        let Value::Object(group) = group else {
            return Holding::Foreign;
        };
        let marked = string(group, "id") == Some(ID);
        let handlers = handlers(group);
        let ours: BTreeSet<_> = handlers
            .iter()
            .enumerate()
            .filter(|(_, handler)| self.is_run_by(handler, marked))
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

    /// Whether `handler` runs the script, or in a `marked` group a script of its name elsewhere.
    fn is_run_by(&self, handler: &Value<'_>, marked: bool) -> bool {
        let Value::Object(handler) = handler else {
            return false;
        };
        let Some(run) = string(handler, "command").and_then(|command| self.script_of(command))
        else {
            return false;
        };
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

/// Whether `property` is the `id` that claims a group for us.
pub(super) fn is_mark(property: &ObjectProp<'_>) -> bool {
    property.name.as_str() == "id"
        && matches!(&property.value, Value::StringLit(id) if id.value == ID)
}

/// The handlers of a group.
pub(super) fn handlers<'g, 'a>(group: &'g Object<'a>) -> &'g [Value<'a>] {
    match member(group, "hooks") {
        Some(Value::Array(handlers)) => &handlers.elements,
        _ => &[],
    }
}
