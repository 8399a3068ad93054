//! phpunit, and Pest and Laravel's `artisan test`, which print in their own way.

use crate::agent::report::{count_of, numbered};

/// The tests that failed, as class and method.
pub(super) fn failed_tests(lines: &[&str]) -> Vec<String> {
    let has_failed = lines.iter().any(|line| matches!(*line, "FAILURES!" | "ERRORS!"));
    let has_pest_failed = lines.iter().any(|line| {
        line.starts_with("  Tests: ") && count_of(line, "failed").is_some_and(|n| n > 0)
    });
    (lines.iter().filter_map(|line| of_phpunit(line).filter(|_| has_failed)))
        .chain(lines.iter().filter_map(|line| of_pest(line).filter(|_| has_pest_failed)))
        .map(str::to_owned)
        .collect()
}

/// The name in a line such as `1) Tests\CartTest::testAdds with data set #0 (1)`.
fn of_phpunit(line: &str) -> Option<&str> {
    let title = numbered(line).filter(|_| !line.starts_with(' '))?;
    let name = title.split(" with data set ").next()?;
    (name.contains("::") && !name.contains(' ')).then_some(name)
}

/// The name in a line such as `  FAILED  Tests\Unit\CartTest > it adds   Exception`.
fn of_pest(line: &str) -> Option<&str> {
    let title = line.trim_start().strip_prefix("FAILED  ")?;
    title.split("  ").next().filter(|name| name.contains(" > "))
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
PHPUnit 11.5.2 by Sebastian Bergmann and contributors.

.F.F                                                                4 / 4 (100%)

There were 2 failures:

1) Tests\\CartTest::testAdds
Failed asserting that 2 is identical to 3.

/app/tests/CartTest.php:12

2) Tests\\CartTest::testSum with data set \"empty\" (0)
Failed asserting that false is true.

FAILURES!
Tests: 4, Assertions: 4, Failures: 2.
";
        assert_eq!(names(output), [r"Tests\CartTest::testAdds", r"Tests\CartTest::testSum"]);
        let pest = "
   FAILED  Tests\\Unit\\CartTest > it adds                      AssertionError
  Failed asserting that 2 is identical to 3.

  Tests:    1 failed, 1 passed (2 assertions)
  Duration: 0.11s
";
        assert_eq!(names(pest), [r"Tests\Unit\CartTest > it adds"]);
    }

    #[test]
    fn passing_tests_are_not() {
        for output in [
            "1) A::b\nOK (4 tests, 4 assertions)",
            "   FAILED  A > b\n  Tests:    2 passed (2 assertions)",
            "1) read the docs\nFAILURES!",
            "There was 1 risky test:\n\n1) A::b\n\nOK, but there were issues!",
        ] {
            assert!(names(output).is_empty(), "{output}");
        }
    }
}
