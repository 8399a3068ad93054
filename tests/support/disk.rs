//! A disk that is full or can't be written to.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::user::is_root;

/// A file system of its own; it goes when this is dropped.
pub struct SmallDisk(PathBuf);

impl SmallDisk {
    /// One of 64 KiB. None where this may not be done.
    pub fn mount(at: &Path) -> Option<Self> {
        Self::mount_of(at, "64k")
    }

    /// The same of another size.
    pub fn mount_of(at: &Path, size: &str) -> Option<Self> {
        let options = format!("size={size},mode=700");
        let arguments = ["-t", "tmpfs", "-o", &options, "tmpfs"];
        let mount = || Command::new("mount").args(arguments).arg(at).output().ok();
        let is_mounted = is_root() && mount().is_some_and(|output| output.status.success());
        is_mounted.then(|| Self(at.to_owned()))
    }

    /// From now on nothing can be written there.
    pub fn make_read_only(&self) {
        let status = Command::new("mount").args(["-o", "remount,ro"]).arg(&self.0).status();
        assert!(status.unwrap().success());
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let status = Command::new("umount").arg(&self.0).status();
        assert!(std::thread::panicking() || status.unwrap().success());
    }
}
