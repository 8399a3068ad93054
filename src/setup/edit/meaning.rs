//! What a JSON file means to everybody but us, to prove that an edit left it alone.

use std::collections::BTreeSet;

use crate::setup::edit::hooks::HookEntries;
use crate::setup::edit::json::Document;
use crate::setup::edit::ownership::{Holding, handlers, is_mark};
use crate::setup::edit::trace::{Former, Trace};
use crate::setup::edit::value::{Member, Object, Value};

/// A value of others. What we are not in is compared as it is spelled.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Meaning<'t> {
    Whole(&'t str),
    List(Vec<Meaning<'t>>),
    Members(Vec<(&'t str, Meaning<'t>)>),
}

impl<'t> Meaning<'t> {
    /// What `object` means with its members read by `read`, which drops some.
    pub(super) fn of_members(
        object: &Object<'t>,
        read: impl Fn(&Member<'t>) -> Option<Meaning<'t>>,
    ) -> Self {
        let members = object.members.iter();
        Self::Members(members.filter_map(|member| Some((member.key.text, read(member)?))).collect())
    }

    /// `None` for what we emptied, if we had created it.
    pub(super) fn unless_ours(self, had_ours: bool, former: Option<&Former>) -> Option<Self> {
        let is_empty = match &self {
            Self::Whole(_) => false,
            Self::List(list) => list.is_empty(),
            Self::Members(members) => members.is_empty(),
        };
        (!(had_ours && is_empty && former == Some(&Former::Absent))).then_some(self)
    }
}

/// What `document` means without our entries, and without the containers that `trace` says to be
/// ours.
pub(super) fn foreign<'t>(
    document: &Document<'t>,
    entries: &HookEntries,
    trace: &Trace,
) -> Meaning<'t> {
    let reader = Reader { entries, trace };
    Meaning::of_members(&document.root, |member| match member.object_named("hooks") {
        Some(hooks) => reader.hooks(&hooks),
        None => Some(Meaning::Whole(member.value.text)),
    })
}

struct Reader<'e> {
    entries: &'e HookEntries,
    trace: &'e Trace,
}

impl Reader<'_> {
    fn hooks<'t>(&self, hooks: &Object<'t>) -> Option<Meaning<'t>> {
        let had_events = !hooks.members.is_empty();
        Meaning::of_members(hooks, |event| self.event(event))
            .unless_ours(had_events, self.trace.former(&["hooks"]))
    }

    fn event<'t>(&self, event: &Member<'t>) -> Option<Meaning<'t>> {
        let Some(groups) = event.value.array() else {
            return Some(Meaning::Whole(event.value.text));
        };
        let kept: Vec<_> = groups.elements.iter().filter_map(|group| self.group(*group)).collect();
        let had_ours = kept.len() < groups.elements.len();
        let name = event.key.string().unwrap_or_default();
        Meaning::List(kept).unless_ours(had_ours, self.trace.former(&["hooks", &name]))
    }

    fn group<'t>(&self, value: Value<'t>) -> Option<Meaning<'t>> {
        let ours = match self.entries.script.holding(value) {
            Holding::Foreign => BTreeSet::new(),
            Holding::Ours => return None,
            Holding::Mixed(ours) => ours,
        };
        let Some(group) = value.object() else {
            return Some(Meaning::Whole(value.text));
        };
        let all = handlers(&group);
        Some(Meaning::of_members(&group, |member| match &all {
            _ if is_mark(member) => None,
            Some(all) if all.range == member.value.range() => {
                let theirs = all.elements.iter().enumerate();
                let theirs = theirs.filter(|(index, _)| !ours.contains(index));
                Some(Meaning::List(theirs.map(|(_, one)| Meaning::Whole(one.text)).collect()))
            }
            _ => Some(Meaning::Whole(member.value.text)),
        }))
    }
}
