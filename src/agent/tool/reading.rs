//! Shell commands that only read.
//!
//! A command is taken for a read where that is certain, and only then: a file that the agent has not
//! seen must not count as seen, and a command that changes files must not pass for one that doesn't.

use crate::agent::shell::{Part, Script, Then};
use crate::agent::tool::ToolAction;
use crate::agent::tool::action::{MAX_FILES, paths};
use crate::agent::tool::path::{directory_after, is_absolute};
use crate::agent::tool::programs::{Use, use_of};

/// What a command line reads: files or the result of a search; none if it may do anything else.
pub(super) fn reading_of(script: &Script<'_>, cwd: &str) -> Option<ToolAction> {
    if !script.is_plain || script.parts.iter().any(Part::is_reserved) {
        return None;
    }
    let mut reading = Reading { directory: cwd.to_owned(), ..Reading::default() };
    let mut pipeline = Vec::new();
    for part in &script.parts {
        if part.then == Then::Background {
            return None;
        }
        pipeline.push(part);
        if part.then != Then::Pipe {
            reading.take(&pipeline)?;
            pipeline.clear();
        }
    }
    // What stands on either side of `||` may not have run, or failed.
    if script.parts.iter().any(|part| part.then == Then::Or) {
        reading.files.clear();
        reading.has_searched = true;
    }
    if !reading.files.is_empty() {
        return Some(ToolAction::Read { paths: reading.files });
    }
    reading.has_searched.then_some(ToolAction::Search)
}

/// What was found so far.
#[derive(Default)]
struct Reading {
    /// Where the next command runs.
    directory: String,
    files: Vec<String>,
    has_searched: bool,
}

