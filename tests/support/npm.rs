//! The pinned coding agents, installed from npm once for all tests.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use fs_err::File;
use serde_json::Value;

const CLAUDE_CODE: &str = "@anthropic-ai/claude-code";

/// The native binary of the pinned Claude Code; none on Windows, where it runs hooks in ways that
/// the tests don't know, and where there is no npm to install it with.
///
/// # Panics
///
/// If the installation fails, or if there is no npm in continuous integration.
pub fn claude_code() -> Option<PathBuf> {
    if cfg!(windows) {
        skip("Claude Code is not driven on Windows");
        return None;
    }
    // Tests are threads under one runner and processes under another.
    let lock = File::create(Path::new(env!("CARGO_TARGET_TMPDIR")).join("agents.lock")).unwrap();
    lock.file().lock().unwrap();
    let binary = claude_code_binary();
    if binary.is_some() {
        return binary;
    }
    install()?;
    let binary = claude_code_binary();
    assert!(binary.is_some(), "npm installed no {CLAUDE_CODE} for here");
    binary
}

fn agents() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agents")
}

/// The binary, if it is there in the version that is pinned.
fn claude_code_binary() -> Option<PathBuf> {
    let pinned = &package_json(&agents())?["dependencies"][CLAUDE_CODE];
    let os = match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    let architecture = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    ["", "-musl"]
        .map(|libc| format!("{CLAUDE_CODE}-{os}-{architecture}{libc}"))
        .map(|package| agents().join("node_modules").join(package))
        .into_iter()
        .find(|package| package_json(package).is_some_and(|json| json["version"] == *pinned))
        .map(|package| package.join("claude"))
        .filter(|binary| binary.is_file())
}

fn package_json(directory: &Path) -> Option<Value> {
    let text = fs_err::read_to_string(directory.join("package.json")).ok()?;
    serde_json::from_str(&text).ok()
}

/// Runs npm with the environment of the tests, which says where the network is.
fn install() -> Option<()> {
    let output = Command::new("npm")
        .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
        .current_dir(agents())
        .output();
    match output {
        Ok(output) => {
            assert!(output.status.success(), "npm ci failed: {output:#?}");
            Some(())
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            assert!(!in_continuous_integration(), "no npm on the PATH");
            skip("no npm on the PATH to install the agents with");
            None
        }
        Err(error) => panic!("can't run npm: {error}"),
    }
}

#[expect(clippy::disallowed_methods, reason = "it is the tests that are told")]
fn in_continuous_integration() -> bool {
    std::env::var_os("CI").is_some()
}

/// Says it past the test runner, which keeps to itself what a test that passes prints.
fn skip(reason: &str) {
    let name = std::thread::current().name().unwrap_or_default().to_owned();
    drop(writeln!(std::io::stderr(), "skipped {name}: {reason}"));
}
