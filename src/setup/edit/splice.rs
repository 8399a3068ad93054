//! Where a text is cut, and what is put in.

use std::collections::BTreeSet;
use std::ops::Range;

use jsonc_parser::ast::{Array, Object};
use jsonc_parser::common::Ranged;

/// A stretch of the text and what stands there afterwards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Splice {
    pub(super) range: Range<usize>,
    pub(super) text: String,
}

impl Splice {
    pub(super) fn insertion(at: usize, text: String) -> Self {
        Self { range: at..at, text }
    }

    fn removal(range: Range<usize>) -> Self {
        Self { range, text: String::new() }
    }
}

/// The brackets and items of an object or array.
#[derive(Debug)]
pub(super) struct Container {
    /// Between the brackets.
    pub(super) inside: Range<usize>,
    pub(super) items: Vec<Range<usize>>,
}

impl Container {
    fn new<'i>(range: &impl Ranged, items: impl Iterator<Item = &'i (impl Ranged + 'i)>) -> Self {
        Self {
            inside: range.start() + 1..range.end().saturating_sub(1),
            items: items.map(|item| item.start()..item.end()).collect(),
        }
    }

    pub(super) fn of_object(object: &Object<'_>) -> Self {
        Self::new(object, object.properties.iter())
    }

    pub(super) fn of_array(array: &Array<'_>) -> Self {
        Self::new(array, array.elements.iter())
    }

    /// Takes the items at `indices` out, each with one comma.
    pub(super) fn without(&self, indices: &BTreeSet<usize>) -> Vec<Splice> {
        if indices.is_empty() {
            return Vec::new();
        }
        let is_kept = |index: &usize| !indices.contains(index);
        let Some(last_kept) = (0..self.items.len()).rfind(is_kept) else {
            return vec![Splice::removal(self.inside.clone())];
        };
        // Before the last item that stays, an item goes up to the start of the next one.
        let mut splices: Vec<_> = self
            .items
            .iter()
            .zip(self.items.iter().skip(1))
            .enumerate()
            .take(last_kept)
            .filter(|(index, _)| indices.contains(index))
            .map(|(_, (item, next))| Splice::removal(item.start..next.start))
            .collect();
        // After it, they go together with the commas before them.
        let ends = self.items.get(last_kept).zip(self.items.last());
        if let Some((kept, last)) = ends
            && kept.end < last.end
        {
            splices.push(Splice::removal(kept.end..last.end));
        }
        splices
    }
}
