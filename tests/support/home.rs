//! A home directory that no other test sees.

use std::ffi::OsStr;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tempfile::TempDir;

use super::process::Run;

/// The longest that a `tma1` command which is not `serve` may take.
const COMMAND_LIMIT: Duration = Duration::from_secs(30);

/// A temporary HOME with a project in it, and `tma1` installed under `~/.local/bin`.
pub struct TestHome {
    _directory: TempDir,
    root: PathBuf,
    name: String,
    port: u16,
}

impl TestHome {
    /// The base name of the project directory.
    pub const PROJECT: &str = "demo-project";

    pub fn new() -> Self {
        Self::named("home")
    }

    /// The same with a name that a user may have.
    pub fn named(name: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        // As a process in it sees it; `/tmp` is a link on macOS.
        let root = fs_err::canonicalize(directory.path()).unwrap();
        let name = name.to_owned();
        let home = Self { _directory: directory, root, name, port: free_port() };
        fs_err::create_dir_all(home.project()).unwrap();
        fs_err::create_dir_all(home.binary().parent().unwrap()).unwrap();
        place_binary(&home.binary());
        create_private_dir(&home.tmp());
        home
    }

    /// Notes that the user wants no daemon. Codex hands its MCP servers no variable of ours, so that
    /// they would start one, which outlives the test.
    pub fn want_no_daemon(&self) {
        fs_err::create_dir_all(self.home().join(".tma1")).unwrap();
        fs_err::write(self.home().join(".tma1/stopped"), "").unwrap();
    }

    /// HOME.
    pub fn home(&self) -> PathBuf {
        self.root.join(&self.name)
    }

    /// The working directory of every command; not a Git repository.
    pub fn project(&self) -> PathBuf {
        self.root.join(Self::PROJECT)
    }

    /// Everything of this test: HOME, the project, TMPDIR.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// TMPDIR.
    pub fn tmp(&self) -> PathBuf {
        self.root.join("tmp")
    }

    /// The port of the daemon on 127.0.0.1; it was free a moment ago.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// A command that sees this home and nothing of the environment of the tests.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.project())
            .env_clear()
            .env("HOME", self.home())
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("TMPDIR", self.tmp())
            .env("LANG", "C.UTF-8")
            .env("TERM", "xterm-256color")
            .env("TMA1_PORT", self.port.to_string())
            // What a test starts, it ends.
            .env("TMA1_NO_AUTOSTART", "1");
        #[cfg(windows)]
        // Without it no process can open a socket.
        command.env("SystemRoot", r"C:\Windows");
        command
    }

    /// `tma1`, to be started by the caller.
    pub fn tma1_command(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(self.binary());
        command.args(arguments);
        command
    }

    /// Runs `tma1` to its end.
    pub fn tma1(&self, arguments: &[&str]) -> Run {
        Run::of(&mut self.tma1_command(arguments), COMMAND_LIMIT)
    }

    /// The token of the daemon, which must have run.
    pub fn token(&self) -> String {
        fs_err::read_to_string(self.home().join(".tma1/token")).unwrap().trim().to_owned()
    }

    /// Runs `tma1` to its end, with `input` on standard input.
    pub fn tma1_fed(&self, arguments: &[&str], input: &str) -> Run {
        Run::fed(&mut self.tma1_command(arguments), input.into(), COMMAND_LIMIT)
    }

    /// Where `tma1` is installed: a link to the binary under test.
    pub fn binary(&self) -> PathBuf {
        let name = format!("tma1{}", std::env::consts::EXE_SUFFIX);
        self.home().join(".local").join("bin").join(name)
    }
}

/// A daemon that was started in the background would outlive the test.
impl Drop for TestHome {
    fn drop(&mut self) {
        if self.home().join(".tma1/logs").exists() {
            drop(self.tma1_command(&["stop"]).output());
        }
    }
}

/// A port that no other test is given, be it a thread or a process beside this one. It lies below those
/// that the system hands out, which anybody may have a moment later.
fn free_port() -> u16 {
    const FIRST: u32 = 10_000;
    const COUNT: u32 = 22_768;
    /// As many as a process may need before it comes to those of the next one.
    const A_PROCESS: u32 = 64;
    static NEXT: AtomicU32 = AtomicU32::new(0);

    let start = std::process::id().wrapping_mul(A_PROCESS);
    (0..COUNT)
        .map(|_| FIRST + start.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)) % COUNT)
        .filter_map(|port| u16::try_from(port).ok())
        .find(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok())
        .expect("every port is taken")
}

/// The binary under test, at a path that stays the same when a new one is built.
fn place_binary(path: &Path) {
    let built = env!("CARGO_BIN_EXE_tma1");
    #[cfg(unix)]
    fs_err::os::unix::fs::symlink(built, path).unwrap();
    #[cfg(not(unix))]
    fs_err::copy(built, path).unwrap();
}

/// A copy of the binary under test at `path`.
///
/// Another process writes it: what this one had open for writing, a program that another test starts at
/// that moment would hold open, and a file that is open for writing can't be run.
pub fn copy_binary(path: &Path) {
    let built = env!("CARGO_BIN_EXE_tma1");
    #[cfg(unix)]
    assert!(Command::new("cp").arg(built).arg(path).status().unwrap().success());
    #[cfg(not(unix))]
    fs_err::copy(built, path).unwrap();
}

fn create_private_dir(path: &Path) {
    fs_err::create_dir(path).unwrap();
    #[cfg(unix)]
    fs_err::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
}

#[test]
fn a_test_runs_the_binary_in_a_home_of_its_own() {
    let home = TestHome::new();
    let run = home.tma1(&["--version"]).succeeded();
    assert_eq!(run.stdout, format!("tma1 {}\n", env!("CARGO_PKG_VERSION")));
}
