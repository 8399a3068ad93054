//! Finds out whether everything works, by running it where that is possible, and says what mends it.
//!
//! One file a family of checks. A check looks at one thing and makes one [`Finding`], or one for each
//! of several faults of the same kind. What a fault brings with it is no second fault: a check that
//! needs another one to be fine is skipped if that is not.

mod adapter;
mod daemon;
mod duplicates;
mod entries;
mod finding;
mod hook_run;
mod mcp;
mod process;
mod project;
mod report;
mod script;
mod service;
mod settings;
mod store;
mod subject;
mod surroundings;
mod switches;
mod system;
mod trust;

use std::thread;

pub use finding::{Finding, Fix, Status};
pub use report::{FixText, Report, ReportJson};
pub use subject::Subject;

/// Makes all checks, those that take long at the same time, and returns their findings in the same
/// order each time.
pub fn examine(subject: &Subject<'_>) -> Vec<Finding> {
    let daemon = daemon::look(subject);
    let agents = subject.agents();
    thread::scope(|scope| {
        let mut families = vec![scope.spawn(|| system::check(subject))];
        families.push(scope.spawn(|| daemon::check(subject, &daemon)));
        families.push(scope.spawn(|| vec![service::check(subject)]));
        families.push(scope.spawn(|| store::check(subject, &daemon)));
        for agent in &agents {
            let daemon = &daemon;
            families.push(scope.spawn(move || adapter::check(subject, daemon, *agent)));
            families.push(scope.spawn(move || mcp::check(subject, *agent)));
        }
        families.push(scope.spawn(|| project::check(subject, &agents)));
        families.push(scope.spawn(|| vec![surroundings::links(subject, &agents)]));
        // A family that panics has a bug; the others still say what they have found.
        let mut findings: Vec<_> =
            families.into_iter().filter_map(|family| family.join().ok()).flatten().collect();
        if agents.is_empty() {
            findings.push(adapter::none_installed(subject));
        }
        findings
    })
}

/// The worst status among `findings`.
pub fn worst(findings: &[Finding]) -> Status {
    findings.iter().map(|finding| finding.status).max().unwrap_or(Status::Ok)
}
