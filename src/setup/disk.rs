//! The system calls by which a user's files change. Each of them can fail, and the tests make each
//! of them fail.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use crate::platform;
use crate::setup::target::{Reason, Snapshot, Target};

/// What the writer of a user's files asks of the operating system.
pub trait Disk {
    /// Creates a folder that this user alone can enter.
    fn create_folder(&self, path: &Path) -> io::Result<()>;
    /// Removes an empty folder.
    fn remove_folder(&self, path: &Path) -> io::Result<()>;
    /// Creates a file that is not there yet, for this user alone.
    fn create_file(&self, path: &Path) -> io::Result<File>;
    /// Gives a file its mode and, if there is one at `target`, the group and the extended attributes
    /// of that.
    fn set_attributes(&self, file: &File, mode: u32, target: &Target) -> io::Result<()>;
    /// Writes the whole content of a new file.
    fn write(&self, file: &File, bytes: &[u8]) -> io::Result<()>;
    /// Makes the content of a file last through a crash.
    fn sync_file(&self, file: &File) -> io::Result<()>;
    /// Makes the names in a folder last through a crash.
    fn sync_folder(&self, path: &Path) -> io::Result<()>;
    /// Gives a file another name, unless that is taken.
    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Swaps two files, so that at no moment either name is missing.
    fn exchange(&self, one: &Path, other: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove_file(&self, path: &Path) -> io::Result<()>;
    /// Reads a file, with what the system keeps about it; none if it is not there.
    fn snapshot(&self, path: &Path) -> Result<Option<Snapshot>, Reason>;
}

/// The operating system itself.
#[derive(Debug, Clone, Copy)]
pub struct OperatingSystem;

impl Disk for OperatingSystem {
    fn create_folder(&self, path: &Path) -> io::Result<()> {
        platform::create_private_dir(path)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        fs_err::remove_dir(path)
    }

    fn create_file(&self, path: &Path) -> io::Result<File> {
        let file = platform::private_file_options().write(true).create_new(true).open(path)?;
        Ok(file.into_parts().0)
    }

    fn set_attributes(&self, file: &File, mode: u32, target: &Target) -> io::Result<()> {
        let replaced = target.before.as_ref();
        // A group that can't be kept was found to be no loss.
        let group = replaced.map(|file| file.attributes.group);
        platform::set_attributes(file, mode, group.filter(|id| platform::may_give_to_group(*id)))?;
        if replaced.is_some() {
            platform::copy_extended_attributes(&target.resolved, file);
        }
        Ok(())
    }

    fn write(&self, mut file: &File, bytes: &[u8]) -> io::Result<()> {
        file.write_all(bytes)
    }

    fn sync_file(&self, file: &File) -> io::Result<()> {
        file.sync_all()
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        platform::sync_dir(path)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        platform::rename_new(from, to)
    }

    fn exchange(&self, one: &Path, other: &Path) -> io::Result<()> {
        platform::exchange(one, other)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        fs_err::remove_file(path)
    }

    fn snapshot(&self, path: &Path) -> Result<Option<Snapshot>, Reason> {
        Snapshot::take(path)
    }
}
