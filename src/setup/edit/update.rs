//! Makes an outdated entry of ours right where it is, and keeps what its user has added to it.

use std::collections::BTreeSet;

use crate::setup::edit::command::Use;
use crate::setup::edit::dialect::Dialect;
use crate::setup::edit::edits::Edits;
use crate::setup::edit::hooks::HookEntries;
use crate::setup::edit::json::{Document, JsonError};
use crate::setup::edit::layout::{Item, Layout};
use crate::setup::edit::literal::Literal;
use crate::setup::edit::ownership::{handlers, may_be, runs_for_all};
use crate::setup::edit::value::{Array, Object, Value};

/// The name of a hook, which is worth no new question to the user of Codex.
const NAME: &str = "statusMessage";

impl HookEntries {
    /// Whether a group of ours does what our entry does. It may lack the `id`, which Claude Code
    /// drops when it rewrites the file.
    pub(super) fn is_current(&self, group: Value<'_>) -> bool {
        let handler = group.object().filter(runs_for_all).and_then(|group| handlers(&group));
        match handler.as_ref().map(|handlers| handlers.elements.as_slice()) {
            Some([handler]) => handler.object().is_some_and(|own| self.is_current_handler(&own)),
            _ => false,
        }
    }

    fn is_current_handler(&self, handler: &Object<'_>) -> bool {
        let is_met = |(key, value): &(&str, Literal)| match handler.member(key) {
            Some(found) => self.is_right(key, found, value),
            None => *key == NAME,
        };
        self.members().iter().all(is_met) && deciding(handler).is_empty()
    }

    fn is_right(&self, key: &str, found: Value<'_>, value: &Literal) -> bool {
        match key {
            NAME => true,
            "command" => found.means(value) || self.is_kept(found),
            "timeout" => found.text.parse() == Ok(self.timeout.as_secs_f64()),
            _ => found.means(value),
        }
    }

    /// Whether a command is our script in a wrapper of the user's, which may stay as long as it is
    /// this script.
    fn is_kept(&self, command: Value<'_>) -> bool {
        let used = command.string().and_then(|command| self.script.use_of(&command));
        matches!(used, Some(Use::Wrapped(path)) if self.may_run(&path))
    }

    /// Whether the script at `path`, as it stands in a command, may be the one that we register.
    pub(super) fn may_run(&self, path: &str) -> bool {
        let own = self.script.use_of(&self.command);
        own.is_some_and(|own| may_be(path, own.path()))
    }

    /// Makes `group`, in which nothing but ours is, run our handler once and for everything.
    pub(super) fn update_group(
        &self,
        document: &Document<'_>,
        layout: &Layout<'_>,
        group: &Object<'_>,
        edits: &mut Edits,
    ) -> Result<(), JsonError> {
        document.require_unique(group)?;
        if let Some(matcher) = group.member("matcher").filter(|_| !runs_for_all(group)) {
            edits.splices.push(layout.replace(matcher.range(), &"".into()));
        }
        if let Some(handlers) = handlers(group) {
            self.update_handlers(document, layout, &handlers, edits)?;
        } else {
            let handlers = Literal::List(vec![self.handler()]);
            let item = Item { name: Some("hooks"), value: handlers };
            edits.splices.push(layout.append(&group.container(), &[item]));
        }
        edits.tally.updated += 1;
        Ok(())
    }

    fn update_handlers(
        &self,
        document: &Document<'_>,
        layout: &Layout<'_>,
        handlers: &Array<'_>,
        edits: &mut Edits,
    ) -> Result<(), JsonError> {
        let own: Vec<_> = handlers.elements.iter().filter_map(|handler| handler.object()).collect();
        let current = own.iter().position(|handler| self.is_current_handler(handler));
        let place = current.filter(|_| self.dialect == Dialect::ClaudeCode).unwrap_or(0);
        let Some(kept) = own.get(place) else {
            let item = Item { name: None, value: self.handler() };
            edits.splices.push(layout.append(&handlers.container(), &[item]));
            return Ok(());
        };
        self.update_handler(document, layout, kept, edits)?;
        let surplus = (0..own.len()).filter(|index| *index != place).collect();
        edits.splices.extend(handlers.container().without(&surplus));
        Ok(())
    }

    /// Makes a handler of ours right; whether it was not.
    pub(super) fn update_handler(
        &self,
        document: &Document<'_>,
        layout: &Layout<'_>,
        handler: &Object<'_>,
        edits: &mut Edits,
    ) -> Result<bool, JsonError> {
        if self.is_current_handler(handler) {
            return Ok(false);
        }
        document.require_unique(handler)?;
        let mut missing = Vec::new();
        for (key, value) in self.members() {
            match handler.member(key) {
                Some(found) if self.is_right(key, found, &value) => {}
                Some(found) => edits.splices.push(layout.replace(found.range(), &value)),
                None => missing.push(Item { name: Some(key), value }),
            }
        }
        let container = handler.container();
        edits.splices.extend(container.without(&deciding(handler)));
        if !missing.is_empty() {
            edits.splices.push(layout.append(&container, &missing));
        }
        Ok(true)
    }

    fn members(&self) -> Vec<(&'static str, Literal)> {
        self.dialect.members(&self.command, self.timeout)
    }

    /// Our handler.
    fn handler(&self) -> Literal {
        Literal::Table(self.members())
    }

    /// A group that holds our handler alone.
    pub(super) fn group(&self) -> Literal {
        self.dialect.group(self.handler())
    }
}

/// The places of the keys that may change when or how our command runs.
fn deciding(handler: &Object<'_>) -> BTreeSet<usize> {
    let members = handler.members.iter().enumerate();
    let is_deciding = |key: Value<'_>| key.string().is_some_and(|name| Dialect::is_deciding(&name));
    members.filter(|(_, member)| is_deciding(member.key)).map(|(index, _)| index).collect()
}
