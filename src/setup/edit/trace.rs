//! What an install makes of a file that can't be told from the text that it leaves.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What stood in the places of a JSON file that we filled.
///
/// Kept by the caller and handed back for the removal, it makes the difference between a list that
/// goes with our entry and an empty one that the user had: it restores bytes. Without it a removal
/// takes out the same entries and leaves their emptied containers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trace {
    /// By the keys that lead to the place, joined by dots; the root has none.
    #[serde(default)]
    former: BTreeMap<String, Former>,
}

/// What stood in one place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Former {
    /// Nothing: we created what is there.
    Absent,
    /// An empty object or array, with these blanks between its brackets.
    Empty(String),
    /// A file of these blanks alone. Only of the root.
    Blank(String),
}

impl Trace {
    /// Whether the text alone tells all that a removal needs.
    pub fn is_empty(&self) -> bool {
        self.former.is_empty()
    }

    /// Takes in what a later install of the same file left. Where both know of a place, the later
    /// one has found it empty or missing again.
    pub fn extend(&mut self, later: Self) {
        self.former.extend(later.former);
    }

    pub(super) fn note(&mut self, path: &[&str], former: Former) {
        self.former.insert(path.join("."), former);
    }

    pub(super) fn former(&self, path: &[&str]) -> Option<&Former> {
        self.former.get(&path.join("."))
    }
}
