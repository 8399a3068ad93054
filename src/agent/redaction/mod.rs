//! What is secret in what an agent says goes before anything else sees it: the world, the log, a
//! model. In its place stands `[REDACTED:rule]`, so that nobody takes the rest for the whole.

mod rules;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::OnceLock;

use aho_corasick::AhoCorasick;
use regex::{Captures, Regex};
use serde_json::{Map, Value};

use crate::agent::redaction::rules::{Proof, RULES, Rule};

/// Fields that say which event, session or file it is about: a mark in them would make another of it,
/// and agents choose no secret for a name.
const NAMES: &[&str] = &[
    "agent_id",
    "agent_transcript_path",
    "agent_type",
    "call_id",
    "cwd",
    "file_path",
    "filePath",
    "hook_event_name",
    "notebook_path",
    "path",
    "permission_mode",
    "prompt_id",
    "session_id",
    "source",
    "tool_name",
    "tool_use_id",
    "transcript_path",
    "turn_id",
    "workdir",
];

/// Members whose text is a secret, whatever it looks like, unless it stands for one.
const SECRETS: &[&str] = &[
    "access_token",
    "accesstoken",
    "api_key",
    "apikey",
    "auth_token",
    "authorization",
    "client_secret",
    "clientsecret",
    "passphrase",
    "passwd",
    "password",
    "private_key",
    "privatekey",
    "refresh_token",
    "refreshtoken",
    "secret_access_key",
    "secret_key",
    "secretkey",
    "x-api-key",
];

/// Finds secrets by their shape.
#[derive(Debug)]
pub struct Redaction {
    /// Tells in one pass which rules may have anything to do, for most texts few.
    hints: AhoCorasick,
    /// Whose rule each hint is.
    owners: Vec<usize>,
    rules: Vec<Compiled>,
}

/// A rule, which takes much more memory once it was needed; most never are.
#[derive(Debug)]
struct Compiled {
    rule: &'static Rule,
    /// None if the pattern is none, which the tests of the table exclude.
    regex: OnceLock<Option<Regex>>,
}

impl Compiled {
    fn regex(&self) -> Option<&Regex> {
        self.regex.get_or_init(|| Regex::new(self.rule.pattern).ok()).as_ref()
    }
}

impl Redaction {
    /// All rules, made ready; fails only if a hint can't be looked for.
    pub fn new() -> Result<Self, aho_corasick::BuildError> {
        let hints = RULES.iter().enumerate();
        let hints =
            hints.flat_map(|(rule, Rule { hints, .. })| hints.iter().map(move |h| (rule, h)));
        let (owners, hints): (_, Vec<&str>) = hints.unzip();
        let rules = RULES.iter().map(|rule| Compiled { rule, regex: OnceLock::new() });
        Ok(Self {
            hints: AhoCorasick::builder().ascii_case_insensitive(true).build(hints)?,
            owners,
            rules: rules.collect(),
        })
    }

    /// `text` with a mark in place of each secret.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let found = self.hints.find_overlapping_iter(text);
        let due: BTreeSet<usize> =
            found.filter_map(|hint| self.owners.get(hint.pattern().as_usize()).copied()).collect();
        let mut redacted = Cow::Borrowed(text);
        for index in due {
            if let Some(compiled) = self.rules.get(index)
                && let Some(regex) = compiled.regex()
                && let Cow::Owned(replaced) = regex
                    .replace_all(&redacted, |found: &Captures<'_>| {
                        replacement(found, compiled.rule)
                    })
            {
                redacted = Cow::Owned(replaced);
            }
        }
        redacted
    }

    /// The same for every text in `fields`, however deep, but for what names the event.
    pub(super) fn fields(&self, fields: &mut Map<String, Value>) {
        for (name, value) in fields {
            if NAMES.contains(&name.as_str()) && value.is_string() {
                continue;
            }
            match value {
                Value::String(secret)
                    if SECRETS.contains(&name.to_ascii_lowercase().as_str())
                        && !stands_for_one(secret) =>
                {
                    "[REDACTED:secret]".clone_into(secret);
                }
                value => self.value(value),
            }
        }
    }

    fn value(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(redacted) = self.text(text) {
                    *text = redacted;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Object(fields) => self.fields(fields),
            _ => {}
        }
    }
}

