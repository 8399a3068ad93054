//! What a build or a run of tests takes in, so that a success of one is known to be a success of
//! another.
//!
//! A wrong "it takes that in" hides what is broken, a wrong "it does not" costs one more run: what is
//! not known for certain makes another run.

mod grammar;
mod tool;

use std::collections::{BTreeMap, BTreeSet};

use crate::agent::command::directory::{absolute_or_none, split_change};
use crate::agent::command::variables::{is_cosmetic, is_setting};
use crate::agent::command::{Purpose, launchers};
use crate::agent::shell::{Part, Script, Then, Word};
use crate::agent::tool::path::{MAX_PATH_BYTES, absolute, directory_after};
use grammar::{Given, Grammar, Operands, Pick, given};

/// How many builds and tests of one line are looked at, and how long all their words may be: in more
/// of them nobody's success is looked for.
const MAX_SCOPES: usize = 4;
const MAX_BYTES: usize = 2048;

/// What a build or a run of tests takes in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Scope {
    directory: String,
    /// The tool with its subcommand, target or script.
    tool: String,
    /// What makes another run of the tool.
    mode: BTreeSet<String>,
    /// What leaves something out, by option: each takes in less.
    conditions: BTreeMap<String, String>,
    /// What is picked, by kind: of one kind, more take in more; a kind that is not there takes in
    /// everything.
    picks: BTreeMap<Pick, BTreeSet<String>>,
}

/// What the builds and tests of a line take in; empty if that can't be told of each.
pub(super) fn of_script(script: &Script<'_>, purposes: &[Purpose], cwd: &str) -> Vec<Scope> {
    scopes(script, purposes, cwd).unwrap_or_default()
}

fn scopes(script: &Script<'_>, purposes: &[Purpose], cwd: &str) -> Option<Vec<Scope>> {
    let is_telling = |index: usize| purposes.get(index) > Some(&Purpose::Other);
    let mut directory = absolute_or_none(cwd);
    let mut scopes: Vec<Scope> = Vec::new();
    let mut is_certain = true;
    for (index, part) in script.parts.iter().enumerate() {
        if let Some((target, _)) = script.parts.get(index..).and_then(split_change) {
            directory = directory_after(&directory, target);
        } else if matches!(part.program(), "cd" | "popd" | "pushd") {
            // Nobody knows where to.
            is_certain = false;
        } else if is_telling(index) {
            if !is_certain || part.is_reserved() || part.then == Then::Background {
                return None;
            }
            scopes.push(Scope::of_part(part, &directory)?);
        }
        // What follows may not run at all. A way out after `cd` is one.
        let is_way_out = part.program() == "cd";
        is_certain &= (part.then != Then::Or || is_way_out) && !part.is_reserved();
    }
    let is_told_apart = script.is_plain || scopes.len() <= 1;
    let bytes: usize = scopes.iter().map(Scope::bytes).sum();
    (is_told_apart && scopes.len() <= MAX_SCOPES && bytes <= MAX_BYTES).then_some(scopes)
}

impl Scope {
    fn of_part(part: &Part<'_>, cwd: &str) -> Option<Self> {
        let is_known = |word: &Word<'_>| word.is_literal || word.raw.starts_with("-j");
        if !part.words.iter().all(is_known) {
            return None;
        }
        let values: Vec<&str> = part.words.iter().map(|word| word.value.as_str()).collect();
        let (settings, command) =
            values.split_at(values.iter().take_while(|word| is_setting(word)).count());
        let tool = tool::of_words(command)?;
        let launched = launchers::launched(command).len();
        let way = command.get(..command.len() - launched).unwrap_or_default();
        let settings = settings.iter().chain(way).filter(|it| is_setting(it) && !is_cosmetic(it));
        let mode = settings.chain(&tool.environment).map(|word| (*word).to_owned()).collect();
        let mut scope = Self {
            directory: cwd.to_owned(),
            tool: tool.name,
            mode,
            conditions: BTreeMap::new(),
            picks: BTreeMap::new(),
        };
        match tool.grammar {
            Some(grammar) => scope.take(grammar, &tool.arguments),
            None => scope.mode.extend(tool.arguments.iter().map(|word| (*word).to_owned())),
        }
        (scope.directory.len() <= MAX_PATH_BYTES).then_some(scope)
    }

