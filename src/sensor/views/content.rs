//! What a file holds, in a few bytes: a file that was only touched, or saved as it was, was not changed.

use std::io::Read;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::platform::{self, Version};

/// The largest file whose content is looked at, in bytes: a few milliseconds' work.
const MAX_BYTES: u64 = 1024 * 1024;

/// Tells one content from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Digest(u64);

impl Digest {
    /// What the file at `path` holds; none if it is large, is no file or can't be read.
    pub(super) fn of(path: &str) -> Option<Self> {
        // What is there now may be a pipe.
        let real = fs_err::canonicalize(path).ok()?;
        let file = platform::open_without_following(&real).ok()?;
        if !file.metadata().ok()?.is_file() {
            return None;
        }
        let mut bytes = Vec::new();
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes).ok()?;
        if u64::try_from(bytes.len()).ok()? > MAX_BYTES {
            return None;
        }
        let hash = Sha256::digest(&bytes);
        hash.first_chunk().map(|first| Self(u64::from_le_bytes(*first)))
    }
}

/// Whether the content of a file is looked at.
pub(super) fn is_small(version: Version) -> bool {
    version.size() <= MAX_BYTES
}

/// Whether both are there and equally long.
pub(super) fn is_same_size(one: Option<Version>, other: Option<Version>) -> bool {
    one.zip(other).is_some_and(|(one, other)| one.size() == other.size())
}
