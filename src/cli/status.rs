//! `tma1 status`: whether the daemon runs, and how it is.

use std::time::Duration;

use serde_json::{Value, json};

use crate::cli::{Context, ExitStatus, Failure};
use crate::clock::{self, Timestamp};
use crate::daemon::client::{self, Question, Status};
use crate::daemon::lifecycle::Presence;
use crate::daemon::token::Token;
use crate::export::Report;
use crate::history::{Overview, Reader, overview};
use crate::paths::Paths;
use crate::paths::older_log;
use crate::printable::printable;

/// How long the daemon may take to answer.
const ANSWER: Duration = Duration::from_secs(2);

/// Tell whether the daemon runs, and how it is.
///
/// The exit status is 1 if it does not run.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Print it as JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments, context: &Context) -> Result<ExitStatus, Failure> {
    let (said, told, status) = match Presence::of(&context.paths, context.config.port)? {
        Presence::Running { port, .. } => {
            let status = ask(port, &context.paths)?;
            let log_bytes = log_bytes(&context.paths);
            (describe(&status, log_bytes), report(&status, log_bytes), ExitStatus::Done)
        }
        Presence::Silent(holder) => {
            let pid = holder.map(|holder| holder.pid);
            let process = pid.map_or_else(String::new, |pid| format!(" (process {pid})"));
            let said =
                format!("The daemon{process} does not answer: it starts, ends or is stuck.\n");
            (said, json!({"running": true, "answers": false, "pid": pid}), ExitStatus::Failed)
        }
        Presence::Absent => {
            let store = stored(&context.paths);
            let said =
                not_running(context) + &store.as_ref().map_or_else(String::new, describe_store);
            (said, json!({"running": false, "store": store}), ExitStatus::Failed)
        }
    };
    context.printer.out(if arguments.json { format!("{told:#}\n") } else { said })?;
    Ok(status)
}

fn ask(port: u16, paths: &Paths) -> Result<Status, Failure> {
    let token = Token::read(&paths.token()).ok();
    let question = Question { method: "GET", target: "/api/status", token: token.as_ref(), paths };
    let answer = question.ask(port, clock::monotonic() + ANSWER)?;
    if answer.status != 200 {
        let error = anyhow::anyhow!("the daemon refused to tell, with status {}", answer.status);
        return Err(Failure::new(error, Some("`tma1 restart` replaces it".to_owned())));
    }
    serde_json::from_slice(&answer.body).map_err(|error| {
        Failure::new(error, Some("it may be of another version: `tma1 restart`".to_owned()))
    })
}

fn describe(status: &Status, log_bytes: u64) -> String {
    let memory =
        status.memory_bytes.map_or_else(String::new, |bytes| format!("memory: {}\n", size(bytes)));
    let export = status.export.as_ref().map_or_else(String::new, |it| export(it, clock::now()));
    let problem = status.log_problem.as_ref();
    let problem = problem.map_or_else(String::new, |it| format!("problem: {}\n", printable(it)));
    format!(
        "The daemon runs.\nprocess: {}\nversion: {}\nport: {}\nuptime: {}\nsessions: {}\n\
         events lost: {}\nlog: {}\n{memory}{problem}{export}{}",
        status.pid,
        status.version,
        status.port,
        uptime(status.uptime_s),
        status.sessions,
        status.events_lost,
        size(log_bytes),
        status.store.as_ref().map_or_else(String::new, describe_store),
    )
}

/// What the store holds.
fn describe_store(store: &Overview) -> String {
    let local = clock::local();
    let oldest = store.oldest_ts.map_or_else(String::new, |oldest| {
        let age = local.now.since(Timestamp::from_unix_millis(oldest)).as_secs();
        format!(", the oldest {} ago", uptime(age))
    });
    format!(
        "store: {}, {} events of {} sessions{oldest}\n",
        size(store.bytes),
        store.events,
        store.sessions
    )
}

fn report(status: &Status, log_bytes: u64) -> Value {
    let mut report = json!(status);
    if let Value::Object(fields) = &mut report {
        fields.insert("running".to_owned(), true.into());
        fields.insert("answers".to_owned(), true.into());
        fields.insert("log_bytes".to_owned(), log_bytes.into());
    }
    report
}

