//! What Claude Code requires of a `settings.json`. For one bad entry under some events it ignores
//! the whole file, for its permissions too; elsewhere it skips the entry alone.

use crate::setup::edit::json::{Document, JsonError};
use crate::setup::edit::ownership::{Holding, OwnScript};
use crate::setup::edit::value::{Object, Value};

/// The events that decide about permissions, and so about the whole file.
const STRICT_EVENTS: [&str; 2] = ["PreToolUse", "PermissionRequest"];

/// A key, what its value has to be, and how to tell.
type Rule = (&'static str, &'static str, fn(Value<'_>) -> bool);

/// A kind of hook, the keys that it can't be without, and those that it may have.
type Kind = (&'static str, &'static [Rule], &'static [Rule]);

const KINDS: [Kind; 5] = [
    (
        "command",
        &[("command", "a string", is_string)],
        &[
            ("args", "a list of strings", is_list_of_strings),
            ("shell", "`bash` or `powershell`", |value| is_one_of(value, &["bash", "powershell"])),
            ("async", "true or false", is_flag),
            ("asyncRewake", "true or false", is_flag),
        ],
    ),
    (
        "http",
        &[("url", "a URL", is_url)],
        &[
            ("headers", "an object of strings", is_object_of_strings),
            ("allowedEnvVars", "a list of strings", is_list_of_strings),
        ],
    ),
    (
        "mcp_tool",
        &[("server", "a string", is_string), ("tool", "a string", is_string)],
        &[("input", "an object", |value| value.object().is_some())],
    ),
    ("prompt", &[("prompt", "a string", is_string)], &[("model", "a string", is_string)]),
    ("agent", &[("prompt", "a string", is_string)], &[("model", "a string", is_string)]),
];

/// The keys that a hook of any kind may have. One that is not known is ignored.
const COMMON: [Rule; 5] = [
    ("timeout", "a number of seconds above zero", is_positive),
    ("if", "a string", is_string),
    ("statusMessage", "a string", is_string),
    ("once", "true or false", is_flag),
    ("onFailure", "`continue` or `block`", |value| is_one_of(value, &["continue", "block"])),
];

/// Requires that Claude Code would read the file, once our own entries in it are right.
pub(super) fn require_readable(
    document: &Document<'_>,
    script: &OwnScript,
) -> Result<(), JsonError> {
    let Some(hooks) = document.object(&document.root, "hooks")? else {
        return Ok(());
    };
    for event in STRICT_EVENTS {
        let groups = document.array(&hooks, event).map_err(JsonError::disabling)?;
        let groups = groups.map_or_else(Vec::new, |groups| groups.elements);
        let foreign = groups.into_iter().filter(|group| script.holding(*group) != Holding::Ours);
        for group in foreign {
            require_group(document, group).map_err(JsonError::disabling)?;
        }
    }
    Ok(())
}

fn require_group(document: &Document<'_>, value: Value<'_>) -> Result<(), JsonError> {
    let group = document.require_object("a group of hooks", value)?;
    require_if_there(document, &group, &("matcher", "a string", is_string))?;
    let handlers = group.member("hooks").ok_or(JsonError::Missing {
        what: "a group of hooks",
        key: "hooks",
        position: document.position(value),
    })?;
    let not_an_array = || document.misshapen("`hooks`".to_owned(), "an array", handlers);
    let handlers = handlers.array().ok_or_else(not_an_array)?;
    handlers.elements.iter().try_for_each(|handler| require_handler(document, *handler))
}

fn require_handler(document: &Document<'_>, value: Value<'_>) -> Result<(), JsonError> {
    let handler = document.require_object("a hook", value)?;
    let missing =
        |key| JsonError::Missing { what: "a hook", key, position: document.position(value) };
    let kind = handler.member("type").ok_or_else(|| missing("type"))?;
    let known = |kind: &str| KINDS.into_iter().find(|(name, ..)| *name == kind);
    let (_, required, optional) = kind.string().and_then(|kind| known(&kind)).ok_or_else(|| {
        document.misshapen("`type`".to_owned(), "a kind of hook that Claude Code knows", kind)
    })?;
    for (key, ..) in required {
        handler.member(key).ok_or_else(|| missing(key))?;
    }
    let mut rules = required.iter().chain(optional).chain(&COMMON);
    rules.try_for_each(|rule| require_if_there(document, &handler, rule))
}

fn require_if_there(
    document: &Document<'_>,
    parent: &Object<'_>,
    (key, expected, is_met): &Rule,
) -> Result<(), JsonError> {
    match parent.member(key) {
        Some(value) if !is_met(value) => {
            Err(document.misshapen(format!("`{key}`"), expected, value))
        }
        _ => Ok(()),
    }
}

/// Also one with half of a surrogate pair, which is fine with Claude Code.
fn is_string(value: Value<'_>) -> bool {
    value.text.starts_with('"')
}

fn is_one_of(value: Value<'_>, names: &[&str]) -> bool {
    value.string().is_some_and(|text| names.contains(&text.as_ref()))
}

fn is_flag(value: Value<'_>) -> bool {
    matches!(value.text, "true" | "false")
}

fn is_positive(value: Value<'_>) -> bool {
    value.text.parse::<f64>().is_ok_and(|seconds| seconds > 0.0)
}

fn is_list_of_strings(value: Value<'_>) -> bool {
    value.array().is_some_and(|list| list.elements.iter().all(|element| is_string(*element)))
}

fn is_object_of_strings(value: Value<'_>) -> bool {
    value.object().is_some_and(|object| object.members.iter().all(|one| is_string(one.value)))
}

/// Whether it begins with a scheme. What else makes a URL we don't judge.
fn is_url(value: Value<'_>) -> bool {
    let text = value.string().unwrap_or_default();
    text.split_once(':').is_some_and(|(scheme, rest)| {
        !rest.is_empty()
            && scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    })
}