/// What `rule` has found, with a mark in place of the secret in it, if it is one.
fn replacement(found: &Captures<'_>, rule: &Rule) -> String {
    let whole = found.get_match();
    let secret = found.name("s").unwrap_or(whole);
    let part = |from: usize, to: usize| {
        let text = whole.as_str().get(from - whole.start()..to - whole.start());
        text.unwrap_or_default()
    };
    let (quote, bare) = unquoted(secret.as_str());
    let is_one = match rule.proof {
        Proof::Shape => true,
        Proof::Place => !stands_for_one(bare),
        Proof::Look => !stands_for_one(bare) && looks_like_one(bare),
    };
    if !is_one {
        return whole.as_str().to_owned();
    }
    let (before, after) = (part(whole.start(), secret.start()), part(secret.end(), whole.end()));
    format!("{before}{quote}[REDACTED:{}]{quote}{after}", rule.name)
}

/// The quotes around a text, and what is within them.
fn unquoted(text: &str) -> (&str, &str) {
    for quote in ["\"", "'"] {
        if let Some(inner) = text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote)) {
            return (quote, inner);
        }
    }
    ("", text)
}

/// Whether a text is what people write where a secret goes: a variable, an example, a file that has
/// it, or a mark of ours.
fn stands_for_one(text: &str) -> bool {
    const STARTS: [&str; 14] = [
        "[REDACTED:",
        "<",
        "{{",
        "{",
        "%{",
        "/",
        "./",
        "../",
        "~/",
        "@",
        "id=",
        "type=",
        "your",
        "YOUR",
    ];
    const WORDS: [&str; 22] = [
        "bool",
        "boolean",
        "empty",
        "example",
        "false",
        "nil",
        "none",
        "null",
        "optional",
        "pass",
        "password",
        "passwd",
        "pwd",
        "redacted",
        "required",
        "secret",
        "str",
        "string",
        "token",
        "true",
        "undefined",
        "value",
    ];
    const SOURCES: [&str; 8] = [
        "process.env",
        "import.meta",
        "os.environ",
        "getenv",
        "env.",
        "secrets.",
        "/secrets/",
        "$(",
    ];
    let is_variable = |text: &str| {
        text.strip_prefix('$').is_some_and(|name| {
            name.starts_with(|c: char| c.is_ascii_alphabetic() || "_{(".contains(c))
                || name.chars().all(|c| c.is_ascii_digit() || "@*#?$!-".contains(c))
        }) || (text.len() > 2 && text.starts_with('%') && text.ends_with('%'))
    };
    let mut characters = text.chars();
    let first = characters.next();
    first.is_none_or(|first| characters.all(|other| other == first))
        || STARTS.iter().any(|start| text.starts_with(start))
        || WORDS.contains(&text.to_ascii_lowercase().as_str())
        || SOURCES.iter().any(|source| text.contains(source))
        || is_variable(text)
        || is_constant(text)
}

/// Whether it is the name of a constant or of a variable of the environment.
fn is_constant(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_uppercase())
        && text.chars().all(|c| c.is_ascii_uppercase() || c == '_')
        || (text.contains('_')
            && text.starts_with(|c: char| c.is_ascii_uppercase())
            && text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_'))
}

/// Whether it is no word or name: letters with digits or signs among them.
fn looks_like_one(text: &str) -> bool {
    let has = |is: fn(&char) -> bool| text.chars().any(|c| is(&c));
    let letters = has(char::is_ascii_alphabetic);
    let digits = has(char::is_ascii_digit);
    let signs = has(|c| "!@#$%^&*+=?~".contains(*c));
    let length = text.chars().count();
    (letters && (digits || signs))
        || (digits && length >= 8 && text.chars().all(|c| c.is_ascii_digit()))
        || (length >= 20 && has(char::is_ascii_uppercase) && has(char::is_ascii_lowercase))
}

#[cfg(test)]
mod tests;
