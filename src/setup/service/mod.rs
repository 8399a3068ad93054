//! The daemon as a service of the user's session: what its manager reads, and what the manager is
//! told.
//!
//! The definition is one more artifact of ours, so it goes the way of all others: plan, diff, receipt,
//! uninstall.

mod launchd;
mod systemd;

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::config::Environment;
use crate::paths::Paths;
use crate::setup::adapter::{Artifact, Content, Site, Whole};
use crate::setup::script::{UnwritablePath, text_of};

/// At the head of each definition, for who finds it.
const HEAD: &str = "Written by `tma1 service install`; `tma1 service uninstall` takes it away.";

/// Settings that the service has by other means, or that are not for it.
const NOT_HANDED_ON: [&str; 3] = ["TMA1_DATA_DIR", "TMA1_PORT", "TMA1_NO_AUTOSTART"];

/// How the settings of the export begin, which the daemon takes as a whole or not at all.
const EXPORT: &str = "TMA1_GREPTIMEDB_";

/// What starts the services of a user's session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manager {
    /// `systemd --user`, on Linux.
    Systemd,
    /// `launchd`, on macOS.
    Launchd,
}

/// What the definition of the service says.
#[derive(Debug)]
struct Service<'a> {
    program: &'a str,
    arguments: [String; 4],
    environment: Vec<(String, String)>,
}

/// What a definition on the disk says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// The program that it starts.
    pub program: PathBuf,
    /// Where that is to listen.
    pub port: u16,
    /// The data directory that it is to have.
    pub data_dir: PathBuf,
}

impl Definition {
    /// Whether it starts the daemon of `root` on `port`.
    pub fn is_of(&self, root: &Path, port: u16) -> bool {
        self.data_dir == root && self.port == port
    }
}

/// The port among the words of a command.
fn port(command: impl Iterator<Item = String>) -> Option<u16> {
    command.skip_while(|word| word != "--port").nth(1)?.parse().ok()
}

/// A command that is given to the manager.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The program.
    pub program: &'static str,
    /// What it is told.
    pub arguments: Vec<String>,
}

impl Call {
    fn new<'a>(program: &'static str, arguments: impl IntoIterator<Item = &'a str>) -> Self {
        Self { program, arguments: arguments.into_iter().map(str::to_owned).collect() }
    }
}

/// As a user would type it.
impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.program)?;
        self.arguments.iter().try_for_each(|argument| {
            let word = shlex::try_quote(argument).unwrap_or(Cow::Borrowed(argument));
            write!(f, " {word}")
        })
    }
}

impl Manager {
    /// The one of this system, if we know it.
    pub const fn of_system() -> Option<Self> {
        if cfg!(target_os = "macos") {
            Some(Self::Launchd)
        } else if cfg!(target_os = "linux") {
            Some(Self::Systemd)
        } else {
            None
        }
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Systemd => "systemd",
            Self::Launchd => "launchd",
        }
    }

    /// The file that it reads.
    pub fn definition(self, paths: &Paths) -> PathBuf {
        match self {
            Self::Systemd => paths.config_home.join("systemd/user").join(systemd::UNIT),
            Self::Launchd => {
                paths.home.join("Library/LaunchAgents").join(format!("{}.plist", launchd::LABEL))
            }
        }
    }

    /// Whether it can be talked to: it answers with success.
    pub fn probe(self, user: u32) -> Call {
        match self {
            Self::Systemd => systemd::call(["show-environment"]),
            Self::Launchd => launchd::call(["print", &launchd::domain(user)]),
        }
    }

    /// Has it read a definition that was written, start the service, and start it at each login.
    pub fn enable(self, definition: &Path, user: u32) -> Vec<Call> {
        match self {
            Self::Systemd => {
                vec![
                    systemd::call(["daemon-reload"]),
                    systemd::call(["enable", "--now", systemd::UNIT]),
                ]
            }
            Self::Launchd => {
                let definition = definition.to_string_lossy();
                vec![launchd::call(["bootstrap", &launchd::domain(user), &definition])]
            }
        }
    }

    /// Has it start the service that it knows. A process of it that is just ending is waited for, and
    /// not taken for one that runs.
    pub fn restart(self, user: u32) -> Call {
        match self {
            Self::Systemd => systemd::call(["restart", systemd::UNIT]),
            Self::Launchd => launchd::call(["kickstart", "-k", &launchd::target(user)]),
        }
    }

    /// Has it end the service, and start it no more.
    pub fn disable(self, user: u32) -> Call {
        match self {
            Self::Systemd => systemd::call(["disable", "--now", systemd::UNIT]),
            Self::Launchd => launchd::call(["bootout", &launchd::target(user)]),
        }
    }

    /// Has it notice that the definition is gone.
    pub fn forget(self) -> Option<Call> {
        (self == Self::Systemd).then(|| systemd::call(["daemon-reload"]))
    }

    /// Whether the service runs, or is to: it answers with success.
    pub fn is_active(self, user: u32) -> Call {
        match self {
            Self::Systemd => systemd::call(["is-active", "--quiet", systemd::UNIT]),
            Self::Launchd => launchd::call(["print", &launchd::target(user)]),
        }
    }

    /// What the text of a definition says; none if it is not one of ours.
    pub fn read(self, definition: &str) -> Option<Definition> {
        if !definition.contains(HEAD) {
            return None;
        }
        match self {
            Self::Systemd => systemd::read(definition),
            Self::Launchd => launchd::read(definition),
        }
    }

    /// What the definition of this user says, if there is one of ours.
    pub fn installed(self, paths: &Paths) -> Option<Definition> {
        self.read(&fs_err::read_to_string(self.definition(paths)).ok()?)
    }

    fn render(self, service: &Service<'_>) -> Result<String, UnwritablePath> {
        match self {
            Self::Systemd => Ok(systemd::unit(service)),
            Self::Launchd => launchd::property_list(service),
        }
    }
}

