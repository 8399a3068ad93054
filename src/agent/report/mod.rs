//! What the output of a build or of tests says: what is wrong, where, and which tests failed.

mod cargo;
mod diagnosis;
mod go;
mod jest;
mod junit;
mod location;
mod mix;
mod mocha;
mod outcome;
mod phpunit;
mod pytest;
mod rspec;
mod stack;
mod unittest;
mod vitest;

use crate::agent::Purpose;
use crate::agent::payload::beginning;
use crate::agent::tool::path::MAX_PATH_BYTES;
pub(super) use outcome::Outcome;

/// How many failed tests are named; who has more of them breaks one thing for all.
const MAX_TESTS: usize = 32;

/// The longest name of a test, in bytes.
const MAX_TEST_BYTES: usize = 240;

/// The longest error, in bytes.
const MAX_ERROR_BYTES: usize = 400;

/// What the output of a build or of tests says. Whether it matters depends on the
/// [`Status`](crate::agent::Status).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// The line that says what is wrong, or the last one.
    pub error: Option<String>,
    /// Where the first error is: file, as the output names it, and line.
    pub place: Option<(String, u32)>,
    /// The names of the tests that failed, in order.
    pub failed_tests: Vec<String>,
}

/// The output of a command as it reads on a terminal, without its colours.
pub(super) struct Output {
    text: String,
}

impl Output {
    pub(super) fn new(raw: &str) -> Self {
        Self { text: console::strip_ansi_codes(raw).into_owned() }
    }

    /// Its lines; of one that was written over, what came last.
    pub(super) fn lines(&self) -> Vec<&str> {
        let shown = |line: &'_ str| -> usize {
            let line = line.trim_end_matches('\r');
            line.rfind('\r').map_or(0, |at| at + 1)
        };
        self.text
            .split('\n')
            .map(|line| line.get(shown(line)..).unwrap_or_default().trim_end())
            .collect()
    }

    /// Whether the result of what is run for `purpose` is a good or a bad one.
    pub(super) fn outcome(&self, purpose: Purpose) -> Option<Outcome> {
        outcome::outcome(&self.lines(), purpose)
    }
}

impl Report {
    /// What these lines of an output say.
    pub fn of_lines(lines: &[String]) -> Self {
        Self::of_output(&Output::new(&lines.join("\n")))
    }

    /// What `output` says.
    pub(super) fn of_output(output: &Output) -> Self {
        let lines = output.lines();
        let (error, place) = diagnosis::diagnosis(&lines);
        Self {
            error: error.map(|error| one_line(error, MAX_ERROR_BYTES)).filter(|it| !it.is_empty()),
            place: place.filter(|(path, _)| path.len() <= MAX_PATH_BYTES),
            failed_tests: failed_tests(&output.text, &lines),
        }
    }
}

