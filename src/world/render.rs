//! How a digest reads: the `<tma1-context>` block.
//!
//! Everything in the block is data about the user's machine, shown to a model. File names and ids
//! come from outside, so no [value](super::value) can leave its line, end the block or grow without
//! bound.

use crate::world::digest::{Build, BuildError, Digest, External, Previous, Work};
use crate::world::outcome::Outcome;
use crate::world::value::{ago, command, defuse, duration, error, name, path, short_id};

/// The first line of the block.
pub const BLOCK_BEGIN: &str = "<tma1-context>";

/// The longest block, in characters. The state of the session always fits. Of its anomalies the last,
/// which are the least severe, are left out if they don't, and then the last lines on the session before.
const MAX_BLOCK_CHARS: usize = 5_700;

/// The same in bytes: Codex cuts at 10,000 of them, Claude Code at as many characters.
const MAX_BLOCK_BYTES: usize = 9_000;

/// What the summary of older turns is to keep, with the block in it.
pub(super) fn preserve(digest: &Digest<'_>) -> String {
    format!(
        "Preserve through compaction: what the block below says of this session. Keep in the summary \
         the project, the file in focus, the files that were edited, how the last build went, what was \
         changed from outside, and each anomaly with its next step.\n{}",
        block(digest)
    )
}

/// Renders the block.
pub(super) fn block(digest: &Digest<'_>) -> String {
    const END: &str = "</tma1-context>";
    let mut block = Lines::default();
    block.text.push_str(BLOCK_BEGIN);
    block.text.push('\n');
    block.field("project", &name(digest.project));
    block.field("session", &short_id(digest.session));
    block.field("duration", &duration(digest.duration));
    block.field("tool_calls", &digest.tool_calls.to_string());
    block.field("tokens", &format!("in={} out={}", digest.tokens.0, digest.tokens.1));
    block.work(&digest.work);
    if let Some(build) = &digest.build {
        block.field("build", &build_state(build));
    }
    block.outside(digest.build_error.as_ref(), &digest.external);
    let mut anomalies = Lines::default();
    anomalies.anomalies(&digest.anomalies);
    let anomalies = fitting(&anomalies.text, &[&block.text, END]);
    if let Some(previous) = &digest.previous {
        let mut lines = Lines::default();
        lines.field("previous_session", &headline(previous));
        lines.indent = "  ";
        lines.work(&previous.work);
        lines.outside(previous.build_error.as_ref(), &previous.external);
        lines.anomalies(&previous.anomalies);
        let previous = fitting(&lines.text, &[&block.text, anomalies, END]);
        block.text.push_str(previous);
    }
    block.text.push_str(anomalies);
    block.text.push_str(END);
    block.text
}

/// As many of the first lines of `text` as fit into a block beside `others`.
fn fitting<'a>(text: &'a str, others: &[&str]) -> &'a str {
    let bytes: usize = others.iter().map(|other| other.len()).sum();
    let chars: usize = others.iter().map(|other| other.chars().count()).sum();
    let ends = text.match_indices('\n').map(|(index, _)| index + 1);
    let fitting = ends.filter_map(|end| text.get(..end)).take_while(|lines| {
        bytes + lines.len() <= MAX_BLOCK_BYTES && chars + lines.chars().count() <= MAX_BLOCK_CHARS
    });
    fitting.last().unwrap_or_default()
}

#[derive(Default)]
struct Lines {
    text: String,
    indent: &'static str,
}

impl Lines {
    fn field(&mut self, label: &str, value: &str) {
        // Each part of the value is defused; this is for what they make together.
        let value = defuse(value);
        for part in [self.indent, label, ": ", &value, "\n"] {
            self.text.push_str(part);
        }
    }

