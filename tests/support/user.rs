//! Another user of the machine.

use std::os::unix::fs::chown;
use std::process::Command;

use super::home::TestHome;
use super::tree::tree;

/// A user without rights, who is there on every system.
pub const NOBODY: u32 = 65534;

pub fn is_root() -> bool {
    tma1::platform::current_user() == 0
}

/// Whether a test can run something as another user.
pub fn can_be_nobody() -> bool {
    is_root() && Command::new("setpriv").arg("--version").output().is_ok()
}

/// Gives everything of `home` to a user without rights, unless we are one ourselves.
pub fn give_away(home: &TestHome) {
    if !is_root() {
        return;
    }
    // What was a link into a folder that others may not enter.
    if home.binary().is_symlink() {
        let program = fs_err::canonicalize(home.binary()).unwrap();
        fs_err::remove_file(home.binary()).unwrap();
        fs_err::copy(program, home.binary()).unwrap();
    }
    let below = tree(home.root()).into_iter().map(|node| node.path);
    for path in below.chain([home.root().to_owned()]) {
        chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    }
}

/// `command` as the user without rights would run it.
pub fn as_nobody(command: &Command) -> Command {
    let id = NOBODY.to_string();
    let mut lowered = Command::new("setpriv");
    lowered.args(["--reuid", &id, "--regid", &id, "--clear-groups", "--"]);
    lowered.arg(command.get_program()).args(command.get_args()).env_clear();
    lowered.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    if let Some(directory) = command.get_current_dir() {
        lowered.current_dir(directory);
    }
    lowered
}
