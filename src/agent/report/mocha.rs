//! mocha, and cypress, which prints as it does.

use crate::agent::report::{count_of, numbered};

/// How many levels of `describe` a title is looked for in.
const MAX_LEVELS: usize = 8;

/// The tests that failed, with the names of what they are described in.
pub(super) fn failed_tests(lines: &[&str]) -> Vec<String> {
    let count = |line: &str| line.split_whitespace().count() == 2;
    let heading = lines.iter().position(|line| {
        count(line) && line.starts_with("  ") && count_of(line, "failing").is_some_and(|n| n > 0)
    });
    let Some(heading) = heading else { return Vec::new() };
    let listed = lines.get(heading + 1..).unwrap_or_default();
    (0..listed.len()).filter_map(|index| title(listed.get(index..)?)).collect()
}

/// The title that begins at the first line: one part a line, the last one with a colon.
fn title(lines: &[&str]) -> Option<String> {
    let first = lines.first().filter(|line| line.starts_with("  ") && !line.starts_with("    "))?;
    let mut parts = vec![numbered(first)?];
    parts.extend(lines.iter().skip(1).take(MAX_LEVELS).map(|line| line.trim()));
    let last = parts.iter().position(|part| part.ends_with(':') || part.is_empty())?;
    let parts = parts.get(..=last)?;
    parts.join(" ").strip_suffix(':').map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(output: &str) -> Vec<String> {
        failed_tests(&output.lines().collect::<Vec<_>>())
    }

    #[test]
    fn failing_tests_are_named() {
        // As printed by mocha 11.
        let output = "\
  1) top
  cart
    2) adds
  1) fake
    ✔ ok

  1 passing (19ms)
  3 failing

  1) top:

      AssertionError [ERR_ASSERTION]: The expression evaluated to a falsy value:

  2) cart
       total
         sums all:
     Error: boom
      at Context.<anonymous> (mt/cart.js:4:76)

  3) hooky
       \"before each\" hook: prep for \"never\":
     Error: h
";
        let expected =
            ["top", "cart total sums all", "hooky \"before each\" hook: prep for \"never\""];
        assert_eq!(names(output), expected);
    }

    #[test]
    fn passing_tests_are_not() {
        for output in [
            "  1) fake:\n    ✔ ok\n\n  1 passing (19ms)\n",
            "  0 failing\n\n  1) top:\n",
            "  2 failing disks found\n\n  1) sda:\n",
            "  1) test adds (CartTest)\n",
        ] {
            assert!(names(output).is_empty(), "{output}");
        }
    }
}