/// What is installed for `manager`: the definition, and the program where it has to be copied.
pub fn artifacts(
    site: &Site<'_>,
    manager: Manager,
    environment: &Environment,
) -> Result<Vec<Artifact>, UnwritablePath> {
    let mut settings = vec![("TMA1_DATA_DIR".to_owned(), text_of(&site.paths.root)?.to_owned())];
    settings.extend(handed_on(environment));
    let service = Service {
        program: text_of(site.binary.path())?,
        arguments: ["serve", "--detached", "--port", &site.port.to_string()].map(str::to_owned),
        environment: settings,
    };
    let text = Content::Whole(Whole::Text(manager.render(&service)?.into()));
    let path = manager.definition(site.paths);
    let mut artifacts = site.program();
    artifacts.push(Artifact::new(path, text, "starts the daemon when you log in"));
    Ok(artifacts)
}

/// Settings of ours that whoever installs the service has, and where the agents are. Secrets do not
/// belong into a file that others may read, nor does what the daemon takes only together with one.
fn handed_on(environment: &Environment) -> impl Iterator<Item = (String, String)> {
    let withheld = withheld(environment);
    environment.variables().filter_map(move |(name, value)| {
        let (name, value) = (name.to_str()?, value.to_str().filter(|value| !value.is_empty())?);
        let is_withheld = withheld.iter().any(|other| other == name);
        (is_for_service(name) && !is_withheld).then(|| (name.to_owned(), value.to_owned()))
    })
}

fn is_for_service(name: &str) -> bool {
    matches!(name, "CLAUDE_CONFIG_DIR" | "CODEX_HOME")
        || name.starts_with("TMA1_") && !NOT_HANDED_ON.contains(&name)
}

/// Settings that the service does not get because they are secrets, or of no use without one.
pub fn withheld(environment: &Environment) -> Vec<String> {
    let is_set = |name: &str| environment.get(name).is_some();
    let names = environment.variables().filter_map(|(name, _)| OsStr::to_str(name));
    let mut names: Vec<_> =
        names.filter(|name| name.starts_with("TMA1_") && is_set(name)).map(str::to_owned).collect();
    let is_export = |name: &str| name.starts_with(EXPORT);
    let has_export_secret = names.iter().any(|name| is_export(name) && is_secret(name));
    names.retain(|name| is_secret(name) || has_export_secret && is_export(name));
    names
}

fn is_secret(name: &str) -> bool {
    ["PASSWORD", "TOKEN", "SECRET"].iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_go_with_the_service_and_secrets_do_not() {
        let environment = Environment::from_iter([
            ("TMA1_LOG", "debug"),
            ("TMA1_PORT", "4000"),
            ("TMA1_DATA_DIR", "/x"),
            ("TMA1_GREPTIMEDB_PASSWORD", "hunter2"),
            ("CODEX_HOME", "/c"),
            ("TMA1_REDACT", ""),
            ("PATH", "/bin"),
        ]);
        let handed_on: Vec<_> = handed_on(&environment).collect();
        let expected = [("CODEX_HOME", "/c"), ("TMA1_LOG", "debug")];
        assert_eq!(handed_on, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert_eq!(withheld(&environment), ["TMA1_GREPTIMEDB_PASSWORD"]);
    }

    #[test]
    fn an_export_that_needs_a_password_is_withheld_as_a_whole() {
        let url = ("TMA1_GREPTIMEDB_URL", "http://127.0.0.1:4000");
        let user = ("TMA1_GREPTIMEDB_USER", "dev");
        let without = Environment::from_iter([url]);
        assert_eq!(withheld(&without), [""; 0]);
        assert_eq!(handed_on(&without).count(), 1);
        let with = Environment::from_iter([url, user, ("TMA1_GREPTIMEDB_PASSWORD", "hunter2")]);
        assert_eq!(handed_on(&with).count(), 0);
        assert_eq!(withheld(&with).len(), 3);
    }

    #[test]
    fn a_definition_of_somebody_else_is_none_of_ours() {
        for manager in [Manager::Systemd, Manager::Launchd] {
            for text in ["", HEAD, "[Service]\nExecStart=/bin/true\n"] {
                assert_eq!(manager.read(text), None, "{text}");
            }
        }
    }
}
