//! Windows. A user's profile is private to the user by its access control list, which new files
//! inherit, so nothing needs to be set here.

use std::fs::{File, Metadata};
use std::io;
use std::os::windows::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command};

use fs_err::OpenOptions;
use tokio::signal::windows::{ctrl_break, ctrl_c};

use crate::platform::Attributes;

/// Creates `path` and its missing parents.
pub fn create_private_dir(path: &Path) -> io::Result<()> {
    fs_err::create_dir_all(path)
}

/// Options for a file of ours.
pub fn private_file_options() -> OpenOptions {
    OpenOptions::new()
}

/// Opens a file of ours to read and write it, or creates it.
pub fn open_private_file(path: &Path) -> io::Result<File> {
    let mut options = private_file_options();
    options.read(true).write(true).create(true).truncate(false);
    Ok(options.open(path)?.into_parts().0)
}

/// The same to write at its end.
pub fn append_to_private_file(path: &Path) -> io::Result<File> {
    Ok(private_file_options().append(true).create(true).open(path)?.into_parts().0)
}

/// Opens a file of somebody else to read it.
pub fn open_without_following(path: &Path) -> io::Result<File> {
    Ok(OpenOptions::new().read(true).open(path)?.into_parts().0)
}

/// Does nothing: a directory inherits its access control list.
pub fn make_private_dir(_path: &Path) -> io::Result<()> {
    Ok(())
}

/// What `metadata` says beyond the size: here, only whether the file is read-only. Every file may run.
pub fn attributes(metadata: &Metadata) -> Attributes {
    let readonly = metadata.permissions().readonly();
    Attributes {
        mode: if readonly { 0o500 } else { 0o700 },
        owner: current_user(),
        group: 0,
        hard_links: 1,
    }
}

/// Not told here.
pub fn file_number(_metadata: &Metadata) -> u64 {
    0
}

/// Does nothing: a file inherits its access control list.
pub fn set_attributes(_file: &File, _mode: u32, _group: Option<u32>) -> io::Result<()> {
    Ok(())
}

/// Does nothing: what is attached to a file here is no concern of settings files.
pub fn copy_extended_attributes(_from: &Path, _to: &File) {}

/// The user as whom this process writes; not told apart here.
pub fn current_user() -> u32 {
    0
}

/// Not told apart here.
pub fn current_group() -> u32 {
    0
}

/// Groups are not kept here.
pub fn may_give_to_group(_group: u32) -> bool {
    true
}

/// Groups are not kept here.
pub fn hands_down_group(_folder: Attributes) -> bool {
    true
}

/// Whether this process may create files in `directory`; the attempt tells.
pub fn is_writable_dir(_directory: &Path) -> bool {
    true
}

/// Whether this process may run the file at `path`; the attempt tells.
pub fn is_executable(_path: &Path) -> bool {
    true
}

/// Not told here.
pub fn free_space(_directory: &Path) -> Option<u64> {
    None
}

/// Does nothing: a child is killed alone.
pub fn lead_group(_command: &mut Command) {}

/// Kills a child; what it has started is not told apart here.
pub fn kill_group(child: &mut Child) {
    drop(child.kill());
}

/// Has `command` start apart from our console; what it inherits is only what is given to it.
pub fn detach(command: &mut Command) {
    const DETACHED_PROCESS: u32 = 0x0000_0008;
    const CREATE_NEW_PROCESS_GROUP: u32 = 0x0000_0200;
    command.creation_flags(DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP);
}

/// Does nothing: a process is started apart from a console.
pub fn leave_session() {}

/// Not told here.
pub fn resident_memory() -> Option<u64> {
    None
}

/// Does nothing: a folder can't be synced.
pub fn sync_dir(_directory: &Path) -> io::Result<()> {
    Ok(())
}

/// Gives a file another name, unless that is taken.
pub fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    // A link fails if the name is taken, where a rename would replace.
    fs_err::hard_link(from, to)?;
    fs_err::remove_file(from)
}

/// Swaps the content of the names `one` and `other`, of which `other` always has one.
pub fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    super::exchange_by_links(one, other)
}

/// Not told apart here.
pub fn is_same_file(_file: &File, _path: &Path) -> bool {
    true
}

/// Lets interrupts from the terminal pass from now on: they are for the program that we wait for.
pub fn outlive_interrupts() -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    // The handler stays when whoever listened has gone.
    runtime.block_on(async { ctrl_c().map(drop) })
}

/// Completes when the process is asked to end: Ctrl-C or Ctrl-Break.
///
/// The handlers are in place when this function returns, before its future is polled.
pub fn shutdown_requested() -> io::Result<impl Future<Output = ()> + Send> {
    let mut interrupt = ctrl_c()?;
    let mut terminate = ctrl_break()?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}
