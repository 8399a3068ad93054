//! Programs that run another one: what they run is what the command is for.

use crate::agent::command::variables::is_setting;
use crate::agent::shell::file_name;

/// A program that runs the rest of its words.
struct Launcher {
    name: &'static str,
    /// The words that must follow it, as in `uv run`.
    verbs: &'static [&'static str],
    /// Options that take the next word as their value.
    valued: &'static [&'static str],
    /// How many words are its own before the program.
    operands: usize,
}

const fn launcher(name: &'static str) -> Launcher {
    Launcher { name, verbs: &[], valued: &[], operands: 0 }
}

impl Launcher {
    const fn verbs(mut self, verbs: &'static [&'static str]) -> Self {
        self.verbs = verbs;
        self
    }

    const fn valued(mut self, valued: &'static [&'static str]) -> Self {
        self.valued = valued;
        self
    }

    const fn operands(mut self, operands: usize) -> Self {
        self.operands = operands;
        self
    }

    /// What it runs; none if `words` are something else.
    fn launched<'a, 'b>(&self, words: &'a [&'b str]) -> Option<&'a [&'b str]> {
        let (first, mut rest) = words.split_first()?;
        if file_name(first) != self.name {
            return None;
        }
        if !self.verbs.is_empty() {
            let (verb, after) = rest.split_first()?;
            if !self.verbs.contains(verb) {
                return None;
            }
            rest = after;
        }
        let mut operands = self.operands;
        while let Some((word, after)) = rest.split_first() {
            if *word == "--" {
                rest = after;
                break;
            }
            if self.valued.contains(word) {
                rest = after.get(1..).unwrap_or_default();
            } else if word.starts_with('-') {
                rest = after;
            } else if operands > 0 {
                operands -= 1;
                rest = after;
            } else {
                break;
            }
        }
        Some(rest)
    }
}

/// Those that do not change what the command is: it is the same with them and without.
const BARE: [Launcher; 9] = [
    launcher("time"),
    launcher("exec"),
    launcher("nohup"),
    launcher("env").valued(&["-u", "-C"]),
    launcher("timeout").valued(&["-s", "-k", "--signal", "--kill-after"]).operands(1),
    launcher("gtimeout").valued(&["-s", "-k"]).operands(1),
    launcher("nice").valued(&["-n"]),
    launcher("stdbuf").valued(&["-i", "-o", "-e"]),
    // Ours, which tells the daemon of what a person builds. What an agent runs, its hooks tell.
    launcher("tma1").verbs(&["build"]).valued(&[
        "--tag",
        "--filter-regex",
        "--debounce",
        "--project",
    ]),
];

/// Those that choose an environment or a version.
const ENVIRONMENTS: [Launcher; 28] = [
    launcher("sudo").valued(&["-u", "-g"]),
    launcher("xvfb-run"),
    launcher("cross-env"),
    launcher("dotenv").valued(&["-e"]),
    launcher("npx").valued(&["-p", "--package"]),
    launcher("bunx"),
    launcher("pnpx"),
    launcher("npm").verbs(&["exec", "x"]).valued(&["-p", "--package", "-w", "--workspace"]),
    launcher("pnpm").verbs(&["exec", "dlx"]),
    launcher("yarn").verbs(&["exec", "dlx"]),
    launcher("bun").verbs(&["x"]),
    launcher("nyc").valued(&["-r", "--reporter"]),
    launcher("c8").valued(&["-r", "--reporter"]),
    launcher("uv").verbs(&["run"]).valued(&[
        "--with",
        "-p",
        "--python",
        "--package",
        "--group",
        "--extra",
    ]),
    launcher("uvx").valued(&["--with", "--from"]),
    launcher("poetry").verbs(&["run"]),
    launcher("pipenv").verbs(&["run"]),
    launcher("pdm").verbs(&["run"]),
    launcher("rye").verbs(&["run"]),
    launcher("pixi").verbs(&["run"]).valued(&["-e"]),
    launcher("conda").verbs(&["run"]).valued(&["-n", "-p"]),
    launcher("coverage").verbs(&["run"]).valued(&["--source", "--rcfile"]),
    launcher("bundle").verbs(&["exec"]),
    launcher("mise").verbs(&["exec", "x"]),
    launcher("direnv").verbs(&["exec"]).operands(1),
    launcher("rustup").verbs(&["run"]).operands(1),
    launcher("fvm"),
    launcher("xcrun").valued(&["--sdk"]),
];

/// What is left of a command without what does not change what it is: `time`, variables, a limit.
pub(super) fn bare<'a, 'b>(words: &'a [&'b str]) -> &'a [&'b str] {
    peeled(words, &[&BARE])
}

/// Whether a command is ended when it takes too long.
pub(super) fn has_limit(words: &[&str]) -> bool {
    let before = words.get(..words.len() - bare(words).len()).unwrap_or_default();
    before.iter().any(|word| matches!(file_name(word), "timeout" | "gtimeout"))
}

/// The program that a command runs in the end, with its arguments.
pub(super) fn launched<'a, 'b>(words: &'a [&'b str]) -> &'a [&'b str] {
    peeled(words, &[&BARE, &ENVIRONMENTS])
}

fn peeled<'a, 'b>(mut words: &'a [&'b str], tables: &[&[Launcher]]) -> &'a [&'b str] {
    // Every round takes a word away.
    loop {
        let inner = tables.iter().copied().flatten().find_map(|launcher| launcher.launched(words));
        let Some(inner) = inner else { return words };
        let variables = inner.iter().take_while(|word| is_setting(word)).count();
        words = inner.get(variables..).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_launched_is_found() {
        for (line, program) in [
            ("cargo test", "cargo test"),
            ("time cargo test", "cargo test"),
            ("env -u X CI=1 timeout -k 5 60 cargo test", "cargo test"),
            ("npx -y -p jest jest a", "jest a"),
            ("npx --no-install tsc", "tsc"),
            ("npm exec -- vitest run", "vitest run"),
            ("uv run --with x pytest -q", "pytest -q"),
            ("poetry run python -m pytest", "python -m pytest"),
            ("bundle exec rspec", "rspec"),
            ("cross-env CI=1 jest", "jest"),
            ("coverage run -m pytest", "pytest"),
            ("npm install", "npm install"),
            ("uv sync", "uv sync"),
            ("tma1 build -- cargo test", "cargo test"),
            ("tma1 build --watch --tag a --debounce 1s -- npx tsc", "tsc"),
            ("~/.local/bin/tma1 build --project /x -- make", "make"),
            ("tma1 status", "tma1 status"),
            ("time", ""),
            ("", ""),
        ] {
            let words: Vec<&str> = line.split_whitespace().collect();
            assert_eq!(launched(&words).join(" "), program, "{line}");
        }
    }

    #[test]
    fn a_runner_is_part_of_what_a_command_is() {
        for (line, program) in
            [("time npx jest", "npx jest"), ("timeout 5 make", "make"), ("sudo make", "sudo make")]
        {
            let words: Vec<&str> = line.split_whitespace().collect();
            assert_eq!(bare(&words).join(" "), program, "{line}");
        }
    }
}
