//! What a shell command does with a hook script of ours.

use std::iter::Peekable;
use std::str::Chars;

/// How many strings with commands in them may be nested: `sh -c "sh -c …"`.
const MAX_DEPTH: usize = 4;

/// Programs that run another one and change nothing about what it does.
const WRAPPERS: [&str; 12] = [
    "builtin", "command", "env", "exec", "gtimeout", "ionice", "nice", "nohup", "setsid", "stdbuf",
    "time", "timeout",
];

/// Switches of `PowerShell` that change nothing about the script that it runs.
const POWER_SHELL_SWITCHES: [&str; 7] = [
    "-noprofile",
    "-nologo",
    "-noninteractive",
    "-executionpolicy",
    "bypass",
    "unrestricted",
    "remotesigned",
];

/// How a command has to do with a script, at this path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Use {
    /// It runs the script and does nothing else.
    Alone(String),
    /// It runs the script with settings around it, such as `timeout 5 … || true`, and does nothing
    /// else.
    Wrapped(String),
    /// It does something else with it or besides it.
    Among(String),
}

/// What `command` does with a script whose path `is_own`; none if it has nothing to do with one.
pub(super) fn use_of(command: &str, is_own: &dyn Fn(&str) -> bool) -> Option<Use> {
    // The paths of `PowerShell` may have backslashes, which escape nothing there.
    let line = Line::read(&command.replace('\\', "/")).filter(Line::runs_power_shell);
    use_in_line(&line.or_else(|| Line::read(command))?, is_own, MAX_DEPTH)
}

fn use_within(command: &str, is_own: &dyn Fn(&str) -> bool, depth: usize) -> Option<Use> {
    use_in_line(&Line::read(command)?, is_own, depth)
}

fn use_in_line(line: &Line, is_own: &dyn Fn(&str) -> bool, depth: usize) -> Option<Use> {
    // What looks whether the script is there stands before it, what hides its failure after it.
    let (idle, busy): (Vec<_>, Vec<_>) =
        line.commands.iter().partition(|words| is_idle(words, is_own));
    if let [words] = busy.as_slice()
        && line.is_plain
        && let Some(found) = use_in_words(words, is_own, depth)
    {
        let is_wrapped = line.is_adorned || !idle.is_empty();
        return Some(if is_wrapped { found.wrapped() } else { found });
    }
    let words = line.commands.iter().flatten();
    words.into_iter().find_map(|word| path_in(word, is_own, depth)).map(Use::Among)
}

/// The path of the script if `word` is it, or is a command that has to do with it.
fn path_in(word: &str, is_own: &dyn Fn(&str) -> bool, depth: usize) -> Option<String> {
    if is_own(word) {
        return Some(word.to_owned());
    }
    let depth = depth.checked_sub(1).filter(|_| word.contains(char::is_whitespace))?;
    use_within(word, is_own, depth).map(|used| used.path().to_owned())
}

/// What one program with its arguments does with the script, if that is all it does.
fn use_in_words(words: &[String], is_own: &dyn Fn(&str) -> bool, depth: usize) -> Option<Use> {
    let mut rest = words;
    let mut is_wrapped = false;
    while let Some((word, after)) = rest.split_first() {
        let wraps = WRAPPERS.contains(&file_name(word));
        if !wraps && !is_assignment(word) {
            break;
        }
        is_wrapped = true;
        rest = if wraps { without_settings(after) } else { after };
    }
    let found = match rest {
        [script, arguments @ ..] if is_own(script) => alone_unless(!arguments.is_empty(), script),
        [shell, arguments @ ..] if is_shell(shell) => use_by_shell(arguments, is_own, depth)?,
        [shell, arguments @ ..] if is_power_shell(shell) => {
            let is_switch =
                |word: &String| POWER_SHELL_SWITCHES.contains(&word.to_ascii_lowercase().as_str());
            let file = arguments.iter().position(|word| !is_switch(word))?;
            match arguments.get(file..)? {
                [file, script, arguments @ ..]
                    if file.eq_ignore_ascii_case("-file") && is_own(script) =>
                {
                    alone_unless(!arguments.is_empty(), script)
                }
                _ => return None,
            }
        }
        _ => return None,
    };
    Some(if is_wrapped { found.wrapped() } else { found })
}

/// What a POSIX shell with these arguments does.
fn use_by_shell(arguments: &[String], is_own: &dyn Fn(&str) -> bool, depth: usize) -> Option<Use> {
    let options = arguments.iter().take_while(|word| word.starts_with('-')).count();
    let (options, operands) = arguments.split_at_checked(options)?;
    let reads_command = options.iter().any(|option| option.contains('c'));
    match operands {
        [command, ..] if reads_command => {
            let found = use_within(command, is_own, depth.checked_sub(1)?)?;
            Some(found.wrapped())
        }
        [script, arguments @ ..] if is_own(script) => {
            Some(alone_unless(!options.is_empty() || !arguments.is_empty(), script))
        }
        _ => None,
    }
}

fn alone_unless(is_wrapped: bool, script: &str) -> Use {
    let script = script.to_owned();
    if is_wrapped { Use::Wrapped(script) } else { Use::Alone(script) }
}

impl Use {
    /// The same by way of something else.
    fn wrapped(self) -> Self {
        match self {
            Self::Alone(path) => Self::Wrapped(path),
            found => found,
        }
    }

    /// The path of the script, as it stands in the command.
    pub(super) fn path(&self) -> &str {
        match self {
            Self::Alone(path) | Self::Wrapped(path) | Self::Among(path) => path,
        }
    }
}