/// How far the export is behind, and what is in its way.
fn export(report: &Report, now: Timestamp) -> String {
    let ago = |millis: i64| uptime(now.since(Timestamp::from_unix_millis(millis)).as_secs());
    let Report { url, database, rows_behind, rows_sent, .. } = report;
    let behind = match (rows_behind, report.behind_since) {
        (0, _) | (_, None) => "up to date".to_owned(),
        (rows, Some(since)) => format!("{rows} rows behind, for {}", ago(since)),
    };
    let last = report.sent_at.map_or_else(String::new, |at| format!(", the last {} ago", ago(at)));
    let mut lines = vec![format!(
        "export: {behind}; to {}, database {database}; {rows_sent} rows sent{last}",
        printable(url)
    )];
    for (rows, what) in [
        (report.rows_set_aside, "that the server does not take"),
        (report.rows_expired, "older than the tables keep"),
        (report.rows_missing, "that the log forgot before they were sent"),
    ] {
        if rows > 0 {
            lines.push(format!("export left out: {rows} rows {what}"));
        }
    }
    lines.extend(report.set_aside.as_ref().map(|it| format!("export last left out: {it}")));
    if let Some(error) = &report.error {
        let next = report
            .next_attempt
            .map_or(0, |at| Timestamp::from_unix_millis(at).since(now).as_secs());
        lines.push(format!("export error: {error}; next attempt in {}", uptime(next)));
    }
    lines.push(String::new());
    lines.join("\n")
}

/// What the store holds, where no daemon tells; nothing if it can't be read.
fn stored(paths: &Paths) -> Option<Overview> {
    let reader = Reader::open(&paths.database(), Some(ANSWER)).ok()??;
    overview(&reader).ok()
}

fn not_running(context: &Context) -> String {
    let port = context.config.port;
    let stopped = if context.paths.stopped().exists() {
        "It was stopped, so hooks do not start it.\n"
    } else {
        ""
    };
    let taken = client::holder(port).map_or_else(String::new, |other| {
        let pid = other.pid;
        format!("Port {port} is taken by the daemon of another data directory (process {pid}).\n")
    });
    format!("The daemon is not running; `tma1 start` starts it.\n{stopped}{taken}")
}

/// The size of both files.
fn log_bytes(paths: &Paths) -> u64 {
    let log = paths.daemon_log();
    let size = |path| fs_err::metadata(path).map_or(0, |file| file.len());
    size(older_log(&log)) + size(log)
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1_024 => format!("{bytes} B"),
        1_024..1_048_576 => format!("{} KiB", bytes / 1_024),
        _ => format!("{}.{} MiB", bytes / 1_048_576, bytes % 1_048_576 * 10 / 1_048_576),
    }
}

fn uptime(seconds: u64) -> String {
    match (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, minutes) => format!("{minutes} min"),
        (0, hours, minutes) => format!("{hours} h {minutes} min"),
        (days, hours, _) => format!("{days} d {hours} h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::assert_snapshot;

    #[test]
    fn an_export_says_how_far_it_is_and_what_is_wrong() {
        let now = Timestamp::from_unix_millis(1_800_000_000_000);
        let before = |seconds: i64| Some(now.as_unix_millis() - seconds * 1_000);
        let fresh = Report {
            url: "https://db.example.com".to_owned(),
            database: "tma1".to_owned(),
            host: "laptop".to_owned(),
            rows_sent: 1_204,
            sent_at: before(2),
            ..Report::default()
        };
        let lagging = Report { rows_behind: 312, behind_since: before(190), ..fresh.clone() };
        let said = "Username and password does not match, username: tma1 (7002)";
        let failing = Report {
            error: Some(said.to_owned()),
            next_attempt: before(-290),
            sent_at: before(7_400),
            ..lagging.clone()
        };
        let losing = Report {
            rows_set_aside: 1,
            set_aside: Some("row 7 of tma1_messages: value out of range (2000)".to_owned()),
            rows_expired: 40,
            rows_missing: 3,
            ..fresh.clone()
        };
        let texts = [fresh, lagging, failing, losing].map(|report| export(&report, now));
        assert_snapshot("status-export", &texts.join("---\n"));
    }

    #[test]
    fn numbers_read_well() {
        let sizes = [0, 1_023, 1_024, 1_048_575, 1_048_576, 10_590_617].map(size);
        assert_eq!(sizes, ["0 B", "1023 B", "1 KiB", "1023 KiB", "1.0 MiB", "10.0 MiB"]);
        let times = [0, 59, 60, 3_599, 3_600, 86_399, 86_400, 950_400].map(uptime);
        let expected =
            ["0 s", "59 s", "1 min", "59 min", "1 h 0 min", "23 h 59 min", "1 d 0 h", "11 d 0 h"];
        assert_eq!(times, expected);
    }
}
