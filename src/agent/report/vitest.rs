//! vitest.

use crate::agent::report::count_of;

/// The tests that failed, with their file and what they are described in.
pub(super) fn failed_tests(lines: &[&str]) -> Vec<String> {
    let has_failed = |line: &&str| {
        line.trim_start().starts_with("Tests  ") && count_of(line, "failed").is_some_and(|n| n > 0)
    };
    if !lines.iter().any(has_failed) {
        return Vec::new();
    }
    // What tests print stands in front of the list.
    let heading = lines.iter().rposition(|line| line.contains("⎯ Failed Tests "));
    (lines.iter().skip(heading.unwrap_or_default()))
        .filter_map(|line| line.trim_start().strip_prefix("FAIL  "))
        .filter(|test| test.contains(" > "))
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
        // As printed by vitest 4.1.
        let output = "\
stdout | vt/cart.test.ts > cart > ok
 FAIL  vt/x.test.ts > fake

 ❯ vt/cart.test.ts (4 tests | 3 failed) 68ms
     × adds 36ms

⎯⎯⎯⎯⎯⎯ Failed Suites 1 ⎯⎯⎯⎯⎯⎯⎯

 FAIL  vt/broken.test.ts [ vt/broken.test.ts ]
Error: Transform failed with 1 error:

⎯⎯⎯⎯⎯⎯⎯ Failed Tests 3 ⎯⎯⎯⎯⎯⎯⎯

 FAIL  vt/cart.test.ts > cart > adds
AssertionError: expected 2 to be 3 // Object.is equality

 FAIL  vt/cart.test.ts > cart > total > sums > all
Error: boom

 Test Files  2 failed (2)
      Tests  2 failed | 1 passed (4)
";
        let expected =
            ["vt/cart.test.ts > cart > adds", "vt/cart.test.ts > cart > total > sums > all"];
        assert_eq!(names(output), expected);
    }

    #[test]
    fn passing_tests_are_not() {
        for output in [
            " FAIL  vt/x.test.ts > fake\n Test Files  1 passed (1)\n      Tests  2 passed (2)",
            " FAIL  vt/x.test.ts > fake",
            "FAIL jt/cart.test.js\nTests:       3 failed, 4 total",
        ] {
            assert!(names(output).is_empty(), "{output}");
        }
    }
}
