//! What was around our entries when they were put in place: a later look tells whether somebody took
//! it away.
//!
//! Programs that rewrite an agent's settings from a copy of their own lose the hooks of others; a
//! synchronised dotfile becomes a plain file when something writes through its link.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::printable::printable;
use crate::setup::adapter::Shared;
use crate::setup::edit::hooks::OwnScript;
use crate::setup::receipt::sha256;
use crate::setup::target::Target;

/// How many hooks of others are remembered. Nobody has nearly as many.
const MAX_HOOKS: usize = 256;

/// How much of a hash is kept, in hexadecimal digits: enough to tell the hooks of one user apart.
const HASH_DIGITS: usize = 16;

const MAX_NAME_CHARS: usize = 40;

/// What was around our entries in one file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Surroundings {
    /// Where the file was, if its path was a link to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<PathBuf>,
    /// The hooks of others by their hash, which tells nothing of what may be secret in them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub hooks: BTreeMap<String, OtherHook>,
}

/// A hook of somebody else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherHook {
    /// Its event.
    pub event: String,
    /// What it runs: the name of the program alone.
    pub name: String,
}

impl Surroundings {
    /// What is around the entries `shared` in the file at `path`, which holds `bytes`.
    pub(super) fn of(path: &Path, shared: &Shared, bytes: &[u8]) -> Self {
        let hooks = match shared {
            Shared::Hooks(entries) => hooks_of_others(bytes, &entries.script),
            _ => BTreeMap::new(),
        };
        Self { link: path.is_symlink().then(|| Target::resolved(path)), hooks }
    }

    /// Whether there is nothing to remember.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The file that the path led to and does not lead to any more, because it is a file itself.
    pub fn lost_link(&self, path: &Path) -> Option<&Path> {
        let is_plain = path.is_file() && !path.is_symlink();
        self.link.as_deref().filter(|_| is_plain)
    }

    /// The hooks that are not among `now` any more. One that was changed is none: there are still as many
    /// for its event.
    pub fn lost_hooks(&self, now: &BTreeMap<String, OtherHook>) -> Vec<&OtherHook> {
        self.lost(now).map(|(_, hook)| hook).collect()
    }

    fn lost(
        &self,
        now: &BTreeMap<String, OtherHook>,
    ) -> impl Iterator<Item = (&String, &OtherHook)> {
        let count = |hooks: &BTreeMap<String, OtherHook>, event: &str| {
            hooks.values().filter(|hook| hook.event == event).count()
        };
        self.hooks.iter().filter(move |(hash, hook)| {
            !now.contains_key(*hash) && count(now, &hook.event) < count(&self.hooks, &hook.event)
        })
    }

    /// Remembers also what is lost of the surroundings `before` of the file at `path`.
    pub(super) fn keep_losses(&mut self, before: &Self, path: &Path) {
        if let Some(link) = before.lost_link(path) {
            self.link = Some(link.to_owned());
        }
        let lost: Vec<_> =
            before.lost(&self.hooks).map(|(hash, hook)| (hash.clone(), hook.clone())).collect();
        self.hooks.extend(lost);
    }
}

