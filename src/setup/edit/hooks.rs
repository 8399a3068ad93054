//! Our entries in the `hooks` of a settings file.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use crate::setup::edit::command::Use;
use crate::setup::edit::edits::{Edits, Keeper};
use crate::setup::edit::json::{Document, JsonError, MAX_BYTES, Source};
use crate::setup::edit::layout::{Item, Layout};
use crate::setup::edit::literal::Literal;
use crate::setup::edit::meaning::foreign;
use crate::setup::edit::ownership::{Holding, handlers};
use crate::setup::edit::text::Position;
use crate::setup::edit::trace::{Former, Trace};
use crate::setup::edit::value::{Array, Value};

pub use crate::setup::edit::dialect::Dialect;
pub use crate::setup::edit::ownership::OwnScript;

/// One handler for each of a list of events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookEntries {
    /// How the agent wants them.
    pub dialect: Dialect,
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
    pub(super) added: usize,
    pub(super) updated: usize,
    pub(super) removed: usize,
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

/// What the user should know of an edit beyond what it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remark {
    /// The file turns all hooks off.
    HooksOff,
    /// Hooks of others move to other places, by which the user has trusted them.
    TrustLost,
    /// Hooks of the user run our script among other things, so none of ours is beside them.
    RunByUser(Users),
    /// The same, where ours are removed.
    LeftRunning(Users),
}

/// Hooks that are the user's although our script is in their commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Users {
    first: Position,
    count: usize,
}

impl fmt::Display for Users {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the hook in {} is yours and runs our script", self.first)?;
        match self.count {
            0 | 1 => Ok(()),
            count => write!(f, " (as do {} more)", count - 1),
        }
    }
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HooksOff => f.write_str("Claude Code runs no hooks: disableAllHooks is on"),
            Self::TrustLost => f.write_str("Codex will ask again to trust the hooks after ours"),
            Self::RunByUser(users) => write!(f, "{users}, so no second one is added"),
            Self::LeftRunning(users) => write!(f, "{users}; it stays, so change or remove it"),
        }
    }
}

/// A text with our entries in it, or with them taken out.
#[derive(Debug, PartialEq, Eq)]
pub struct Edited {
    /// The whole text.
    pub bytes: Vec<u8>,
    /// What was done to it.
    pub tally: Tally,
    /// What the user should know of it.
    pub remarks: Vec<Remark>,
    /// What an install has to remember for the removal. Empty after that.
    pub trace: Trace,
}

impl HookEntries {
    /// `before` with exactly one entry of ours for each event; the same bytes if that is so already.
    pub fn install_into(&self, before: &[u8]) -> Result<Edited, JsonError> {
        let source = Source::read(before, MAX_BYTES)?;
        let document = Document::parse(source.text)?;
        self.dialect.require_readable(source.mark, &document, &self.script)?;
        let is_off = self.dialect.turns_hooks_off(&document.root);
        let mut remarks: Vec<_> = is_off.then_some(Remark::HooksOff).into_iter().collect();
        let Edits { splices, tally, mut trace, .. } = self.converge(&document)?;
        if splices.is_empty() {
            remarks.extend(self.users(&document).map(Remark::RunByUser));
            return Ok(Edited { bytes: before.to_vec(), tally, remarks, trace });
        }
        let after = source.installed(splices, &mut trace)?;
        let edited = source.parse_edited(&after)?;
        self.guard_install(&document, &edited, &trace)?;
        remarks.extend(self.users(&edited).map(Remark::RunByUser));
        Ok(Edited { bytes: after.into_bytes(), tally, remarks, trace })
    }

    /// `before` without any entry of ours, in whatever event; the same bytes if there is none.
    ///
    /// With the `trace` of the install, containers that it created or filled are as they were
    /// before. Without it they stay, empty.
    pub fn remove_from(&self, before: &[u8], trace: Option<&Trace>) -> Result<Edited, JsonError> {
        let source = Source::read(before, MAX_BYTES)?;
        let document = Document::parse(source.text)?;
        let nothing_known = Trace::default();
        let trace = trace.unwrap_or(&nothing_known);
        let Edits { splices, tally, moves_others, .. } = self.withdraw(&document, trace)?;
        let loses_trust = moves_others && self.dialect.keeps_places();
        let mut remarks: Vec<_> = loses_trust.then_some(Remark::TrustLost).into_iter().collect();
        if splices.is_empty() {
            remarks.extend(self.users(&document).map(Remark::LeftRunning));
            return Ok(Edited { bytes: before.to_vec(), tally, remarks, trace: Trace::default() });
        }
        let after = source.removed(splices, trace);
        let edited = source.parse_edited(&after)?;
        self.guard_removal(&document, &edited, trace)?;
        remarks.extend(self.users(&edited).map(Remark::LeftRunning));
        Ok(Edited { bytes: after.into_bytes(), tally, remarks, trace: Trace::default() })
    }

