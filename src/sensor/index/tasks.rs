//! Task runners: Make, just, Task.

use super::found::Found;
use super::tree::Folder;

const MAKE: [&str; 3] = ["GNUmakefile", "makefile", "Makefile"];
const JUST: [&str; 3] = ["justfile", "Justfile", ".justfile"];
const TASK: [&str; 2] = ["Taskfile.yml", "Taskfile.yaml"];

/// The task files of a folder: all of them, as they are often beside each other.
pub(super) fn read(folder: Folder<'_>) -> Option<Found> {
    let mut found = Found::default();
    for (names, tool, tests) in [
        (&MAKE[..], "make", &["test", "tests", "check"][..]),
        (&JUST[..], "just", &["test", "tests"][..]),
        (&TASK[..], "task", &["test", "tests"][..]),
    ] {
        let Some(name) = names.iter().find(|name| folder.has(name)) else {
            continue;
        };
        found.build_systems.push(tool);
        found.key_files.push((*name).to_owned());
        let text = folder.text(name).unwrap_or_default();
        let is_rule = if tool == "task" { is_key } else { is_rule };
        if let Some(test) = tests.iter().find(|test| text.lines().any(|line| is_rule(line, test))) {
            found.test(tool, format!("{tool} {test}"));
        }
    }
    (!found.build_systems.is_empty()).then_some(found)
}

/// Whether a line begins the rule or the recipe `name`: it stands before a colon, among other targets or
/// before parameters. `:=` assigns.
fn is_rule(line: &str, name: &str) -> bool {
    let line = line.strip_prefix('@').unwrap_or(line);
    line.split_once(':').is_some_and(|(head, tail)| {
        !head.starts_with(char::is_whitespace)
            && !tail.starts_with('=')
            && head.split_whitespace().any(|target| target == name)
    })
}

/// Whether a line of YAML begins the value of the key `name`, below the top.
fn is_key(line: &str, name: &str) -> bool {
    line.starts_with(' ') && line.trim().strip_suffix(':') == Some(name)
}
