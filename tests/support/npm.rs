//! The pinned coding agents, installed from npm once for all tests.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

use fs_err::File;
use serde_json::Value;

use super::say;

/// An agent as npm has it: a package, and one beside it for each system, with the native binary.
#[derive(Debug)]
pub struct Package {
    name: &'static str,
    /// Where the binary is in the package for this system.
    binary: fn() -> PathBuf,
}

pub const CLAUDE_CODE: Package =
    Package { name: "@anthropic-ai/claude-code", binary: || PathBuf::from("claude") };

pub const CODEX: Package = Package {
    name: "@openai/codex",
    binary: || {
        let system = if cfg!(target_os = "macos") { "apple-darwin" } else { "unknown-linux-musl" };
        let target = format!("{}-{system}", std::env::consts::ARCH);
        Path::new("vendor").join(target).join("bin/codex")
    },
};

impl Package {
    /// The native binary in the pinned version; none on Windows, where the agents run hooks in ways
    /// that the tests don't know, and where there is no npm to install them with.
    ///
    /// # Panics
    ///
    /// If the installation fails, or if there is no npm in continuous integration.
    pub fn installed(&self) -> Option<PathBuf> {
        if cfg!(windows) {
            skip("agents are not driven on Windows");
            return None;
        }
        // Tests are threads under one runner and processes under another.
        let lock =
            File::create(Path::new(env!("CARGO_TARGET_TMPDIR")).join("agents.lock")).unwrap();
        lock.file().lock().unwrap();
        let binary = self.find();
        if binary.is_some() {
            return binary;
        }
        install()?;
        let binary = self.find();
        assert!(binary.is_some(), "npm installed no {} for here", self.name);
        binary
    }

    /// The binary, if it is there in the version that is pinned.
    fn find(&self) -> Option<PathBuf> {
        let pinned = json(&agents().join("package-lock.json"))?;
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
            .map(|libc| format!("node_modules/{}-{os}-{architecture}{libc}", self.name))
            .into_iter()
            .find(|package| {
                let installed = json(&agents().join(package).join("package.json"));
                installed.is_some_and(|it| it["version"] == pinned["packages"][package]["version"])
            })
            .map(|package| agents().join(package).join((self.binary)()))
            .filter(|binary| binary.is_file())
    }
}

fn agents() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agents")
}

fn json(file: &Path) -> Option<Value> {
    serde_json::from_str(&fs_err::read_to_string(file).ok()?).ok()
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

/// Says that a test was not made, and why.
pub fn skip(reason: &str) {
    say(&format!("skipped: {reason}"));
}
