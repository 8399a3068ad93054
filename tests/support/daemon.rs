//! A running `tma1 serve`.

use std::path::PathBuf;
use std::process::{Child, ExitStatus, Stdio};
use std::time::Duration;

use fs_err::File;
use serde_json::Value;
use tma1::clock;

use super::home::TestHome;
use super::http;
use super::process::signal;

/// The longest that the daemon may take to start, and to end.
const PATIENCE: Duration = Duration::from_secs(10);

/// The daemon of a [`TestHome`]; it is ended when this is dropped.
#[derive(Debug)]
pub struct Daemon {
    child: Child,
    port: u16,
    log: PathBuf,
}

impl Daemon {
    /// Starts the daemon and waits until it answers.
    #[track_caller]
    pub fn start(home: &TestHome) -> Self {
        let log = home.tmp().join("daemon.log");
        let output = File::create(&log).unwrap().into_parts().0;
        let child = home
            .tma1_command(&["serve"])
            .stdin(Stdio::null())
            .stdout(output.try_clone().unwrap())
            .stderr(output)
            .spawn()
            .unwrap();
        let mut daemon = Self {
            child,
            port: home.port(),
            log,
        };
        let answers = || {
            matches!(
                http::request(home.port(), "GET", "/health", b""),
                Ok((200, _))
            )
        };
        let answered = daemon.wait_until(|daemon| answers() || daemon.status().is_some());
        assert!(
            answered && daemon.status().is_none(),
            "the daemon does not answer ({:?}): {}",
            daemon.status(),
            fs_err::read_to_string(&daemon.log).unwrap()
        );
        daemon
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What the daemon says about itself.
    pub fn health(&self) -> Value {
        let (status, body) = http::request(self.port, "GET", "/health", b"").unwrap();
        assert_eq!(status, 200, "{body}");
        serde_json::from_str(&body).unwrap()
    }

    /// Posts one hook event; `query` is empty or starts with `?`.
    pub fn post_event(&self, event: &[u8], query: &str) -> (u16, String) {
        http::request(self.port, "POST", &format!("/api/hooks{query}"), event).unwrap()
    }

    /// Asks the daemon to end and waits until it has. On Windows there is no asking.
    pub fn stop(mut self) -> ExitStatus {
        self.terminate();
        self.status()
            .expect("the daemon was asked to end and did not")
    }

    /// Ends the daemon without asking.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    fn status(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }

    fn terminate(&mut self) {
        signal("TERM", self.pid());
        self.wait_until(|daemon| daemon.status().is_some());
    }

    fn wait_until(&mut self, mut condition: impl FnMut(&mut Self) -> bool) -> bool {
        let deadline = clock::monotonic() + PATIENCE;
        while clock::monotonic() < deadline {
            if condition(self) {
                return true;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        false
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        if self.status().is_none() {
            self.terminate();
        }
        if self.status().is_none() {
            self.child.kill().unwrap();
            self.child.wait().unwrap();
        }
    }
}

#[cfg(unix)]
#[test]
fn the_daemon_says_what_it_is_and_ends_when_asked() {
    let home = TestHome::new();
    let daemon = Daemon::start(&home);
    let health = daemon.health();
    assert!(health["status"].is_string(), "{health}");
    assert_eq!(health["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(health["pid"], daemon.pid());
    assert!(!health["protocol"].is_null(), "{health}");
    assert!(daemon.stop().success());
}

#[test]
fn a_daemon_that_was_killed_leaves_nothing_in_the_way_of_the_next() {
    let home = TestHome::new();
    Daemon::start(&home).kill();
    drop(Daemon::start(&home));
}
