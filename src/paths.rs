//! Every location on disk, resolved once and passed down.

use std::path::{Path, PathBuf};

use crate::config::Environment;
use crate::printable::printable;

/// Where things are for this user.
#[derive(Debug, Clone)]
pub struct Paths {
    /// The user's home directory.
    pub home: PathBuf,
    /// Our own directory: `TMA1_DATA_DIR`, else `~/.tma1`.
    pub root: PathBuf,
    /// Claude Code's directory: `CLAUDE_CONFIG_DIR`, else `~/.claude`.
    pub claude_config: PathBuf,
    /// Where Claude Code keeps its MCP servers.
    pub claude_state: PathBuf,
    /// Codex's directory: `CODEX_HOME`, else `~/.codex`.
    pub codex_home: PathBuf,
    /// Where programs of this user are configured: `XDG_CONFIG_HOME`, else `~/.config`.
    pub config_home: PathBuf,
}

/// A location that can't be used.
#[derive(Debug, thiserror::Error)]
pub enum PathsError {
    /// Neither `HOME` nor the account entry names a home directory.
    #[error("there is no home directory to work in")]
    NoHome,
    /// A variable that moves a directory holds a relative path, which would mean another directory
    /// for each working directory.
    #[error("{name} is {value:?}, which is not an absolute path")]
    Relative {
        /// The variable.
        name: &'static str,
        /// Its value.
        value: PathBuf,
    },
}

impl PathsError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::NoHome => "set HOME to your home directory".to_owned(),
            Self::Relative { name, .. } => format!("set {name} to an absolute path, or unset it"),
        }
    }
}

impl Paths {
    /// Resolves every location from the environment.
    pub fn resolve(environment: &Environment) -> Result<Self, PathsError> {
        let home = match absolute(environment, "HOME")? {
            Some(home) => home,
            None => dirs::home_dir().ok_or(PathsError::NoHome)?,
        };
        let root =
            absolute(environment, "TMA1_DATA_DIR")?.unwrap_or_else(|| Self::usual_root(&home));
        let claude_config =
            absolute(environment, "CLAUDE_CONFIG_DIR")?.unwrap_or_else(|| home.join(".claude"));
        let codex_home =
            absolute(environment, "CODEX_HOME")?.unwrap_or_else(|| home.join(".codex"));
        let claude_state = claude_state(environment, &home, &claude_config);
        // By its specification, one that is relative is to be ignored.
        let config_home = environment.get("XDG_CONFIG_HOME").map(PathBuf::from);
        let config_home = config_home.filter(|path| path.is_absolute());
        let config_home = config_home.unwrap_or_else(|| home.join(".config"));
        Ok(Self { home, root, claude_config, claude_state, codex_home, config_home })
    }

    /// Our own directory for a user with this home directory, unless `TMA1_DATA_DIR` says otherwise.
    pub fn usual_root(home: &Path) -> PathBuf {
        home.join(".tma1")
    }

    /// The same with our own directory at `root`, as an option of the command line says.
    pub fn with_root(self, root: PathBuf) -> Result<Self, PathsError> {
        if root.is_relative() {
            return Err(PathsError::Relative { name: "--data-dir", value: root });
        }
        Ok(Self { root, ..self })
    }

    /// Where the log of events lives.
    pub fn data(&self) -> PathBuf {
        self.root.join("data")
    }

    /// The log of events.
    pub fn database(&self) -> PathBuf {
        self.data().join("tma1.db")
    }

    /// Held by the one daemon that serves this data directory.
    pub fn daemon_lock(&self) -> PathBuf {
        self.data().join("daemon.lock")
    }

    /// What a program of this user shows the daemon.
    pub fn token(&self) -> PathBuf {
        self.root.join("token")
    }

    /// The messages of a daemon that runs in the background.
    pub fn logs(&self) -> PathBuf {
        self.root.join("logs")
    }

    /// The newest of them.
    pub fn daemon_log(&self) -> PathBuf {
        self.logs().join("daemon.log")
    }

