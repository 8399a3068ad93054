//! What a check has found.

use crate::agent::Agent;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// As it should be.
    Ok,
    /// Not looked at: there is nothing to look at, or another check has to be fine first.
    Skipped,
    /// It works, but not as well as it could, or not for long.
    Warning,
    /// Something that was asked for does not work.
    Failure,
}

impl Status {
    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Skipped => "skipped",
            Self::Warning => "warning",
            Self::Failure => "failure",
        }
    }
}

/// What mends a fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fix {
    /// An install of the adapter; `tma1 doctor --fix` makes it.
    Install(Agent),
    /// The same for the files of the project too.
    InstallProject(Agent),
    /// A subcommand of ours with its arguments.
    Tma1(&'static str),
    /// A command of the shell.
    Shell(String),
    /// What only the user can do or decide, in words.
    ByHand(String),
}

/// One line of the result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The check. Programs know it by this name, so it stays from version to version.
    pub check: &'static str,
    /// The adapter that was looked at, if it is about one.
    pub agent: Option<Agent>,
    /// How bad it is.
    pub status: Status,
    /// What was found.
    pub what: String,
    /// What follows from it for the user; empty where nothing does.
    pub meaning: &'static str,
    /// What mends it, if anything is to be mended.
    pub fix: Option<Fix>,
}

impl Finding {
    /// Whether an install mends it.
    pub const fn is_repairable(&self) -> bool {
        matches!(self.fix, Some(Fix::Install(_) | Fix::InstallProject(_)))
    }
}

/// A check that is being made; it makes the findings.
#[derive(Debug, Clone, Copy)]
pub(super) struct Check {
    name: &'static str,
    agent: Option<Agent>,
}

impl Check {
    /// A check of the whole.
    pub(super) const fn new(name: &'static str) -> Self {
        Self { name, agent: None }
    }

    /// A check of one adapter.
    pub(super) const fn of(name: &'static str, agent: Agent) -> Self {
        Self { name, agent: Some(agent) }
    }

    pub(super) fn ok(self, what: impl Into<String>) -> Finding {
        self.finding(Status::Ok, what.into(), "", None)
    }

    pub(super) fn skipped(self, what: impl Into<String>) -> Finding {
        self.finding(Status::Skipped, what.into(), "", None)
    }

    pub(super) fn warning(
        self,
        what: impl Into<String>,
        meaning: &'static str,
        fix: Fix,
    ) -> Finding {
        self.finding(Status::Warning, what.into(), meaning, Some(fix))
    }

    pub(super) fn failure(
        self,
        what: impl Into<String>,
        meaning: &'static str,
        fix: Fix,
    ) -> Finding {
        self.finding(Status::Failure, what.into(), meaning, Some(fix))
    }

    fn finding(
        self,
        status: Status,
        what: String,
        meaning: &'static str,
        fix: Option<Fix>,
    ) -> Finding {
        Finding { check: self.name, agent: self.agent, status, what, meaning, fix }
    }
}
