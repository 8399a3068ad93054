//! A whole command line: the purpose of its most telling part, and whether its exit status is that
//! part's.

use crate::agent::command::printed_status::PrintedStatus;
use crate::agent::command::{Command, Purpose, directory, launchers, purpose, scope, text};
use crate::agent::shell::{Part, Script, Then};

/// A command line, with what is asked of it beside what the world keeps.
#[derive(Debug)]
pub(in crate::agent) struct Line {
    /// What the world keeps.
    pub command: Command,
    /// Whether its output ends as that of its most telling part does, so that the result of all of
    /// its tests is there.
    pub shows_end: bool,
    /// Where it prints the exit status of that part itself.
    pub printed_status: Option<PrintedStatus>,
}

impl Line {
    /// The line `text`, which runs `script` if it could be taken apart, called in the directory
    /// `cwd`.
    pub(in crate::agent) fn new(text: &str, script: Option<&Script<'_>>, cwd: &str) -> Self {
        let Some(script) = script else {
            // Cut, or of a shell with other quotes.
            let (text, directory) = (text::of_unread(text), directory::absolute_or_none(cwd));
            let command = Command::unread(text, directory);
            return Self { command, shows_end: false, printed_status: None };
        };
        let purposes: Vec<Purpose> = script.parts.iter().map(purpose::of_part).collect();
        let purpose = purposes.iter().copied().max().unwrap_or(Purpose::Other);
        let is_telling = |index: usize| purposes.get(index) == Some(&purpose);
        let telling = || (0..script.parts.len()).filter(|index| is_telling(*index));
        let tells_status = purpose == Purpose::Other
            || telling().all(|index| is_status_kept(&script.parts, index));
        let shows_end =
            telling().next_back().is_some_and(|index| is_end_shown(&script.parts, index));
        let (directory, parts) = directory::entered(&script.parts, cwd);
        let entering = script.parts.len() - parts.len();
        let text = text::of_parts(parts, purposes.get(entering..).unwrap_or_default());
        let scopes = scope::of_script(script, &purposes, cwd);
        let first = telling().next().unwrap_or_default();
        let after = script.parts.iter().enumerate().skip(first + 1);
        let fails_alone = after
            .filter(|(index, _)| purposes.get(*index) == Some(&Purpose::Other))
            .all(|(_, part)| NEVER_FAIL.contains(&part.program()));
        let is_limited = telling().filter_map(|index| script.parts.get(index)).any(|part| {
            let words: Vec<&str> = part.command().iter().map(|word| word.value.as_str()).collect();
            launchers::has_limit(&words)
        });
        let command = Command {
            text,
            directory,
            purpose,
            tells_status,
            fails_alone: fails_alone || purpose == Purpose::Other,
            is_limited,
            scopes,
        };
        let is_alone = telling().count() == 1;
        let printed_status = PrintedStatus::of(&script.parts, first).filter(|_| is_alone);
        Self { command, shows_end, printed_status }
    }
}

/// Programs that fail for no reason of the project's.
const NEVER_FAIL: [&str; 13] = [
    ":", "cat", "cd", "date", "echo", "head", "less", "popd", "printf", "set", "tail", "tee",
    "true",
];

