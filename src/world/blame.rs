//! What a failure says of the files that were edited before it.

use crate::agent::Report;

/// Names of files that say nothing of what is in them.
const COMMON_STEMS: [&str; 8] = ["app", "index", "init", "lib", "main", "mod", "test", "utils"];

/// A file that was edited.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edited<'a> {
    /// Where it is.
    pub path: &'a str,
    /// As seen from the project: what folders that lies in says nothing of its files.
    pub relative: &'a str,
}

/// What a failure says of the files that were edited before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Blame {
    /// Whether its first error or one of its failed tests is about one of them.
    pub points_to_edit: bool,
    /// Whether only tests were edited, which then are meant to fail.
    pub only_tests: bool,
}

impl Blame {
    /// What `report` says of the edited files.
    pub(super) fn of<'a>(report: &Report, edited: impl Iterator<Item = Edited<'a>>) -> Self {
        let (mut points_to_edit, mut only_tests, mut is_any) = (false, true, false);
        for file in edited {
            is_any = true;
            points_to_edit |= points_to(report, file.path);
            only_tests &= is_test(file.relative);
        }
        Self { points_to_edit, only_tests: only_tests && is_any }
    }
}

/// Whether a report is about the file at `path`.
pub(super) fn points_to(report: &Report, path: &str) -> bool {
    report.place.as_ref().is_some_and(|(file, _)| is_named(file, path))
        || report.failed_tests.iter().any(|test| is_tested_by(path, test))
}

/// Whether an output that names `file` may mean the one at `path`.
fn is_named(file: &str, path: &str) -> bool {
    let file = file.replace('\\', "/");
    let file = file.trim_start_matches("./");
    path.strip_suffix(file).is_some_and(|before| {
        !file.is_empty() && (before.is_empty() || before.ends_with('/') || file.starts_with('/'))
    })
}

/// Whether a test, by its name or the file that is named with it, is one of the file at `path`:
/// `cart::tests::adds`, `tests/test_cart.py::test_a`, `CartTest.adds` of `src/cart.rs` and the like.
fn is_tested_by(path: &str, test: &str) -> bool {
    let of_file = test.split("::").next().unwrap_or(test);
    if of_file.contains('.') && is_named(of_file.trim(), path) {
        return true;
    }
    let subject = subject(path);
    subject.len() > 2
        && !COMMON_STEMS.contains(&subject.as_str())
        && test
            .split([':', '/', '.', '>', '›', '#', ' '])
            .any(|part| without_test(&part.to_ascii_lowercase()) == subject)
}

/// What a file is about, by its name: `cart` of `src/cart.rs` and of `tests/test_cart.py`.
fn subject(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.split('.').next().unwrap_or(name).to_ascii_lowercase();
    without_test(&stem).to_owned()
}

fn without_test(name: &str) -> &str {
    const BEFORE: [&str; 2] = ["test_", "test-"];
    const AFTER: [&str; 8] =
        ["_tests", "_test", "-test", "_spec", "-spec", "tests", "test", "spec"];
    let name = BEFORE.iter().find_map(|mark| name.strip_prefix(mark)).unwrap_or(name);
    AFTER.iter().find_map(|mark| name.strip_suffix(mark)).unwrap_or(name)
}

/// Whether the file at `path` in a project has nothing but tests, by its name or its folder.
fn is_test(path: &str) -> bool {
    const FOLDERS: [&str; 8] =
        ["__tests__", "e2e", "spec", "specs", "test", "testing", "tests", "unittests"];
    const ENDS: [&str; 8] = ["_test", "-test", "_tests", "_spec", "-spec", "Test", "Tests", "Spec"];
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = name.split('.').next().unwrap_or(name);
    name.contains(".test.")
        || name.contains(".spec.")
        || stem.starts_with("test_")
        || stem == "conftest"
        || ENDS.iter().any(|end| stem.ends_with(end))
        || folders.split('/').any(|folder| FOLDERS.contains(&folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_points_to_a_file_or_not() {
        for (place, test, path, points) in [
            ("src/cart.rs", "", "/p/src/cart.rs", true),
            ("./src/cart.rs", "", "/p/app/src/cart.rs", true),
            ("/p/src/cart.rs", "", "/p/src/cart.rs", true),
            (r"src\cart.rs", "", "/p/src/cart.rs", true),
            ("cart.rs", "", "/p/src/mycart.rs", false),
            ("src/cart.rs", "", "/p/src/shop.rs", false),
            ("tests/src/cart.rs", "", "/p/src/cart.rs", false),
            ("", "cart::tests::adds", "/p/src/cart.rs", true),
            ("", "tests/test_cart.py::test_a", "/p/tests/test_cart.py", true),
            ("", "tests/test_cart.py::test_a", "/p/shop/cart.py", true),
            ("", "CartTest.adds", "/p/src/main/java/Cart.java", true),
            ("", "src/cart.test.ts > adds", "/p/src/cart.ts", true),
            ("", "adds", "/p/src/cart.rs", false),
            ("", "cartography::adds", "/p/src/cart.rs", false),
            ("", "tests::main", "/p/src/main.rs", false),
            ("", "", "/p/src/cart.rs", false),
        ] {
            let report = Report {
                error: None,
                place: (!place.is_empty()).then(|| (place.to_owned(), 3)),
                failed_tests: vec![test.to_owned()],
            };
            assert_eq!(points_to(&report, path), points, "{place} {test} {path}");
        }
    }

    #[test]
    fn tests_are_known_by_their_names_and_folders() {
        for path in [
            "tests/it.rs",
            "cart_test.go",
            "test_cart.py",
            "src/cart.test.ts",
            "src/__tests__/cart.js",
            "spec/cart_spec.rb",
            "src/CartTest.java",
            "conftest.py",
        ] {
            assert!(is_test(path), "{path}");
        }
        for path in ["src/cart.rs", "src/latest.rs", "contest.py", "testimonials/a.ts"] {
            assert!(!is_test(path), "{path}");
        }
    }

    #[test]
    fn only_tests_is_said_of_some_files() {
        let only_tests = |edited: &[&str]| {
            let paths: Vec<String> = edited.iter().map(|it| format!("/tests/shop/{it}")).collect();
            let files = paths.iter().zip(edited);
            let files = files.map(|(path, relative)| Edited { path, relative });
            Blame::of(&Report::default(), files).only_tests
        };
        assert!(only_tests(&["tests/a.rs", "tests/b.rs"]));
        assert!(!only_tests(&["tests/a.rs", "src/b.rs"]));
        assert!(!only_tests(&[]));
    }
}
