//! How findings are said.

use crate::clock::Timestamp;
use crate::world::anomaly::finding::{Finding, Kind};
use crate::world::anomaly::{external_modified, stale_file_view, test_stuck};
use crate::world::files::{Author, Change};
use crate::world::value;

/// How many reasons are given why a turn must go on, at once.
pub(in crate::world) const MAX_REASONS: usize = 3;

/// How many commands are spoken of at once in the block.
const MAX_COMMANDS: usize = 3;

/// The lines of the block for these findings, which are sorted. Files and tests share a line a rule,
/// so that a branch switch is one line and not a hundred.
pub(in crate::world) fn lines(findings: &[Finding]) -> Vec<String> {
    findings
        .chunk_by(|one, other| (one.kind, one.severity) == (other.kind, other.severity))
        .flat_map(|group| {
            let group: Vec<_> = group.iter().collect();
            texts(&group)
                .into_iter()
                .zip(group)
                .map(|(text, finding)| line(finding, &text))
                .collect::<Vec<_>>()
        })
        .collect()
}

/// What is said after a tool call.
pub(in crate::world) fn one_liner(findings: &[Finding]) -> Option<String> {
    Some(format!("tma1: {}", lines(findings).first()?))
}

/// Why a turn must go on.
pub(in crate::world) fn reason(findings: &[Finding]) -> Option<String> {
    let sentences: Vec<_> = (findings.iter())
        .map(|finding| format!("tma1: {}. {}", finding.evidence, finding.suggestion))
        .collect();
    (!sentences.is_empty()).then(|| sentences.join("\n"))
}

/// Who changed a file, and when.
pub(super) fn change(change: &Change, now: Timestamp) -> String {
    let ago = value::ago(now.since(change.at));
    let done = if change.removed { "deleted" } else { "changed" };
    match &change.by {
        Author::Outside => format!("{done} from outside {ago}"),
        Author::Session(key) => {
            format!("{done} by the {} session {} {ago}", key.agent, value::short_id(&key.id))
        }
    }
}

/// The files that findings are about, the first of them by name.
pub(super) fn files_of(findings: &[&Finding]) -> String {
    value::list(findings.iter().flat_map(|finding| &finding.related_files).map(String::as_str))
}

fn line(finding: &Finding, text: &str) -> String {
    format!("[{}] {} — {text}", finding.severity.label(), finding.kind.name())
}

/// What to say of findings of one rule: one text for all, or one each.
fn texts(group: &[&Finding]) -> Vec<String> {
    match group {
        [first, _, ..] => match first.kind {
            Kind::StaleFileView => vec![stale_file_view::together(group)],
            Kind::ExternalModifiedDuringSession => vec![external_modified::together(group)],
            Kind::TestStuck => vec![test_stuck::together(group)],
            Kind::RepeatedFailedBuild | Kind::BuildBrokenAfterMyEdit | Kind::ContextPressure => {
                (group.iter().take(MAX_COMMANDS))
                    .map(|finding| finding.suggestion.clone())
                    .collect()
            }
        },
        group => group.iter().map(|finding| finding.suggestion.clone()).collect(),
    }
}
