//! Which hook entries are ours.
//!
//! The command decides: it runs a script of ours and nothing else. The `id` is dropped by Claude
//! Code whenever it rewrites the file, and kept by users who put another command in the place of
//! ours.

use std::collections::BTreeSet;

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

    /// Whether `handler` runs the script and does nothing else.
    fn is_run_by(&self, handler: Value<'_>) -> bool {
        let Some(handler) = handler.object() else {
            return false;
        };
        handler.string("type").is_none_or(|kind| kind == "command")
            && handler.string("command").is_some_and(|command| self.is_command(&command))
    }

    /// Whether `command` runs the script and does nothing else.
    pub fn is_command(&self, command: &str) -> bool {
        script_of(command).is_some_and(|path| self.is_path(&path))
    }

    fn is_path(&self, path: &str) -> bool {
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
        matches!(parts.as_slice(), [.., Self::FOLDER, name] if self.names.contains(name))
    }
}

/// The path of the script that `command` runs: a command that goes on is the user's.
fn script_of(command: &str) -> Option<String> {
    if goes_on(command) {
        return None;
    }
    let words = shlex::split(command)?;
    match words.as_slice() {
        [script] => Some(script.clone()),
        [shell, script] if is_shell(shell) => Some(script.clone()),
        _ => script_of_power_shell(command),
    }
}

/// Whether a shell would do more with `command` than run one program.
fn goes_on(command: &str) -> bool {
    let mut quote = None;
    let mut characters = command.chars().peekable();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (Some(open), _) if open == character => quote = None,
            (Some('\''), _) => {}
            (None, '\'' | '"') => quote = Some(character),
            (_, '\\') => {
                characters.next();
            }
            (_, '`') | (None, ';' | '&' | '|' | '<' | '>' | '(' | ')' | '\n') => return true,
            (_, '$') if characters.peek() == Some(&'(') => return true,
            _ => {}
        }
    }
    false
}

/// Whether `word` is the name of, or path to, a shell for our scripts.
fn is_shell(word: &str) -> bool {
    matches!(file_name(word), "sh" | "bash" | "dash" | "zsh")
}

fn is_power_shell(word: &str) -> bool {
    let name = file_name(word).to_ascii_lowercase();
    matches!(name.strip_suffix(".exe").unwrap_or(&name), "powershell" | "pwsh")
}

/// The script that `command` has `PowerShell` run, with switches that change nothing about it.
fn script_of_power_shell(command: &str) -> Option<String> {
    const SWITCHES: [&str; 7] = [
        "-noprofile",
        "-nologo",
        "-noninteractive",
        "-executionpolicy",
        "bypass",
        "unrestricted",
        "remotesigned",
    ];
    // Its paths may have backslashes, which escape nothing there.
    let words = shlex::split(&command.replace('\\', "/"))?;
    let [shell, switches @ .., file, script] = words.as_slice() else {
        return None;
    };
    let is_switch = |word: &String| SWITCHES.contains(&word.to_ascii_lowercase().as_str());
    let runs_script = is_power_shell(shell)
        && switches.iter().all(is_switch)
        && file.eq_ignore_ascii_case("-file");
    runs_script.then(|| script.clone())
}

fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
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
