//! What an install remembers of what it found, and an uninstall of what it left.
#![cfg(unix)]

use std::path::PathBuf;
use std::time::Duration;

use crate::support::home::TestHome;
use crate::support::process::Run;
use crate::support::tree::tree;

const INSTALL: [&str; 3] = ["install", "--adapter", "claude-code"];
const LIMIT: Duration = Duration::from_secs(30);

fn receipt(home: &TestHome) -> PathBuf {
    home.home().join(".tma1/receipts/install.json")
}

/// A place whose name the receipt can't hold is refused, for what is in the receipt would be lost.
#[cfg(target_os = "linux")]
#[test]
fn a_path_that_is_not_text_is_refused_before_anything_is_written() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let home = TestHome::new();
    let folder = home.home().join(OsStr::from_bytes(b"p\xff"));
    fs_err::create_dir(&folder).unwrap();
    home.tma1(&INSTALL).succeeded();
    home.tma1(&["install", "--adapter", "codex"]).succeeded();
    let before = tree(home.root());
    for (adapter, variable) in
        [("claude-code", Some("CLAUDE_CONFIG_DIR")), ("codex", Some("CODEX_HOME")), ("codex", None)]
    {
        let mut command = home.tma1_command(&["install", "--adapter", adapter]);
        match variable {
            Some(variable) => command.env(variable, &folder),
            None => command.arg("--project").arg(&folder),
        };
        let run = Run::of(&mut command, LIMIT);
        assert_eq!(run.status, Some(1), "{run:#?}");
        assert!(run.stderr.contains("its name is not UTF-8 text\nhint: rename it"), "{run:#?}");
        assert_eq!(tree(home.root()), before);
    }
    assert!(receipt(&home).is_file());
}
