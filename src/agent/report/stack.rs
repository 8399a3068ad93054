//! The places in what is printed when a program or a test breaks off.

use crate::agent::report::location::{Place, has_extension, leading, number};

/// The place that a line of a stack trace names, if it is in the project's own code.
pub(super) fn place_in_stack(line: &str) -> Option<Place<'_>> {
    place(line.trim_start()).filter(|(path, _)| is_own(path))
}

/// Whether a file is the project's and not that of a language or a library.
pub(super) fn is_own(path: &str) -> bool {
    const FOREIGN: [&str; 11] = [
        "node_modules/",
        "node:",
        "/rustc/",
        "/.cargo/registry/",
        "/site-packages/",
        "/lib/python",
        "/dist-packages/",
        "/vendor/",
        "/gems/",
        "<",
        "/usr/lib/",
    ];
    !FOREIGN.iter().any(|part| path.contains(part)) && !path.starts_with("vendor/")
}

fn place(line: &str) -> Option<Place<'_>> {
    // `at f (a.js:3:5)`, `at a.js:3:5`, `at C.f(C.java:3)`.
    if let Some(frame) = line.strip_prefix("at ") {
        let inner = frame.rsplit_once('(').map_or(frame, |(_, inner)| inner);
        return exactly(inner.trim_end_matches(')').trim_start_matches("file://"));
    }
    // `❯ a.ts:3:5`, `❯ f a.ts:3:5`.
    if let Some(frame) = line.strip_prefix("❯ ") {
        return exactly(frame.rsplit(' ').next()?);
    }
    // `# ./spec/a_spec.rb:5:in 'f'`.
    if let Some(frame) = line.strip_prefix("# ") {
        return leading(frame).map(|(place, _)| place);
    }
    // pytest ends its excerpt with `tests/a.py:3: AssertionError`, unittest of Elixir begins with
    // `test/a_test.exs:5`, phpunit ends with `/app/tests/ATest.php:12`.
    let ((path, line_number), rest) = leading(line)?;
    let is_frame = rest.is_empty() || (has_extension(path, "py") && rest.starts_with(": "));
    is_frame.then_some((path, line_number))
}

fn exactly(text: &str) -> Option<Place<'_>> {
    leading(text).filter(|(_, rest)| rest.is_empty()).map(|(place, _)| place)
}

/// What a Rust program says when it panics: where, and why if that is in the same line.
pub(super) fn panic_of(line: &str) -> Option<(Place<'_>, Option<&str>)> {
    let (_, rest) = line.split_once("panicked at ")?;
    if let Some((place, rest)) = leading(rest) {
        return (rest == ":").then_some((place, None));
    }
    // Before 1.73: the message in quotes, then the place.
    let (message, place) = rest.strip_prefix('\'')?.rsplit_once("', ")?;
    let (path, position) = place.split_once(':')?;
    Some(((path, number(position)?.0), Some(message)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_the_project_are_found() {
        for (line, place) in [
            ("      at Object.toBe (jt/cart.test.js:2:38)", ("jt/cart.test.js", 2)),
            ("    at file:///p/a.mjs:3:5", ("/p/a.mjs", 3)),
            ("\tat com.dev.CartTest.adds(CartTest.java:8)", ("CartTest.java", 8)),
            (" ❯ vt/cart.test.ts:3:38", ("vt/cart.test.ts", 3)),
            (" ❯ add src/cart.ts:3:38", ("src/cart.ts", 3)),
            ("     # ./spec/cart_spec.rb:5:in `block'", ("./spec/cart_spec.rb", 5)),
            ("tests/test_cart.py:3: AssertionError", ("tests/test_cart.py", 3)),
            ("/app/tests/CartTest.php:12", ("/app/tests/CartTest.php", 12)),
            ("     test/cart_test.exs:5", ("test/cart_test.exs", 5)),
        ] {
            assert_eq!(place_in_stack(line), Some(place), "{line}");
        }
    }

    #[test]
    fn frames_of_others_are_not() {
        for line in [
            "    at f (node_modules/jest/build/a.js:2:38)",
            "    at node:internal/timers:483:21",
            "/home/dev/.pyenv/lib/python3.11/importlib/__init__.py:126: in import_module",
            "at the end",
            "a.rs:3: looks odd",
            "",
        ] {
            assert_eq!(place_in_stack(line), None, "{line}");
        }
    }

    #[test]
    fn a_panic_says_where() {
        assert_eq!(
            panic_of("thread 'tests::a' (30305) panicked at src/lib.rs:8:27:"),
            Some((("src/lib.rs", 8), None))
        );
        assert_eq!(
            panic_of("thread 'a' panicked at 'no, not so', src/lib.rs:8:27"),
            Some((("src/lib.rs", 8), Some("no, not so")))
        );
        assert_eq!(panic_of("it panicked at night"), None);
    }
}
