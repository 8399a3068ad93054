//! Shell commands that change no source: they only compile, check, test or look.
//!
//! What changes while one of them runs is somebody else's doing. It is taken for one where that is
//! certain, and only then: what a formatter rewrites must not look like a change from outside.

use crate::agent::shell::{Part, Redirect, Script, Word, file_name, unwrapped};
use crate::agent::tool::programs::use_of;

/// A program that checks.
struct Checker {
    names: &'static [&'static str],
    /// The first word must be one of these, if there are any.
    verbs: &'static [&'static str],
    /// Options, by their beginning, with which it rewrites sources.
    rewriting: &'static [&'static str],
}

const CHECKERS: [Checker; 8] = [
    Checker {
        names: &["cargo"],
        verbs: &["b", "bench", "build", "c", "check", "clippy", "doc", "nextest", "t", "test"],
        rewriting: &["--fix"],
    },
    Checker { names: &["go"], verbs: &["build", "test", "vet"], rewriting: &["-update"] },
    Checker {
        names: &["pytest", "py.test"],
        verbs: &[],
        rewriting: &["--snapshot-update", "--inline-snapshot", "--force-regen", "--gen-files"],
    },
    Checker { names: &["tsc", "vue-tsc"], verbs: &[], rewriting: &["--init"] },
    Checker { names: &["jest", "vitest"], verbs: &[], rewriting: &["-u", "--update"] },
    Checker {
        names: &["mocha", "rspec", "phpunit", "ctest"],
        verbs: &[],
        rewriting: &["--update"],
    },
    Checker {
        names: &["npm", "pnpm", "yarn", "bun"],
        verbs: &["t", "test"],
        rewriting: &["-u", "--update", "--fix", "--write"],
    },
    Checker { names: &["sleep", "wait"], verbs: &[], rewriting: &[] },
];

/// Whether it is certain that a command line changes no source.
pub(super) fn changes_no_source(line: &str) -> bool {
    let line = unwrapped(line);
    Script::parse(&line).is_some_and(|script| {
        script.is_plain && !script.parts.is_empty() && script.parts.iter().all(is_harmless)
    })
}

fn is_harmless(part: &Part<'_>) -> bool {
    // What a variable in front of a program does is the project's to say: `UPDATE_EXPECT=1`.
    let has_variables = part.command().len() != part.words.len();
    !has_variables
        && !part.is_reserved()
        && part.redirects.iter().all(Redirect::is_harmless)
        && (use_of(&part.words).is_some() || is_check(&part.words))
}

fn is_check(words: &[Word<'_>]) -> bool {
    let words = without_launcher(words);
    let Some((program, arguments)) = words.split_first() else { return false };
    let name = file_name(&program.value);
    CHECKERS.iter().any(|checker| {
        let verb = arguments.iter().find(|word| !word.value.starts_with(['-', '+']));
        let verb = verb.map_or("", |word| word.value.as_str());
        checker.names.contains(&name)
            && (checker.verbs.is_empty() || checker.verbs.contains(&verb))
            && arguments.iter().all(|word| {
                word.is_literal
                    && !checker.rewriting.iter().any(|option| word.value.starts_with(option))
            })
    })
}

/// The words after a program that runs the rest of them.
fn without_launcher<'a, 'b>(words: &'a [Word<'b>]) -> &'a [Word<'b>] {
    match words {
        [first, rest @ ..] if matches!(first.value.as_str(), "time" | "npx" | "bunx") => rest,
        [first, limit, rest @ ..] if first.value == "timeout" && !limit.value.starts_with('-') => {
            rest
        }
        [python, m, rest @ ..] if python.value.starts_with("python") && m.value == "-m" => rest,
        words => words,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_checks_is_told_from_what_may_rewrite() {
        for line in [
            "cargo test",
            "cargo +nightly test --workspace -- --nocapture",
            "cd app && cargo clippy --all-targets 2>&1 | tail -20; echo done",
            "timeout 60 cargo check",
            "bash -lc 'go test ./...'",
            "python3 -m pytest -q tests/test_a.py | grep -v passed",
            "npx tsc --noEmit",
            "npm test -- --run",
            "sleep 30",
            "ls; git status",
        ] {
            assert!(changes_no_source(line), "{line}");
        }
        for line in [
            "cargo fmt",
            "cargo fmt && cargo test",
            "cargo clippy --fix --allow-dirty",
            "cargo run",
            "cargo",
            "UPDATE_EXPECT=1 cargo test",
            "cargo test > out.txt",
            "cargo test $(cat options)",
            "cargo test $OPTIONS",
            "npx jest -u",
            "npm run build",
            "npm install",
            "npx prettier --write .",
            "make test",
            "git checkout main",
            "sed -i s/a/b/ x",
            "if true; then cargo test; fi",
            "cargo test 'unclosed",
            "",
        ] {
            assert!(!changes_no_source(line), "{line}");
        }
    }
}
