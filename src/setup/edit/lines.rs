//! One line in an ignore file, in which every byte of others is kept, whatever its encoding.

/// Whether `text` has `line`, also below the root of the project or with blanks after it.
pub fn has(text: &[u8], line: &str) -> bool {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    text.split(|byte| *byte == b'\n').any(|other| {
        let other = other.trim_ascii_end();
        other.strip_prefix(b"/").unwrap_or(other) == line.as_bytes()
    })
}

/// `before` with `line` at its end; the same bytes if it has the line already.
///
/// There is no removal: nobody can tell whether the line was the user's.
pub fn install_into(before: &[u8], line: &str) -> Vec<u8> {
    let mut after = before.to_vec();
    if has(before, line) {
        return after;
    }
    let line_end: &[u8] = match before.iter().position(|byte| *byte == b'\n') {
        Some(at) if before.get(..at).is_some_and(|line| line.ends_with(b"\r")) => b"\r\n",
        _ => b"\n",
    };
    let is_complete = before.is_empty() || before.ends_with(b"\n");
    if !is_complete {
        after.extend_from_slice(line_end);
    }
    after.extend_from_slice(line.as_bytes());
    if is_complete {
        after.extend_from_slice(line_end);
    }
    after
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = ".tma1-context.md";

    #[test]
    fn the_line_is_added_as_the_file_ends_its_lines() {
        for (before, after) in [
            ("", ".tma1-context.md\n"),
            ("target\n", "target\n.tma1-context.md\n"),
            ("target", "target\n.tma1-context.md"),
            ("a\r\nb\r\n", "a\r\nb\r\n.tma1-context.md\r\n"),
            ("a\r\nb", "a\r\nb\r\n.tma1-context.md"),
            ("# .tma1-context.md\n", "# .tma1-context.md\n.tma1-context.md\n"),
            ("x.tma1-context.md", "x.tma1-context.md\n.tma1-context.md"),
        ] {
            assert!(!has(before.as_bytes(), LINE));
            let edited = install_into(before.as_bytes(), LINE);
            assert_eq!(str::from_utf8(&edited).unwrap(), after);
            assert_eq!(install_into(&edited, LINE), edited);
        }
    }

    #[test]
    fn a_line_that_does_the_same_is_enough() {
        for before in [
            "a\n.tma1-context.md",
            "/.tma1-context.md\n",
            ".tma1-context.md  \t\nb",
            "a\r\n.tma1-context.md\r\nb\r\n",
            "\u{feff}.tma1-context.md\n",
        ] {
            assert_eq!(install_into(before.as_bytes(), LINE), before.as_bytes());
        }
    }

    #[test]
    fn a_file_that_is_not_text_keeps_its_bytes() {
        assert_eq!(install_into(b"\xff\n", LINE), b"\xff\n.tma1-context.md\n");
    }
}
