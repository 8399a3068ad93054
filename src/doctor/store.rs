//! The log of events, and the disk that it is on.

use std::time::Duration;

use crate::clock;
use crate::doctor::daemon::Daemon;
use crate::doctor::finding::{Check, Finding, Fix};
use crate::doctor::subject::Subject;
use crate::platform;
use crate::store::{self, StoreError};

const MIB: u64 = 1024 * 1024;

/// How long the log is looked at. A sound one of 50 MiB takes less.
const PATIENCE: Duration = Duration::from_millis(150);

/// Years of work. In bytes.
const LARGE: u64 = 4096 * MIB;

/// Below that the disk is full soon, in bytes; below the other it is.
const LITTLE_SPACE: u64 = 512 * MIB;
const NO_SPACE: u64 = 32 * MIB;

/// What an event may be ahead of the clock before that is worth a word.
const AHEAD: Duration = Duration::from_secs(5 * 60);

const FORGETS: &str = "the daemon does not start, or forgets what agents did when it ends";

/// What moves a log aside that can't be opened, and keeps what can be read of it.
const REPLACE: Fix = Fix::Tma1("restart");

/// Looks at the log.
pub(super) fn check(subject: &Subject<'_>, daemon: &Daemon) -> Vec<Finding> {
    let mut found = log(subject, daemon);
    found.push(space(subject));
    found.push(privacy(subject));
    found
}

fn log(subject: &Subject<'_>, daemon: &Daemon) -> Vec<Finding> {
    let (check, size) = (Check::new("store"), Check::new("store-size"));
    let clock_check = Check::new("events-time");
    let path = subject.paths.database();
    let name = subject.display(&path);
    let Ok(metadata) = fs_err::metadata(&path) else {
        let found = if daemon.answers() && subject.paths.data().is_dir() {
            let what = format!("{name} was removed from under the daemon");
            check.failure(what, FORGETS, Fix::Tma1("restart"))
        } else {
            check.skipped("nothing was recorded yet")
        };
        return vec![found];
    };
    let inspected = store::inspect(&path, PATIENCE);
    let mut found = vec![match &inspected {
        Ok(store::Inspection { damage: Some(damage), .. }) => {
            check.failure(format!("{name} is damaged: {damage}"), FORGETS, aside(&name))
        }
        Ok(store::Inspection { is_complete: true, .. }) => check.ok(format!("{name} is sound")),
        Ok(_) => check.ok(format!("{name} is sound as far as it was looked at")),
        Err(error @ (StoreError::Newer { .. } | StoreError::File(_))) => {
            check.failure(error.to_string(), FORGETS, Fix::ByHand(error.hint()))
        }
        Err(StoreError::Database { source, .. }) => {
            check.failure(format!("{name} can't be read: {source}"), FORGETS, REPLACE)
        }
    }];
    if metadata.len() > LARGE {
        let what = format!("{name} has {} MiB", metadata.len() / MIB);
        found.push(size.warning(what, "it fills the disk", aside(&name)));
    } else {
        found.push(size.ok(format!("{name} has {} MiB", metadata.len() / MIB)));
    }
    let latest = inspected.ok().and_then(|inspection| inspection.latest);
    found.push(match latest {
        Some(latest) if latest.since(clock::now()) > AHEAD => clock_check.warning(
            format!("{name} has events that are later than now"),
            "the clock was set back: sessions look newer than they are",
            Fix::ByHand("set the clock right".to_owned()),
        ),
        _ => clock_check.ok("no event is later than now"),
    });
    found
}

fn aside(name: &str) -> Fix {
    Fix::ByHand(format!(
        "run `tma1 stop`, move {name} aside with the files `-wal` and `-shm` beside it, and run \
         `tma1 start`, which begins a new one"
    ))
}

fn space(subject: &Subject<'_>) -> Finding {
    let check = Check::new("disk-space");
    let root = &subject.paths.root;
    let Some(folder) = root.ancestors().find(|folder| folder.is_dir()) else {
        return check.skipped("there is no disk to look at");
    };
    let Some(free) = platform::free_space(folder) else {
        return check.skipped("this system does not say how much is free");
    };
    let what = format!("{} MiB are free for {}", free / MIB, subject.display(root));
    let fix = || Fix::ByHand("make room on that disk".to_owned());
    if free < NO_SPACE {
        check.failure(what, "events are lost, and settings can't be written", fix())
    } else if free < LITTLE_SPACE {
        check.warning(what, "events will be lost once it is full", fix())
    } else {
        check.ok(what)
    }
}

fn privacy(subject: &Subject<'_>) -> Finding {
    let check = Check::new("private");
    let paths = subject.paths;
    let open = [paths.data(), paths.database(), paths.token()].into_iter().find(|path| {
        let mode = fs_err::metadata(path).map(|it| platform::attributes(&it).mode);
        mode.is_ok_and(|mode| mode & 0o077 != 0)
    });
    match open {
        None => check.ok("nobody else can read what is recorded"),
        Some(path) => {
            let name = subject.display(&path);
            let what = format!("others can read {name}");
            let meaning = "it tells what you and your agents do";
            check.warning(what, meaning, Fix::Shell(format!("chmod go= {name}")))
        }
    }
}
