//! Whether an output ends well, by the words with which tools sum up.
//!
//! Asked only where the exit status is not that of the tool, as in `cargo test | tail`. Words that
//! are certain count and no others: what is unsure stays unknown.

use crate::agent::Purpose;
use crate::agent::report::count_of;

/// How a tool sums up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::agent) enum Outcome {
    /// All is well.
    Good,
    /// Something failed.
    Bad,
}

/// Beginnings of lines that only a failure has.
const BAD: [&str; 32] = [
    "error: could not compile",
    "error: test failed",
    "error: doctest failed",
    "error: test run failed",
    "test result: FAILED",
    "FAIL\t",
    "make: *** [",
    "ninja: build stopped",
    "BUILD FAILED",
    "[INFO] BUILD FAILURE",
    "FAILURE: Build failed",
    "Build FAILED.",
    "** BUILD FAILED **",
    "** TEST FAILED **",
    "npm ERR! code",
    "npm error code",
    "npm error Lifecycle script",
    "FAILED (",
    "FAILURES!",
    "ERRORS!",
    "compilation terminated.",
    "error Command failed with exit code",
    "error: script \"",
    " ELIFECYCLE ",
    " ERR_PNPM_",
    "Failed to compile",
    "error during build:",
    "ERROR: failed to solve",
    "Failed!  - Failed:",
    "CMake Error",
    "-- Configuring incomplete, errors occurred!",
    "** (CompileError)",
];

/// Beginnings of lines that only a success has.
const GOOD: [&str; 13] = [
    "test result: ok.",
    "ok  \t",
    "[INFO] BUILD SUCCESS",
    "BUILD SUCCESSFUL",
    "Build succeeded.",
    "** BUILD SUCCEEDED **",
    "** TEST SUCCEEDED **",
    "All checks passed!",
    "Success: no issues found",
    "Found 0 errors",
    "OK (",
    "Passed!  - Failed:     0",
    "✓ built in ",
];

/// How that went for `purpose` whose output has these lines; none if it does not say.
pub(super) fn outcome(lines: &[&str], purpose: Purpose) -> Option<Outcome> {
    let is_bad = |line: &&str| BAD.iter().any(|text| line.starts_with(text)) || is_bad_count(line);
    let is_good =
        |line: &&str| GOOD.iter().any(|text| line.starts_with(text)) || is_good_count(line);
    if lines.iter().any(is_bad) {
        return Some(Outcome::Bad);
    }
    // What cargo says at the end of a build; of tests it is only the beginning.
    let is_built = purpose == Purpose::Build
        && lines
            .iter()
            .any(|line| line.starts_with("    Finished `") && line.contains(" target(s) in "));
    if is_built || lines.iter().any(is_good) {
        return Some(Outcome::Good);
    }
    // A tool that sums up knows better, and may have been meant to find them.
    lines.iter().any(|line| is_compiler_error(line)).then_some(Outcome::Bad)
}

/// Whether a line is an error of a compiler that says nothing at the end: rustc, tsc, go.
fn is_compiler_error(line: &str) -> bool {
    let has_number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    let is_rust = line.strip_prefix("error[E").is_some_and(has_number);
    let is_typescript = ["): error TS", " - error TS"]
        .iter()
        .filter_map(|mark| line.split_once(mark))
        .any(|(_, code)| has_number(code));
    let is_go = || {
        let (path, rest) = line.strip_prefix("vet: ").unwrap_or(line).split_once(".go:")?;
        let mut parts = rest.splitn(3, ':');
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|it| it.is_ascii_digit());
        let is_place = is_number(parts.next()?) && is_number(parts.next()?);
        Some(is_place && parts.next().is_some() && !path.contains(char::is_whitespace))
    };
    is_rust || is_typescript || is_go() == Some(true)
}

/// Whether a line sums up tests or problems, some of them bad.
fn is_bad_count(line: &str) -> bool {
    let positive = |unit: &str| count_of(line, unit).is_some_and(|count| count > 0);
    if is_test_summary(line) {
        return ["failed", "error", "failing", "failure"].into_iter().any(positive);
    }
    // The test runner of Node.
    if let Some(count) = node_count(line) {
        return count > 0;
    }
    // tsc, mypy, ruff; eslint.
    (line.starts_with("Found ") && positive("error"))
        || (line.starts_with('✖') && positive("error"))
}

/// Whether a line sums up tests, all of them good.
fn is_good_count(line: &str) -> bool {
    let positive = |unit: &str| count_of(line, unit).is_some_and(|count| count > 0);
    node_count(line) == Some(0)
        || is_test_summary(line) && !is_bad_count(line) && {
            ["passed", "passing", "example", "test"].into_iter().any(positive)
        }
}

/// How many tests have failed, in the words of the test runner of Node.
fn node_count(line: &str) -> Option<u64> {
    ["# fail ", "ℹ fail "].iter().find_map(|mark| line.strip_prefix(mark))?.trim().parse().ok()
}

