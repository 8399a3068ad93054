//! A command line of a POSIX shell, taken apart as far as we look at it: which programs it runs, with
//! which words, and how they are joined.
//!
//! It is no parser of the shell's language, which would be a library of its own, with the recursion
//! and the size of one; we need the words of simple commands, of any text, in one pass. What it can't
//! tell for certain it says: a word whose value only the shell knows is not
//! [literal](Word::is_literal), a line that runs commands out of sight is not
//! [plain](Script::is_plain).

mod parser;

use std::borrow::Cow;

/// A command line.
#[derive(Debug)]
pub(super) struct Script<'a> {
    /// Its simple commands, in order.
    pub parts: Vec<Part<'a>>,
    /// Whether these are all that it runs, in this shell: it has no substitution and no subshell.
    pub is_plain: bool,
}

/// A simple command.
#[derive(Debug, Default)]
pub(super) struct Part<'a> {
    /// Assignments, the program, its arguments. A reserved word such as `if` is one too.
    pub words: Vec<Word<'a>>,
    /// Where its input comes from and its output goes.
    pub redirects: Vec<Redirect<'a>>,
    /// What follows it.
    pub then: Then,
}

/// What stands between two simple commands.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    /// `;`, a new line, or nothing more.
    #[default]
    Next,
    /// `|`.
    Pipe,
    /// `&&`.
    And,
    /// `||`.
    Or,
    /// `&`.
    Background,
}

/// A word.
#[derive(Debug, Clone)]
pub(super) struct Word<'a> {
    /// As it is written.
    pub raw: &'a str,
    /// Without its quotes.
    pub value: String,
    /// Whether the shell takes that value as it is: it has no variable, pattern or substitution.
    pub is_literal: bool,
}

/// A redirection.
#[derive(Debug)]
pub(super) struct Redirect<'a> {
    /// Such as `2>` or `<<`.
    pub operator: &'a str,
    /// The file, the descriptor, or what ends a here-document.
    pub target: Word<'a>,
    /// The text of a here-document.
    pub body: Option<&'a str>,
}

impl<'a> Script<'a> {
    /// Takes a command line apart; none if it ends inside a quotation or a substitution,
    /// or is a whole program.
    pub(super) fn parse(line: &'a str) -> Option<Self> {
        parser::parse(line)
    }
}

impl<'a> Part<'a> {
    /// The program and its arguments: the words after the assignments.
    pub(super) fn command(&self) -> &[Word<'a>] {
        let assignments = self.words.iter().take_while(|word| word.is_assignment()).count();
        self.words.get(assignments..).unwrap_or_default()
    }

    /// The name of the program, without its folder.
    pub(super) fn program(&self) -> &str {
        self.command().first().map_or("", |word| file_name(&word.value))
    }

    /// Whether it begins with a word of the shell's own language, so that it is no simple command.
    pub(super) fn is_reserved(&self) -> bool {
        const RESERVED: [&str; 18] = [
            "!", "{", "}", "[[", "if", "then", "elif", "else", "fi", "for", "while", "until", "do",
            "done", "case", "esac", "select", "function",
        ];
        self.words.first().is_some_and(|word| RESERVED.contains(&word.raw))
    }
}

impl Word<'_> {
    /// Whether it sets a variable, if it stands before the program.
    pub(super) fn is_assignment(&self) -> bool {
        let Some((name, _)) = self.raw.split_once('=') else { return false };
        let name = name.strip_suffix('+').unwrap_or(name);
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    }
}

impl Redirect<'_> {
    /// Whether it changes no file: it copies a descriptor, or throws output away.
    pub(super) fn is_harmless(&self) -> bool {
        self.operator.ends_with('&') || self.target.value == "/dev/null"
    }
}

/// The last part of a path, without what Windows adds to the name of a program.
pub(super) fn file_name(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    [".exe", ".cmd", ".bat"].iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(name)
}

/// The line that `bash -lc 'line'` and the like run; `line` itself if it is none of these.
///
/// Codex wraps commands so.
pub(super) fn unwrapped(line: &str) -> Cow<'_, str> {
    /// Deeper nesting is no agent's.
    const DEPTH: usize = 3;
    let mut line = Cow::Borrowed(line);
    for _ in 0..DEPTH {
        match inner(&line) {
            Some(inner) => line = Cow::Owned(inner),
            None => break,
        }
    }
    line
}

fn inner(line: &str) -> Option<String> {
    const SHELLS: [&str; 5] = ["bash", "sh", "zsh", "dash", "ksh"];
    let program = line.split_whitespace().next().map(file_name);
    if !program.is_some_and(|program| SHELLS.contains(&program)) {
        return None;
    }
    let script = Script::parse(line)?;
    let [part] = script.parts.as_slice() else { return None };
    let [shell, options @ .., script] = part.words.as_slice() else { return None };
    let takes_script = |option: &&Word<'_>| {
        let letters = option.value.strip_prefix('-').unwrap_or_default();
        letters.ends_with('c') && letters.chars().all(|c| c.is_ascii_lowercase())
    };
    let is_wrapped = SHELLS.contains(&file_name(&shell.value))
        && part.redirects.is_empty()
        && options.last().as_ref().is_some_and(takes_script)
        && options.iter().all(|option| option.value.starts_with('-') || option.value == "pipefail");
    (is_wrapped && script.is_literal).then(|| script.value.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrapped_line_is_found() {
        for (line, inner) in [
            ("bash -lc 'cargo test'", "cargo test"),
            ("/bin/zsh -c \"ls && pwd\"", "ls && pwd"),
            ("bash -euo pipefail -c 'make'", "make"),
            ("bash -lc \"bash -c 'make all'\"", "make all"),
            ("bash -c \"ls $HOME\"", "bash -c \"ls $HOME\""),
            ("bash run.sh", "bash run.sh"),
            ("bash -c 'a' b", "bash -c 'a' b"),
            ("echo -c 'a'", "echo -c 'a'"),
            ("cargo test", "cargo test"),
            ("bash -c 'unclosed", "bash -c 'unclosed"),
        ] {
            assert_eq!(unwrapped(line), inner, "{line}");
        }
    }

    #[test]
    fn a_program_has_no_folder_and_no_suffix() {
        for (path, name) in [
            ("cargo", "cargo"),
            ("./node_modules/.bin/jest", "jest"),
            (r"C:\bin\npm.cmd", "npm"),
            ("", ""),
        ] {
            assert_eq!(file_name(path), name);
        }
    }
}