impl Reading {
    /// Takes in the commands of one pipeline; none if one of them may change something.
    fn take(&mut self, pipeline: &[&Part<'_>]) -> Option<()> {
        let [first, filters @ ..] = pipeline else { return Some(()) };
        let mut is_shown = true;
        for part in pipeline {
            // A variable in front of a program can change what it does.
            if part.command().len() != part.words.len() {
                return None;
            }
            for redirect in &part.redirects {
                if !redirect.is_harmless() {
                    return None;
                }
                // The output is thrown away, and not only the messages.
                is_shown &= redirect.operator.ends_with('&') || redirect.operator.starts_with('2');
            }
        }
        for filter in filters {
            match use_of(filter.words.as_slice())? {
                // A file in the middle of a pipeline is shown instead of what comes before.
                Use::Shows(files) => is_shown &= files.is_empty(),
                Use::Searches => {
                    is_shown = false;
                    self.has_searched = true;
                }
                Use::Speaks | Use::Enters(_) => return None,
            }
        }
        match use_of(first.words.as_slice())? {
            Use::Shows(files) if is_shown => self.show(&files),
            Use::Shows(_) | Use::Searches => self.has_searched = true,
            Use::Speaks => {}
            Use::Enters(target) if filters.is_empty() => {
                self.directory = match target {
                    Some(target) if !self.directory.is_empty() || is_absolute(target) => {
                        directory_after(&self.directory, target)
                    }
                    _ => String::new(),
                };
            }
            Use::Enters(_) => return None,
        }
        Some(())
    }

    fn show(&mut self, files: &[Option<&str>]) {
        let known: Vec<&str> = (files.iter().flatten().copied())
            .filter(|file| !self.directory.is_empty() || is_absolute(file))
            .collect();
        for path in paths(&self.directory, &known) {
            if self.files.len() < MAX_FILES && !self.files.contains(&path) {
                self.files.push(path);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn reads(line: &str, files: &str) {
        let script = Script::parse(line).unwrap();
        let paths = files.split_whitespace().map(str::to_owned).collect();
        assert_eq!(reading_of(&script, "/p"), Some(ToolAction::Read { paths }), "{line}");
    }

    #[test]
    fn commands_that_show_files_are_reads() {
        for (line, files) in [
            ("cat a b", "/p/a /p/b"),
            ("cat -n /x/a.rs", "/x/a.rs"),
            ("/bin/cat -- -n", "/p/-n"),
            ("head -n 5 x", "/p/x"),
            ("head -20 x y", "/p/x /p/y"),
            ("head -c100 x", "/p/x"),
            ("tail -n +5 x", "/p/x"),
            ("tail x", "/p/x"),
            ("sed -n 1,80p src/f.rs", "/p/src/f.rs"),
            ("sed -n '1,5p;10,$p' f", "/p/f"),
            ("sed -n -e 10p f", "/p/f"),
            ("sed -n '/fn main/,/^}/p' f", "/p/f"),
            ("nl -ba f", "/p/f"),
            ("nl -b a f", "/p/f"),
            ("less -N f", "/p/f"),
            ("bat --plain -r 1:5 f", "/p/f"),
            ("batcat --style=plain f", "/p/f"),
            ("cat a | head -5", "/p/a"),
            ("nl -ba a | sed -n 5,9p", "/p/a"),
            ("cat a 2>&1", "/p/a"),
            ("cat a 2>/dev/null", "/p/a"),
            ("cat a && cat b; cat a", "/p/a /p/b"),
            ("echo == a; cat a\necho == b\ncat b", "/p/a /p/b"),
            ("cd sub && cat x", "/p/sub/x"),
            ("cd sub; cd ../lib && cat x /y", "/p/lib/x /y"),
            ("cd \"$D\" && cat x /y", "/y"),
            ("ls && cat a && rg x", "/p/a"),
            ("wc -l a; sed -n 1,5p a", "/p/a"),
            ("git status --short && cat a", "/p/a"),
            ("cat a *.md", "/p/a"),
            ("pwd; cat a", "/p/a"),
        ] {
            reads(line, files);
        }
        let read = ToolAction::Read { paths: vec!["/p/a b".to_owned(), "/p/c".to_owned()] };
        assert_eq!(reading_of(&Script::parse("cat 'a b' \"c\"").unwrap(), "/p"), Some(read));
    }

    #[test]
    fn commands_that_look_for_something_are_searches() {
        for line in [
            "rg pattern src",
            "rg -n 'a|b' --glob '*.rs'",
            "grep -rn x f",
            "egrep x f | head -3",
            "git grep x",
            "git ls-files | wc -l",
            "ls",
            "ls -la src/*.rs",
            "find . -name '*.rs' -type f",
            "fd x src",
            "tree -L 2",
            "cat a | wc -l",
            "cat a | grep x",
            "cat a > /dev/null",
            "cat a || echo none",
            "ls a 2>/dev/null || ls b",
            "ls src && echo ok",
            "wc -l a b",
            "git log --oneline | head",
            "git diff HEAD~1",
            "sort a | uniq -c",
            "diff a b",
        ] {
            let script = Script::parse(line).unwrap();
            assert_eq!(reading_of(&script, "/p"), Some(ToolAction::Search), "{line}");
        }
    }

    #[test]
    fn whatever_may_do_more_is_neither() {
        for line in [
            "",
            "cargo test",
            "cat a > b",
            "cat a >> b",
            "cat a &> b",
            "cat < a",
            "cat a | tee b",
            "cat a | sh",
            "cat a | xargs rm",
            "cat $(find . -name x)",
            "cat `ls`",
            "cat *.rs",
            "cat $F",
            "cat ~/x",
            "cat a && make",
            "cat a; rm a",
            "cat a &",
            "(cat a)",
            "if cat a; then ls; fi",
            "! cat a",
            "LESSOPEN='|rm %s' less a",
            "cat --unknown-option a",
            "cat",
            "cat <<EOF\nx\nEOF",
            "tail -f log",
            "less +F log",
            "sed -i s/a/b/ f",
            "sed -n -i 1p f",
            "sed s/a/b/ f",
            "sed -n 's/a/b/w out' f",
            "sed -n '1,5w out' f",
            "sed -n \"$S\" f",
            "sed -n 1e f",
            "head -n \"$N\" x",
            "find . -delete",
            "find . -exec rm {} +",
            "find . -fprint out",
            "find . $X",
            "fd x -x rm",
            "fd -HX rm",
            "rg --pre ./run x",
            "git diff --output=f",
            "git -c core.pager=x log",
            "git checkout a",
            "git branch x",
            "sort -o a a",
            "sort -uo a a",
            "sort --outp=a a",
            "git diff --outp=f",
            "uniq a b",
            "tree -o f",
            "awk '{print > \"x\"}' a",
            "echo hello",
            "pwd",
            "cd sub",
            "cd sub | cat x",
            "bat cache --build",
            "unknown a",
            "./cat a",
        ] {
            let script = Script::parse(line).unwrap();
            assert_eq!(reading_of(&script, "/p"), None, "{line}");
        }
    }

    #[test]
    fn a_relative_file_is_not_known_where_the_directory_is_not() {
        let script = Script::parse("cat a /b").unwrap();
        let read = ToolAction::Read { paths: vec!["/b".to_owned()] };
        assert_eq!(reading_of(&script, ""), Some(read));
        assert_eq!(reading_of(&Script::parse("cat a").unwrap(), ""), None);
    }
}
