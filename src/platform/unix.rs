//! Linux and macOS.

use std::fs::{DirBuilder, File, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, fchown};
use std::path::Path;

use fs_err::OpenOptions;
use fs_err::os::unix::fs::OpenOptionsExt;
use rustix::fs::{Access, OFlags, access};
use rustix::process::geteuid;
use tokio::signal::unix::{SignalKind, signal};

use crate::platform::Attributes;

/// Whether hook scripts can be installed here.
pub const RUNS_SHELL_SCRIPTS: bool = true;

/// Creates `path` and its missing parents, readable by this user alone (mode 0700).
pub fn create_private_dir(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    builder.mode(0o700);
    builder.create(path).map_err(|error| {
        io::Error::new(
            error.kind(),
            format!("failed to create directory `{}`: {error}", path.display()),
        )
    })
}

/// Options for a file of ours that is created readable by this user alone (mode 0600).
pub fn private_file_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}

/// Opens a file of ours to read and write it, or creates it, and makes it private to this user.
///
/// What is there instead of a file, such as a pipe, is refused; to open it must not wait.
pub fn open_private_file(path: &Path) -> io::Result<File> {
    let mut options = private_file_options();
    options.read(true).write(true).create(true).truncate(false);
    options.custom_flags(OFlags::NONBLOCK.bits().cast_signed());
    let file = options.open(path)?.into_parts().0;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other(format!("`{}` is not a file", path.display())));
    }
    make_private(path, 0o600)?;
    Ok(file)
}

/// Makes a directory of ours that is there already private to this user.
pub fn make_private_dir(path: &Path) -> io::Result<()> {
    make_private(path, 0o700)
}

fn make_private(path: &Path, mode: u32) -> io::Result<()> {
    if fs_err::metadata(path)?.mode() & 0o777 == mode {
        return Ok(());
    }
    fs_err::set_permissions(path, Permissions::from_mode(mode))
}

/// What `metadata` says beyond the size.
pub fn attributes(metadata: &Metadata) -> Attributes {
    Attributes {
        mode: metadata.mode() & 0o7777,
        owner: metadata.uid(),
        group: metadata.gid(),
        hard_links: metadata.nlink(),
    }
}

/// Gives `file` a mode and, if it is to replace one, the group of that one.
pub fn set_attributes(file: &File, mode: u32, group: Option<u32>) -> io::Result<()> {
    let group = group.filter(|group| file.metadata().is_ok_and(|own| own.gid() != *group));
    if group.is_some() {
        fchown(file, None, group)?;
    }
    file.set_permissions(Permissions::from_mode(mode))
}

/// The user as whom this process writes.
pub fn current_user() -> u32 {
    geteuid().as_raw()
}

/// Whether this process may create files in `directory`.
pub fn is_writable_dir(directory: &Path) -> bool {
    access(directory, Access::WRITE_OK | Access::EXEC_OK).is_ok()
}

/// Makes the names in `directory` last through a crash.
pub fn sync_dir(directory: &Path) -> io::Result<()> {
    fs_err::File::open(directory)?.sync_all()
}

/// Completes when the process is asked to end: SIGINT or SIGTERM.
///
/// The handlers are in place when this function returns, before its future is polled.
pub fn shutdown_requested() -> io::Result<impl Future<Output = ()> + Send> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}
