//! `cargo test` and `cargo nextest`.

/// The tests that failed.
pub(super) fn failed_tests(lines: &[&str]) -> Vec<String> {
    let mut names = of_libtest(lines);
    names.extend(of_nextest(lines));
    names
}

/// Of the harness that comes with Rust. Each binary has its own result; what its tests have printed
/// stands after `failures:` and is not looked at.
fn of_libtest(lines: &[&str]) -> Vec<String> {
    let mut names = Vec::new();
    let mut running = Vec::new();
    let mut is_running = true;
    for (index, line) in lines.iter().enumerate() {
        if line.starts_with("test result: FAILED") {
            names.append(&mut running);
            names.extend(listed(lines.get(..index).unwrap_or_default()));
        } else if line.starts_with("test result: ok") {
            running.clear();
        } else if let Some(name) =
            line.strip_prefix("test ").and_then(|it| it.strip_suffix(" ... FAILED"))
        {
            if is_running {
                running.push(name.strip_suffix(" - should panic").unwrap_or(name).to_owned());
            }
            continue;
        } else if *line != "failures:" {
            continue;
        }
        is_running = *line != "failures:";
    }
    // A process that was killed gives no result.
    if lines.iter().any(|line| line.starts_with("error: test failed")) {
        names.append(&mut running);
    }
    names
}

/// The list of names with which `lines` end.
fn listed(lines: &[&str]) -> Vec<String> {
    let is_name = |line: &&&str| line.starts_with("    ") && !line.starts_with("     ");
    let end = lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
    let lines = lines.get(..end).unwrap_or_default();
    let count = lines.iter().rev().take_while(is_name).count();
    let (before, list) = lines.split_at_checked(lines.len() - count).unwrap_or_default();
    if before.last() != Some(&"failures:") {
        return Vec::new();
    }
    list.iter().map(|line| line.trim().to_owned()).collect()
}

/// Of nextest, which lists them after its summary.
fn of_nextest(lines: &[&str]) -> Vec<String> {
    let Some(summary) = lines.iter().position(|line| line.trim_start().starts_with("Summary ["))
    else {
        return Vec::new();
    };
    let listed = lines.iter().skip(summary + 1).filter_map(|line| {
        let (state, rest) = line.trim_start().split_once(" [")?;
        let state =
            state.trim_start_matches("TRY ").trim_start_matches(|c: char| c.is_ascii_digit());
        let is_failure = ["FAIL", "TIMEOUT", "LEAK-FAIL"].contains(&state.trim_start())
            || state.trim_start().starts_with("SIG");
        let (_, test) = rest.split_once(']').filter(|_| is_failure)?;
        let test = test.trim_start();
        // `(2/5)`, of newer versions.
        let test = test.strip_prefix('(').and_then(|it| it.split_once(')')).map_or(test, |it| it.1);
        let (_binary, name) = test.trim_start().split_once(' ')?;
        Some(name.trim().to_owned())
    });
    listed.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(output: &str) -> Vec<String> {
        failed_tests(&output.lines().collect::<Vec<_>>())
    }

    /// As printed by cargo 1.95 and cut in the middle.
    const FAILING: &str = "\
running 5 tests
test tests::ign ... ignored
test tests::panics - should panic ... FAILED
test tests::works ... ok
test tests::total_is_a_sum ... FAILED

failures:

---- tests::panics stdout ----
note: test did not panic as expected at src/lib.rs:12:8
test tests::printed_by_a_test ... FAILED

failures:
    tests::panics
    tests::total_is_a_sum

test result: FAILED. 1 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.23s

error: test failed, to rerun pass `--lib`
     Running tests/it.rs (target/debug/deps/it-d6c00e1614d165e9)

running 1 test
test FAILED ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.27s

   Doc-tests shop

running 1 test
test src/lib.rs - total (line 1) ... FAILED

failures:
    src/lib.rs - total (line 1)

test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.13s
";

    const NEXTEST: &str = "\
        FAIL [   0.007s] (1/5) shop tests::panics
  stdout ───
    test tests::panics ... FAILED
        PASS [   0.008s] (3/5) shop tests::works
────────────
     Summary [   0.196s] 5 tests run: 2 passed (1 flaky), 3 failed, 1 skipped
   FLAKY 2/3 [   0.010s] shop tests::flaky
        FAIL [   0.007s] (1/5) shop tests::panics
  TRY 3 FAIL [   0.155s] (4/5) shop::it it_fails
     TIMEOUT [  60.004s] shop tests::slow
     SIGABRT [   0.182s] (5/5) shop tests::aborts
error: test run failed
";

    #[test]
    fn failing_tests_are_named() {
        let all: &[&str] = &["tests::panics", "tests::total_is_a_sum"];
        let doc: &[&str] = &["src/lib.rs - total (line 1)"];
        let mut found = names(FAILING);
        found.dedup();
        for name in all.iter().chain(doc) {
            assert!(found.contains(&(*name).to_owned()), "{name} in {found:?}");
        }
        assert!(
            !found.iter().any(|name| name.contains("printed") || name == "FAILED"),
            "{found:?}"
        );
        // The end of it, as `tail` shows it.
        let end = FAILING.lines().skip(12).collect::<Vec<_>>().join("\n");
        assert_eq!(names(&end)[..2], all[..]);
        // What `grep` leaves.
        assert_eq!(names("test a::b ... FAILED\ntest result: FAILED. 0 passed"), ["a::b"]);
        // A test that took the process with it.
        let killed = "running 1 test\ntest a ... FAILED\nerror: test failed, to rerun pass `--lib`";
        assert_eq!(names(killed), ["a"]);
        assert_eq!(names(NEXTEST), ["tests::panics", "it_fails", "tests::slow", "tests::aborts"]);
    }

    #[test]
    fn passing_tests_are_not() {
        for output in [
            "",
            "running 1 test\ntest FAILED ... ok\n\ntest result: ok. 1 passed; 0 failed",
            // Printed with `--nocapture`.
            "running 1 test\ntest a ... FAILED\ntest b ... ok\n\ntest result: ok. 1 passed; 0 failed",
            "test a ... FAILED",
            "failures:\n    a\n",
            "FAIL [   0.007s] shop tests::a",
            "     Summary [   0.1s] 5 tests run: 5 passed, 0 failed\nerror: no FAIL [here] at all",
        ] {
            assert!(names(output).is_empty(), "{output}");
        }
    }
}
