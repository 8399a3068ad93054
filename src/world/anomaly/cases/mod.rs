//! What the rules find in sessions that do this and that.

mod blame;
mod commands;
mod rules;
mod speech;

use crate::agent::{EventKind, Report, Status, ToolResult};
use crate::world::Kind;
use crate::world::scene::{
    Scene, edit, event, exit_status, in_subagent, path, prompt_event, read, run, run_in, tool_call,
};

/// One step of a session `s`, or of another one in the same project.
enum Step {
    Read(&'static str),
    /// The file can't be read.
    MissRead(&'static str),
    Edit(&'static str),
    /// The edit fails.
    FailEdit(&'static str),
    /// The agent refuses to make the edit.
    Reject(&'static str),
    /// Somebody changes a file.
    Change(&'static str),
    /// A command of the session rewrites a file.
    Format(&'static str),
    /// A command ends with this exit status.
    Run(&'static str, i64),
    /// The same in a directory of the project.
    RunIn(&'static str, &'static str, i64),
    /// Somebody ends a command.
    Interrupt(&'static str),
    /// Tests run, and these fail.
    Tests(&'static str, &'static [&'static str]),
    Wait(u64),
    /// A step of a subagent.
    Sub(&'static Step),
    /// A step of the other session.
    Other(&'static Step),
}

use Step::*;

fn take(scene: &mut Scene, session: &str, step: &Step) {
    let failed = Status::Failed { exit_code: None, interrupted: false };
    match *step {
        Read(file) => drop(scene.read(session, file)),
        MissRead(file) => {
            let call = scene.begin(session, "Read", read(file));
            scene.end(session, call, failed, Report::default());
        }
        Edit(file) => drop(scene.edit(session, file)),
        FailEdit(file) => {
            let call = scene.begin(session, "Edit", edit(file));
            scene.end(session, call, failed, Report::default());
        }
        Reject(file) => scene.reject_edit(session, file),
        Change(file) => scene.change(file),
        Format(file) => scene.rewrite(session, file),
        Run(command, exit_code) => drop(scene.run(session, command, exit_code)),
        RunIn(directory, command, exit_code) => {
            let call = scene.begin(session, "Bash", run_in(directory, command));
            scene.end(session, call, exit_status(exit_code), Report::default());
        }
        Interrupt(command) => {
            let status = Status::Failed { exit_code: Some(130), interrupted: true };
            scene.run_with(session, command, status, Report::default());
        }
        Tests(command, failed) => drop(scene.run_tests(session, command, failed)),
        Wait(minutes) => scene.pass(minutes),
        Sub(step) => take_in_subagent(scene, session, step),
        Other(step) => take(scene, "other", step),
    }
}

fn take_in_subagent(scene: &mut Scene, session: &str, step: &Step) {
    let (action, status) = match *step {
        Read(file) => (read(file), Status::Succeeded),
        Edit(file) => (edit(file), Status::Succeeded),
        FailEdit(file) => (edit(file), Status::Failed { exit_code: None, interrupted: false }),
        Run(command, exit_code) => (run(command), exit_status(exit_code)),
        _ => panic!("not a step of a subagent"),
    };
    let id = format!("sub {}", scene.now.as_unix_millis());
    let result =
        ToolResult { call: tool_call(&id, "Tool", action), status, report: Report::default() };
    scene.take(&in_subagent(event(session, "PostToolUse", EventKind::PostToolUse(result))));
}

/// The findings of session `s` after these steps, in words: rule, severity and subject.
fn found(steps: &[Step]) -> Vec<String> {
    let mut scene = Scene::new();
    for session in ["s", "other"] {
        scene.take(&prompt_event(session, false, None));
    }
    for step in steps {
        take(&mut scene, "s", step);
    }
    (scene.findings("s").iter())
        .map(|finding| {
            let subject = match &finding.command {
                Some(command) if finding.kind != Kind::TestStuck => command.text.as_str(),
                _ => finding.subject.strip_prefix(&path("")).unwrap_or(&finding.subject),
            };
            format!("{} {} {subject}", finding.severity.label(), finding.kind.name())
        })
        .collect()
}

#[track_caller]
fn assert_found(cases: &[(&str, &[Step], &[&str])]) {
    for (case, steps, expected) in cases {
        assert_eq!(found(steps), *expected, "{case}");
    }
}
