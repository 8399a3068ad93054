//! What the operating systems do differently, behind one interface: one file a system, kept tiny.

use std::fs::Metadata;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

#[cfg(target_os = "linux")]
mod sock_diag;
#[cfg(unix)]
mod unix;
#[cfg(not(target_os = "linux"))]
mod untold;
#[cfg(windows)]
mod windows;

#[cfg(target_os = "linux")]
pub use sock_diag::{listener_owner, socket_owner};
#[cfg(unix)]
pub use unix::*;
#[cfg(not(target_os = "linux"))]
pub use untold::{listener_owner, socket_owner};
#[cfg(windows)]
pub use windows::*;

/// Whose a socket is, as the system says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SocketOwner {
    /// This user has it.
    User(u32),
    /// There is none, or no process has it any more.
    Nobody,
    /// The system does not say.
    Untold,
}

impl SocketOwner {
    /// Whether it is a program that may do here what we may: of our user, or of root.
    pub fn is_trusted(self) -> bool {
        matches!(self, Self::User(user) if user == 0 || user == current_user())
    }
}

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version {
    number: u64,
    size: u64,
    /// In nanoseconds since the Unix epoch.
    modified: u64,
}

impl Version {
    /// The state of the file at `path` now; none if it can't be looked at.
    pub fn of(path: &Path) -> Option<Self> {
        Self::told_by(&fs_err::symlink_metadata(path).ok()?)
    }

    /// The same of the file that `path` leads to, if it is a link.
    pub fn behind(path: &Path) -> Option<Self> {
        Self::told_by(&fs_err::metadata(path).ok()?)
    }

    fn told_by(metadata: &Metadata) -> Option<Self> {
        let modified = metadata.modified().ok()?;
        let modified = modified.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let modified = u64::try_from(modified.as_nanos()).unwrap_or(u64::MAX);
        Some(Self { number: file_number(metadata), size: metadata.len(), modified })
    }

    /// When the file was written last.
    pub fn modified(self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_nanos(self.modified)
    }

    /// How many bytes the file has.
    pub const fn size(self) -> u64 {
        self.size
    }
}

/// What a file has that this process creates, but for its mode.
pub fn attributes_of_new() -> Attributes {
    Attributes { mode: 0, owner: current_user(), group: current_group(), hard_links: 1 }
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
