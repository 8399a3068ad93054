//! The hook scripts, and the commands by which agents run them.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use crate::agent::Agent;

/// A path that can't be written into a command.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{} can't be part of a command: it is not UTF-8 text", .0.display())]
pub struct UnwritablePath(PathBuf);

impl UnwritablePath {
    pub(super) const fn new(path: PathBuf) -> Self {
        Self(path)
    }

    /// What to do about it.
    pub fn hint(&self) -> String {
        "rename it, or set TMA1_DATA_DIR to a folder with another name".to_owned()
    }
}

/// The language of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// Any POSIX shell.
    Shell,
    /// `PowerShell`, on Windows.
    PowerShell,
}

impl Language {
    /// What the agents of this system run.
    pub const fn of_system() -> Self {
        if cfg!(windows) { Self::PowerShell } else { Self::Shell }
    }
}

/// The hook script of one agent.
#[derive(Debug, Clone, Copy)]
pub struct Script {
    /// Whose events it hands on.
    pub agent: Agent,
    /// What it is written in.
    pub language: Language,
}

impl Script {
    /// The name of its file.
    pub const fn file_name(self) -> &'static str {
        match (self.agent, self.language) {
            (Agent::ClaudeCode, Language::Shell) => "tma1-hook.sh",
            (Agent::ClaudeCode, Language::PowerShell) => "tma1-hook.ps1",
            (Agent::Codex, Language::Shell) => "tma1-hook-codex.sh",
            (Agent::Codex, Language::PowerShell) => "tma1-hook-codex.ps1",
        }
    }

    /// Its text, with the program to run, the port to ask and the data directory of who listens there.
    pub fn render(
        self,
        binary: &Path,
        port: u16,
        data_dir: &Path,
    ) -> Result<String, UnwritablePath> {
        let template = match self.language {
            Language::Shell => include_str!("../../templates/hook.sh"),
            Language::PowerShell => include_str!("../../templates/hook.ps1"),
        };
        let query = match self.agent {
            Agent::ClaudeCode => "",
            Agent::Codex => "?source=codex&envelope=codex",
        };
        let text = template
            .replace("@TITLE@", self.agent.title())
            .replace("@AGENT@", self.agent.name())
            .replace("@QUERY@", query)
            .replace("@PORT@", &port.to_string());
        // Last and at once, as a path may hold anything.
        Ok(match self.language {
            Language::Shell => text.replace(
                "@PATHS@",
                &format!("tma1={}\ndata_dir={}", shell_word(binary)?, shell_word(data_dir)?),
            ),
            Language::PowerShell => text,
        })
    }

    /// The command by which an agent runs the script at `path`.
    pub fn command(self, path: &Path) -> Result<String, UnwritablePath> {
        match self.language {
            Language::Shell => shell_word(path),
            Language::PowerShell => {
                let path = text_of(path)?;
                // Forward slashes survive every shell that an agent may put between. A file name
                // can't hold a double quote.
                Ok(format!(
                    "powershell -NoProfile -ExecutionPolicy Bypass -File \"{}\"",
                    path.replace('\\', "/")
                ))
            }
        }
    }
}

/// `path` as text.
pub(super) fn text_of(path: &Path) -> Result<&str, UnwritablePath> {
    path.to_str().ok_or_else(|| UnwritablePath(path.to_owned()))
}

/// `path` as one word of a POSIX shell.
fn shell_word(path: &Path) -> Result<String, UnwritablePath> {
    shlex::try_quote(text_of(path)?)
        .map(Cow::into_owned)
        .map_err(|_| UnwritablePath(path.to_owned()))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::snapshot::assert_snapshot;

    #[test]
    fn a_quoted_path_is_one_word_to_the_shell() {
        for path in [
            "/home/dev/.tma1/hooks/tma1-hook.sh",
            "/home/John Smith/x",
            "/home/O'Brien/x",
            "/home/O'Brien \"$USER\"/x",
            "/home/José/x",
            "/home/项目/x",
            "/home/a$b/x",
            "/home/`id`/x",
            "/home/back\\slash/x",
            "/home/line\nend/x",
            "/-n/x",
            "/home/a!b/x",
            "/home/a^b/x",
        ] {
            let command = format!("printf %s {}", shell_word(Path::new(path)).unwrap());
            let output = Command::new("/bin/sh").args(["-c", &command]).output().unwrap();
            assert_eq!(String::from_utf8_lossy(&output.stdout), path);
        }
    }

    #[test]
    fn a_path_that_is_not_text_is_refused() {
        use std::os::unix::ffi::OsStrExt;
        let path = Path::new(std::ffi::OsStr::from_bytes(b"/home/\xff"));
        assert!(shell_word(path).unwrap_err().hint().contains("TMA1_DATA_DIR"));
    }

    #[test]
    fn the_scripts_read_well() {
        for agent in [Agent::ClaudeCode, Agent::Codex] {
            for language in [Language::Shell, Language::PowerShell] {
                let script = Script { agent, language };
                let path = Path::new("/home/John Smith/.tma1/hooks").join(script.file_name());
                let command = script.command(&path).unwrap();
                let rendered = script
                    .render(Path::new("/home/@PATHS@/it's"), 14318, Path::new("/home/@PORT@"))
                    .unwrap();
                assert_snapshot(script.file_name(), &format!("$ {command}\n{rendered}"));
            }
        }
    }
}
