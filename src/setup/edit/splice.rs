//! Where a text is cut, and what is put in.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::setup::edit::trace::Former;

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

    pub(super) fn removal(range: Range<usize>) -> Self {
        Self { range, text: String::new() }
    }
}

/// `mark` and `text` with `splices`, which must not overlap, put in.
pub(super) fn spliced(mark: &str, text: &str, mut splices: Vec<Splice>) -> String {
    splices.sort_by_key(|splice| (splice.range.start, splice.range.end));
    let added: usize = splices.iter().map(|splice| splice.text.len()).sum();
    let mut edited = String::with_capacity(mark.len() + text.len() + added + 2);
    edited.push_str(mark);
    let mut kept_to = 0;
    for splice in splices {
        edited.push_str(text.get(kept_to..splice.range.start).unwrap_or(""));
        edited.push_str(&splice.text);
        kept_to = splice.range.end;
    }
    edited.push_str(text.get(kept_to..).unwrap_or(""));
    edited
}

/// The brackets and items of an object or array.
#[derive(Debug)]
pub(super) struct Container {
    /// Between the brackets.
    pub(super) inside: Range<usize>,
    pub(super) items: Vec<Range<usize>>,
}

impl Container {
    /// What the container was before it is filled, if it is empty.
    pub(super) fn former(&self, text: &str) -> Option<Former> {
        let inside = text.get(self.inside.clone()).unwrap_or("");
        self.items.is_empty().then(|| Former::Empty(inside.to_owned()))
    }

    /// Takes our items at `indices` out, of a container that was `former` before they came; `None`
    /// if it goes with them.
    pub(super) fn give_back(
        &self,
        indices: &BTreeSet<usize>,
        former: Option<&Former>,
    ) -> Option<Vec<Splice>> {
        let is_left_empty = !indices.is_empty() && indices.len() == self.items.len();
        match former {
            Some(Former::Absent) if is_left_empty => None,
            Some(Former::Empty(blanks)) if is_left_empty => {
                Some(vec![Splice { range: self.inside.clone(), text: blanks.clone() }])
            }
            _ => Some(self.without(indices)),
        }
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
