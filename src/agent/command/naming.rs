//! What people call the scripts and targets that build and test.

use crate::agent::command::Purpose;

/// What a script, target or task of this name is for, such as `test:unit` or `build-release`.
pub(super) fn purpose_of_name(name: &str) -> Purpose {
    if has(name, &NO_RUNS) {
        Purpose::Other
    } else if has(name, &TESTS) {
        Purpose::Test
    } else if has(name, &BUILDS) || is_camel_case_build(name) {
        Purpose::Build
    } else {
        Purpose::Other
    }
}

/// What a target of `make` is for: it builds what it is named after, unless the name says what else.
pub(super) fn purpose_of_target(name: &str) -> Purpose {
    match purpose_of_name(name) {
        Purpose::Other if !has(name, &NO_RUNS) && !has(name, &NO_FILES) => Purpose::Build,
        purpose => purpose,
    }
}

fn has(name: &str, parts: &[&str]) -> bool {
    name.split([':', '-', '_', '.', '/', ' ']).any(|part| {
        let part = part.to_ascii_lowercase();
        parts.contains(&part.as_str())
    })
}

/// These run no build and no test, whatever else is in the name.
const NO_RUNS: [&str; 14] = [
    "clean", "deps", "fix", "fmt", "format", "install", "outdated", "setup", "up", "update",
    "updates", "upgrade", "upgrades", "watch",
];

/// Targets by which projects do something else than build.
const NO_FILES: [&str; 55] = [
    "attach",
    "backup",
    "bench",
    "benchmark",
    "bootstrap",
    "bump",
    "changelog",
    "cleanall",
    "console",
    "data",
    "database",
    "db",
    "demo",
    "deploy",
    "dev",
    "distclean",
    "down",
    "env",
    "exec",
    "export",
    "help",
    "import",
    "info",
    "init",
    "list",
    "login",
    "logs",
    "migrate",
    "migration",
    "migrations",
    "open",
    "postgres",
    "preview",
    "profile",
    "ps",
    "psql",
    "publish",
    "pull",
    "push",
    "redis",
    "repl",
    "reset",
    "restart",
    "restore",
    "run",
    "seed",
    "serve",
    "server",
    "shell",
    "start",
    "status",
    "stop",
    "tags",
    "uninstall",
    "venv",
];

const TESTS: [&str; 7] = ["e2e", "pytest", "spec", "specs", "test", "tests", "unittest"];

const BUILDS: [&str; 19] = [
    "all",
    "assemble",
    "build",
    "bundle",
    "check",
    "ci",
    "clippy",
    "compile",
    "debug",
    "dist",
    "lint",
    "release",
    "tsc",
    "type",
    "typecheck",
    "types",
    "typing",
    "verify",
    "vet",
];

/// Such as `compileKotlin`, `assembleDebug`.
fn is_camel_case_build(name: &str) -> bool {
    ["assemble", "build", "bundle", "compile", "lint"].iter().any(|verb| {
        name.strip_prefix(verb)
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_a_script_is_for() {
        for (purpose, names) in [
            (Purpose::Test, "test tests test:unit unit-test run_tests.sh e2e TEST test-build"),
            (Purpose::Build, "build build:prod typecheck type-check lint all check compileKotlin"),
            (Purpose::Other, "dev start latest contest builder watch:test build-clean lint:fix"),
        ] {
            for name in names.split(' ') {
                assert_eq!(purpose_of_name(name), purpose, "{name}");
            }
        }
    }
}