fn failed_tests(text: &str, lines: &[&str]) -> Vec<String> {
    let by_runner = [
        cargo::failed_tests(lines),
        go::failed_tests(lines),
        pytest::failed_tests(lines),
        unittest::failed_tests(lines),
        jest::failed_tests(lines),
        vitest::failed_tests(lines),
        mocha::failed_tests(lines),
        rspec::failed_tests(lines),
        phpunit::failed_tests(lines),
        mix::failed_tests(lines),
        junit::failed_tests(lines),
        junit::failed_in_xml(text),
    ];
    let mut names = Vec::new();
    for name in by_runner.iter().flatten() {
        let name = one_line(name, MAX_TEST_BYTES);
        if names.len() < MAX_TESTS && !name.is_empty() && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// `text` without control characters, trimmed, and no longer than `bytes`.
fn one_line(text: &str, bytes: usize) -> String {
    let text: String = text.chars().filter(|c| !c.is_control()).collect();
    beginning(text.trim(), bytes).trim_end().to_owned()
}

/// The number in front of the word `unit` or its plural, as in `3 failed`.
fn count_of(line: &str, unit: &str) -> Option<u64> {
    let mut before = None;
    for word in line.split([' ', ',', '|', '(', ')', ';', '=']).filter(|word| !word.is_empty()) {
        if word == unit || word.strip_suffix('s') == Some(unit) {
            return before.and_then(|number: &str| number.parse().ok());
        }
        before = Some(word);
    }
    None
}

/// The rest of a line such as `  3) test`, if it begins with a number and a bracket.
fn numbered(line: &str) -> Option<&str> {
    let (number, rest) = line.trim_start().split_once(") ")?;
    (!number.is_empty() && number.chars().all(|c| c.is_ascii_digit())).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_runs_side_by_side_is_reported_together_and_once() {
        let output = Output::new(
            "--- FAIL: TestA (0.00s)\nFAIL\nfailures:\n    b\n\ntest result: FAILED. 0 passed\n\
             --- FAIL: TestA (0.00s)\n",
        );
        assert_eq!(Report::of_output(&output).failed_tests, ["b", "TestA"]);
    }

    #[test]
    fn a_report_is_bounded() {
        let tests: Vec<String> =
            (0..1000).map(|n| format!("--- FAIL: T{n}{}\n", "é".repeat(500))).collect();
        let tests = tests.concat();
        let report = Report::of_output(&Output::new(&format!("{tests}FAIL\n{}", "é".repeat(9999))));
        assert_eq!(report.failed_tests.len(), MAX_TESTS);
        assert!(report.failed_tests.iter().all(|name| name.len() <= MAX_TEST_BYTES));
        assert!(report.error.unwrap().len() <= MAX_ERROR_BYTES);
    }

    #[test]
    fn an_output_reads_as_on_a_terminal() {
        let output =
            Output::new("\u{1b}[31mred\u{1b}[0m\r\n10%\r20%\rdone\r\n\u{1b}]8;;x\u{7}link");
        assert_eq!(output.lines()[..2], ["red", "done"]);
    }

    #[test]
    fn numbers_are_found_in_front_of_their_unit() {
        for (line, unit, count) in [
            ("== 5 failed, 2 passed in 0.05s ==", "failed", Some(5)),
            ("5 examples, 1 failure", "failure", Some(1)),
            ("3 tests, 2 failures", "failure", Some(2)),
            ("Tests  3 failed | 1 passed (4)", "passed", Some(1)),
            ("all failed", "failed", None),
            ("failed 3", "failed", None),
            ("", "failed", None),
        ] {
            assert_eq!(count_of(line, unit), count, "{line}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        #[test]
        fn no_output_breaks_a_report(
            lines in prop::collection::vec(prop::sample::select(SHARDS), 0..40),
            noise in any::<String>(),
        ) {
            let output = Output::new(&format!("{}{noise}", lines.concat()));
            let report = Report::of_output(&output);
            prop_assert!(report.failed_tests.len() <= MAX_TESTS);
            let error = report.error.unwrap_or_default();
            prop_assert!(error.len() <= MAX_ERROR_BYTES && !error.contains(char::is_control));
        }
    }

    /// What the parsers look for, to be put together in any order.
    const SHARDS: &[&str] = &[
        "\n",
        " ",
        "  ",
        "    ",
        "(",
        ")",
        ":",
        "5",
        "é",
        "\r",
        "\t",
        "FAIL",
        "FAILED",
        "FAIL [",
        "failures:\n",
        "test a ... FAILED\n",
        "test result: FAILED",
        "test result: ok",
        "error: x\n",
        "error[E1]: x\n",
        " --> a.rs:1:2\n",
        "a.c:3:4: error: x\n",
        "a.ts(1,2): error x",
        "File \"a.py\", line 3\n",
        "Traceback (most recent call last):\n",
        "E   x\n",
        "  ● a › b\n",
        "Tests: 1 failed",
        "1) ",
        "1 failing\n",
        "Failed examples:\n",
        "rspec ./a.rb:1 # b\n",
        "1 example, 1 failure\n",
        "FAILURES!\n",
        "1) A::b\n",
        "  1) test a (B)\n",
        "<testcase",
        " name=\"a\"",
        "<failure",
        "/>",
        "</testcase>",
        "&gt;",
        "<<< FAILURE!",
        "[ERROR] ",
        "Summary [",
        "--- FAIL: ",
        "panicked at a.rs:1:2:\n",
        "at x (a.js:1:2)\n",
        "❯ a.ts:1:2\n",
        "└─ a.ex:1\n",
        " > ",
        " - ",
        "short test summary info\n",
        "[",
        "]",
    ];
}