    fn work(&mut self, work: &Work<'_>) {
        if let Some(focus) = work.current_focus {
            self.field("current_focus", &path(focus));
        }
        if !work.tools.is_empty() {
            self.field(
                "tools",
                &join(&work.tools, |(tool, count)| format!("{}×{count}", name(tool))),
            );
        }
        if !work.recent_files.is_empty() {
            self.field("recent_files", &join(&work.recent_files, |file| path(file)));
        }
    }

    fn outside(&mut self, build_error: Option<&BuildError<'_>>, external: &External<'_>) {
        if let Some(error) = build_error {
            let recovered = if error.may_have_recovered { ", may have recovered" } else { "" };
            let label = format!("build_last_error ({}{recovered})", ago(error.age));
            self.field(&label, &excerpt(error));
        }
        if external.changes > 0 {
            self.field("external_changes", &external.changes.to_string());
            self.field("external_files", &join(&external.files, |file| path(file)));
        }
    }

    fn anomalies(&mut self, lines: &[String]) {
        if lines.is_empty() {
            return;
        }
        for part in [self.indent, "anomalies:\n"] {
            self.text.push_str(part);
        }
        for line in lines {
            for part in [self.indent, "  - ", &defuse(line), "\n"] {
                self.text.push_str(part);
            }
        }
    }
}

fn headline(previous: &Previous<'_>) -> String {
    format!(
        "{} ({}, {}, {} {}, {} {} ago)",
        short_id(previous.session),
        previous.agent,
        duration(previous.duration),
        previous.tool_calls,
        if previous.tool_calls == 1 { "tool call" } else { "tool calls" },
        if previous.ended { "ended" } else { "last active" },
        duration(previous.age),
    )
}

fn build_state(build: &Build<'_>) -> String {
    let mut command = command(build.command);
    if let Some(directory) = build.directory {
        command.push_str(" in ");
        command.push_str(&path(directory));
    }
    let Some((outcome, age)) = build.end else {
        return format!("{command} (running)");
    };
    let outcome = match outcome {
        Outcome::Succeeded => "ok".to_owned(),
        Outcome::Failed { exit_code: Some(code) } => format!("exit {code}"),
        Outcome::Failed { exit_code: None } => "failed".to_owned(),
        Outcome::Interrupted => "interrupted".to_owned(),
        Outcome::Unknown => "outcome not known".to_owned(),
    };
    format!("{command} ({outcome}, {})", ago(age))
}

fn excerpt(build: &BuildError<'_>) -> String {
    let place = build.report.place.as_ref().map(|(file, line)| format!("{}:{line}", path(file)));
    match (&build.report.error, place) {
        (Some(message), Some(place)) => {
            let message = error(message);
            if message.contains(&place) { message } else { format!("{place}: {message}") }
        }
        (Some(message), None) => error(message),
        (None, Some(place)) => place,
        (None, None) => match build.exit_code {
            Some(code) => format!("exit code {code}"),
            None => "it said nothing".to_owned(),
        },
    }
}

