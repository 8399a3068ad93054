//! The settings of the agents, as far as checks read them: every file as the value that it holds.

use std::path::Path;

use serde_json::{Map, Value, json};
use toml_edit::{Item, TableLike};

use crate::setup::edit::hooks::OwnScript;

/// The JSON file at `path`; none if it is not there or is not JSON, which other checks tell.
pub(super) fn json(path: &Path) -> Option<Value> {
    let bytes = fs_err::read(path).ok()?;
    serde_json::from_slice(bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&bytes)).ok()
}

/// The same for a TOML file.
pub(super) fn toml(path: &Path) -> Option<Value> {
    let text = fs_err::read_to_string(path).ok()?;
    let document =
        toml_edit::Document::parse(text.strip_prefix('\u{feff}').unwrap_or(&text)).ok()?;
    Some(table(document.as_table()))
}

fn table(table: &dyn TableLike) -> Value {
    Value::Object(table.iter().map(|(key, item)| (key.to_owned(), of_item(item))).collect())
}

fn of_item(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(value) => of_value(value),
        Item::Table(own) => table(own),
        Item::ArrayOfTables(tables) => tables.iter().map(|own| table(own)).collect(),
    }
}

fn of_value(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => json!(text.value()),
        toml_edit::Value::Integer(number) => json!(number.value()),
        toml_edit::Value::Float(number) => json!(number.value()),
        toml_edit::Value::Boolean(flag) => json!(flag.value()),
        toml_edit::Value::Datetime(time) => json!(time.value().to_string()),
        toml_edit::Value::Array(items) => items.iter().map(of_value).collect(),
        toml_edit::Value::InlineTable(own) => table(own),
    }
}

/// One hook of a settings file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Handler {
    /// Its event, as the file names it.
    pub event: String,
    /// Which group of the event it is in.
    pub group: usize,
    /// Which one of that group it is.
    pub index: usize,
    /// To what its group is limited.
    pub matcher: Option<String>,
    /// What is said of it.
    pub members: Map<String, Value>,
}

impl Handler {
    /// What it runs.
    pub(super) fn command(&self) -> &str {
        self.members.get("command").and_then(Value::as_str).unwrap_or_default()
    }
}

/// The hooks in `settings` that run `script`, in the order of the file.
pub(super) fn own_handlers(settings: &Value, script: &OwnScript) -> Vec<Handler> {
    let events = settings.get("hooks").and_then(Value::as_object).into_iter().flatten();
    let groups = events
        .flat_map(|(event, groups)| items(groups).map(move |(index, group)| (event, index, group)));
    let handlers = groups.flat_map(|(event, group, value)| {
        let matcher = value.get("matcher").and_then(Value::as_str);
        let handlers = value.get("hooks").map(items).into_iter().flatten();
        handlers.filter_map(move |(index, handler)| {
            Some(Handler {
                event: event.clone(),
                group,
                index,
                matcher: matcher.map(str::to_owned),
                members: handler.as_object()?.clone(),
            })
        })
    });
    handlers.filter(|handler| script.is_used_by(handler.command())).collect()
}

fn items(value: &Value) -> impl Iterator<Item = (usize, &Value)> {
    value.as_array().into_iter().flatten().enumerate()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCRIPT: OwnScript = OwnScript { names: ["ours.sh", "ours.ps1"] };

    #[test]
    fn toml_and_json_say_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        let text = "[features]\nhooks = false\n[[hooks.Stop]]\nhooks = \
                    [{ type = \"command\", command = \"/x/hooks/ours.sh\", timeout = 5 }]\n";
        fs_err::write(&path, text).unwrap();
        let value = toml(&path).unwrap();
        assert_eq!(value["features"]["hooks"], false);
        let [handler] = own_handlers(&value, &SCRIPT).try_into().unwrap();
        assert_eq!((handler.event.as_str(), handler.group, handler.index), ("Stop", 0, 0));
        assert_eq!(handler.members["timeout"], 5);
        fs_err::write(&path, "a = = 1").unwrap();
        assert_eq!(toml(&path), None);
        assert_eq!(json(&path), None);
    }

    #[test]
    fn our_hooks_are_found_by_their_command_with_their_places() {
        let theirs = json!({"type": "command", "command": "echo x"});
        let ours = json!({"type": "command", "command": "'/a b/hooks/ours.sh'"});
        let settings = json!({"hooks": {
            "Stop": [{"hooks": [theirs]}, {"matcher": "", "hooks": [theirs, ours]}, 1],
            "Broken": 1,
        }});
        let [handler] = own_handlers(&settings, &SCRIPT).try_into().unwrap();
        assert_eq!((handler.event.as_str(), handler.group, handler.index), ("Stop", 1, 1));
        assert_eq!(handler.matcher.as_deref(), Some(""));
        for nothing in [json!(null), json!({"hooks": []}), json!([])] {
            assert_eq!(own_handlers(&nothing, &SCRIPT), []);
        }
    }
}
