//! The exit status that a line prints itself, as `cargo test | tail; echo "exit: ${PIPESTATUS[0]}"`.

use crate::agent::shell::{Part, Then};

/// What the line prints around the status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::agent) struct PrintedStatus {
    before: String,
    after: String,
}

/// How far from the end the status is looked for, in lines.
const REACH: usize = 20;

impl PrintedStatus {
    /// What prints the status of the part at `index`, if anything does.
    pub(super) fn of(parts: &[Part<'_>], index: usize) -> Option<Self> {
        let (before, rest) = parts.split_at_checked(index)?;
        let piped = rest.iter().take_while(|part| part.then == Then::Pipe).count();
        let is_first = before.last().is_none_or(|part| part.then != Then::Pipe);
        let variables: &[&str] = match piped {
            0 => &["$?"],
            _ if is_first => &["${PIPESTATUS[0]}", "${PIPESTATUS}", "${pipestatus[1]}"],
            _ => return None,
        };
        let last = rest.get(piped)?;
        let echo = rest.get(piped + 1).filter(|part| part.program() == "echo")?;
        if !matches!(last.then, Then::Next | Then::Or) || !echo.redirects.is_empty() {
            return None;
        }
        let words = echo.command().get(1..)?;
        if words.iter().any(|word| word.raw.starts_with(['\'', '-'])) {
            return None;
        }
        let words: Vec<&str> = words.iter().map(|word| word.raw.trim_matches('"')).collect();
        let text = words.join(" ");
        let (before, after) = variables.iter().find_map(|variable| text.split_once(variable))?;
        let is_plain = |text: &str| !text.contains(['$', '`', '\\', '"', '\'']);
        let around = Self { before: before.trim().to_owned(), after: after.trim().to_owned() };
        (is_plain(before) && is_plain(after)).then_some(around)
    }

    /// The status that these lines of the output say; none if it is not there.
    pub(in crate::agent) fn read(&self, lines: &[&str]) -> Option<i64> {
        // A number alone may be any.
        let reach = if self.before.is_empty() && self.after.is_empty() { 1 } else { REACH };
        lines
            .iter()
            .rev()
            .map(|line| line.trim())
            .filter(|line| !line.is_empty())
            .take(reach)
            .find_map(|line| {
                let number = line.strip_prefix(&*self.before)?.strip_suffix(&*self.after)?.trim();
                let is_status =
                    (1..=3).contains(&number.len()) && number.bytes().all(|it| it.is_ascii_digit());
                number.parse().ok().filter(|_| is_status)
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::shell::Script;

    #[test]
    fn a_status_is_read_where_the_line_prints_it() {
        for (line, output, status) in [
            ("cargo test; echo EXIT=$?", "red\nEXIT=101\n", Some(101)),
            ("cargo test; echo \"exit: $?\"", "red\n exit: 0", Some(0)),
            ("cargo test\necho $?", "3\n1", Some(1)),
            ("cargo test; echo $?", "1\ndone", None),
            ("cargo test || echo \"failed ($?)\"", "failed (2)", Some(2)),
            ("cargo test || echo failed $?", "ok", None),
            ("cargo test | tail; echo \"${PIPESTATUS[0]}\"", "x\n101", Some(101)),
            ("cargo test | tail; echo EXIT=$?", "EXIT=0", None),
            ("ls | cargo test; echo EXIT=$?", "EXIT=3", Some(3)),
            ("cargo test; echo EXIT=$?; ls", "EXIT=3\na\nb", Some(3)),
            ("cargo test; ls; echo EXIT=$?", "EXIT=3", None),
            ("cargo test && echo EXIT=$?", "EXIT=0", None),
            ("cargo test & echo EXIT=$?", "EXIT=0", None),
            ("cargo test; echo '$?'", "1", None),
            ("cargo test; echo $x $?", "1", None),
            ("cargo test; echo EXIT=$? > log", "EXIT=1", None),
            ("cargo test; echo EXIT=$?", "EXIT=1000", None),
            ("cargo test; echo EXIT=$?", "EXIT=-1", None),
            ("cargo test; echo EXIT=$?", "", None),
        ] {
            let script = Script::parse(line).unwrap();
            let index = script.parts.iter().position(|part| part.program() == "cargo").unwrap();
            let lines: Vec<&str> = output.lines().collect();
            let found = PrintedStatus::of(&script.parts, index).and_then(|it| it.read(&lines));
            assert_eq!(found, status, "{line}: {output}");
        }
    }
}