    /// Takes in the arguments of its tool.
    fn take(&mut self, grammar: &Grammar, arguments: &[&str]) {
        let mut goals: Vec<&str> = Vec::new();
        let mut is_whole = false;
        let mut words = arguments.iter().copied().peekable();
        while let Some(word) = words.next() {
            let next = words.peek().copied();
            let find = |list| given(list, word, next);
            let mut takes_next = false;
            if word == "--" {
                let rest: Vec<&str> = words.by_ref().collect();
                if let Some(inner) = grammar.inner {
                    self.take(inner, &rest);
                } else if !rest.is_empty() {
                    self.mode.insert(format!("-- {}", rest.join(" ")));
                }
            } else if !word.starts_with(['-', '+']) || word == "-" {
                self.take_operand(grammar.operands, word, &mut goals);
            } else if let Some(given) = find(grammar.cosmetic) {
                takes_next = given.takes_next;
            } else if let Some(given) = find(grammar.whole) {
                (is_whole, takes_next) = (true, given.takes_next);
            } else if let Some(given) = find(grammar.directory) {
                self.go_to(given.value);
                takes_next = given.takes_next;
            } else if let Some(Given { name, value, takes_next: next }) = find(grammar.conditions) {
                let values = self.conditions.entry(name.to_owned()).or_default();
                values.push(' ');
                values.push_str(value);
                takes_next = next;
            } else if let Some((pick, given)) =
                grammar.picks.iter().find_map(|(pick, list)| Some((*pick, find(list)?)))
            {
                let value = match pick {
                    Pick::Target => format!("{} {}", given.name, given.value),
                    _ => given.value.to_owned(),
                };
                self.picks.entry(pick).or_default().insert(value);
                takes_next = given.takes_next;
            } else {
                // What it does is not known, nor whether the next word is its own.
                let is_alone = word.contains('=') || next.is_none_or(|next| next.starts_with('-'));
                let option = if is_alone {
                    word.to_owned()
                } else {
                    format!("{word} {}", next.unwrap_or_default())
                };
                takes_next = !is_alone;
                self.mode.insert(option);
            }
            if takes_next {
                words.next();
            }
        }
        if !goals.is_empty() {
            self.mode.insert(goals.join(" "));
        }
        if let Some((pick, value)) = grammar.default
            && !is_whole
            && !self.picks.contains_key(&pick)
        {
            let value = if pick == Pick::Path {
                self.path(value, value.is_empty())
            } else {
                value.to_owned()
            };
            self.picks.entry(pick).or_default().insert(value);
        }
    }

    fn take_operand<'a>(&mut self, operands: Operands, word: &'a str, goals: &mut Vec<&'a str>) {
        let (pick, value) = match operands {
            Operands::Names => (Pick::Name, word.to_owned()),
            Operands::Paths => (Pick::Path, self.path(word, true)),
            Operands::ScriptPaths if word.contains(['/', '.']) => {
                (Pick::Path, self.path(word, true))
            }
            Operands::GoPackages => {
                let (path, is_deep) = match word.strip_suffix("...") {
                    Some(path) => (path.trim_end_matches('/'), true),
                    None => (word, false),
                };
                let is_import = !path.starts_with(['.', '/']);
                let import = || format!("{path}{}", if is_deep { "/" } else { "" });
                (Pick::Path, if is_import { import() } else { self.path(path, is_deep) })
            }
            Operands::Mode | Operands::ScriptPaths => return goals.push(word),
        };
        self.picks.entry(pick).or_default().insert(value);
    }

    /// A path by which what lies below is known by its beginning, if it is all meant.
    fn path(&self, path: &str, is_deep: bool) -> String {
        // A test in a file, or a line of it.
        let parts = path.replace("::", "/").replace(':', "/");
        let whole = absolute(&self.directory, &parts);
        if is_deep { format!("{}/", whole.trim_end_matches('/')) } else { whole }
    }

    fn go_to(&mut self, target: &str) {
        const FILES: [&str; 2] = ["Cargo.toml", "pom.xml"];
        let file = FILES.iter().find_map(|file| target.strip_suffix(file));
        self.directory = absolute(&self.directory, file.unwrap_or(target));
    }

    fn bytes(&self) -> usize {
        let picks = self.picks.values().flatten();
        let conditions = self.conditions.iter().map(|(name, value)| name.len() + value.len());
        let words = self.mode.iter().chain(picks).map(String::len);
        self.tool.len() + words.chain(conditions).sum::<usize>()
    }

    /// Whether all that `special` takes in is taken in by this.
    pub(super) fn covers(&self, special: &Self) -> bool {
        let is_same = self.tool == special.tool
            && self.directory == special.directory
            && self.mode == special.mode;
        is_same
            && self
                .conditions
                .iter()
                .all(|(name, value)| special.conditions.get(name) == Some(value))
            && self.picks.iter().all(|(pick, picked)| {
                let is_exact = self.conditions.contains_key("--exact");
                special.picks.get(pick).is_some_and(|wanted| {
                    wanted
                        .iter()
                        .all(|one| picked.iter().any(|it| takes_in(*pick, it, one, is_exact)))
                })
            })
    }

    /// The tests that it is one of: of one tool, in one directory, of the same packages.
    pub(super) fn suite(&self) -> String {
        let packages: Vec<&str> =
            self.picks.get(&Pick::Package).into_iter().flatten().map(String::as_str).collect();
        format!("{}\n{}\n{}", self.tool, self.directory, packages.join(" "))
    }
}

/// Whether a pick takes in another one of its kind.
fn takes_in(pick: Pick, general: &str, special: &str, is_exact: bool) -> bool {
    general == special
        || match pick {
            Pick::Name => !is_exact && special.contains(general),
            Pick::Path => general.ends_with('/') && format!("{special}/").starts_with(general),
            Pick::Package | Pick::Target => false,
        }
}

#[cfg(test)]
mod tests;
