//! A running `tma1 serve`.

use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
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
        Self::start_command(home, home.tma1_command(&["serve"]))
    }

    /// The same with a command that the caller has changed.
    #[track_caller]
    pub fn start_command(home: &TestHome, command: Command) -> Self {
        let log = File::create(home.tmp().join("daemon.log")).unwrap().into_parts().0;
        Self::start_saying_to(home, command, log)
    }

    /// The same with a standard error of the caller's choice.
    #[track_caller]
    pub fn start_saying_to(home: &TestHome, command: Command, stderr: impl Into<Stdio>) -> Self {
        Self::start_and_await(home, home.port(), command, stderr)
    }

    /// The same on another port, which `command` has.
    #[track_caller]
    pub fn start_at(home: &TestHome, port: u16, command: Command) -> Self {
        let log = File::create(home.tmp().join("daemon.log")).unwrap().into_parts().0;
        Self::start_and_await(home, port, command, log)
    }

    #[track_caller]
    fn start_and_await(
        home: &TestHome,
        port: u16,
        mut command: Command,
        stderr: impl Into<Stdio>,
    ) -> Self {
        let log = home.tmp().join("daemon.log");
        let child =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr).spawn().unwrap();
        // It holds the caller's end of a pipe.
        drop(command);
        let mut daemon = Self { child, port, log };
        let answers = || matches!(http::request(port, "GET", "/health", b""), Ok((200, _)));
        let answered = daemon.wait_until(|daemon| answers() || daemon.status().is_some());
        assert!(
            answered && daemon.status().is_none(),
            "the daemon does not answer ({:?}): {}",
            daemon.status(),
            fs_err::read_to_string(&daemon.log).unwrap_or_default()
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
    pub fn stop(self) -> ExitStatus {
        self.stop_by("TERM")
    }

    /// The same by a signal of the caller's choice.
    pub fn stop_by(mut self, signal: &str) -> ExitStatus {
        self.send(signal);
        self.status().expect("the daemon was asked to end and did not")
    }

    /// How the daemon ended, which it was told to by somebody else.
    pub fn ended(mut self) -> ExitStatus {
        self.wait_until(|daemon| daemon.status().is_some());
        self.status().expect("the daemon was told to end and did not")
    }

    /// Ends the daemon without asking.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    fn status(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }

    fn send(&mut self, name: &str) {
        signal(name, self.pid());
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
            self.send("TERM");
        }
        if self.status().is_none() {
            self.child.kill().unwrap();
            self.child.wait().unwrap();
        }
    }
}