    /// The hooks of the user that run our script, in whatever event.
    fn users(&self, document: &Document<'_>) -> Option<Users> {
        let hooks = document.root.member("hooks")?.object()?;
        let groups = hooks.members.iter().filter_map(|event| event.value.array());
        let mut users = groups.flat_map(|groups| self.users_among(&groups));
        let first = document.position(users.next()?);
        Some(Users { first, count: users.count() + 1 })
    }

    fn users_among<'a>(&self, groups: &Array<'a>) -> Vec<Value<'a>> {
        let groups = groups.elements.iter().filter_map(|group| group.object());
        let handlers = groups.filter_map(|group| handlers(&group)).flat_map(|all| all.elements);
        let is_user = |handler: &Value<'_>| {
            let used = self.script.use_by(*handler);
            matches!(used, Some(Use::Among(path)) if self.may_run(&path))
        };
        handlers.filter(is_user).collect()
    }

    /// Requires that `after` means what `before` did but for our entries, and needs no further edit.
    fn guard_install(
        &self,
        before: &Document<'_>,
        after: &Document<'_>,
        trace: &Trace,
    ) -> Result<(), JsonError> {
        let is_readable = self.dialect.require_readable("", after, &self.script);
        is_readable.map_err(|_| JsonError::Guard)?;
        let is_settled = self.converge(after)?.splices.is_empty();
        let is_kept = foreign(before, self, &Trace::default()) == foreign(after, self, trace);
        if is_settled && is_kept { Ok(()) } else { Err(JsonError::Guard) }
    }

    /// Requires that `after` means what `before` did but for our entries, of which it has none.
    fn guard_removal(
        &self,
        before: &Document<'_>,
        after: &Document<'_>,
        trace: &Trace,
    ) -> Result<(), JsonError> {
        let is_settled = self.withdraw(after, trace)?.splices.is_empty();
        let is_kept = foreign(before, self, trace) == foreign(after, self, &Trace::default());
        if is_settled && is_kept { Ok(()) } else { Err(JsonError::Guard) }
    }

    fn converge(&self, document: &Document<'_>) -> Result<Edits, JsonError> {
        let mut edits = Edits::default();
        let layout = Layout::of(document);
        let hooks = document.object(&document.root, "hooks")?;
        let mut missing = Vec::new();
        for event in self.events {
            let groups = match &hooks {
                Some(hooks) => document.array(hooks, event)?,
                None => None,
            };
            if let Some(groups) = groups {
                edits.note(&["hooks", event], groups.container().former(document.text));
                self.converge_event(document, &groups, &layout, &mut edits)?;
            } else {
                edits.note(&["hooks", event], Some(Former::Absent));
                missing.push((*event, Literal::List(vec![self.group()])));
            }
        }
        for event in hooks.iter().flat_map(|hooks| &hooks.members) {
            let name = event.key.string();
            let is_registered = name.is_some_and(|name| self.events.contains(&name.as_ref()));
            if let (false, Some(groups)) = (is_registered, event.value.array()) {
                self.leave_event(document, &groups, None, &mut edits)?;
            }
        }
        if !missing.is_empty() {
            edits.tally.added += missing.len();
            edits.add_events(document, &layout, hooks.as_ref(), missing);
        }
        Ok(edits)
    }

    /// Leaves one entry of ours among `groups`: a correct one as it is, else an outdated one
    /// updated, else a new one at the end unless one of the user's runs our script.
    fn converge_event(
        &self,
        document: &Document<'_>,
        groups: &Array<'_>,
        layout: &Layout<'_>,
        edits: &mut Edits,
    ) -> Result<(), JsonError> {
        let held: Vec<_> =
            groups.elements.iter().map(|group| (*group, self.script.holding(*group))).collect();
        let keeper = self.keeper(&held);
        match &keeper {
            Some(Keeper::Group(index)) => {
                let outdated =
                    groups.elements.get(*index).filter(|group| !self.is_current(**group));
                if let Some(group) = outdated.and_then(|group| group.object()) {
                    self.update_group(document, layout, &group, edits)?;
                }
            }
            Some(Keeper::Handler { handler, .. }) => {
                let is_updated = self.update_handler(document, layout, handler, edits)?;
                edits.tally.updated += usize::from(is_updated);
            }
            // To run the script twice would send each event twice.
            None if !self.users_among(groups).is_empty() => {}
            None => {
                let item = Item { name: None, value: self.group() };
                edits.splices.push(layout.append(&groups.container(), &[item]));
                edits.tally.added += 1;
            }
        }
        self.leave_event(document, groups, keeper.as_ref(), edits)
    }

    /// Takes ours out of `groups`, but for what is to stay and what can't go.
    fn leave_event(
        &self,
        document: &Document<'_>,
        groups: &Array<'_>,
        keeper: Option<&Keeper<'_>>,
        edits: &mut Edits,
    ) -> Result<(), JsonError> {
        let mut surplus = BTreeSet::new();
        for (index, group) in groups.elements.iter().enumerate() {
            match self.script.holding(*group) {
                Holding::Foreign => {}
                Holding::Ours if keeper == Some(&Keeper::Group(index)) => {}
                Holding::Ours => {
                    surplus.insert(index);
                }
                Holding::Mixed(mut ours) => {
                    if let Some(Keeper::Handler { group: kept_in, index, .. }) = keeper
                        && kept_in == group
                    {
                        ours.remove(index);
                        if ours.is_empty() {
                            continue;
                        }
                    }
                    let ours = |count| self.dialect.removable(ours, count);
                    edits.leave_to_others(document, *group, ours)?;
                }
            }
        }
        let surplus = self.dialect.removable(surplus, groups.elements.len());
        edits.note_removed(document, groups, &surplus)?;
        edits.splices.extend(groups.container().without(&surplus));
        Ok(())
    }

    /// What stays of ours: where places count the first of it that runs for everything, else a
    /// correct group, or the first one.
    fn keeper<'a>(&self, held: &[(Value<'a>, Holding)]) -> Option<Keeper<'a>> {
        let own = || {
            let own = held.iter().enumerate();
            own.filter(|(_, (_, holding))| *holding == Holding::Ours)
                .map(|(index, (group, _))| (index, *group))
        };
        if self.dialect.keeps_places() {
            return held.iter().enumerate().find_map(|(index, (group, holding))| match holding {
                Holding::Foreign => None,
                Holding::Ours => Some(Keeper::Group(index)),
                Holding::Mixed(ours) => Keeper::among_others(*group, ours),
            });
        }
        let correct = own().find(|(_, group)| self.is_current(*group));
        correct.or_else(|| own().next()).map(|(index, _)| Keeper::Group(index))
    }

    fn withdraw(&self, document: &Document<'_>, trace: &Trace) -> Result<Edits, JsonError> {
        let mut edits = Edits::default();
        // A value of another type holds nothing of ours.
        let Some((place, hooks)) = document.only(&document.root, "hooks")? else {
            return Ok(edits);
        };
        let Some(hooks) = hooks.object() else {
            return Ok(edits);
        };
        let mut emptied = BTreeSet::new();
        for (index, event) in hooks.members.iter().enumerate() {
            let name = event.key.string().unwrap_or_default();
            let former = trace.former(&["hooks", &name]);
            if let Some(groups) = event.value.array()
                && self.withdraw_event(document, &groups, former, &mut edits)?
            {
                emptied.insert(index);
            }
        }
        let Some(splices) = hooks.container().give_back(&emptied, trace.former(&["hooks"])) else {
            let root = document.root.container();
            let splices = root.give_back(&BTreeSet::from([place]), trace.former(&[]));
            edits.splices.extend(splices.unwrap_or_default());
            return Ok(edits);
        };
        edits.splices.extend(splices);
        Ok(edits)
    }

    /// Takes ours out of one event; whether the event goes with it.
    fn withdraw_event(
        &self,
        document: &Document<'_>,
        groups: &Array<'_>,
        former: Option<&Former>,
        edits: &mut Edits,
    ) -> Result<bool, JsonError> {
        let mut own = BTreeSet::new();
        for (index, group) in groups.elements.iter().enumerate() {
            match self.script.holding(*group) {
                Holding::Foreign => {}
                Holding::Ours => {
                    own.insert(index);
                }
                Holding::Mixed(ours) => edits.leave_to_others(document, *group, |_| ours)?,
            }
        }
        edits.note_removed(document, groups, &own)?;
        let splices = groups.container().give_back(&own, former);
        let is_emptied = splices.is_none();
        edits.splices.extend(splices.unwrap_or_default());
        Ok(is_emptied)
    }
}
