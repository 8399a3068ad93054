//! What the operating systems do differently, behind one interface: one file a system, kept tiny.

use std::io;
use std::path::Path;
use std::time::SystemTime;

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use unix::*;
#[cfg(windows)]
pub use windows::*;

/// What a file system keeps about a file besides its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attributes {
    /// The permission bits.
    pub mode: u32,
    /// The user whose file it is.
    pub owner: u32,
    /// The group whose file it is.
    pub group: u32,
    /// How many names the file has.
    pub hard_links: u64,
}

/// Tells one state of a file from the next without reading it, as a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version {
    number: u64,
    size: u64,
    modified: SystemTime,
}

impl Version {
    /// The state of the file at `path` now; none if it can't be looked at.
    pub fn of(path: &Path) -> Option<Self> {
        let metadata = fs_err::symlink_metadata(path).ok()?;
        let modified = metadata.modified().ok()?;
        Some(Self { number: file_number(&metadata), size: metadata.len(), modified })
    }
}

/// Swaps two files in steps, where the system can't do it in one: at each moment there is something
/// at `other`. What somebody writes between the first two steps is lost.
fn exchange_by_links(one: &Path, other: &Path) -> io::Result<()> {
    let mut aside = one.as_os_str().to_owned();
    aside.push(".old");
    fs_err::hard_link(other, &aside)?;
    fs_err::rename(one, other).or_else(|error| {
        fs_err::remove_file(&aside)?;
        Err(error)
    })?;
    fs_err::rename(&aside, one)
}
