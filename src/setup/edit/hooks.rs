//! Our entries in the `hooks` of a settings file.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use jsonc_parser::ast::{Array, Object, Value};
use jsonc_parser::common::Ranged;

use crate::setup::edit::json::{Document, JsonError, decode, member, string};
use crate::setup::edit::layout::{Item, Json, Layout};
use crate::setup::edit::meaning::foreign;
use crate::setup::edit::ownership::{Holding, ID, handlers, is_mark};
use crate::setup::edit::splice::{Container, Splice};

pub use crate::setup::edit::ownership::OwnScript;

/// One handler for each of a list of events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookEntries {
    /// The events, in the order in which missing ones are added.
    pub events: &'static [&'static str],
    /// What the agent runs, quoted for its shell.
    pub command: String,
    /// How long the agent waits for it.
    pub timeout: Duration,
    /// The script that the command runs, by which existing entries are known.
    pub script: OwnScript,
}

/// What an edit does, in hooks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    added: usize,
    updated: usize,
    removed: usize,
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = [(self.added, "added"), (self.updated, "updated"), (self.removed, "removed")];
        let mut done = counts.iter().filter(|(count, _)| *count > 0);
        if let Some((count, what)) = done.next() {
            let noun = if *count == 1 { "hook" } else { "hooks" };
            write!(f, "{count} {noun} {what}")?;
        }
        done.try_for_each(|(count, what)| write!(f, ", {count} {what}"))
    }
}

/// A text with our entries in it.
#[derive(Debug, PartialEq, Eq)]
pub struct Edited {
    /// The whole text.
    pub bytes: Vec<u8>,
    /// What was done to it.
    pub tally: Tally,
}

impl HookEntries {
    /// `before` with exactly one entry of ours for each event; the same bytes if that is so already.
    pub fn install_into(&self, before: &[u8]) -> Result<Edited, JsonError> {
        let (mark, text) = decode(before)?;
        let is_blank = text.trim_matches([' ', '\t', '\r', '\n']).is_empty();
        let document = Document::parse(if is_blank { "{}" } else { text })?;
        let edits = self.converge(&document)?;
        let after = document.spliced(edits.splices);
        self.guard(&document, &after)?;
        let rest = match text {
            _ if !is_blank => "",
            blank if blank.contains('\n') => blank,
            _ => "\n",
        };
        Ok(Edited { bytes: format!("{mark}{after}{rest}").into_bytes(), tally: edits.tally })
    }

    /// Requires that `after` means what `before` did but for our entries, and needs no further edit.
    fn guard(&self, before: &Document<'_>, after: &str) -> Result<(), JsonError> {
        let after = Document::parse(after).map_err(|_| JsonError::Guard)?;
        let settled = self.converge(&after)?.splices.is_empty();
        if settled && foreign(before, self) == foreign(&after, self) {
            Ok(())
        } else {
            Err(JsonError::Guard)
        }
    }

    fn converge(&self, document: &Document<'_>) -> Result<Edits, JsonError> {
        let mut edits = Edits::default();
        let layout = Layout::of(document);
        let hooks = document.object(&document.root, "hooks")?;
        let mut missing = Vec::new();
        for event in self.events {
            let groups = match hooks {
                Some(hooks) => document.array(hooks, event)?,
                None => None,
            };
            match groups {
                Some(groups) => self.converge_event(groups, &layout, &mut edits),
                None => missing.push((*event, Json::Array(vec![self.entry()]))),
            }
        }
        if !missing.is_empty() {
            edits.tally.added += missing.len();
            let splice = add_events(document, &layout, hooks, missing);
            edits.splices.push(splice);
        }
        Ok(edits)
    }

