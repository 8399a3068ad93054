//! Where a command line runs what it runs.

use crate::agent::shell::{Part, Then};
use crate::agent::tool::path::{MAX_PATH_BYTES, absolute, directory_after};

/// The directory that a line called in `cwd` goes to before anything else, and the parts that run
/// there.
pub(super) fn entered<'s, 'a>(mut parts: &'s [Part<'a>], cwd: &str) -> (String, &'s [Part<'a>]) {
    let mut directory = absolute_or_none(cwd);
    while let Some((target, rest)) = split_change(parts) {
        if rest.is_empty() {
            break;
        }
        directory = bounded(directory_after(&directory, target));
        parts = rest;
    }
    (directory, parts)
}

/// `cwd` without what names nothing.
pub(super) fn absolute_or_none(cwd: &str) -> String {
    if cwd.is_empty() { String::new() } else { bounded(absolute("", cwd)) }
}

/// The target of the `cd` with which the parts begin, and what follows it.
pub(super) fn split_change<'s, 'a>(parts: &'s [Part<'a>]) -> Option<(&'s str, &'s [Part<'a>])> {
    let (change, rest) = parts.split_first()?;
    let [program, target] = change.command() else { return None };
    if !matches!(program.value.as_str(), "cd" | "pushd") || !target.is_literal {
        return None;
    }
    match (change.then, rest) {
        (Then::And | Then::Next, rest) => Some((&target.value, rest)),
        // `cd app || exit 1; make`.
        (Then::Or, [way_out, rest @ ..]) => {
            let leaves = matches!(way_out.program(), "exit" | "return");
            (leaves && way_out.then == Then::Next).then_some((&target.value, rest))
        }
        _ => None,
    }
}

fn bounded(directory: String) -> String {
    if directory.len() <= MAX_PATH_BYTES { directory } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::shell::Script;

    #[test]
    fn a_line_runs_where_it_goes_first() {
        for (line, directory, programs) in [
            ("npm test", "/p", "npm"),
            ("cd app && npm test", "/p/app", "npm"),
            ("cd app\nnpm test", "/p/app", "npm"),
            ("(cd app && npm test)", "/p/app", "npm"),
            ("pushd app && npm test && popd", "/p/app", "npm popd"),
            ("cd app || exit 1; npm test", "/p/app", "npm"),
            ("cd app && cd ../lib && npm test", "/p/lib", "npm"),
            ("cd '/a b' ; make", "/a b", "make"),
            ("cd ~/app && make", "/p", "cd make"),
            ("cd $APP && make", "/p", "cd make"),
            ("cd app || make", "/p", "cd make"),
            ("cd app & make", "/p", "cd make"),
            ("cd app", "/p", "cd"),
            ("make && cd app && make", "/p", "make cd make"),
        ] {
            let script = Script::parse(line).unwrap();
            let (found, parts) = entered(&script.parts, "/p/");
            let found_programs: Vec<_> = parts.iter().map(Part::program).collect();
            assert_eq!(
                (found.as_str(), found_programs.join(" ")),
                (directory, programs.to_owned()),
                "{line}"
            );
        }
        assert_eq!(entered(&[], "").0, "");
    }
}
