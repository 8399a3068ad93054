//! What Claude Code requires of a `settings.json`. For one bad entry under some events it ignores
//! the whole file, for its permissions too; elsewhere it skips the entry alone.

use crate::setup::edit::json::{Document, JsonError};
use crate::setup::edit::ownership::{Holding, OwnScript};
use crate::setup::edit::value::{Object, Value};

/// The events that decide about permissions, and so about the whole file.
const STRICT_EVENTS: [&str; 2] = ["PreToolUse", "PermissionRequest"];

/// The kinds of hooks, each with a key that has to be a string.
const HANDLER_TYPES: [(&str, &str); 5] = [
    ("command", "command"),
    ("http", "url"),
    ("mcp_tool", "tool"),
    ("prompt", "prompt"),
    ("agent", "prompt"),
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
    require_if_there(document, &group, "matcher", "a string", is_string)?;
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
    let known = |kind: &str| HANDLER_TYPES.into_iter().find(|(name, _)| *name == kind);
    let (_, key) = kind.string().and_then(|kind| known(&kind)).ok_or_else(|| {
        document.misshapen("`type`".to_owned(), "a kind of hook that Claude Code knows", kind)
    })?;
    handler.member(key).ok_or_else(|| missing(key))?;
    require_if_there(document, &handler, key, "a string", is_string)?;
    require_if_there(document, &handler, "timeout", "a number of seconds above zero", is_positive)
}

fn require_if_there(
    document: &Document<'_>,
    parent: &Object<'_>,
    key: &str,
    expected: &'static str,
    is_met: impl Fn(Value<'_>) -> bool,
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

fn is_positive(value: Value<'_>) -> bool {
    value.text.parse::<f64>().is_ok_and(|seconds| seconds > 0.0)
}
