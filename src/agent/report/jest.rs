//! jest.

use crate::agent::report::count_of;

/// The tests that failed, with the names of what they are described in.
pub(super) fn failed_tests(lines: &[&str]) -> Vec<String> {
    let has_failed = |line: &&str| {
        line.starts_with("Tests: ") && count_of(line, "failed").is_some_and(|n| n > 0)
    };
    if !lines.iter().any(has_failed) {
        return Vec::new();
    }
    // What tests print is indented further.
    (lines.iter().filter_map(|line| line.strip_prefix("  ● ")))
        .filter(|title| !matches!(*title, "Console" | "Test suite failed to run"))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(output: &str) -> Vec<String> {
        failed_tests(&output.lines().collect::<Vec<_>>())
    }

    #[test]
    fn failing_tests_are_named() {
        // As printed by jest 30.
        let output = "\
FAIL jt/cart.test.js
  ● Console

    console.log
        ● cart › fake

      FAIL x

      at Object.log (jt/cart.test.js:4:30)

  ● cart › adds

    expect(received).toBe(expected) // Object.is equality

  ● cart › total › sums › all

    boom

  ● top

FAIL jt/broken.test.js
  ● Test suite failed to run

    Jest encountered an unexpected token
     • If you are trying to use TypeScript

Test Suites: 2 failed, 2 total
Tests:       3 failed, 1 passed, 4 total
";
        assert_eq!(names(output), ["cart › adds", "cart › total › sums › all", "top"]);
    }

    #[test]
    fn passing_tests_are_not() {
        for output in [
            "  ● cart › printed\nTests:       4 passed, 4 total",
            "  ● cart › printed",
            "PASS a.test.js\n  ✓ FAIL › fails (2 ms)\n\nTests:       1 passed, 1 total",
        ] {
            assert!(names(output).is_empty(), "{output}");
        }
    }
}
