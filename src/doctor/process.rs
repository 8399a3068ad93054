//! What a hook is run with: nothing of our environment but what an agent hands on to it.

use std::process::Command;

use crate::config::Environment;

/// What an agent hands on to its hooks that can matter for one.
const HANDED_ON: [&str; 12] = [
    "HOME",
    "USER",
    "PATH",
    "LANG",
    "TMPDIR",
    "SHELL",
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "USERPROFILE",
    "SystemRoot",
    "TEMP",
    "ComSpec",
];

/// `command` with the environment that a hook gets, but for this: what is only looked at starts no daemon.
pub(super) fn clean(mut command: Command, environment: &Environment) -> Command {
    command.env_clear();
    command.envs(HANDED_ON.iter().filter_map(|name| Some((name, environment.get(name)?))));
    command.env("TMA1_NO_AUTOSTART", "1");
    command
}

/// The program at the start of a `tma1 --version` that it prints.
pub(super) fn version(output: &str) -> Option<&str> {
    output.trim().strip_prefix("tma1 ")?.split_whitespace().next()
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(unix)]
    use crate::process::run;

    #[cfg(unix)]
    #[test]
    fn a_hook_gets_nothing_of_our_environment() {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "printf %s \"$SECRET$PATH\""]);
        let environment = Environment::from_iter([("PATH", "/usr/bin:/bin"), ("SECRET", "x")]);
        let run = run(clean(command, &environment), "", std::time::Duration::from_secs(10));
        assert_eq!(run.unwrap().stdout, "/usr/bin:/bin");
    }

    #[test]
    fn a_version_is_read_from_what_our_program_prints() {
        assert_eq!(version("tma1 0.1.0\n"), Some("0.1.0"));
        for other in ["", "0.1.0", "tma2 0.1.0", "tma1 "] {
            assert_eq!(version(other), None, "{other}");
        }
    }
}
