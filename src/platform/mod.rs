//! What the operating systems do differently, behind one interface: one file a system, kept tiny.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use unix::{create_private_dir, private_file_options, shutdown_requested};
#[cfg(windows)]
pub use windows::{create_private_dir, private_file_options, shutdown_requested};
