//! pytest.

use crate::agent::report::count_of;
use crate::agent::report::location::has_extension;

/// The tests that failed, by their ids, with those that could not be set up or collected.
pub(super) fn failed_tests(lines: &[&str]) -> Vec<String> {
    let summary = lines.iter().rposition(|line| line.contains(" short test summary info "));
    let has_failed = |line: &&str| {
        line.contains(" in ")
            && ["failed", "error"].iter().any(|unit| count_of(line, unit).is_some_and(|n| n > 0))
    };
    if summary.is_none() && !lines.iter().any(has_failed) {
        return Vec::new();
    }
    let listed = lines.iter().skip(summary.map_or(0, |line| line + 1));
    listed.filter_map(|line| failed(line)).map(str::to_owned).collect()
}

/// The id in a line such as `FAILED tests/a.py::test_b[1] - assert 1 == 2`.
fn failed(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("FAILED ").or_else(|| line.strip_prefix("ERROR "))?;
    let first = rest.split(" - ").next()?;
    // A parameter may have the separator in it.
    let id = match (first.contains('['), rest.split_once("] - ")) {
        (true, Some((id, _))) if !first.ends_with(']') => rest.get(..=id.len())?,
        _ => first,
    };
    let file = id.split("::").next()?;
    has_extension(file, "py").then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(output: &str) -> Vec<String> {
        failed_tests(&output.lines().collect::<Vec<_>>())
    }

    /// As printed by pytest 9.2.
    const SUMMARY: &str = "\
=========================== short test summary info ============================
FAILED tests/test_cart.py::test_total - AssertionError: FAILED to add
FAILED tests/test_cart.py::test_p[a - b] - assert 2 == 1
FAILED tests/test_cart.py::test_q[2]
FAILED tests/test_cart.py::TestCart::test_m - ValueError: bad - thing
ERROR tests/test_cart.py::test_err - RuntimeError: nope
ERROR tests/test_imp.py
5 failed, 2 passed, 2 errors in 0.05s
";

    #[test]
    fn failing_tests_are_named() {
        let expected = [
            "tests/test_cart.py::test_total",
            "tests/test_cart.py::test_p[a - b]",
            "tests/test_cart.py::test_q[2]",
            "tests/test_cart.py::TestCart::test_m",
            "tests/test_cart.py::test_err",
            "tests/test_imp.py",
        ];
        assert_eq!(names(SUMMARY), expected);
        // What `grep` or `tail` leaves.
        let (_, rest) = SUMMARY.split_once('\n').unwrap();
        assert_eq!(names(rest), expected);
        let quiet = "FAILED a.py::b - x\n========= 1 failed, 3 passed in 0.10s =========";
        assert_eq!(names(quiet), ["a.py::b"]);
    }

    #[test]
    fn passing_tests_are_not() {
        for output in [
            "..                                         [100%]\n2 passed in 0.01s",
            "tests/a.py::test_FAILED PASSED [100%]\n======= 1 passed in 0.01s =======",
            // Captured from a passing test and shown by `-rP`.
            "FAILED tests/x.py::test_y - no\n1 passed in 0.01s",
            "FAILED tests/x.py::test_y - no",
            "ERROR root:a.py:3 connection lost\n3 failed logins in a row",
        ] {
            assert!(names(output).is_empty(), "{output}");
        }
    }
}
