//! Places in files as tools write them.

/// A file, as a tool names it, and a line of it.
pub(super) type Place<'a> = (&'a str, u32);

/// The place at the beginning of `text`, such as `src/a.rs:3:5` or `a.ts(3,5)`, and what follows it.
pub(super) fn leading(text: &str) -> Option<(Place<'_>, &str)> {
    // A drive's colon is no separator.
    let from = if text.get(1..3).is_some_and(|it| it == ":\\" || it == ":/") { 2 } else { 0 };
    let at = from + text.get(from..)?.find([':', '('])?;
    let (path, rest) = text.split_at_checked(at)?;
    if !is_file(path) {
        return None;
    }
    if let Some(rest) = rest.strip_prefix(':') {
        // Maven writes `:[3,5]`.
        let (line, rest) = number(rest.strip_prefix('[').unwrap_or(rest))?;
        let after_column = rest.strip_prefix([':', ',']).and_then(number);
        let rest = after_column.map_or(rest, |(_, rest)| rest);
        return Some(((path, line), rest.strip_prefix(']').unwrap_or(rest)));
    }
    let (line, rest) = number(rest.strip_prefix('(')?)?;
    let (_, rest) = rest.split_once(')')?;
    Some(((path, line), rest))
}

/// The place in Python's `File "a.py", line 3`, which OCaml writes too.
pub(super) fn of_frame(line: &str) -> Option<Place<'_>> {
    let (path, rest) = line.trim_start().strip_prefix("File \"")?.split_once("\", line ")?;
    Some((path, number(rest)?.0))
}

/// Whether a file has this extension.
pub(super) fn has_extension(path: &str, extension: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, found)| found == extension)
}

/// The number at the beginning of `text`, and what follows it.
pub(super) fn number(text: &str) -> Option<(u32, &str)> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at_checked(digits)?;
    Some((digits.parse().ok()?, rest))
}

/// Whether `path` looks like a file of source code and not like a time or a host.
fn is_file(path: &str) -> bool {
    const WITHOUT_EXTENSION: [&str; 4] = ["Dockerfile", "Makefile", "Rakefile", "GNUmakefile"];
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let has_extension = name.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty()
            && extension.len() <= 10
            && extension.starts_with(|c: char| c.is_ascii_alphabetic())
            && extension.chars().all(|c| c.is_ascii_alphanumeric() || c == '+')
    });
    !path.contains([' ', '\t', '"', '<']) && (has_extension || WITHOUT_EXTENSION.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_as_tools_write_them() {
        for (text, place, rest) in [
            ("src/a.rs:3:5", ("src/a.rs", 3), ""),
            ("a.c:3: error: x", ("a.c", 3), ": error: x"),
            ("./main.go:5:2: undefined", ("./main.go", 5), ": undefined"),
            ("bad.ts(1,7): error", ("bad.ts", 1), ": error"),
            (r"C:\a\b.cs(5,13): error", (r"C:\a\b.cs", 5), ": error"),
            ("C:/a.rs:5:13", ("C:/a.rs", 5), ""),
            ("/x/App.java:[5,10] cannot", ("/x/App.java", 5), " cannot"),
            ("Makefile:3: *** x", ("Makefile", 3), ": *** x"),
            ("a.test.js:2:38)", ("a.test.js", 2), ")"),
        ] {
            assert_eq!(leading(text), Some((place, rest)), "{text}");
        }
        for text in [
            "",
            "12:30:45: error",
            "localhost:80: error",
            "127.0.0.1:80: x",
            "error: a.rs:3",
            "a b.rs:3:5",
            "a.rs",
            "a.rs:",
            "a.rs:x",
            "f(x)",
            "a.rs:99999999999",
            ".rs:1",
            "é:1:2",
        ] {
            assert_eq!(leading(text), None, "{text}");
        }
    }

    #[test]
    fn frames_name_their_line() {
        assert_eq!(of_frame("  File \"a b.py\", line 13, in f"), Some(("a b.py", 13)));
        assert_eq!(
            of_frame("File \"bin/main.ml\", line 3, characters 5-8:"),
            Some(("bin/main.ml", 3))
        );
        assert_eq!(of_frame("File \"a.py\""), None);
    }
}
