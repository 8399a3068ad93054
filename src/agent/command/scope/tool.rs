//! Which tool a command runs, by whatever way it is started.

use crate::agent::command::launchers::{bare, launched};
use crate::agent::command::naming::purpose_of_name;
use crate::agent::command::scope::grammar::{BUILD_SCRIPT, Grammar, TEST_SCRIPT, given, of_tool};
use crate::agent::command::variables::is_setting;
use crate::agent::command::{Purpose, build_tools};
use crate::agent::shell::file_name;

/// A tool that a command runs.
#[derive(Debug)]
pub(super) struct Tool<'a> {
    /// The tool with its subcommand, target or script.
    pub name: String,
    /// Its options; none if we don't know them.
    pub grammar: Option<&'static Grammar>,
    /// What it is given.
    pub arguments: Vec<&'a str>,
    /// What chooses another version or environment of it.
    pub environment: Vec<&'a str>,
}

/// Ways to start the tool that the project has: with them and without, it is the same run.
const PLAIN_LAUNCHERS: [&str; 21] = [
    "--",
    "--no-install",
    "--yes",
    "-y",
    "bundle",
    "bun",
    "bunx",
    "cross-env",
    "dlx",
    "exec",
    "npm",
    "npx",
    "pdm",
    "pipenv",
    "pnpm",
    "pnpx",
    "poetry",
    "run",
    "uv",
    "x",
    "yarn",
];

/// The tool that the words run.
pub(super) fn of_words<'a>(words: &[&'a str]) -> Option<Tool<'a>> {
    let (bare, launched) = (bare(words), launched(words));
    let way = bare.get(..bare.len().checked_sub(launched.len())?)?;
    let environment = way
        .iter()
        .copied()
        .filter(|word| !PLAIN_LAUNCHERS.contains(word) && !is_setting(word))
        .collect();
    let (program, arguments) = launched.split_first()?;
    let mut tool = of_program(file_name(program), arguments);
    if tool.grammar.is_none() {
        // With the folder that it lies in.
        tool.name = launched.join(" ");
    }
    Some(Tool { environment, ..tool })
}

fn of_program<'a>(program: &str, arguments: &[&'a str]) -> Tool<'a> {
    let unknown = || Tool {
        name: String::new(),
        grammar: None,
        arguments: Vec::new(),
        environment: Vec::new(),
    };
    if build_tools::PACKAGE_MANAGERS.contains(&program) {
        return of_package_manager(program, arguments).unwrap_or_else(unknown);
    }
    let is_python = matches!(program, "py" | "python" | "python3");
    if let (true, ["-m", module, rest @ ..]) = (is_python, arguments) {
        return of_program(module, rest);
    }
    let name = match program {
        "cross" => "cargo",
        "gradlew" => "gradle",
        "mvnw" | "mvnd" => "mvn",
        "py.test" => "pytest",
        "pest" => "phpunit",
        name => name,
    };
    let found = match (name, arguments) {
        ("node", arguments) if arguments.contains(&"--test") => {
            let rest = arguments.iter().copied().filter(|word| *word != "--test");
            Some(("node --test".to_owned(), rest.collect()))
        }
        ("vitest", ["run", rest @ ..]) => Some((name.to_owned(), rest.to_vec())),
        _ if of_tool(name).is_some() => Some((name.to_owned(), arguments.to_vec())),
        _ => with_verb(name, arguments),
    };
    match found {
        Some((name, arguments)) => {
            Tool { grammar: of_tool(&name), name, arguments, environment: Vec::new() }
        }
        None => unknown(),
    }
}

/// A tool with the subcommand that is its first word without a dash.
fn with_verb<'a>(name: &str, arguments: &[&'a str]) -> Option<(String, Vec<&'a str>)> {
    let mut rest = Vec::new();
    let mut words = arguments.iter().copied();
    let verb = loop {
        let word = words.next()?;
        if matches!(word, "-C" | "--manifest-path" | "--config" | "--color") {
            rest.extend([Some(word), words.next()].into_iter().flatten());
        } else if word.starts_with(['-', '+']) {
            rest.push(word);
        } else {
            break word;
        }
    };
    let verb = match (name, verb) {
        ("cargo", "t") => "test",
        ("cargo", "b") => "build",
        ("cargo", "c") => "check",
        ("cargo", "d") => "doc",
        ("cargo", "nextest") => {
            words.next().filter(|verb| matches!(*verb, "r" | "run"))?;
            "nextest"
        }
        (_, verb) => verb,
    };
    rest.extend(words);
    let name = format!("{name} {verb}");
    of_tool(&name).map(|_| (name, rest))
}

fn of_package_manager<'a>(program: &str, arguments: &[&'a str]) -> Option<Tool<'a>> {
    let mut options = Vec::new();
    let mut words = arguments.iter().copied();
    let verb = loop {
        let word = words.next()?;
        if !word.starts_with('-') {
            break word;
        }
        options.push(word);
        let valued = [BUILD_SCRIPT.directory, BUILD_SCRIPT.picks.first()?.1];
        if valued.iter().any(|list| given(list, word, Some("")).is_some_and(|it| it.takes_next)) {
            options.extend(words.next());
        }
    };
    let script = match verb {
        "run" | "run-script" | "rum" | "urn" => {
            words.next().filter(|word| !word.starts_with('-'))?
        }
        "t" | "tst" => "test",
        "workspace" | "workspaces" | "recursive" => return None,
        "test" if program == "bun" => {
            options.extend(words);
            return Some(Tool {
                name: "bun test".to_owned(),
                grammar: of_tool("bun test"),
                arguments: options,
                environment: Vec::new(),
            });
        }
        verb => verb,
    };
    let purpose = purpose_of_name(script);
    if purpose == Purpose::Other {
        // `yarn jest a` runs a program of the project.
        let rest: Vec<&str> = words.collect();
        let tool = of_program(script, &rest);
        return tool.grammar.filter(|_| options.is_empty()).map(|_| tool);
    }
    let grammar = if purpose == Purpose::Test { &TEST_SCRIPT } else { &BUILD_SCRIPT };
    options.extend(words);
    Some(Tool {
        name: format!("script {script}"),
        grammar: Some(grammar),
        arguments: options,
        environment: Vec::new(),
    })
}
