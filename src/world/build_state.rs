//! The builds of a project, as data for who asks: the answer of the tool `get_build_status`.
//!
//! A model reads it, so every text in it is [cut and cleaned](super::value) as in the block. The names of
//! the fields are part of the interface.

use serde::Serialize;

use crate::agent::Purpose;
use crate::clock::Timestamp;
use crate::world::builds::{Build, Builds};
use crate::world::outcome::Outcome;
use crate::world::session::Session;
use crate::world::value;

/// How many failed tests of a build are named.
const MAX_FAILED_TESTS: usize = 8;

/// What was built and tested last in a project, whichever session did it.
#[derive(Debug, Serialize)]
pub struct BuildStatus {
    project: String,
    /// How the latest one that has ended went: `green`, `red` or `unknown`.
    state: &'static str,
    /// Latest first.
    builds: Vec<BuildState>,
}

#[derive(Debug, Serialize)]
struct BuildState {
    command: String,
    /// What it is for: `build` or `test`.
    tag: &'static str,
    /// Where it runs, if that is not the root of the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    directory: Option<String>,
    /// Whose call it was; none of a person, who runs it with `tma1 build`.
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    /// `running`, `succeeded`, `failed`, `interrupted` or `unknown`.
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i64>,
    /// Since it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_ago_s: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// A file and a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failed_tests: Vec<String>,
}

impl BuildStatus {
    /// The builds of the project of `session`, all or those with this `tag`.
    pub(super) fn of(
        session: &Session,
        builds: Option<&Builds>,
        tag: Option<&str>,
        now: Timestamp,
    ) -> Self {
        let builds = builds.into_iter().flat_map(Builds::latest_first);
        let builds: Vec<_> =
            builds.filter(|build| tag.is_none_or(|tag| tag_of(build) == tag)).collect();
        let ended = builds.iter().filter_map(|build| Some(build.end.as_ref()?.outcome));
        let told = ended.into_iter().find_map(|outcome| match outcome {
            Outcome::Succeeded => Some("green"),
            Outcome::Failed { .. } => Some("red"),
            Outcome::Interrupted | Outcome::Unknown => None,
        });
        Self {
            project: value::name(session.project.name()),
            state: told.unwrap_or("unknown"),
            builds: builds.iter().map(|build| BuildState::of(build, session, now)).collect(),
        }
    }
}

fn tag_of(build: &Build) -> &'static str {
    match build.command.purpose {
        Purpose::Test => "test",
        Purpose::Build | Purpose::Other => "build",
    }
}

impl BuildState {
    fn of(build: &Build, session: &Session, now: Timestamp) -> Self {
        let (project, end) = (&session.project, build.end.as_ref());
        let (state, exit_code) = match end.map(|end| end.outcome) {
            None => ("running", None),
            Some(Outcome::Succeeded) => ("succeeded", Some(0)),
            Some(Outcome::Failed { exit_code }) => ("failed", exit_code),
            Some(Outcome::Interrupted) => ("interrupted", None),
            Some(Outcome::Unknown) => ("unknown", None),
        };
        let report = end.filter(|end| end.outcome.is_failure()).map(|end| &end.report);
        let failed_tests = report.map_or(&[][..], |report| &report.failed_tests);
        Self {
            command: value::command(&build.command.text),
            tag: tag_of(build),
            directory: project.other_directory(&build.command.directory).map(value::path),
            agent: build.by.as_ref().map(|by| by.agent.name()),
            session: build.by.as_ref().map(|by| value::short_id(&by.id)),
            state,
            exit_code,
            ended_ago_s: end.map(|end| now.since(end.at).as_secs()),
            error: report.and_then(|report| report.error.as_deref()).map(value::error),
            place: report
                .and_then(|report| report.place.as_ref())
                .map(|place| value::place(project, place)),
            failed_tests: failed_tests
                .iter()
                .take(MAX_FAILED_TESTS)
                .map(|name| value::test(name))
                .collect(),
        }
    }
}
