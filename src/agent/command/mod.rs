//! Commands that a shell runs: what tells one from another, and what it is for.

mod build_tools;
mod directory;
mod goals;
mod launchers;
mod line;
mod naming;
mod purpose;
mod text;
mod variables;

pub(super) use line::Line;

/// A command that a shell runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The command in one line, without what does not tell it from another one.
    pub text: String,
    /// The directory that it runs in, absolute and without `.` and `..`; empty if it is not known.
    pub directory: String,
    /// What it is for.
    pub purpose: Purpose,
    /// Whether its exit status is that of the part that gives it its purpose: `cargo test | tail`
    /// exits as `tail` does, and `cargo test; echo` as `echo` does.
    pub tells_status: bool,
}

impl Command {
    /// By which two runs of the same command in the same directory are known as such.
    pub fn identity(&self) -> String {
        // No text has a line break.
        format!("{}\n{}", self.text, self.directory)
    }
}

/// What a command is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// Neither of the others.
    Other,
    /// Builds or checks the project, without running its tests.
    Build,
    /// Runs tests.
    Test,
}
