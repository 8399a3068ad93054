//! What the program says of itself, in forms that other programs read.

use std::process::Command;

use serde_json::{Value, json};

use crate::support::home::TestHome;

const COMMANDS: [&str; 15] = [
    "install",
    "uninstall",
    "start",
    "stop",
    "status",
    "logs",
    "sessions",
    "show",
    "search",
    "anomalies",
    "context",
    "query",
    "export",
    "mcp-serve",
    "completions",
];

#[test]
fn the_version_is_json_if_wanted() {
    let home = TestHome::new();
    let version = env!("CARGO_PKG_VERSION");
    let run = home.tma1(&["version"]).succeeded();
    assert_eq!(run.stdout, home.tma1(&["--version"]).succeeded().stdout);
    let run = home.tma1(&["version", "--json"]).succeeded();
    let told: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(told, json!({"version": version, "protocol": "1"}));
}

#[test]
fn each_shell_can_complete_every_command() {
    let home = TestHome::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let completions = home.tma1(&["completions", shell]).succeeded().stdout;
        for command in COMMANDS {
            assert!(completions.contains(command), "{shell}: {command}");
        }
    }
    assert_eq!(home.tma1(&["completions", "command.com"]).status, Some(2));
}

#[cfg(unix)]
#[test]
fn bash_completes_a_command_and_an_option() {
    let home = TestHome::new();
    let completions = home.tma1(&["completions", "bash"]).succeeded().stdout;
    let script = format!(
        "{completions}\nCOMP_WORDS=(tma1 \"$@\"); COMP_CWORD=$#\n\
         _tma1 tma1 \"${{!#}}\" tma1; echo \"${{COMPREPLY[*]}}\""
    );
    for (words, expected) in [(&["stat"][..], "status\n"), (&["logs", "--fo"], "--follow\n")] {
        let mut bash = Command::new("bash");
        let output = bash.args(["-c", &script, "bash"]).args(words).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{output:?}");
    }
}

#[test]
fn the_manual_has_a_page_for_each_command() {
    let home = TestHome::new();
    let pages = home.tma1(&["man"]).succeeded().stdout;
    assert!(pages.contains(".TH tma1 1 "));
    for command in COMMANDS {
        assert!(pages.contains(&format!(".TH tma1-{command} 1 ")), "{command}");
    }
}
