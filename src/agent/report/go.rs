//! `go test` and gotestsum.

/// The tests that failed. A test that failed because of a subtest is left out for the subtest.
pub(super) fn failed_tests(lines: &[&str]) -> Vec<String> {
    let has_failed = lines.iter().any(|line| *line == "FAIL" || line.starts_with("FAIL\t"));
    let names: Vec<&str> = lines.iter().filter_map(|line| failed(line, has_failed)).collect();
    let has_subtest = |name: &&str| {
        names
            .iter()
            .any(|other| other.strip_prefix(*name).is_some_and(|rest| rest.starts_with('/')))
    };
    // Names come in thousands only where all of them fail.
    let few = names.len() <= super::MAX_TESTS * 4;
    names.iter().filter(|name| !few || !has_subtest(name)).map(|name| (*name).to_owned()).collect()
}

fn failed(line: &str, has_failed: bool) -> Option<&str> {
    if let Some(rest) = line.strip_prefix("=== FAIL: ") {
        // gotestsum names the package first.
        return rest.split_whitespace().nth(1).filter(|name| name.starts_with("Test"));
    }
    let rest = line.trim_start().strip_prefix("--- FAIL: ").filter(|_| has_failed)?;
    rest.split_whitespace().next()
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
=== RUN   TestTotal
--- FAIL: TestTotal (0.00s)
    cart_test.go:7: got 3, want 4
--- FAIL: TestCart (0.00s)
    --- FAIL: TestCart/empty_cart (0.00s)
        cart_test.go:15: FAIL
    --- PASS: TestCart/full (0.00s)
--- PASS: TestOk (0.00s)
FAIL
FAIL\tgithub.com/dev/shop/cart\t0.004s
ok  \tgithub.com/dev/shop/api\t0.010s
FAIL
";
        assert_eq!(names(output), ["TestTotal", "TestCart/empty_cart"]);
        let gotestsum = "\
=== FAIL: cart TestTotal (0.00s)
    cart_test.go:7: got 3, want 4

DONE 3 tests, 1 failure in 0.412s
";
        assert_eq!(names(gotestsum), ["TestTotal"]);
    }

    #[test]
    fn passing_tests_and_broken_builds_have_none() {
        for output in [
            "ok  \tgithub.com/dev/shop\t0.004s",
            "=== RUN   TestFAIL\n--- PASS: TestFAIL (0.00s)\nPASS\nok  \tshop\t0.1s",
            // A test about the output of tests.
            "--- FAIL: TestPrinted (0.00s)\n--- PASS: TestA (0.00s)\nPASS\nok  \tshop\t0.1s",
            "# shop\n./main.go:5:2: undefined: x\nFAIL\tshop [build failed]\nFAIL",
        ] {
            assert!(names(output).is_empty(), "{output}");
        }
    }
}