/// Whether a line is one of those with which test runners end.
fn is_test_summary(line: &str) -> bool {
    let trimmed = line.trim_start();
    let has = |unit: &str| count_of(line, unit).is_some();
    // jest and Pest; vitest; nextest.
    trimmed.starts_with("Tests: ")
        || (line.starts_with(' ') && trimmed.starts_with("Tests  "))
        || (line.starts_with("     Summary [") && line.contains(" tests run: "))
        // pytest, with its rule or, when it is quiet, without.
        || (line.contains(" in ")
            && ["failed", "passed", "error"].into_iter().any(has)
            && trimmed.trim_start_matches(['=', ' ']).starts_with(|c: char| c.is_ascii_digit())
            && line.trim_end_matches(['=', ' ']).ends_with(['s', ')']))
        // mocha.
        || (line.starts_with("  ") && (has("passing") || has("failing")) && trimmed.starts_with(|c: char| c.is_ascii_digit()))
        // rspec; mix.
        || (line.starts_with(|c: char| c.is_ascii_digit())
            && (has("example") || has("test"))
            && has("failure"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_ends_well_or_badly_or_does_not_say() {
        for (output, expected) in [
            ("test result: ok. 1 passed; 0 failed; 0 ignored", Some(Outcome::Good)),
            (
                "test result: ok. 1 passed\ntest result: FAILED. 0 passed; 1 failed",
                Some(Outcome::Bad),
            ),
            ("   Compiling a\n    Finished `dev` profile [unoptimized] target(s) in 1s", None),
            ("    Finished `test` profile [x] target(s) in 1s\n     Running unittests", None),
            ("error: could not compile `a` (lib) due to 2 previous errors", Some(Outcome::Bad)),
            ("     Summary [   0.196s] 5 tests run: 5 passed, 1 skipped", Some(Outcome::Good)),
            ("     Summary [   0.196s] 5 tests run: 1 passed, 4 failed", Some(Outcome::Bad)),
            ("===== 5 failed, 2 passed, 1 error in 0.05s =====", Some(Outcome::Bad)),
            ("2 passed in 0.01s", Some(Outcome::Good)),
            ("== 2 passed, 1 warning in 65.01s (0:01:05) ==", Some(Outcome::Good)),
            ("Tests:       3 failed, 1 passed, 4 total", Some(Outcome::Bad)),
            ("Tests:       4 passed, 4 total", Some(Outcome::Good)),
            ("      Tests  4 passed (4)", Some(Outcome::Good)),
            ("      Tests  1 failed | 3 passed (4)", Some(Outcome::Bad)),
            ("  4 passing (19ms)", Some(Outcome::Good)),
            ("  1 passing (19ms)\n  5 failing", Some(Outcome::Bad)),
            ("4 examples, 0 failures", Some(Outcome::Good)),
            ("4 examples, 2 failures", Some(Outcome::Bad)),
            ("3 tests, 0 failures", Some(Outcome::Good)),
            ("ok  \tshop\t0.1s", Some(Outcome::Good)),
            ("ok  \tshop\t0.1s\nFAIL\tshop/a\t0.1s", Some(Outcome::Bad)),
            ("OK (4 tests, 4 assertions)", Some(Outcome::Good)),
            ("Found 1 error in 1 file (checked 1 source file)", Some(Outcome::Bad)),
            ("✖ 1 problem (1 error, 0 warnings)", Some(Outcome::Bad)),
            ("✖ 1 problem (0 errors, 1 warning)", None),
            ("make: *** [Makefile:3: b.o] Error 1", Some(Outcome::Bad)),
            ("BUILD SUCCESSFUL in 3s", Some(Outcome::Good)),
            ("src/a.ts(1,2): error TS2322: Type 'x' is not assignable", Some(Outcome::Bad)),
            ("src/a.ts:1:2 - error TS2322: Type 'x' is not assignable", Some(Outcome::Bad)),
            ("error[E0308]: mismatched types\n --> a.rs:1:1", Some(Outcome::Bad)),
            ("error[E0308]: expected\ntest result: ok. 1 passed; 0 failed", Some(Outcome::Good)),
            ("# shop\n./a.go:3:4: undefined: x", Some(Outcome::Bad)),
            ("vet: ./a.go:3:4: undefined: x", Some(Outcome::Bad)),
            ("    a_test.go:3: got 1, want 2", None),
            ("2026/01/15 a.go:3:4: listening", None),
            (" ELIFECYCLE  Command failed with exit code 1.", Some(Outcome::Bad)),
            ("error Command failed with exit code 1.", Some(Outcome::Bad)),
            ("error: script \"build\" exited with code 1", Some(Outcome::Bad)),
            ("Failed to compile.\n\n./app/page.tsx", Some(Outcome::Bad)),
            ("error during build:\nRollupError: x", Some(Outcome::Bad)),
            ("✓ built in 1.31s", Some(Outcome::Good)),
            ("ERROR: failed to solve: process \"/bin/sh\" did not complete", Some(Outcome::Bad)),
            ("Failed!  - Failed:     1, Passed:     3, Skipped:     0", Some(Outcome::Bad)),
            ("Passed!  - Failed:     0, Passed:     4, Skipped:     0", Some(Outcome::Good)),
            ("# pass 3\n# fail 1", Some(Outcome::Bad)),
            ("ℹ pass 4\nℹ fail 0", Some(Outcome::Good)),
            ("# failing is fine", None),
            ("", None),
            ("error: connection refused", None),
            ("3 failed logins in a row", None),
            ("all tests passed, I think", None),
            ("1 file changed, 1 failure mode documented", None),
        ] {
            let lines: Vec<&str> = output.lines().collect();
            assert_eq!(outcome(&lines, Purpose::Test), expected, "{output}");
        }
        let built = ["   Compiling a", "    Finished `dev` profile [x] target(s) in 1s", "usage"];
        assert_eq!(outcome(&built, Purpose::Build), Some(Outcome::Good));
    }
}
