//! JUnit under Maven and Gradle, and the XML of JUnit, which tools of all languages write.

/// The tests that failed, as Maven's surefire and Gradle print them.
pub(super) fn failed_tests(lines: &[&str]) -> Vec<String> {
    let mut names: Vec<String> = lines.iter().filter_map(|line| of_surefire(line)).collect();
    let has_gradle_failed = |line: &&str| {
        line.contains("There were failing tests")
            || (line.contains(" tests completed, ") && line.ends_with(" failed"))
            || (line.contains(" test completed, ") && line.ends_with(" failed"))
    };
    if lines.iter().any(has_gradle_failed) {
        let failed = lines.iter().filter_map(|line| line.strip_suffix(" FAILED"));
        names.extend(failed.filter(|name| is_gradle_name(name)).map(str::to_owned));
    }
    names
}

/// Such as `CartTest > adds()`; a task is `> Task :test`.
fn is_gradle_name(name: &str) -> bool {
    name.contains(" > ") && !name.starts_with([' ', '>'])
}

/// The name in `[ERROR] CartTest.adds -- Time elapsed: 0.01 s <<< FAILURE!`, of older versions
/// `adds(CartTest)  Time elapsed: 0.01 sec  <<< FAILURE!`.
fn of_surefire(line: &str) -> Option<String> {
    let is_failed = line.ends_with("<<< FAILURE!") || line.ends_with("<<< ERROR!");
    let line = line.strip_prefix("[ERROR] ").unwrap_or(line);
    let (name, _) = line.split_once("Time elapsed:").filter(|_| is_failed)?;
    let name = name.trim_end_matches([' ', '-']);
    if name.is_empty() || name.starts_with("Tests run:") {
        return None;
    }
    let old = name.strip_suffix(')').and_then(|name| name.split_once('('));
    Some(match old {
        Some((method, class)) if !class.is_empty() => format!("{class}.{method}"),
        _ => name.to_owned(),
    })
}

/// The test cases with a failure or an error in an XML report on standard output.
///
/// Such a report stands among other output and may be cut, so it is searched and not parsed.
pub(super) fn failed_in_xml(text: &str) -> Vec<String> {
    let cases = text.split("<testcase ").skip(1);
    cases.filter(|case| has_failed(case)).filter_map(|case| case_name(opening(case))).collect()
}

/// What stands in the opening tag of a case; a value may have a `>` in it.
fn opening(case: &str) -> &str {
    let mut is_quoted = false;
    let end = case.find(|c| {
        is_quoted ^= c == '"';
        c == '>' && !is_quoted
    });
    end.and_then(|end| case.get(..end)).unwrap_or(case)
}

/// Whether a case fails. What the test has printed does not count.
fn has_failed(case: &str) -> bool {
    let tag = opening(case);
    let Some(body) = case.get(tag.len()..).filter(|_| !tag.ends_with('/')) else { return false };
    let mut body = body.split("</testcase>").next().unwrap_or_default();
    while let Some((_, rest)) = body.split_once('<') {
        if rest.starts_with("failure") || rest.starts_with("error") {
            return true;
        }
        let printed = ["system-out", "system-err"].into_iter().find(|name| rest.starts_with(name));
        body = match printed {
            Some(name) if !opening(rest).ends_with('/') => {
                rest.split_once(&format!("</{name}>")).map_or("", |(_, after)| after)
            }
            _ => rest,
        };
    }
    false
}

fn case_name(tag: &str) -> Option<String> {
    let attribute = |name: &str| {
        let assignment = format!("{name}=\"");
        // `classname` ends with `name`.
        let is_whole = |at: usize| {
            tag.get(..at)
                .is_some_and(|before| before.is_empty() || before.ends_with([' ', '\n', '\t']))
        };
        let (at, _) = tag.match_indices(&assignment).find(|(at, _)| is_whole(*at))?;
        let (value, _) = tag.get(at + assignment.len()..)?.split_once('"')?;
        Some(unescaped(value))
    };
    let name = attribute("name")?;
    match attribute("classname").filter(|class| !class.is_empty() && *class != name) {
        Some(class) => Some(format!("{class}.{name}")),
        None => Some(name),
    }
}

fn unescaped(value: &str) -> String {
    [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&apos;", "'"),
        ("&#10;", " "),
        ("&amp;", "&"),
    ]
    .into_iter()
    .fold(value.to_owned(), |value, (escape, character)| value.replace(escape, character))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(output: &str) -> Vec<String> {
        failed_tests(&output.lines().collect::<Vec<_>>())
    }

    #[test]
    fn failing_tests_of_maven_are_named() {
        let output = "\
[INFO] Running CartTest
[ERROR] Tests run: 3, Failures: 1, Errors: 1, Skipped: 0, Time elapsed: 0.051 s <<< FAILURE! -- in CartTest
[ERROR] CartTest.adds -- Time elapsed: 0.005 s <<< FAILURE!
org.opentest4j.AssertionFailedError: expected: <3> but was: <2>
[ERROR] com.dev.CartTest$In.nested(int)[1] -- Time elapsed: 0.001 s <<< ERROR!
Tests run: 2, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.05 sec <<< FAILURE!
sums(com.dev.OldTest)  Time elapsed: 0.01 sec  <<< FAILURE!
[INFO] BUILD FAILURE
";
        let expected =
            ["CartTest.adds", "com.dev.CartTest$In.nested(int)[1]", "com.dev.OldTest.sums"];
        assert_eq!(names(output), expected);
    }

    #[test]
    fn failing_tests_of_gradle_are_named() {
        let output = "\
> Task :test FAILED

CartTest > adds() FAILED
    org.opentest4j.AssertionFailedError at CartTest.java:8

CartTest > In > nested() FAILED
CartTest > ok() PASSED

3 tests completed, 2 failed

FAILURE: Build failed with an exception.
";
        assert_eq!(names(output), ["CartTest > adds()", "CartTest > In > nested()"]);
    }

    #[test]
    fn failing_cases_of_a_report_are_named() {
        let output = r#".F<?xml version="1.0"?><testsuite errors="1" failures="1">
<testcase classname="tests.test_cart" name="test_ok" time="0.001" />
<testcase classname="tests.test_cart" name="test_p[&quot;a&quot;]"><failure message="no">E</failure></testcase>
<testcase name="cart &gt; ok" classname="a.ts"><system-out><failure></system-out></testcase>
<testcase name="a > top"><system-out/><error message="x"/></testcase>
<testcase name="skipped"><skipped/></testcase>
<testcase name="cut"#;
        assert_eq!(failed_in_xml(output), ["tests.test_cart.test_p[\"a\"]", "a > top"]);
    }

    #[test]
    fn passing_tests_are_not() {
        for output in [
            "[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.05 s -- in CartTest",
            "CartTest > printed FAILED\nBUILD SUCCESSFUL in 1s",
            "> Task :lint FAILED\n3 tests completed, 1 failed",
            "the marker <<< FAILURE! is printed",
        ] {
            assert!(names(output).is_empty(), "{output}");
            assert!(failed_in_xml(output).is_empty(), "{output}");
        }
        assert!(
            failed_in_xml("<testsuite failures=\"1\"><testcase name=\"a\"/></testsuite>")
                .is_empty()
        );
    }
}
