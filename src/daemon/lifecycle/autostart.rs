//! Starts the daemon when a hook or an MCP server finds none.

use std::fs::TryLockError;
use std::io::{self, Read, Seek, Write};
use std::process::Child;
use std::time::Duration;

use crate::clock::Timestamp;
use crate::daemon::lifecycle::start::own_version;
use crate::daemon::lifecycle::{Launcher, Presence};
use crate::platform;

/// For how long nobody tries again: a burst of hooks starts one daemon, and one that can't run costs
/// a process a minute and not one a hook.
const INTERVAL: Duration = Duration::from_secs(60);

/// May start the daemon without being told to.
#[derive(Debug, Clone)]
pub struct Autostart {
    launcher: Launcher,
}

impl Autostart {
    /// None where the user does not want it, and where nothing is installed.
    pub fn new(launcher: Launcher) -> Option<Self> {
        let paths = &launcher.paths;
        let is_wanted = !launcher.environment.is_on("TMA1_NO_AUTOSTART")
            && paths.receipt().is_file()
            && !paths.stopped().exists();
        is_wanted.then_some(Self { launcher })
    }

    /// Starts the daemon unless that was tried a moment ago, and does not wait for it.
    pub fn launch(&self, now: Timestamp) -> io::Result<Option<Child>> {
        if self.is_due(now)? { self.launcher.launch().map(Some) } else { Ok(None) }
    }

    /// Has a daemon of an older version, if one runs, make room for one of ours.
    ///
    /// One of a later version stays: two programs that are both in use must not take turns.
    pub fn replace_older(&self, now: Timestamp) -> io::Result<()> {
        let Launcher { paths, port, .. } = &self.launcher;
        if let Presence::Running { health, .. } = Presence::of(paths, *port)?
            && is_older(&health.version, own_version())
            && self.is_due(now)?
        {
            self.launcher.start().map_err(io::Error::other)?;
        }
        Ok(())
    }

    /// Whether nobody has tried for a while; from now on, somebody has.
    fn is_due(&self, now: Timestamp) -> io::Result<bool> {
        let mut file = platform::open_private_file(&self.launcher.paths.autostart())?;
        match file.try_lock() {
            Ok(()) => {}
            // Somebody is about to.
            Err(TryLockError::WouldBlock) => return Ok(false),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let mut text = String::new();
        (&file).take(32).read_to_string(&mut text)?;
        if text.trim().parse().is_ok_and(|at| is_recent(Timestamp::from_unix_millis(at), now)) {
            return Ok(false);
        }
        file.set_len(0)?;
        file.rewind()?;
        writeln!(file, "{}", now.as_unix_millis())?;
        Ok(true)
    }
}

/// A time that is yet to come was written before the clock was set back, so it tells nothing.
fn is_recent(at: Timestamp, now: Timestamp) -> bool {
    at <= now && now.since(at) < INTERVAL
}

/// Whether the version `running` is older than `own`; what is no version of ours is not.
fn is_older(running: &str, own: &str) -> bool {
    let numbers = |version: &str| -> Option<[u64; 3]> {
        let release = version.split(['-', '+']).next()?;
        let numbers: Result<Vec<u64>, _> = release.split('.').map(str::parse).collect();
        numbers.ok()?.try_into().ok()
    };
    matches!((numbers(running), numbers(own)), (Some(running), Some(own)) if running < own)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Environment;
    use crate::paths::Paths;

    #[test]
    fn only_an_older_release_makes_room() {
        for (running, own, expected) in [
            ("0.1.0", "0.2.0", true),
            ("0.9.0", "0.10.0", true),
            ("1.0.0", "1.0.1", true),
            ("0.1.0", "0.1.0", false),
            ("0.2.0", "0.1.9", false),
            ("0.1.0-rc.1", "0.1.0", false),
            ("0.1", "0.2.0", false),
            ("", "0.2.0", false),
            ("x.y.z", "0.2.0", false),
        ] {
            assert_eq!(is_older(running, own), expected, "{running} {own}");
        }
    }

    #[test]
    fn it_is_tried_once_in_a_while_whatever_the_clock_does() {
        let home = tempfile::tempdir().unwrap();
        let environment: Environment = [("HOME", home.path())].into_iter().collect();
        let paths = Paths::resolve(&environment).unwrap();
        fs_err::create_dir_all(paths.receipt().parent().unwrap()).unwrap();
        let launcher = Launcher { program: "/none".into(), environment, paths, port: 1 };
        assert!(Autostart::new(launcher.clone()).is_none());
        fs_err::write(launcher.paths.receipt(), "{}").unwrap();
        let autostart = Autostart::new(launcher.clone()).unwrap();
        let is_due =
            |seconds: i64| autostart.is_due(Timestamp::from_unix_millis(seconds * 1_000)).unwrap();
        assert_eq!([1_000, 1_001, 1_059].map(is_due), [true, false, false]);
        assert_eq!([1_060, 1_061].map(is_due), [true, false]);
        // The clock is set back, then forth again.
        assert_eq!([500, 501, 5_000].map(is_due), [true, false, true]);
        for torn in ["", "x", "99999999999999999999999", "-1"] {
            fs_err::write(launcher.paths.autostart(), torn).unwrap();
            assert_eq!([9_000, 9_001].map(is_due), [true, false], "{torn}");
        }
        let held = fs_err::File::open(launcher.paths.autostart()).unwrap();
        held.try_lock().unwrap();
        assert!(!is_due(99_000));
        drop(held);
        assert!(is_due(99_000));
        fs_err::write(launcher.paths.stopped(), "").unwrap();
        assert!(Autostart::new(launcher).is_none());
    }
}
