//! Linux and macOS.

use std::fs::{DirBuilder, File, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, fchown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command};

use fs_err::OpenOptions;
use fs_err::os::unix::fs::OpenOptionsExt;
use rustix::fs::{
    Access, CWD, OFlags, RenameFlags, XattrFlags, access, fsetxattr, getxattr, listxattr,
    renameat_with, statvfs,
};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, getegid, geteuid, getgroups, kill_process_group, setsid};
use tokio::signal::unix::{SignalKind, signal};

use crate::platform::Attributes;

/// Linux allows no more for the names of a file's attributes, nor for the value of one.
const MAX_ATTRIBUTE_BYTES: usize = 64 * 1024;

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
    open_private(path, options)
}

/// The same to write at its end.
pub fn append_to_private_file(path: &Path) -> io::Result<File> {
    let mut options = private_file_options();
    options.append(true).create(true);
    open_private(path, options)
}

fn open_private(path: &Path, mut options: OpenOptions) -> io::Result<File> {
    options.custom_flags(OFlags::NONBLOCK.bits().cast_signed());
    let file = options.open(path)?.into_parts().0;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other(format!("`{}` is not a file", path.display())));
    }
    make_private(path, 0o600)?;
    Ok(file)
}

/// Opens a file of somebody else to read it. A link at its name is an error, and what is there instead of
/// a file, such as a pipe, does not make us wait.
pub fn open_without_following(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed());
    Ok(options.open(path)?.into_parts().0)
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

/// What tells a file from others on the same system, whatever their names.
pub fn file_number(metadata: &Metadata) -> u64 {
    metadata.ino()
}

/// Gives `file` a mode and, if it is to replace one, the group of that one.
pub fn set_attributes(file: &File, mode: u32, group: Option<u32>) -> io::Result<()> {
    let group = group.filter(|group| file.metadata().is_ok_and(|own| own.gid() != *group));
    if group.is_some() {
        fchown(file, None, group)?;
    }
    file.set_permissions(Permissions::from_mode(mode))
}

/// Copies what a user may have attached to a file, access control lists among it, as far as that can
/// be done: some attributes are the system's to set, and not every file system has any.
pub fn copy_extended_attributes(from: &Path, to: &File) {
    let mut names = vec![0; MAX_ATTRIBUTE_BYTES];
    let Ok(length) = listxattr(from, &mut names[..]) else { return };
    names.truncate(length);
    let mut value = vec![0; MAX_ATTRIBUTE_BYTES];
    for name in names.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        if let Ok(length) = getxattr(from, name, &mut value[..]) {
            let value = value.get(..length).unwrap_or_default();
            let _ = fsetxattr(to, name, value, XattrFlags::empty());
        }
    }
}

/// The user as whom this process writes.
pub fn current_user() -> u32 {
    geteuid().as_raw()
}

/// The group that files of this process get.
pub fn current_group() -> u32 {
    getegid().as_raw()
}

/// Whether this process may give its files to `group`: root may, and a member.
pub fn may_give_to_group(group: u32) -> bool {
    current_user() == 0
        || getegid().as_raw() == group
        || getgroups().is_ok_and(|groups| groups.iter().any(|own| own.as_raw() == group))
}

/// Whether a file that is created in `folder` gets the group of that, whoever creates it.
pub fn hands_down_group(folder: Attributes) -> bool {
    const SET_GROUP_ID: u32 = 0o2000;
    cfg!(target_os = "macos") || folder.mode & SET_GROUP_ID != 0
}

/// Whether this process may create files in `directory`.
pub fn is_writable_dir(directory: &Path) -> bool {
    access(directory, Access::WRITE_OK | Access::EXEC_OK).is_ok()
}

/// Whether this process may run the file at `path`.
pub fn is_executable(path: &Path) -> bool {
    access(path, Access::EXEC_OK).is_ok()
}

/// How many bytes this user can still write to the file system of `directory`.
pub fn free_space(directory: &Path) -> Option<u64> {
    let system = statvfs(directory).ok()?;
    Some(system.f_bavail.saturating_mul(system.f_frsize))
}

/// Has `command` start with a process group of its own.
pub fn lead_group(command: &mut Command) {
    command.process_group(0);
}

/// Kills a child that leads its group, and the whole group.
pub fn kill_group(child: &mut Child) {
    // Until it is waited for, its id is its own; an error means that all of them are gone.
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
}

/// Has `command` start without what else than its three streams we hold or were given: an agent waits
/// for everyone who has its pipes.
pub fn detach(_command: &mut Command) {
    close_fds::set_fds_cloexec_threadsafe(3, &[]);
}

/// Leaves the session of whoever started us, and with it the terminal, its signals, and those that an
/// agent sends to all that it has started.
pub fn leave_session() {
    // It fails for a process that leads its group, as one that a shell has started: the user's wish.
    let _ = setsid();
}

/// How much memory this process has, in bytes; told on Linux.
pub fn resident_memory() -> Option<u64> {
    let status = fs_err::read_to_string("/proc/self/status").ok()?;
    let kibibytes = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    kibibytes.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|size| size * 1024)
}

/// Makes the names in `directory` last through a crash.
pub fn sync_dir(directory: &Path) -> io::Result<()> {
    fs_err::File::open(directory)?.sync_all()
}

/// Whether `path` leads to the open `file`, and not to another that has its name by now.
pub fn is_same_file(file: &File, path: &Path) -> bool {
    let Ok(open) = file.metadata() else { return false };
    fs_err::metadata(path).is_ok_and(|named| named.dev() == open.dev() && named.ino() == open.ino())
}

/// Gives a file another name, unless that is taken.
pub fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Err(error) if is_unsupported(error) => {
            // A link fails too if the name is taken; it only takes two steps.
            fs_err::hard_link(from, to)?;
            fs_err::remove_file(from)
        }
        result => Ok(result?),
    }
}

/// Swaps the content of the names `one` and `other`, of which `other` always has one.
pub fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    match renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE) {
        Err(error) if is_unsupported(error) => super::exchange_by_links(one, other),
        result => Ok(result?),
    }
}

/// Old kernels and some file systems know no flags of a rename.
fn is_unsupported(error: Errno) -> bool {
    [Errno::INVAL, Errno::NOSYS, Errno::OPNOTSUPP].contains(&error)
}

/// Lets interrupts from the terminal pass from now on: they are for the program that we wait for.
pub fn outlive_interrupts() -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    // The handler stays when whoever listened has gone.
    runtime.block_on(async { signal(SignalKind::interrupt()).map(drop) })
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