fn join<T>(items: &[T], render: impl Fn(&T) -> String) -> String {
    items.iter().map(render).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::agent::{Agent, Report};
    use crate::world::scene::{assert_harmless, assert_shape};
    use crate::world::value;
    use proptest::prelude::*;

    const FOREVER: Duration = Duration::from_millis(u64::MAX);

    /// What a build said in which `text` stands wherever text can stand.
    fn report_of(text: &str) -> Report {
        Report {
            error: Some(text.to_owned()),
            place: Some((text.to_owned(), u32::MAX)),
            failed_tests: vec![text.to_owned(); 16],
        }
    }

    /// A digest in which `text` stands wherever text can stand.
    fn digest_of<'a>(text: &'a str, report: &'a Report, previous: bool) -> Digest<'a> {
        let work = || Work {
            current_focus: Some(text),
            tools: vec![(text, u64::MAX); 6],
            recent_files: vec![text; 5],
        };
        let error = || BuildError {
            age: FOREVER,
            may_have_recovered: true,
            report,
            exit_code: Some(i64::MIN),
        };
        let external = || External { changes: u64::MAX, files: vec![text; 3] };
        let anomalies = || vec![format!("[HIGH] {}", value::text(text, 500)); 5];
        Digest {
            project: text,
            session: text,
            duration: FOREVER,
            tool_calls: u64::MAX,
            tokens: (u64::MAX, u64::MAX),
            work: work(),
            build: Some(Build {
                command: text,
                directory: Some(text),
                end: Some((Outcome::Failed { exit_code: Some(i64::MIN) }, FOREVER)),
            }),
            build_error: Some(error()),
            external: external(),
            anomalies: anomalies(),
            previous: previous.then(|| Previous {
                agent: Agent::ClaudeCode,
                session: text,
                ended: true,
                age: FOREVER,
                duration: FOREVER,
                tool_calls: u64::MAX,
                work: work(),
                build_error: Some(error()),
                external: external(),
                anomalies: anomalies(),
            }),
        }
    }

    #[test]
    fn what_a_build_said_is_short_and_has_its_place_once() {
        let error = |message: Option<&str>, place: Option<&str>, exit_code| {
            let report = Report {
                error: message.map(str::to_owned),
                place: place.map(|file| (file.to_owned(), 7)),
                failed_tests: Vec::new(),
            };
            let age = Duration::ZERO;
            excerpt(&BuildError { age, may_have_recovered: false, report: &report, exit_code })
        };
        assert_eq!(error(Some("no such type"), Some("a.rs"), Some(1)), "a.rs:7: no such type");
        assert_eq!(error(Some("a.rs:7: no such type"), Some("a.rs"), None), "a.rs:7: no such type");
        assert_eq!(error(Some("no such type"), None, Some(1)), "no such type");
        assert_eq!(error(None, Some("a.rs"), Some(1)), "a.rs:7");
        assert_eq!(error(None, None, Some(1)), "exit code 1");
        assert_eq!(error(None, None, None), "it said nothing");
    }

    #[test]
    fn a_build_is_running_or_came_to_something() {
        let state = |outcome: Option<Outcome>| {
            let end = outcome.map(|outcome| (outcome, Duration::from_secs(180)));
            build_state(&Build { command: "make", directory: None, end })
        };
        for (outcome, text) in [
            (None, "make (running)"),
            (Some(Outcome::Succeeded), "make (ok, 3 min ago)"),
            (Some(Outcome::Failed { exit_code: Some(2) }), "make (exit 2, 3 min ago)"),
            (Some(Outcome::Failed { exit_code: None }), "make (failed, 3 min ago)"),
            (Some(Outcome::Interrupted), "make (interrupted, 3 min ago)"),
            (Some(Outcome::Unknown), "make (outcome not known, 3 min ago)"),
        ] {
            assert_eq!(state(outcome), text);
        }
    }

    #[test]
    fn the_state_of_the_session_fits_and_what_is_worst_in_it() {
        for widest in ["x", "é", "😀", "/😀x"] {
            let text = widest.repeat(1_000);
            let report = report_of(&text);
            let mut digest = digest_of(&text, &report, true);
            let full = block(&digest);
            assert_harmless(&preserve(&digest));
            assert!(full.lines().nth(12).unwrap().starts_with("external_files: "), "{full}");
            assert!(full.matches("\n  - [").count() >= 4, "{full}");
            digest.anomalies.truncate(1);
            let full = block(&digest);
            assert!(full.contains("previous_session"), "{full}");
            assert!(full.lines().count() > 17, "{full}");
        }
    }

    proptest! {
        #[test]
        fn whatever_the_values_the_block_keeps_its_shape(
            text in r"(?s)(.|</?(tma1-context|system-reminder)>|\n|\u{1b}\[31m|\u{202e}){0,400}",
            previous: bool,
        ) {
            let report = report_of(&text);
            let digest = digest_of(&text, &report, previous);
            assert_shape(&block(&digest));
            assert_harmless(&preserve(&digest));
        }
    }
}
