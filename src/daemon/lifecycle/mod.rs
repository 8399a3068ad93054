//! The daemon from outside: whether it is there, how it is started and how it is ended.
//!
//! Nothing here trusts the number of a process in a file: a daemon is the program that holds the lock
//! of the data directory and answers on its port, and it is asked to end over HTTP.

mod autostart;
mod error;
mod launch;
mod presence;
mod start;
mod stop;

pub use autostart::Autostart;
pub use error::LifecycleError;
pub use launch::Launcher;
pub use presence::Presence;
pub use start::Started;
pub use stop::{allow_autostart, forbid_autostart, stop};