/// Whether the line fails when the part at `index` does.
fn is_status_kept(parts: &[Part<'_>], index: usize) -> bool {
    let (before, rest) = parts.split_at_checked(index).unwrap_or((parts, &[]));
    let [part, after @ ..] = rest else { return false };
    if parts.iter().any(Part::is_reserved) {
        return false;
    }
    let sets = |is_set: fn(&str) -> bool| {
        (before.iter().filter(|part| part.program() == "set"))
            .any(|part| part.words.iter().any(|word| is_set(&word.value)))
    };
    let has_pipefail = sets(|option| option == "pipefail");
    let has_errexit = sets(|option| {
        option == "errexit" || option.strip_prefix('-').is_some_and(|letters| letters.contains('e'))
    });
    let keeps = |then: Then| match then {
        Then::And => true,
        Then::Pipe => has_pipefail,
        Then::Next => has_errexit,
        Then::Or | Then::Background => false,
    };
    let Some((last, between)) = after.split_last() else {
        return part.then != Then::Background;
    };
    // What follows `&&` is not reached by a failure, and neither is what that is piped into.
    let mut is_reached = part.then != Then::And;
    let mut is_kept = keeps(part.then);
    for part in between {
        is_kept &= keeps(part.then) || (part.then == Then::Pipe && !is_reached);
        is_reached |= part.then != Then::And && part.then != Then::Pipe;
    }
    is_kept && last.then != Then::Background
}

/// Whether everything that the part at `index` says at its end is in the output.
fn is_end_shown(parts: &[Part<'_>], index: usize) -> bool {
    const KEEP_THE_END: [&str; 7] = ["cat", "egrep", "fgrep", "grep", "rg", "tail", "tee"];
    let Some([part, after @ ..]) = parts.get(index..) else { return false };
    if parts.iter().skip(index).any(|part| part.then == Then::Background) {
        return false;
    }
    let keeps_end = |part: &Part<'_>| KEEP_THE_END.contains(&part.program());
    let pipeline = std::iter::once(part).chain(after).take_while(|part| part.then == Then::Pipe);
    let filters = after.iter().take(pipeline.count());
    let is_shown = match file_of_output(part) {
        // `cargo test > log; tail log`.
        Some(file) => after
            .iter()
            .any(|part| keeps_end(part) && part.words.iter().any(|word| word.value == file)),
        None => true,
    };
    is_shown && filters.into_iter().all(|part| keeps_end(part) && file_of_output(part).is_none())
}

/// Where the standard output of a command goes instead of into ours: the results of most tools are
/// there.
fn file_of_output<'a>(part: &'a Part<'_>) -> Option<&'a str> {
    let is_output = |operator: &str| {
        operator.contains('>') && !operator.ends_with('&') && !operator.starts_with('2')
    };
    let redirect = part.redirects.iter().rfind(|redirect| is_output(redirect.operator))?;
    Some(&redirect.target.value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::Status;
    use crate::agent::shell::unwrapped;

    fn line(text: &str) -> Line {
        let text = unwrapped(text);
        Line::new(&text, Script::parse(&text).as_ref(), "/p")
    }

    #[test]
    fn a_line_is_for_what_its_most_telling_part_is_for() {
        for (text, purpose) in [
            ("cargo build && cargo test", Purpose::Test),
            ("cargo test | tail -5", Purpose::Test),
            ("cd app; npm ci && npm run build 2>&1 | tee log", Purpose::Build),
            ("bash -lc 'cargo check'", Purpose::Build),
            ("for f in a b; do cargo test -p $f; done", Purpose::Test),
            ("if ! make; then echo no; fi", Purpose::Build),
            ("(cd app && go test ./...)", Purpose::Test),
            ("echo cargo test", Purpose::Other),
            ("cat > t.sh <<'EOF'\ncargo test\nEOF", Purpose::Other),
            ("git commit -m 'cargo test'", Purpose::Other),
            ("", Purpose::Other),
        ] {
            assert_eq!(line(text).command.purpose, purpose, "{text}");
        }
    }

    #[test]
    fn the_exit_status_is_that_of_the_telling_part_or_not() {
        for (text, tells) in [
            ("cargo test", true),
            ("cargo test;", true),
            ("cd a && cargo test 2>&1", true),
            ("cargo build && cargo test && echo ok", true),
            ("cargo test && cat log | tail", true),
            ("(cd a && cargo test)", true),
            ("set -o pipefail; cargo test | tail", true),
            ("set -euo pipefail\ncargo test | tail\necho ok", true),
            ("bash -c 'cargo test'", true),
            ("ls | head", true),
            ("cargo test | tail", false),
            ("cargo test; echo $?", false),
            ("cargo test && echo ok; echo done", false),
            ("cargo test && cat log | tail; date", false),
            ("cargo test || true", false),
            ("cargo test &", false),
            ("cargo test & wait", false),
            ("cargo test; npm test", false),
            ("! cargo test", false),
            ("if cargo test; then :; fi", false),
            ("(cargo test) | tail", false),
            ("cargo test | tail; set -o pipefail", false),
        ] {
            assert_eq!(line(text).command.tells_status, tells, "{text}");
        }
    }

    #[test]
    fn an_exit_status_says_how_the_telling_part_went_or_nothing() {
        let failed = |code, interrupted| Status::Failed { exit_code: Some(code), interrupted };
        for (text, code, status) in [
            ("cargo test", 0, Status::Succeeded),
            ("cargo test", 101, failed(101, false)),
            ("cargo test", 124, failed(124, false)),
            ("timeout 20 npm test", 124, failed(124, true)),
            ("cd a && time gtimeout -k 5 20 npm test", 124, failed(124, true)),
            ("timeout 20 npm test", 1, failed(1, false)),
            ("cargo test", 130, failed(130, true)),
            ("cargo test", 137, failed(137, true)),
            ("cargo test", 143, failed(143, true)),
            ("set -o pipefail; cargo build | head -3", 141, failed(141, true)),
            ("cargo test", 139, failed(139, false)),
            ("npm ci && npm test && echo ok", 1, failed(1, false)),
            ("cargo build && cargo test", 1, failed(1, false)),
            ("set -o pipefail; cargo test | tee log", 1, failed(1, false)),
            ("cargo build && ./target/debug/app", 0, Status::Succeeded),
            ("cargo build && ./target/debug/app", 1, Status::Unknown),
            ("cargo test && git push", 1, Status::Unknown),
            ("set -o pipefail; cargo test | grep -c ok", 1, Status::Unknown),
            ("cargo test | tail", 0, Status::Unknown),
            ("cargo test | tail", 1, Status::Unknown),
            ("! cargo test", 1, Status::Unknown),
            ("ls && cat a", 1, failed(1, false)),
        ] {
            assert_eq!(line(text).command.status_of_exit(code), status, "{text}: {code}");
        }
    }

    #[test]
    fn the_end_of_the_output_is_seen_or_not() {
        for (text, shown) in [
            ("cargo test", true),
            ("cargo test 2>&1 | tail -5", true),
            ("cargo test 2>/dev/null | grep result | tail -5; echo done", true),
            ("cargo test || true", true),
            ("cargo test | head -5", false),
            ("cargo test | sed 5q", false),
            ("cargo test > log", false),
            ("cargo test > log 2>&1; tail -5 log", true),
            ("cargo test &> log; tail other", false),
            ("cargo test > log; head log", false),
            ("cargo test | tail > log", false),
            ("cargo test & sleep 1", false),
        ] {
            assert_eq!(line(text).shows_end, shown, "{text}");
        }
    }
}
