//! What the operating systems do differently, behind one interface: one file a system, kept tiny.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use unix::{
    RUNS_SHELL_SCRIPTS, attributes, create_private_dir, current_user, is_writable_dir,
    make_private_dir, open_private_file, private_file_options, set_attributes, shutdown_requested,
    sync_dir,
};
#[cfg(windows)]
pub use windows::{
    RUNS_SHELL_SCRIPTS, attributes, create_private_dir, current_user, is_writable_dir,
    make_private_dir, open_private_file, private_file_options, set_attributes, shutdown_requested,
    sync_dir,
};

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
