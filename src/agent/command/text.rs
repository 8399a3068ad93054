//! The text by which a command is known.

use std::collections::BTreeSet;

use sha2::{Digest as _, Sha256};

use crate::agent::command::Purpose;
use crate::agent::command::launchers::bare;
use crate::agent::command::variables::{is_cosmetic, is_setting};
use crate::agent::payload::beginning;
use crate::agent::shell::{Part, Then};

/// The longest text of a command, in bytes. What is cut off is told apart by a hash.
pub(in crate::agent) const MAX_TEXT_BYTES: usize = 300;

/// The text of a command that could not be taken apart.
pub(super) fn of_unread(line: &str) -> String {
    let mut text = String::new();
    for word in line.split_whitespace() {
        push_word(&mut text, word);
    }
    bounded(text)
}

/// The text of the parts of a command line, which are for `purposes`.
///
/// Left out is what a later run of the same command may have or not have: variables that change only
/// how it looks, a limit, and how much of its output is shown.
pub(super) fn of_parts(parts: &[Part<'_>], purposes: &[Purpose]) -> String {
    let parts = without_viewers(parts, purposes);
    let mut text = String::new();
    for (index, part) in parts.iter().enumerate() {
        push_part(&mut text, part);
        let joint = match part.then {
            Then::Background => " &",
            _ if index + 1 == parts.len() => "",
            Then::Next => ";",
            Then::Pipe => " |",
            Then::And => " &&",
            Then::Or => " ||",
        };
        text.push_str(joint);
    }
    bounded(text)
}

/// Without what only shows or comments the output of what comes before.
fn without_viewers<'s, 'a>(mut parts: &'s [Part<'a>], purposes: &[Purpose]) -> &'s [Part<'a>] {
    const CUTS: [&str; 6] = ["cat", "head", "less", "more", "tail", "tee"];
    const FILTERS: [&str; 10] =
        ["awk", "cut", "egrep", "fgrep", "grep", "rg", "sed", "sort", "uniq", "wc"];
    const COMMENTS: [&str; 7] = [":", "cd", "date", "echo", "popd", "printf", "true"];
    let is_telling = purposes.iter().max() > Some(&Purpose::Other);
    while let [before @ .., above, last] = parts {
        let is_last_telling = purposes.get(parts.len() - 1) != Some(&Purpose::Other);
        let program = last.program();
        let is_viewer = match above.then {
            Then::Pipe => CUTS.contains(&program) || is_telling && FILTERS.contains(&program),
            Then::Next | Then::And | Then::Or => is_telling && COMMENTS.contains(&program),
            Then::Background => false,
        };
        if !is_viewer || is_last_telling {
            break;
        }
        parts = parts.get(..=before.len()).unwrap_or_default();
    }
    parts
}

fn push_part(text: &mut String, part: &Part<'_>) {
    let values: Vec<&str> = part.command().iter().map(|word| word.value.as_str()).collect();
    // What is bare is the end of the whole.
    let kept = bare(&values).len();
    let (before, command) =
        part.words.split_at_checked(part.words.len() - kept).unwrap_or_default();
    if command.is_empty() {
        part.words.iter().for_each(|word| push_word(text, word.raw));
    } else {
        // Their order tells nothing.
        let settings: BTreeSet<&str> = (before.iter())
            .filter(|word| is_setting(&word.value) && !is_cosmetic(&word.value))
            .map(|word| word.raw)
            .collect();
        let command = command.iter().map(|word| word.raw);
        settings.into_iter().chain(command).for_each(|word| push_word(text, word));
    }
    for redirect in part.redirects.iter().filter(|redirect| !redirect.is_harmless()) {
        push_word(text, redirect.operator);
        push_in_line(text, redirect.target.raw);
        redirect.body.into_iter().for_each(|body| push_word(text, body));
    }
}

fn push_word(text: &mut String, word: &str) {
    if !text.is_empty() {
        text.push(' ');
    }
    push_in_line(text, word);
}

/// Adds text in one line; one with a line break stays different from one without.
fn push_in_line(text: &mut String, added: &str) {
    for c in added.chars() {
        if c.is_control() { text.extend(c.escape_default()) } else { text.push(c) }
    }
}

