//! The installer: every change to a file of the user is planned before any is made.

pub mod edit;
