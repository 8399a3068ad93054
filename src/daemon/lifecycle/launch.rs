//! Starts the daemon as a process that outlives whoever starts it.

use std::ffi::OsStr;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::config::Environment;
use crate::daemon::LogFile;
use crate::paths::Paths;
use crate::platform;

/// How much of what a daemon says at its end is read, in bytes.
const MAX_LAST_WORDS: u64 = 4 * 1024;

/// What the daemon needs of the environment, beside our own settings. An agent's has secrets, which
/// must not outlive it.
const VARIABLES: &[&str] = &[
    "HOME",
    "USER",
    "LOGNAME",
    "PATH",
    "LANG",
    "TZ",
    "TMPDIR",
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "RUST_BACKTRACE",
    // Without these no process works on Windows.
    "SystemRoot",
    "USERPROFILE",
    "APPDATA",
    "LOCALAPPDATA",
    "TEMP",
    "TMP",
];

/// What is needed to start the daemon.
#[derive(Debug, Clone)]
pub struct Launcher {
    /// The program.
    pub program: PathBuf,
    /// The environment of whoever starts it.
    pub environment: Environment,
    /// Where things are.
    pub paths: Paths,
    /// The port that it is to listen on.
    pub port: u16,
}

impl Launcher {
    /// Starts the daemon and does not wait for it. What it can't start for goes to its log.
    pub fn launch(&self) -> io::Result<Child> {
        let log = LogFile::open(self.paths.daemon_log())?.into_file();
        let mut command = Command::new(&self.program);
        command
            .args(["serve", "--detached", "--port", &self.port.to_string()])
            .env_clear()
            .envs(self.environment.variables().filter(|(name, _)| is_for_daemon(name)))
            .env("TMA1_DATA_DIR", &self.paths.root)
            .current_dir(root_dir())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log.map_or_else(Stdio::null, Stdio::from));
        platform::detach(&mut command);
        command.spawn()
    }

    /// How long the log is.
    pub(super) fn log_length(&self) -> u64 {
        fs_err::metadata(self.paths.daemon_log()).map_or(0, |log| log.len())
    }

    /// What was logged after the log was `length` long.
    pub(super) fn logged_since(&self, length: u64) -> io::Result<String> {
        let mut log = fs_err::File::open(self.paths.daemon_log())?;
        let end = log.metadata()?.len();
        // A log that is shorter by now is another one.
        let start = if end < length { 0 } else { length };
        log.seek(SeekFrom::Start(start.max(end.saturating_sub(MAX_LAST_WORDS))))?;
        let mut said = Vec::new();
        log.take(MAX_LAST_WORDS).read_to_end(&mut said)?;
        Ok(String::from_utf8_lossy(&said).into_owned())
    }
}

/// A daemon must not keep a folder of the user in use.
fn root_dir() -> &'static str {
    if cfg!(windows) { r"C:\" } else { "/" }
}

fn is_for_daemon(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with("TMA1_")
        || name.starts_with("LC_")
        || VARIABLES.iter().any(|wanted| name.eq_ignore_ascii_case(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_secrets_of_an_agent_stay_with_it() {
        for name in ["HOME", "TMA1_LOG", "LC_ALL", "CODEX_HOME", "SYSTEMROOT"] {
            assert!(is_for_daemon(OsStr::new(name)), "{name}");
        }
        for name in ["ANTHROPIC_API_KEY", "CLAUDECODE", "LD_PRELOAD", "HTTP_PROXY", "XTMA1_"] {
            assert!(!is_for_daemon(OsStr::new(name)), "{name}");
        }
    }
}
