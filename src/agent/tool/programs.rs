//! Programs that only read, and the options with which they do nothing else.

use crate::agent::shell::Word;

/// What a program does when it is called with certain words.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Use<'a> {
    /// Shows these files as they are, at least in part; what it is piped if there are none. A file
    /// whose name only the shell knows is `None`.
    Shows(Vec<Option<&'a str>>),
    /// Looks for something, or tells something of files other than their text.
    Searches,
    /// Prints what it is told to.
    Speaks,
    /// Goes into a directory, `None` if only the shell knows which.
    Enters(Option<&'a str>),
}

/// A program that shows files.
struct Viewer {
    names: &'static [&'static str],
    /// Short options without a value.
    flags: &'static str,
    /// Short options with a value.
    valued: &'static str,
    /// Long options, whose value, if they have one, follows an equals sign.
    long: &'static [&'static str],
    /// Long options whose value may be the next word.
    long_valued: &'static [&'static str],
}

const VIEWERS: [Viewer; 6] = [
    Viewer {
        names: &["cat", "tac"],
        flags: "AbeEnstTuv",
        valued: "",
        long: &["--number", "--number-nonblank", "--show-all", "--squeeze-blank"],
        long_valued: &[],
    },
    Viewer {
        names: &["head"],
        flags: "qvz",
        valued: "nc",
        long: &["--quiet", "--verbose"],
        long_valued: &["--lines", "--bytes"],
    },
    // Not `-f`, which does not end.
    Viewer {
        names: &["tail"],
        flags: "qvzr",
        valued: "nc",
        long: &["--quiet", "--verbose"],
        long_valued: &["--lines", "--bytes"],
    },
    Viewer { names: &["nl"], flags: "p", valued: "bdfhilnsvw", long: &[], long_valued: &[] },
    Viewer {
        names: &["less", "more"],
        flags: "EeFNnRrSsX",
        valued: "",
        long: &[],
        long_valued: &[],
    },
    Viewer {
        names: &["bat", "batcat"],
        flags: "Anpu",
        valued: "lrH",
        long: &["--plain", "--number", "--show-all", "--no-pager"],
        long_valued: &[
            "--color",
            "--decorations",
            "--language",
            "--line-range",
            "--paging",
            "--style",
            "--tabs",
            "--theme",
            "--wrap",
        ],
    },
];

/// Programs that look for something or tell something of files, with the options with which they
/// could do more: by their beginning if they are long, by their letter if they are short.
const SEARCHERS: [(&[&str], &[&str], &str); 9] = [
    (&["rg"], &["--pre", "--hostname-bin"], ""),
    (&["grep", "egrep", "fgrep", "ag"], &["--pager"], ""),
    (&["ls", "wc", "stat", "du", "df", "cut", "tr", "column", "jq", "rev", "which"], &[], ""),
    (&["diff", "cmp", "comm", "basename", "dirname", "realpath", "readlink"], &[], ""),
    (&["find"], &["-exec", "-ok", "-delete", "-fprint", "-fls"], ""),
    (&["fd", "fdfind"], &["--exec"], "xX"),
    (&["tree"], &["--output"], "oR"),
    (&["sort"], &["--o", "--comp", "--t"], "oT"),
    (&["uniq"], &[], ""),
];

/// What is known of `words`, a program and its arguments; none if it may do anything.
pub(super) fn use_of<'a>(words: &'a [Word<'_>]) -> Option<Use<'a>> {
    let (program, arguments) = words.split_first()?;
    let name = program_name(program)?;
    match name {
        "cd" => return entered(arguments),
        "sed" => return printed_by_sed(arguments).map(Use::Shows),
        "git" => return is_reading_git(arguments).then_some(Use::Searches),
        "echo" | "printf" | "pwd" | "true" | ":" => return Some(Use::Speaks),
        _ => {}
    }
    if let Some(viewer) = VIEWERS.iter().find(|viewer| viewer.names.contains(&name)) {
        return viewer.files(arguments).map(Use::Shows);
    }
    let (_, long, short) = SEARCHERS.iter().find(|(names, ..)| names.contains(&name))?;
    let is_safe = |word: &Word<'_>| {
        // `rg --pretty` and `--pre-glob` begin like `--pre`.
        let is_harmless = ["--pretty", "--pre-glob"].contains(&word.value.as_str());
        let is_long = long.iter().any(|option| word.value.starts_with(option)) && !is_harmless;
        let is_cluster = word.value.starts_with('-') && !word.value.starts_with("--");
        !(is_long || is_cluster && word.value.contains(|c| short.contains(c)))
    };
    let is_certain = match name {
        // A word that the shell makes up could be such an option.
        "find" => arguments.iter().all(|word| word.is_literal),
        // Its second file is written.
        "uniq" => arguments.iter().all(|word| word.value.starts_with('-')),
        _ => true,
    };
    (is_certain && arguments.iter().all(is_safe)).then_some(Use::Searches)
}