/// The hooks in `settings` that do not run `script`, by their hash.
pub fn hooks_of_others(settings: &[u8], script: &OwnScript) -> BTreeMap<String, OtherHook> {
    let settings = settings.strip_prefix("\u{feff}".as_bytes()).unwrap_or(settings);
    let settings: Value = serde_json::from_slice(settings).unwrap_or_default();
    let events = settings.get("hooks").and_then(Value::as_object).into_iter().flatten();
    let groups = events.flat_map(|(event, groups)| list(groups).map(move |group| (event, group)));
    let handlers = groups.flat_map(|(event, group)| {
        let matcher = group.get("matcher").and_then(Value::as_str).unwrap_or_default();
        let handlers = group.get("hooks").map(list).into_iter().flatten();
        handlers.map(move |handler| (event, matcher, handler))
    });
    let command = |handler: &Value| {
        handler.get("command").and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let others = handlers
        .map(|(event, matcher, handler)| (event, matcher, handler, command(handler)))
        .filter(|(.., command)| !script.is_used_by(command));
    let hashed = others.map(|(event, matcher, handler, command)| {
        let mut hash = sha256(format!("{event}\0{matcher}\0{handler}").as_bytes());
        hash.truncate(HASH_DIGITS);
        (hash, OtherHook { event: event.clone(), name: name_of(&command) })
    });
    hashed.take(MAX_HOOKS).collect()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// The name of the program that a command runs. Variables before it, and everything after it, may hold
/// secrets.
fn name_of(command: &str) -> String {
    let words = shlex::split(command).unwrap_or_default();
    let program = words.iter().find(|word| !word.contains('=')).map_or("", String::as_str);
    let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
    printable(name).chars().take(MAX_NAME_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const SCRIPT: OwnScript = OwnScript { names: ["ours.sh", "ours.ps1"] };

    fn hooks(settings: &Value) -> BTreeMap<String, OtherHook> {
        hooks_of_others(settings.to_string().as_bytes(), &SCRIPT)
    }

    fn settings(stop: &[Value]) -> Value {
        let ours = json!({"type": "command", "command": "/x/hooks/ours.sh"});
        json!({"hooks": {"Stop": [{"matcher": "", "hooks": stop}, {"hooks": [ours]}], "Odd": 1}})
    }

    fn command(line: &str) -> Value {
        json!({"type": "command", "command": line})
    }

    #[test]
    fn a_hook_of_somebody_else_is_known_by_its_program_and_no_secret() {
        let line = "TOKEN=hunter2 /opt/notify/bin/ring --key hunter3";
        let found = hooks(&settings(&[command(line)]));
        let [(hash, hook)] = found.iter().collect::<Vec<_>>().try_into().unwrap();
        assert_eq!((hook.event.as_str(), hook.name.as_str(), hash.len()), ("Stop", "ring", 16));
        assert!(!serde_json::to_string(&found).unwrap().contains("hunter"));
        for nothing in [json!(null), json!({"hooks": []}), settings(&[])] {
            assert_eq!(hooks(&nothing), BTreeMap::new());
        }
        assert_eq!(hooks_of_others(b"{", &SCRIPT), BTreeMap::new());
    }

    #[test]
    fn a_hook_is_lost_if_there_are_fewer_and_not_if_it_was_changed() {
        let lost = |before: &[Value], after: &[Value]| {
            let before = Surroundings { link: None, hooks: hooks(&settings(before)) };
            let after = hooks(&settings(after));
            before.lost_hooks(&after).iter().map(|hook| hook.name.clone()).collect::<Vec<_>>()
        };
        let (a, b, c) = (command("a"), command("b"), command("c"));
        assert_eq!(lost(&[a.clone(), b.clone()], std::slice::from_ref(&a)), ["b"]);
        assert_eq!(lost(&[a.clone(), b.clone()], &[]), ["a", "b"]);
        assert_eq!(lost(&[a.clone(), b.clone()], &[a.clone(), c.clone()]), [""; 0]);
        assert_eq!(lost(std::slice::from_ref(&a), &[b, a.clone()]), [""; 0]);
        assert_eq!(lost(&[], &[c]), [""; 0]);
    }

    #[test]
    fn what_is_lost_stays_so_until_it_is_back() {
        let of = |stop: &[Value]| Surroundings { link: None, hooks: hooks(&settings(stop)) };
        let (a, b) = (command("a"), command("b"));
        let before = of(&[a.clone(), b.clone()]);
        for now in [vec![a.clone()], vec![], vec![b.clone()], vec![a.clone(), b.clone()]] {
            let mut kept = of(&now);
            kept.keep_losses(&before, Path::new("/none"));
            let lost = |of: &Surroundings| of.lost_hooks(&hooks(&settings(&now))).len();
            assert_eq!(lost(&kept), lost(&before), "{now:?}");
        }
    }
}
