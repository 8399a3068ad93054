//! The machine: what we need of it beside its disk.

use std::time::Duration;

use crate::clock::{self, Timestamp};
use crate::doctor::finding::{Check, Finding, Fix};
use crate::doctor::subject::Subject;

/// 2024, in milliseconds since the Unix epoch. No clock that is right says less.
const LONG_AGO: Timestamp = Timestamp::from_unix_millis(1_704_067_200_000);

/// What a clock may differ from the one of a disk.
const OFF: Duration = Duration::from_secs(24 * 60 * 60);

/// The least number of files that a user should be able to watch.
const FEW_WATCHES: u64 = 8192;

/// Looks at the machine.
pub(super) fn check(subject: &Subject<'_>) -> Vec<Finding> {
    vec![path(subject), time(subject), watches(subject)]
}

/// Whether the `tma1` that the user would start is this one.
fn path(subject: &Subject<'_>) -> Finding {
    let check = Check::new("path");
    let own = std::env::current_exe().and_then(fs_err::canonicalize).ok();
    match subject.on_path("tma1") {
        None => check.skipped("there is no `tma1` on the PATH"),
        Some(found) if fs_err::canonicalize(&found).ok() == own => {
            check.ok(format!("`tma1` is {}", subject.display(&found)))
        }
        Some(found) => {
            let name = subject.display(&found);
            let what = format!("`tma1` is {name}, which is another program than this one");
            let meaning = "what you type is not what you check here";
            let fix = Fix::ByHand(format!("remove {name}, or put the right folder first"));
            check.warning(what, meaning, fix)
        }
    }
}

fn time(subject: &Subject<'_>) -> Finding {
    let check = Check::new("clock");
    let now = clock::now();
    let fix = || Fix::ByHand("set the clock right".to_owned());
    if now < LONG_AGO {
        return check.failure("the clock says a year before 2024", WRONG_TIMES, fix());
    }
    // What was written last was not written later than now.
    let written = [subject.paths.receipt(), subject.paths.token()];
    let written = written.iter().filter_map(|path| fs_err::metadata(path).ok()?.modified().ok());
    match written.max() {
        Some(latest) if Timestamp::from_system(latest).since(now) > OFF => {
            check.warning("files of ours are from a later day than the clock's", WRONG_TIMES, fix())
        }
        _ => check.ok("the clock can be right"),
    }
}

const WRONG_TIMES: &str = "what is recorded gets wrong times, and what is recent is not known";

fn watches(subject: &Subject<'_>) -> Finding {
    let check = Check::new("inotify");
    let limit = subject.system.join("proc/sys/fs/inotify/max_user_watches");
    let limit = fs_err::read_to_string(limit).ok();
    let limit = limit.and_then(|text| text.trim().parse::<u64>().ok());
    match limit {
        None => check.skipped("this system has no such limit"),
        Some(limit) if limit < FEW_WATCHES => check.warning(
            format!("only {limit} files can be watched (fs.inotify.max_user_watches)"),
            "agents and editors may miss changes of files",
            Fix::Shell("sudo sysctl fs.inotify.max_user_watches=524288".to_owned()),
        ),
        Some(limit) => check.ok(format!("{limit} files can be watched")),
    }
}
