//! What is done to the groups of handlers in a file, put together piece by piece.

use std::collections::BTreeSet;

use crate::setup::edit::hooks::Tally;
use crate::setup::edit::json::Document;
use crate::setup::edit::layout::{Item, Layout};
use crate::setup::edit::literal::Literal;
use crate::setup::edit::ownership::{handlers, is_mark, runs_for_all};
use crate::setup::edit::splice::{Container, Splice};
use crate::setup::edit::trace::{Former, Trace};
use crate::setup::edit::value::{Object, Value};

/// The entry of ours that stays in an event.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Keeper<'a> {
    /// A group of ours, at this place.
    Group(usize),
    /// A handler in a group that is shared with others.
    Handler { group: Value<'a>, index: usize, handler: Value<'a> },
}

impl<'a> Keeper<'a> {
    pub(super) fn among_others(group: Value<'a>, ours: &BTreeSet<usize>) -> Option<Self> {
        let index = *ours.first()?;
        let handlers = group.object().filter(runs_for_all).and_then(|group| handlers(&group))?;
        let handler = *handlers.elements.get(index)?;
        Some(Self::Handler { group, index, handler })
    }
}

/// The splices of an edit, and what they do.
#[derive(Debug, Default)]
pub(super) struct Edits {
    pub(super) splices: Vec<Splice>,
    pub(super) tally: Tally,
    pub(super) trace: Trace,
}

impl Edits {
    pub(super) fn note(&mut self, path: &[&str], former: Option<Former>) {
        if let Some(former) = former {
            self.trace.note(path, former);
        }
    }

    pub(super) fn update(
        &mut self,
        layout: &Layout<'_>,
        outdated: Option<&Value<'_>>,
        value: &Literal,
    ) {
        if let Some(outdated) = outdated {
            self.splices.push(layout.replace(outdated.range(), value));
            self.tally.updated += 1;
        }
    }

    /// Adds `events` to the `hooks`, or the `hooks` to the document.
    pub(super) fn add_events(
        &mut self,
        document: &Document<'_>,
        layout: &Layout<'_>,
        hooks: Option<&Object<'_>>,
        events: Vec<(&'static str, Literal)>,
    ) {
        let member = |(name, value)| Item { name: Some(name), value };
        let (path, container, items) = if let Some(hooks) = hooks {
            (&["hooks"][..], hooks.container(), events.into_iter().map(member).collect())
        } else {
            self.note(&["hooks"], Some(Former::Absent));
            let hooks = member(("hooks", Literal::Table(events)));
            (&[][..], document.root.container(), vec![hooks])
        };
        self.note(path, container.former(document.text));
        self.splices.push(layout.append(&container, &items));
    }

    pub(super) fn remove(&mut self, container: &Container, surplus: &BTreeSet<usize>) {
        self.tally.removed += surplus.len();
        self.splices.extend(container.without(surplus));
    }

    /// Leaves a group to the others whose handlers it also holds: `ours` go, and with them the
    /// `id`, which would claim it for us.
    pub(super) fn leave_to_others(&mut self, group: Value<'_>, ours: &BTreeSet<usize>) {
        let Some(group) = group.object().filter(|_| !ours.is_empty()) else {
            return;
        };
        if let Some(handlers) = handlers(&group) {
            self.remove(&handlers.container(), ours);
        }
        let marks = group.members.iter().enumerate();
        let marks = marks.filter(|(_, member)| is_mark(member)).map(|(index, _)| index).collect();
        self.splices.extend(group.container().without(&marks));
    }
}
