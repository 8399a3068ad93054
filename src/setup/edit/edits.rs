//! What is done to the groups of handlers in a file, put together piece by piece.

use std::collections::BTreeSet;

use crate::setup::edit::hooks::Tally;
use crate::setup::edit::json::{Document, JsonError};
use crate::setup::edit::layout::{Item, Layout};
use crate::setup::edit::literal::Literal;
use crate::setup::edit::ownership::{handlers, is_mark, runs_for_all};
use crate::setup::edit::splice::{Container, Splice};
use crate::setup::edit::trace::{Former, Trace};
use crate::setup::edit::value::{Array, Object, Value};

/// The entry of ours that stays in an event.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Keeper<'a> {
    /// A group of ours, at this place.
    Group(usize),
    /// A handler in a group that is shared with others.
    Handler { group: Value<'a>, index: usize, handler: Object<'a> },
}

impl<'a> Keeper<'a> {
    pub(super) fn among_others(group: Value<'a>, ours: &BTreeSet<usize>) -> Option<Self> {
        let index = *ours.first()?;
        let handlers = group.object().filter(runs_for_all).and_then(|group| handlers(&group))?;
        let handler = handlers.elements.get(index)?.object()?;
        Some(Self::Handler { group, index, handler })
    }
}

/// The splices of an edit, and what they do.
#[derive(Debug, Default)]
pub(super) struct Edits {
    pub(super) splices: Vec<Splice>,
    pub(super) tally: Tally,
    /// Whether something of others moves to another place in its list.
    pub(super) moves_others: bool,
    pub(super) trace: Trace,
}

impl Edits {
    pub(super) fn note(&mut self, path: &[&str], former: Option<Former>) {
        if let Some(former) = former {
            self.trace.note(path, former);
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

    /// Notes that the groups at `indices` go as a whole.
    pub(super) fn note_removed(
        &mut self,
        document: &Document<'_>,
        groups: &Array<'_>,
        indices: &BTreeSet<usize>,
    ) -> Result<(), JsonError> {
        for group in indices.iter().filter_map(|index| groups.elements.get(*index)?.object()) {
            document.require_unique(&group)?;
        }
        self.count_removed(&groups.container(), indices);
        Ok(())
    }

    /// Leaves a group to the others whose handlers it also holds: of ours, those that `removable`
    /// gives for the number of all go, and with them the `id`, which would claim it for us.
    pub(super) fn leave_to_others(
        &mut self,
        document: &Document<'_>,
        group: Value<'_>,
        removable: impl FnOnce(usize) -> BTreeSet<usize>,
    ) -> Result<(), JsonError> {
        let Some(group) = group.object() else {
            return Ok(());
        };
        document.require_unique(&group)?;
        if let Some(handlers) = handlers(&group) {
            let (container, ours) = (handlers.container(), removable(handlers.elements.len()));
            self.count_removed(&container, &ours);
            self.splices.extend(container.without(&ours));
        }
        let marks = group.members.iter().enumerate();
        let marks = marks.filter(|(_, member)| is_mark(member)).map(|(index, _)| index).collect();
        self.splices.extend(group.container().without(&marks));
        Ok(())
    }

    fn count_removed(&mut self, container: &Container, indices: &BTreeSet<usize>) {
        self.tally.removed += indices.len();
        let moved = indices.first().map_or(0, |first| container.items.len() - first);
        self.moves_others |= moved > indices.len();
    }
}
