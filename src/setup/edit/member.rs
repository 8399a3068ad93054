//! One named entry of ours in an object of a JSON file, such as `mcpServers.tma1`.

use std::collections::BTreeSet;

use crate::setup::edit::json::{Document, JsonError, Source};
use crate::setup::edit::layout::{Item, Layout};
use crate::setup::edit::literal::Literal;
use crate::setup::edit::meaning::Meaning;
use crate::setup::edit::splice::Splice;
use crate::setup::edit::trace::{Former, Trace};
use crate::setup::edit::value::{Member, Object};

/// The largest file that is edited, in bytes. Claude Code keeps the prompts of all projects in the
/// one that names its servers.
pub const MAX_BYTES: usize = 64 * 1024 * 1024;

/// An object that is ours by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberEntry {
    /// The object of the root that holds it.
    pub parent: &'static str,
    /// Its name there.
    pub name: &'static str,
    /// Its members. An entry that has these is left as it is, with whatever else it has.
    pub members: Vec<(&'static str, Literal)>,
}

/// A text with our entry in it, or with it taken out.
#[derive(Debug, PartialEq, Eq)]
pub struct Edited {
    /// The whole text.
    pub bytes: Vec<u8>,
    /// What an install has to remember for the removal. Empty after that.
    pub trace: Trace,
}

impl MemberEntry {
    /// `before` with our entry in it; the same bytes if it is right already.
    pub fn install_into(&self, before: &[u8]) -> Result<Edited, JsonError> {
        let source = Source::read(before, MAX_BYTES)?;
        let document = Document::parse(source.text)?;
        let mut trace = Trace::default();
        let splices = self.converge(&document, &mut trace)?;
        if splices.is_empty() {
            return Ok(Edited { bytes: before.to_vec(), trace });
        }
        let after = source.installed(splices, &mut trace)?;
        let edited = source.parse_edited(&after)?;
        let is_settled = self.converge(&edited, &mut Trace::default())?.is_empty();
        let is_kept = self.foreign(&document, &Trace::default()) == self.foreign(&edited, &trace)
            && self.added(&document) == self.added(&edited);
        if is_settled && is_kept {
            Ok(Edited { bytes: after.into_bytes(), trace })
        } else {
            Err(JsonError::Guard)
        }
    }

    /// `before` without our entry; the same bytes if it has none.
    ///
    /// With the `trace` of the install, containers that it created or filled are as they were
    /// before. Without it they stay, empty.
    pub fn remove_from(&self, before: &[u8], trace: Option<&Trace>) -> Result<Edited, JsonError> {
        let source = Source::read(before, MAX_BYTES)?;
        let document = Document::parse(source.text)?;
        let nothing_known = Trace::default();
        let trace = trace.unwrap_or(&nothing_known);
        let splices = self.withdraw(&document, trace)?;
        if splices.is_empty() {
            return Ok(Edited { bytes: before.to_vec(), trace: Trace::default() });
        }
        let after = source.removed(splices, trace);
        let edited = source.parse_edited(&after)?;
        let is_settled = self.withdraw(&edited, trace)?.is_empty();
        let is_kept = self.foreign(&document, trace) == self.foreign(&edited, &Trace::default());
        if is_settled && is_kept {
            Ok(Edited { bytes: after.into_bytes(), trace: Trace::default() })
        } else {
            Err(JsonError::Guard)
        }
    }

    fn converge(
        &self,
        document: &Document<'_>,
        trace: &mut Trace,
    ) -> Result<Vec<Splice>, JsonError> {
        let layout = Layout::of(document);
        let value = Literal::Table(self.members.clone());
        let Some(parent) = document.object(&document.root, self.parent)? else {
            let item =
                Item { name: Some(self.parent), value: Literal::Table(vec![(self.name, value)]) };
            trace.note(&[self.parent], Former::Absent);
            return Ok(vec![add(&document.root, &[], item, &layout, trace)]);
        };
        let Some((_, own)) = document.only(&parent, self.name)? else {
            let item = Item { name: Some(self.name), value };
            return Ok(vec![add(&parent, &[self.parent], item, &layout, trace)]);
        };
        match own.object() {
            Some(own) => self.update(document, &layout, &own),
            None => Ok(vec![layout.replace(own.range(), &value)]),
        }
    }

    /// Makes the members of our entry what they should be, each in its place. What the user has
    /// added to it stays.
    fn update(
        &self,
        document: &Document<'_>,
        layout: &Layout<'_>,
        own: &Object<'_>,
    ) -> Result<Vec<Splice>, JsonError> {
        if own.has(&self.members) {
            return Ok(Vec::new());
        }
        document.require_unique(own)?;
        let mut splices = Vec::new();
        let mut missing = Vec::new();
        for (key, value) in &self.members {
            match own.member(key) {
                Some(found) if found.means(value) => {}
                Some(found) => splices.push(layout.replace(found.range(), value)),
                None => missing.push(Item { name: Some(key), value: value.clone() }),
            }
        }
        if !missing.is_empty() {
            splices.push(layout.append(&own.container(), &missing));
        }
        Ok(splices)
    }

    fn withdraw(&self, document: &Document<'_>, trace: &Trace) -> Result<Vec<Splice>, JsonError> {
        // A value of another type holds nothing of ours.
        let parent = document.only(&document.root, self.parent)?;
        let Some((place, parent)) =
            parent.and_then(|(place, value)| Some((place, value.object()?)))
        else {
            return Ok(Vec::new());
        };
        let Some((own, _)) = document.only(&parent, self.name)? else {
            return Ok(Vec::new());
        };
        let former = trace.former(&[self.parent]);
        let splices = parent.container().give_back(&BTreeSet::from([own]), former);
        Ok(splices.unwrap_or_else(|| {
            let root = document.root.container();
            let splices = root.give_back(&BTreeSet::from([place]), trace.former(&[]));
            splices.unwrap_or_default()
        }))
    }

    /// What the user has added to our entry.
    fn added<'t>(&self, document: &Document<'t>) -> Vec<(&'t str, &'t str)> {
        let own = document.root.member(self.parent).and_then(|parent| {
            let own = parent.object()?.member(self.name)?;
            own.object()
        });
        let is_ours =
            |member: &&Member<'_>| self.members.iter().any(|(key, _)| member.is_named(key));
        let members = own.map_or_else(Vec::new, |own| own.members);
        let added = members.iter().filter(|member| !is_ours(member));
        added.map(|member| (member.key.text, member.value.text)).collect()
    }

    /// What `document` means without our entry, and without the container that `trace` says to be
    /// ours.
    fn foreign<'t>(&self, document: &Document<'t>, trace: &Trace) -> Meaning<'t> {
        Meaning::of_members(&document.root, |member| match member.object_named(self.parent) {
            Some(parent) => {
                let had_ours = parent.member(self.name).is_some();
                let others = Meaning::of_members(&parent, |member| {
                    (!member.is_named(self.name)).then_some(Meaning::Whole(member.value.text))
                });
                others.unless_ours(had_ours, trace.former(&[self.parent]))
            }
            None => Some(Meaning::Whole(member.value.text)),
        })
    }
}

/// Adds `item` to the object at `path`.
fn add(
    object: &Object<'_>,
    path: &[&str],
    item: Item,
    layout: &Layout<'_>,
    trace: &mut Trace,
) -> Splice {
    let container = object.container();
    if let Some(former) = container.former(layout.text) {
        trace.note(path, former);
    }
    layout.append(&container, &[item])
}
