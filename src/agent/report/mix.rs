//! `mix test`, of Elixir.

use crate::agent::report::{count_of, numbered};

/// The tests that failed, with their modules.
pub(super) fn failed_tests(lines: &[&str]) -> Vec<String> {
    let has_failed = |line: &&str| {
        ["test", "doctest", "property"].iter().any(|unit| count_of(line, unit).is_some())
            && count_of(line, "failure").is_some_and(|n| n > 0)
    };
    if !lines.iter().any(has_failed) {
        return Vec::new();
    }
    let is_test = |title: &&str| {
        ["test ", "doctest ", "property "].iter().any(|kind| title.starts_with(kind))
            && title.ends_with(')')
            && title.contains(" (")
    };
    let titles = lines.iter().filter(|line| line.starts_with("  ")).filter_map(|it| numbered(it));
    titles.filter(is_test).map(str::to_owned).collect()
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
..

  1) test adds two numbers (CartTest)
     test/cart_test.exs:5
     Assertion with == failed
     code:  assert 1 + 1 == 3
     left:  2
     right: 3
     stacktrace:
       test/cart_test.exs:6: (test)

  2) doctest Cart.total/1 (1) (CartTest)

Finished in 0.03 seconds (0.00s async, 0.03s sync)
1 doctest, 3 tests, 2 failures
";
        let expected = ["test adds two numbers (CartTest)", "doctest Cart.total/1 (1) (CartTest)"];
        assert_eq!(names(output), expected);
    }

    #[test]
    fn passing_tests_are_not() {
        for output in [
            "  1) test printed (A)\n3 tests, 0 failures",
            "  1) test printed (A)",
            "  1) cart adds:\n  3 tests, 1 failure",
        ] {
            assert!(names(output).is_empty(), "{output}");
        }
    }
}
