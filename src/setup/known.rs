//! What an earlier plan has worked out.

use std::cell::RefCell;

use bytes::Bytes;

use crate::setup::adapter::{EditError, Edited, Shared};
use crate::setup::edit::trace::Trace;

/// The edits of an earlier plan, for one that is made again under the lock. A text that is still the
/// same is not edited twice: for a large one that takes longer than all the rest.
#[derive(Debug, Default)]
pub(super) struct KnownEdits(RefCell<Vec<Known>>);

#[derive(Debug)]
struct Known {
    shared: Shared,
    before: Bytes,
    trace: Option<Trace>,
    edited: Edited,
}

impl KnownEdits {
    /// What `edit` makes of `before`, which depends on nothing but `shared`, `before` and `trace`.
    pub(super) fn edit(
        &self,
        shared: &Shared,
        before: &Bytes,
        trace: Option<&Trace>,
        edit: impl Fn(&[u8]) -> Result<Edited, EditError>,
    ) -> Result<Edited, EditError> {
        let is_same = |known: &&Known| {
            known.before == before && known.shared == *shared && known.trace.as_ref() == trace
        };
        if let Some(known) = self.0.borrow().iter().find(is_same) {
            return Ok(known.edited.clone());
        }
        let edited = edit(before)?;
        let mut known = self.0.borrow_mut();
        known.retain(|known| known.shared != *shared);
        known.push(Known {
            shared: shared.clone(),
            before: before.clone(),
            trace: trace.cloned(),
            edited: edited.clone(),
        });
        Ok(edited)
    }
}