    /// Leaves one entry of ours among `groups`: a correct one as it is, else an outdated one
    /// updated, else a new one at the end.
    fn converge_event(&self, groups: &Array<'_>, layout: &Layout<'_>, edits: &mut Edits) {
        let held: Vec<_> = groups.elements.iter().map(|group| self.script.holding(group)).collect();
        let own = || {
            let own = groups.elements.iter().zip(&held).enumerate();
            own.filter(|(_, (_, holding))| **holding == Holding::Ours)
                .map(|(index, (group, _))| (index, group))
        };
        let correct = own().find(|(_, group)| self.is_current(group));
        let keeper = correct.or_else(|| own().next());
        if let Some((_, group)) = keeper {
            if correct.is_none() {
                let range = group.start()..group.end();
                edits.splices.push(layout.replace(range, &self.entry()));
                edits.tally.updated += 1;
            }
        } else {
            let item = Item { name: None, value: self.entry() };
            let splice = layout.append(&Container::of_array(groups), &[item]);
            edits.splices.push(splice);
            edits.tally.added += 1;
        }
        let surplus = own().map(|(index, _)| index);
        let surplus = surplus.filter(|index| keeper.is_none_or(|(kept, _)| kept != *index));
        edits.remove(&Container::of_array(groups), &surplus.collect());
        for (group, holding) in groups.elements.iter().zip(held) {
            if let (Value::Object(group), Holding::Mixed(ours)) = (group, holding) {
                edits.withdraw(group, &ours);
            }
        }
    }

    fn entry(&self) -> Json {
        let text = |text: &str| Json::Text(text.to_owned());
        Json::Object(vec![
            ("id", text(ID)),
            ("matcher", text("")),
            (
                "hooks",
                Json::Array(vec![Json::Object(vec![
                    ("type", text("command")),
                    ("command", text(&self.command)),
                    ("timeout", Json::Number(self.timeout.as_secs())),
                ])]),
            ),
        ])
    }

    /// Whether a group of ours does what our entry does. It may lack the `id`, which Claude Code
    /// drops when it rewrites the file.
    fn is_current(&self, group: &Value<'_>) -> bool {
        let Value::Object(group) = group else {
            return false;
        };
        let matches_all = match member(group, "matcher") {
            None => true,
            Some(Value::StringLit(matcher)) => matches!(&*matcher.value, "" | "*"),
            Some(_) => false,
        };
        matches_all
            && match handlers(group) {
                [Value::Object(handler)] => self.is_current_handler(handler),
                _ => false,
            }
    }

    fn is_current_handler(&self, handler: &Object<'_>) -> bool {
        let timeout = match member(handler, "timeout") {
            Some(Value::NumberLit(number)) => number.value.parse::<f64>().ok(),
            _ => None,
        };
        // Any other key changes when or how the command runs.
        handler.properties.len() == 3
            && string(handler, "type") == Some("command")
            && string(handler, "command") == Some(&self.command)
            && timeout == Some(self.timeout.as_secs_f64())
    }
}

/// Adds `events` to the `hooks`, or the `hooks` to the document.
fn add_events(
    document: &Document<'_>,
    layout: &Layout<'_>,
    hooks: Option<&Object<'_>>,
    events: Vec<(&'static str, Json)>,
) -> Splice {
    let member = |(name, value)| Item { name: Some(name), value };
    if let Some(hooks) = hooks {
        let items: Vec<_> = events.into_iter().map(member).collect();
        layout.append(&Container::of_object(hooks), &items)
    } else {
        let hooks = member(("hooks", Json::Object(events)));
        layout.append(&Container::of_object(&document.root), &[hooks])
    }
}

/// The splices of an edit, and what they do.
#[derive(Debug, Default)]
struct Edits {
    splices: Vec<Splice>,
    tally: Tally,
}

impl Edits {
    fn remove(&mut self, container: &Container, surplus: &BTreeSet<usize>) {
        self.tally.removed += surplus.len();
        self.splices.extend(container.without(surplus));
    }

    /// Leaves a group to the others whose handlers it also holds: `ours` go, and with them the
    /// `id`, which would claim it for us.
    fn withdraw(&mut self, group: &Object<'_>, ours: &BTreeSet<usize>) {
        if let Some(Value::Array(handlers)) = member(group, "hooks") {
            self.remove(&Container::of_array(handlers), ours);
        }
        let marks = group.properties.iter().enumerate();
        let marks =
            marks.filter(|(_, property)| is_mark(property)).map(|(index, _)| index).collect();
        self.splices.extend(Container::of_object(group).without(&marks));
    }
}
