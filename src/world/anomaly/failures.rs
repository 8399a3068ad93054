//! How the failures of a command read.

use crate::clock::Timestamp;
use crate::world::runs::Streak;
use crate::world::session::Session;
use crate::world::value;

/// How often a command failed, when it did last, and with what.
pub(super) fn evidence(
    streak: &Streak<'_>,
    within: Option<&str>,
    session: &Session,
    now: Timestamp,
) -> String {
    let last = streak.times.first().copied().unwrap_or(streak.first_at);
    let within = within.map(|within| format!(" {within}")).unwrap_or_default();
    let exit = streak.exit_code.map(|code| format!(" (exit {code})")).unwrap_or_default();
    let error = match &streak.report.error {
        Some(error) => format!(": {}", value::error(error).trim_end_matches('.')),
        None => String::new(),
    };
    format!(
        "{} failed {}{within}, last {}{exit}{error}",
        session.command(streak.command),
        times(streak.failures),
        value::ago(now.since(last)),
    )
}

/// What to do: where to look, if the output says it, and to run the command again.
pub(super) fn next_step(streak: &Streak<'_>, session: &Session) -> String {
    let command = session.command(streak.command);
    match &streak.report.place {
        Some(place) => {
            format!("Run {command} again after fixing {}", value::place(&session.project, place))
        }
        None => format!("Run {command} again after fixing what it reports"),
    }
}

/// The files that the session had edited, and the one that the output names.
pub(super) fn related_files(streak: &Streak<'_>, session: &Session) -> Vec<String> {
    let mut files: Vec<_> = streak.edited.iter().map(|path| session.file(path)).collect();
    if let Some((file, _)) = &streak.report.place {
        let file = session.file(file);
        if !files.contains(&file) {
            files.push(file);
        }
    }
    files
}

fn times(count: usize) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        count => format!("{count} times"),
    }
}
