//! Python's unittest, and Django's tests, which are run by it.

/// The tests that failed, as dotted names.
pub(super) fn failed_tests(lines: &[&str]) -> Vec<String> {
    if !lines.iter().any(|line| line.starts_with("FAILED (")) {
        return Vec::new();
    }
    // Each one stands below a rule.
    let headed = lines.windows(2).filter_map(|pair| match pair {
        [rule, line] if rule.starts_with("======") => Some(*line),
        _ => None,
    });
    headed.filter_map(failed).collect()
}

/// The name in a line such as `FAIL: test_a (tests.test_cart.Cart.test_a)`, of Python before 3.11
/// `FAIL: test_a (tests.test_cart.Cart)`.
fn failed(line: &str) -> Option<String> {
    let rest = line.strip_prefix("FAIL: ").or_else(|| line.strip_prefix("ERROR: "))?;
    let (method, rest) = rest.split_once(" (").unwrap_or((rest, ""));
    let (class, _) = rest.split_once(')').unwrap_or((rest, ""));
    if class.is_empty() || class.starts_with("unittest.loader.") {
        return Some(method.to_owned());
    }
    let is_whole = class.strip_suffix(method).is_some_and(|class| class.ends_with('.'));
    Some(if is_whole { class.to_owned() } else { format!("{class}.{method}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(output: &str) -> Vec<String> {
        failed_tests(&output.lines().collect::<Vec<_>>())
    }

    #[test]
    fn failing_tests_are_named() {
        let output = "\
FEF
======================================================================
ERROR: test_uerr (tests.test_cart.U.test_uerr)
----------------------------------------------------------------------
KeyError: 'x'

======================================================================
FAIL: test_u (tests.test_cart.U)
----------------------------------------------------------------------
AssertionError: 1 != 2
======================================================================
FAIL: test_s (tests.test_cart.U.test_s) (i=1)
======================================================================
ERROR: tests.test_imp (unittest.loader._FailedTest.tests.test_imp)

----------------------------------------------------------------------
Ran 4 tests in 0.001s

FAILED (failures=2, errors=2)
";
        let expected = [
            "tests.test_cart.U.test_uerr",
            "tests.test_cart.U.test_u",
            "tests.test_cart.U.test_s",
            "tests.test_imp",
        ];
        assert_eq!(names(output), expected);
    }

    #[test]
    fn passing_tests_are_not() {
        for output in [
            "FAIL: printed (a.B)\n..\nRan 2 tests in 0.001s\n\nOK",
            "==========\nFAIL: printed (a.B)\nOK",
            "FAIL: log line\nFAILED (failures=1)",
        ] {
            assert!(names(output).is_empty(), "{output}");
        }
    }
}
