//! What a settings file means to everybody but us, to prove that an edit left it alone.

use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::Ranged;

use crate::setup::edit::hooks::HookEntries;
use crate::setup::edit::json::Document;
use crate::setup::edit::ownership::{Holding, handlers, is_mark};

/// A JSON value without its white space. Keys and scalars are compared as they are spelled.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Meaning<'t> {
    Scalar(&'t str),
    Array(Vec<Meaning<'t>>),
    Object(Vec<(&'t str, Meaning<'t>)>),
}

/// What `document` means without our entries, and without the lists that they leave empty.
pub(super) fn foreign<'t>(document: &Document<'t>, entries: &HookEntries) -> Meaning<'t> {
    let reader = Reader { text: document.text, entries };
    reader.members(&document.root, |property| match &property.value {
        Value::Object(hooks) if property.name.as_str() == "hooks" => {
            let events = reader.members(hooks, |event| reader.event(event));
            (events != Meaning::Object(Vec::new())).then_some(events)
        }
        value => Some(reader.whole(value)),
    })
}

struct Reader<'t, 'e> {
    text: &'t str,
    entries: &'e HookEntries,
}

impl<'t> Reader<'t, '_> {
    fn spelled(&self, value: &impl Ranged) -> &'t str {
        self.text.get(value.start()..value.end()).unwrap_or("")
    }

    fn whole(&self, value: &Value<'_>) -> Meaning<'t> {
        match value {
            Value::Object(object) => {
                self.members(object, |property| Some(self.whole(&property.value)))
            }
            Value::Array(array) => {
                Meaning::Array(array.elements.iter().map(|e| self.whole(e)).collect())
            }
            scalar => Meaning::Scalar(self.spelled(scalar)),
        }
    }

    fn members(
        &self,
        object: &Object<'_>,
        meaning: impl Fn(&ObjectProp<'_>) -> Option<Meaning<'t>>,
    ) -> Meaning<'t> {
        let members = object
            .properties
            .iter()
            .filter_map(|property| Some((self.spelled(&property.name), meaning(property)?)));
        Meaning::Object(members.collect())
    }

    fn event(&self, event: &ObjectProp<'_>) -> Option<Meaning<'t>> {
        match &event.value {
            Value::Array(groups) if self.entries.events.contains(&event.name.as_str()) => {
                let groups = groups.elements.iter().filter_map(|group| self.group(group));
                let groups: Vec<_> = groups.collect();
                (!groups.is_empty()).then_some(Meaning::Array(groups))
            }
            value => Some(self.whole(value)),
        }
    }

    fn group(&self, group: &Value<'_>) -> Option<Meaning<'t>> {
        match (self.entries.script.holding(group), group) {
            (Holding::Ours, _) => None,
            (Holding::Mixed(ours), Value::Object(group)) => {
                let all = handlers(group);
                let kept = || {
                    let theirs = all.iter().enumerate();
                    let theirs = theirs.filter(|(index, _)| !ours.contains(index));
                    Meaning::Array(theirs.map(|(_, handler)| self.whole(handler)).collect())
                };
                Some(self.members(group, |property| match &property.value {
                    _ if is_mark(property) => None,
                    Value::Array(array) if std::ptr::eq(array.elements.as_slice(), all) => {
                        Some(kept())
                    }
                    value => Some(self.whole(value)),
                }))
            }
            _ => Some(self.whole(group)),
        }
    }
}
