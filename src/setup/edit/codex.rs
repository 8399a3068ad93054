//! What Codex requires of a `hooks.json`. It ignores the whole file, ours with everybody else's
//! entries, if one value anywhere in it has another shape.

use crate::setup::edit::json::{Document, JsonError};
use crate::setup::edit::value::{Object, Value};

/// The events that Codex knows. Whatever stands under another name is not looked at.
const EVENTS: [&str; 14] = [
    "SessionStart",
    "SessionEnd",
    "UserPromptSubmit",
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "PreCompact",
    "PostCompact",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "Interrupt",
    "PreModelRequest",
    "PostModelRequest",
];

const HANDLER_TYPES: [&str; 4] = ["command", "prompt", "agent", "mcp_tool"];

/// A key, what its value has to be, and how to tell.
type Rule = (&'static str, &'static str, fn(Value<'_>) -> bool);

/// The optional keys of a command handler. Others are ignored, as all are in other handlers.
const COMMAND_RULES: [Rule; 5] = [
    ("timeout", "a whole number of seconds", is_whole),
    ("statusMessage", "text", is_text),
    ("commandWindows", "text", is_text),
    ("additionalContextLimit", "a whole number", is_whole),
    ("async", "true or false", |value| matches!(value.text, "true" | "false")),
];

/// Requires that Codex would read the file.
pub(super) fn require_readable(document: &Document<'_>) -> Result<(), JsonError> {
    for member in &document.root.members {
        if !member.is_named("hooks") && !member.is_named("description") {
            return Err(JsonError::Unknown {
                key: member.key.string().unwrap_or_default().into_owned(),
                position: document.position(member.key),
            });
        }
    }
    require(document, &document.root, ("description", "text", is_text))?;
    let Some(hooks) = document.object(&document.root, "hooks")? else {
        return Ok(());
    };
    for event in EVENTS {
        if let Some(groups) = document.array(&hooks, event)? {
            groups.elements.iter().try_for_each(|group| require_group(document, *group))?;
        }
    }
    Ok(())
}

fn require_group(document: &Document<'_>, group: Value<'_>) -> Result<(), JsonError> {
    let group = document.require_object("a group of hooks", group)?;
    require(document, &group, ("matcher", "text", is_text))?;
    // A group may lack its handlers, and then runs nothing.
    if let Some(handlers) = document.array(&group, "hooks")? {
        handlers.elements.iter().try_for_each(|handler| require_handler(document, *handler))?;
    }
    Ok(())
}

fn require_handler(document: &Document<'_>, value: Value<'_>) -> Result<(), JsonError> {
    let handler = document.require_object("a hook", value)?;
    let missing =
        |key| JsonError::Missing { what: "a hook", key, position: document.position(value) };
    let kind = document.typed(&handler, "type", "a kind of hook that Codex knows", |kind| {
        kind.string().filter(|kind| HANDLER_TYPES.contains(&kind.as_ref()))
    })?;
    if kind.ok_or_else(|| missing("type"))? != "command" {
        return Ok(());
    }
    let command = document.typed(&handler, "command", "text", Value::string)?;
    command.ok_or_else(|| missing("command"))?;
    COMMAND_RULES.into_iter().try_for_each(|rule| require(document, &handler, rule))
}

fn require(
    document: &Document<'_>,
    parent: &Object<'_>,
    (key, expected, is_met): Rule,
) -> Result<(), JsonError> {
    document.typed(parent, key, expected, |value| is_met(value).then_some(()))?;
    Ok(())
}

fn is_text(value: Value<'_>) -> bool {
    value.text == "null" || value.string().is_some()
}

fn is_whole(value: Value<'_>) -> bool {
    value.text == "null" || value.text.parse::<u64>().is_ok()
}