fn bounded(text: String) -> String {
    if text.len() <= MAX_TEXT_BYTES {
        return text;
    }
    let hash = Sha256::digest(text.as_bytes());
    let hash = hash.first_chunk().map_or(0, |bytes| u32::from_be_bytes(*bytes));
    let mark = format!("… #{hash:08x}");
    format!("{}{mark}", beginning(&text, MAX_TEXT_BYTES - mark.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::command::{Command, Line};
    use crate::agent::shell::{Script, unwrapped};
    use proptest::prelude::*;

    fn command(line: &str, cwd: &str) -> Command {
        let line = unwrapped(line);
        Line::new(&line, Script::parse(&line).as_ref(), cwd).command
    }

    fn text(line: &str) -> String {
        command(line, "/home/dev/shop").text
    }

    #[test]
    fn what_does_not_tell_a_run_from_another_is_left_out() {
        for line in [
            "cargo test",
            "  cargo   test \n",
            "cd /home/dev/shop && cargo test",
            "cd . ; cargo test",
            "cd /home/dev/shop/\ncargo test",
            "RUST_BACKTRACE=1 CI=1 cargo test",
            "env CI=1 cargo test",
            "time cargo test",
            "timeout 120 cargo test",
            "cargo test 2>&1",
            "cargo test 2>/dev/null",
            "cargo test 2>&1 | tail -40",
            "cargo test | head",
            "cargo test 2>&1 | grep -E 'FAILED|result' | sort | tail -5",
            "cargo test 2>&1 | tee /tmp/log",
            "cargo test; echo \"exit $?\"",
            "cargo test && echo ok || echo failed",
            "bash -lc 'cargo test'",
            "cargo test # again",
        ] {
            assert_eq!(text(line), "cargo test", "{line}");
        }
    }

    #[test]
    fn what_tells_a_run_from_another_stays() {
        for (line, expected) in [
            ("FEATURE=x npm test", "FEATURE=x npm test"),
            ("B=1 CI=1 A='2 3' npm test", "A='2 3' B=1 npm test"),
            ("env FEATURE=x timeout 5 npm test", "FEATURE=x npm test"),
            ("cd $app && npm test", "cd $app && npm test"),
            ("npm test && npm run e2e && popd", "npm test && npm run e2e"),
            ("cargo build && cargo test", "cargo build && cargo test"),
            ("cargo test a|tail; cargo test b", "cargo test a | tail; cargo test b"),
            ("ls | grep x | head -3", "ls | grep x"),
            ("echo a; echo b", "echo a; echo b"),
            ("grep -c a < b > c", "grep -c a <b >c"),
            ("sleep 5 &", "sleep 5 &"),
            ("A=1", "A=1"),
            ("python -c 'a\nb'", "python -c 'a\\nb'"),
            ("cat <<E\nx\nE", "cat <<E x\\n"),
            ("make 'unclosed   x", "make 'unclosed x"),
            ("npx jest a", "npx jest a"),
            ("", ""),
        ] {
            assert_eq!(text(line), expected, "{line}");
        }
    }

    #[test]
    fn a_command_is_the_same_one_wherever_the_way_into_its_directory_begins() {
        for (line, cwd) in [
            ("cd app && npm test", "/home/dev/shop"),
            // After a call of Claude Code its directory is the one that the call has led to.
            ("cd app && npm test", "/home/dev/shop/app"),
            ("npm test", "/home/dev/shop/app"),
            ("cd ../app && npm test | tail", "/home/dev/shop/lib"),
            ("cd /home/dev/shop/app; npm test", "/"),
            ("(cd app && npm test)", "/home/dev/shop"),
            ("pushd app && npm test && popd", "/home/dev/shop"),
        ] {
            let command = command(line, cwd);
            assert_eq!(command.identity(), "npm test\n/home/dev/shop/app", "{line} in {cwd}");
        }
        assert_ne!(command("npm test", "/a").identity(), command("npm test", "/b").identity());
    }

    #[test]
    fn long_commands_that_differ_late_stay_different() {
        let long = "é".repeat(1000);
        let (one, other) = (text(&format!("make {long} a")), text(&format!("make {long} b")));
        assert_ne!(one, other);
        assert_eq!(one, text(&format!("time make   {long} a | tail")));
        assert!(one.len() <= MAX_TEXT_BYTES && one.starts_with("make éé"), "{one}");
    }

    proptest! {
        #[test]
        fn a_text_is_one_bounded_line(line in "([a-z|;&<>'\"$() \n\t\\\\]|é|make |cd a ){0,200}") {
            let text = text(&line);
            prop_assert!(text.len() <= MAX_TEXT_BYTES);
            prop_assert!(!text.contains(char::is_control));
        }
    }
}
