//! Commands that a shell runs: what tells one from another, and what it is for.

mod build_tools;
mod directory;
mod goals;
mod launchers;
mod line;
mod naming;
mod printed_status;
mod purpose;
mod scope;
mod text;
mod variables;

pub(super) use line::Line;
use scope::Scope;

use crate::agent::Status;
use crate::agent::shell::{self, Script};

/// With what `timeout` exits when the time is over.
const TIMED_OUT: i64 = 124;

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
    /// Whether nothing else in it can fail after that part: else the status may be the other's.
    fails_alone: bool,
    /// Whether it is ended when it takes too long.
    is_limited: bool,
    /// What its builds and tests take in; empty if that can't be told.
    scopes: Vec<Scope>,
}

impl Command {
    /// A command of which no more can be told, in a directory.
    pub(crate) fn unread(text: String, directory: String) -> Self {
        let purpose = Purpose::Other;
        Self {
            text,
            directory,
            purpose,
            tells_status: false,
            fails_alone: false,
            is_limited: false,
            scopes: Vec::new(),
        }
    }

    /// A command that is said to build or to test, and is the whole of what is run.
    pub fn of_build(text: &str, cwd: &str) -> Self {
        let text = shell::unwrapped(text);
        let mut command = Line::new(&text, Script::parse(&text).as_ref(), cwd).command;
        if command.purpose == Purpose::Other {
            command.purpose = Purpose::Build;
            (command.tells_status, command.fails_alone) = (true, true);
        }
        command
    }

    /// By which two runs of the same command in the same directory are known as such.
    pub fn identity(&self) -> String {
        // No text has a line break.
        format!("{}\n{}", self.text, self.directory)
    }

    /// How the part that gives it its purpose went, if the command has exited so.
    pub fn status_of_exit(&self, exit_code: i64) -> Status {
        match self.status_of_own_exit(exit_code) {
            _ if !self.tells_status => Status::Unknown,
            Status::Failed { interrupted: false, .. } if !self.fails_alone => Status::Unknown,
            status => status,
        }
    }

    /// How the part that gives it its purpose went, if that part has exited so.
    pub(super) fn status_of_own_exit(&self, exit_code: i64) -> Status {
        match Status::of_exit(exit_code) {
            Status::Failed { .. } if self.is_limited && exit_code == TIMED_OUT => {
                Status::Failed { exit_code: Some(exit_code), interrupted: true }
            }
            status => status,
        }
    }

    /// Whether a success of this command is one of `special`: it is the same, or takes in all that
    /// `special` does.
    pub fn covers(&self, special: &Self) -> bool {
        // If it has several parts and one alone decides, the others may have failed.
        let is_whole = self.tells_status || self.scopes.len() == 1;
        let is_covered = |scope: &Scope| self.scopes.iter().any(|it| it.covers(scope));
        self.identity() == special.identity()
            || is_whole && !special.scopes.is_empty() && special.scopes.iter().all(is_covered)
    }

    /// The tests that it runs some of: by it and their names they are known as the same.
    pub fn suite(&self) -> String {
        match self.scopes.as_slice() {
            [scope] => scope.suite(),
            _ => self.identity(),
        }
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