/// The program, if it is one of the system's.
fn program_name<'a>(word: &'a Word<'_>) -> Option<&'a str> {
    let folders = ["/bin/", "/usr/bin/", "/usr/local/bin/", "/opt/homebrew/bin/"];
    let name = folders.iter().find_map(|folder| word.value.strip_prefix(folder));
    Some(name.unwrap_or(&word.value)).filter(|name| word.is_literal && !name.contains('/'))
}

fn entered<'a>(arguments: &'a [Word<'_>]) -> Option<Use<'a>> {
    match arguments {
        [] => Some(Use::Enters(None)),
        [target] if target.value.starts_with('-') => Some(Use::Enters(None)),
        [target] => Some(Use::Enters(target.is_literal.then_some(target.value.as_str()))),
        _ => None,
    }
}

impl Viewer {
    fn files<'a>(&self, arguments: &'a [Word<'_>]) -> Option<Vec<Option<&'a str>>> {
        let mut files = Vec::new();
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let value = word.value.as_str();
            if value == "--" {
                files.extend(words.by_ref().map(known));
            } else if value.starts_with(['-', '+']) && value != "-" {
                if !word.is_literal {
                    return None;
                }
                if self.takes_next(value)? {
                    words.next().filter(|word| word.is_literal)?;
                }
            } else if value != "-" {
                files.push(known(word));
            }
        }
        // `bat cache` is a command.
        let is_command = self.names.contains(&"bat") && files.first() == Some(&Some("cache"));
        (!is_command).then_some(files)
    }

    /// Whether the value of an option is the next word; none if we don't know the option.
    fn takes_next(&self, option: &str) -> Option<bool> {
        if option.starts_with("--") {
            let (name, value) =
                option.split_once('=').map_or((option, None), |(name, value)| (name, Some(value)));
            if self.long_valued.contains(&name) {
                return Some(value.is_none());
            }
            return self.long.contains(&name).then_some(false);
        }
        let letters = option.strip_prefix('-')?;
        if !self.valued.is_empty() && letters.chars().all(|c| c.is_ascii_digit()) {
            return Some(false);
        }
        let plain = letters.trim_start_matches(|c| self.flags.contains(c));
        match plain.chars().next() {
            None => Some(false),
            Some(letter) => {
                self.valued.contains(letter).then_some(plain.len() == letter.len_utf8())
            }
        }
    }
}

/// A file name, if it is the shell's word as it stands.
fn known<'a>(word: &'a Word<'_>) -> Option<&'a str> {
    word.is_literal.then_some(word.value.as_str())
}

/// The files of which `sed -n` prints lines; none if the script can do more than that.
fn printed_by_sed<'a>(arguments: &'a [Word<'_>]) -> Option<Vec<Option<&'a str>>> {
    let mut is_quiet = false;
    let mut has_script = false;
    let mut files = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.value.as_str() {
            "-n" | "--quiet" | "--silent" => is_quiet = true,
            "-E" | "-r" => {}
            option @ ("-e" | "-ne" | "-nE") => {
                is_quiet |= option.starts_with("-n");
                if option.ends_with('e') {
                    words.next().filter(|script| is_print(script))?;
                    has_script = true;
                }
            }
            option if option.starts_with('-') => return None,
            _ if !has_script => {
                Some(word).filter(|script| is_print(script))?;
                has_script = true;
            }
            _ => files.push(known(word)),
        }
    }
    (is_quiet && has_script).then_some(files)
}

/// Whether a script of `sed` consists of addresses to print, such as `1,80p`.
fn is_print(script: &Word<'_>) -> bool {
    let is_address = |text: &str| {
        let pattern = text.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
        text == "$"
            || (!text.is_empty() && text.chars().all(|c| c.is_ascii_digit()))
            || pattern.is_some_and(|pattern| !pattern.contains(['/', '\\', ';', ',']))
    };
    let is_command = |command: &str| {
        let command = command.trim();
        let quits = command.strip_suffix('q').is_some_and(is_address);
        let prints = command.strip_suffix('p').is_some_and(|range| {
            range.split(',').count() <= 2 && range.split(',').all(|text| is_address(text.trim()))
        });
        quits || prints
    };
    script.is_literal && script.value.split(';').all(is_command)
}

/// Whether a call of git looks only. The options in front of its command can change what it is.
fn is_reading_git(arguments: &[Word<'_>]) -> bool {
    let Some((command, options)) = arguments.split_first() else { return false };
    let is_reading = matches!(
        command.value.as_str(),
        "blame"
            | "describe"
            | "diff"
            | "grep"
            | "log"
            | "ls-files"
            | "rev-parse"
            | "show"
            | "status"
    );
    let runs_or_writes = |word: &Word<'_>| {
        // Long options can be shortened.
        ["--ou", "--ext", "--textc", "--open", "-O"]
            .iter()
            .any(|option| word.value.starts_with(option))
    };
    is_reading && !options.iter().any(runs_or_writes)
}