/// Whether a command beside that of ours does nothing: `true`, or a look whether the script is
/// there.
fn is_idle(words: &[String], is_own: &dyn Fn(&str) -> bool) -> bool {
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["true" | ":" | "exit"] | ["exit", "0"] => true,
        ["test", check, file] | ["[", check, file, "]"] => check.starts_with('-') && is_own(file),
        _ => false,
    }
}

/// `words` from the first one on that sets nothing for a wrapper: no option, number, duration, signal
/// or variable.
fn without_settings(words: &[String]) -> &[String] {
    let is_setting = |word: &String| {
        word.starts_with('-')
            || word.starts_with(|first: char| first.is_ascii_digit())
            || word.chars().all(|character| character.is_ascii_uppercase() || character == '_')
            || is_assignment(word)
    };
    let settings = words.iter().take_while(|word| is_setting(word)).count();
    words.get(settings..).unwrap_or_default()
}

/// Whether a shell takes `word` for the value of a variable.
fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && name.chars().all(|one| one.is_ascii_alphanumeric() || one == '_')
    })
}

/// Whether `word` is the name of, or path to, a shell for our scripts.
fn is_shell(word: &str) -> bool {
    matches!(file_name(word), "sh" | "bash" | "dash" | "zsh")
}

fn is_power_shell(word: &str) -> bool {
    let name = file_name(word).to_ascii_lowercase();
    matches!(name.strip_suffix(".exe").unwrap_or(&name), "powershell" | "pwsh")
}

fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// A command line as a shell takes it apart.
#[derive(Debug)]
struct Line {
    /// The words of each simple command.
    commands: Vec<Vec<String>>,
    /// Whether nobody waits for it, its streams are redirected, or there is a comment.
    is_adorned: bool,
    /// Whether nothing in it needs more of a shell than to run the commands in turn.
    is_plain: bool,
}

impl Line {
    /// Takes `command` apart; none if a quote is open at its end.
    fn read(command: &str) -> Option<Self> {
        let mut reader = Reader {
            characters: command.chars().peekable(),
            line: Self { commands: Vec::new(), is_adorned: false, is_plain: true },
            words: Vec::new(),
            word: None,
            is_target: false,
        };
        reader.read()?;
        Some(reader.line)
    }

    fn runs_power_shell(&self) -> bool {
        self.commands
            .first()
            .and_then(|words| words.first())
            .is_some_and(|word| is_power_shell(word))
    }
}

struct Reader<'c> {
    characters: Peekable<Chars<'c>>,
    line: Line,
    /// The words of the command that is being read.
    words: Vec<String>,
    /// The word that is being read.
    word: Option<String>,
    /// Whether that is the file of a redirection.
    is_target: bool,
}

impl Reader<'_> {
    fn read(&mut self) -> Option<()> {
        while let Some(character) = self.characters.next() {
            match character {
                ' ' | '\t' | '\r' => self.end_word(),
                '#' if self.word.is_none() => {
                    self.line.is_adorned = true;
                    while self.characters.next_if(|next| *next != '\n').is_some() {}
                }
                '\n' | ';' => self.end_command(),
                '&' | '|' => {
                    // Twice, it is a condition; once, something that runs beside it.
                    let is_twice = self.characters.next_if_eq(&character).is_some();
                    self.line.is_plain &= is_twice || character == '&';
                    self.line.is_adorned |= !is_twice;
                    self.end_command();
                }
                '<' | '>' => self.redirect(),
                '(' | ')' => {
                    self.line.is_plain = false;
                    self.end_command();
                }
                '\'' => self.read_single_quoted()?,
                '"' => self.read_double_quoted()?,
                '\\' => match self.characters.next()? {
                    '\n' => {}
                    escaped => self.push(escaped),
                },
                character => self.push_live(character),
            }
        }
        self.end_command();
        Some(())
    }

    fn read_single_quoted(&mut self) -> Option<()> {
        self.word.get_or_insert_default();
        loop {
            match self.characters.next()? {
                '\'' => return Some(()),
                character => self.push(character),
            }
        }
    }

    fn read_double_quoted(&mut self) -> Option<()> {
        self.word.get_or_insert_default();
        loop {
            match self.characters.next()? {
                '"' => return Some(()),
                '\\' => match self.characters.next()? {
                    '\n' => {}
                    escaped @ ('$' | '`' | '"' | '\\') => self.push(escaped),
                    other => {
                        self.push('\\');
                        self.push(other);
                    }
                },
                character => self.push_live(character),
            }
        }
    }

    /// Takes in a character by which a shell may run something else first.
    fn push_live(&mut self, character: char) {
        let is_substitution =
            character == '`' || character == '$' && self.characters.peek() == Some(&'(');
        self.line.is_plain &= !is_substitution;
        self.push(character);
    }

    fn push(&mut self, character: char) {
        self.word.get_or_insert_default().push(character);
    }

    fn redirect(&mut self) {
        // The number before it is that of the stream.
        let is_number = |word: &String| word.bytes().all(|byte| byte.is_ascii_digit());
        if self.word.as_ref().is_some_and(is_number) {
            self.word = None;
        }
        self.end_word();
        while self.characters.next_if(|next| matches!(next, '<' | '>' | '&' | '|')).is_some() {}
        self.line.is_adorned = true;
        self.is_target = true;
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        if std::mem::take(&mut self.is_target) {
            let is_harmless = word == "/dev/null"
                || word == "-"
                || word.bytes().all(|byte| byte.is_ascii_digit());
            self.line.is_plain &= is_harmless;
        } else {
            self.words.push(word);
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.is_target = false;
        if !self.words.is_empty() {
            self.line.commands.push(std::mem::take(&mut self.words));
        }
    }
}