    /// There as long as the user wants no daemon.
    pub fn stopped(&self) -> PathBuf {
        self.root.join("stopped")
    }

    /// When a daemon was started last without being asked for.
    pub fn autostart(&self) -> PathBuf {
        self.root.join("autostart")
    }

    /// Held by the one run that installs.
    pub fn install_lock(&self) -> PathBuf {
        self.root.join("install.lock")
    }

    /// What an uninstall needs to know.
    pub fn receipt(&self) -> PathBuf {
        self.root.join("receipts").join("install.json")
    }

    /// Where the hook scripts are installed.
    pub fn hooks(&self) -> PathBuf {
        self.root.join("hooks")
    }

    /// Where a binary is copied that was started from a build or temporary folder.
    pub fn bin(&self) -> PathBuf {
        self.root.join("bin")
    }

    /// `path` as people write it: with `~` for their home directory, and on one line.
    pub fn display(&self, path: &Path) -> String {
        match path.strip_prefix(&self.home) {
            Ok(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
            Ok(rest) => format!("~/{}", printable(&rest.to_string_lossy())),
            Err(_) => printable(&path.to_string_lossy()),
        }
    }
}

/// Claude Code's own rule: `.config.json` in its directory if there is one, else `.claude.json`,
/// which moves into that directory with `CLAUDE_CONFIG_DIR`.
fn claude_state(environment: &Environment, home: &Path, config: &Path) -> PathBuf {
    let preferred = config.join(".config.json");
    let is_moved = environment.get("CLAUDE_CONFIG_DIR").is_some();
    match (preferred.exists(), is_moved) {
        (true, _) => preferred,
        (false, true) => config.join(".claude.json"),
        (false, false) => home.join(".claude.json"),
    }
}

fn absolute(environment: &Environment, name: &'static str) -> Result<Option<PathBuf>, PathsError> {
    match environment.get(name).map(PathBuf::from) {
        Some(value) if !value.is_absolute() => Err(PathsError::Relative { name, value }),
        value => Ok(value),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn paths(variables: &[(&str, &str)]) -> Result<Paths, PathsError> {
        Paths::resolve(&variables.iter().copied().collect())
    }

    #[test]
    fn everything_lies_below_home_by_default() {
        let paths = paths(&[("HOME", "/home/dev"), ("CLAUDE_CONFIG_DIR", "")]).unwrap();
        assert_eq!(paths.database(), Path::new("/home/dev/.tma1/data/tma1.db"));
        assert_eq!(paths.claude_config, Path::new("/home/dev/.claude"));
        assert_eq!(paths.display(&paths.hooks()), "~/.tma1/hooks");
        assert_eq!(paths.display(Path::new("/home/device")), "/home/device");
    }

    #[test]
    fn directories_move_with_their_variable() {
        let paths = paths(&[
            ("HOME", "/home/dev"),
            ("TMA1_DATA_DIR", "/srv/tma1"),
            ("CLAUDE_CONFIG_DIR", "/srv/claude"),
        ])
        .unwrap();
        assert_eq!(paths.hooks(), Path::new("/srv/tma1/hooks"));
        assert_eq!(paths.claude_config, Path::new("/srv/claude"));
        let paths = paths.with_root("/srv/other".into()).unwrap();
        assert_eq!(paths.token(), Path::new("/srv/other/token"));
    }

    #[test]
    fn a_relative_directory_is_refused_by_name() {
        let error = paths(&[("HOME", "/home/dev"), ("TMA1_DATA_DIR", "data")]).unwrap_err();
        assert_eq!(error.to_string(), r#"TMA1_DATA_DIR is "data", which is not an absolute path"#);
        let error = paths(&[("HOME", "/home/dev")]).unwrap().with_root("data".into()).unwrap_err();
        assert_eq!(error.to_string(), r#"--data-dir is "data", which is not an absolute path"#);
    }
}

/// Where what the log at `path` has no room for any more is kept.
pub fn older_log(path: &Path) -> PathBuf {
    let mut older = path.as_os_str().to_owned();
    older.push(".1");
    older.into()
}
