//! Tools that are told several goals at once: the most telling one counts.

use crate::agent::command::Purpose;
use crate::agent::command::naming::purpose_of_name;
use crate::agent::command::purpose::{most_telling, operands};

/// Of Maven.
pub(super) fn of_maven(arguments: &[&str]) -> Purpose {
    let skips =
        |word: &&str| word.starts_with("-DskipTests") || word.starts_with("-Dmaven.test.skip");
    let goals = operands(arguments, &["-pl", "-f", "-P", "-s", "--projects", "--file"]);
    let purpose = most_telling(goals.map(|goal| match goal {
        "test" | "verify" | "integration-test" | "surefire:test" | "failsafe:integration-test" => {
            Purpose::Test
        }
        "compile" | "test-compile" | "package" | "install" | "deploy" => Purpose::Build,
        _ => Purpose::Other,
    }));
    if arguments.iter().any(skips) { purpose.min(Purpose::Build) } else { purpose }
}

/// Of Gradle.
pub(super) fn of_gradle(arguments: &[&str]) -> Purpose {
    let tasks = operands(arguments, &["-x", "--exclude-task", "-p", "--project-dir", "--tests"]);
    most_telling(tasks.map(|task| {
        let task = task.rsplit(':').next().unwrap_or(task);
        let is_compiler = task.starts_with("compile") || task.ends_with("Classes");
        match task {
            "check" => Purpose::Test,
            "classes" | "jar" | "war" => Purpose::Build,
            _ if is_compiler => Purpose::Build,
            _ if task.starts_with("test") || task.ends_with("Test") => Purpose::Test,
            _ => purpose_of_name(task),
        }
    }))
}

/// Of sbt and Mill, each word of which may have arguments of its own.
pub(super) fn of_sbt(arguments: &[&str]) -> Purpose {
    most_telling(arguments.iter().map(|word| of_sbt_task(word)))
}

fn of_sbt_task(word: &str) -> Purpose {
    let task = word.split_whitespace().next().unwrap_or_default();
    let task = task.rsplit(['/', '.']).next().unwrap_or(task);
    match task {
        "test" | "testOnly" | "testQuick" => Purpose::Test,
        "compile" | "Test/compile" | "assembly" | "package" => Purpose::Build,
        _ => Purpose::Other,
    }
}

/// Of Xcode.
pub(super) fn of_xcodebuild(arguments: &[&str]) -> Purpose {
    if arguments.iter().any(|word| matches!(*word, "-list" | "-showsdks" | "-showBuildSettings")) {
        Purpose::Other
    } else if arguments.iter().any(|word| matches!(*word, "test" | "test-without-building")) {
        Purpose::Test
    } else if arguments.contains(&"clean") && !arguments.contains(&"build") {
        Purpose::Other
    } else {
        Purpose::Build
    }
}
