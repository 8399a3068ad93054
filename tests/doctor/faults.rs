//! What can be wrong, a row a fault, one file a family.

mod adapters;
mod daemon;
mod project;
#[cfg(target_os = "linux")]
mod service;
mod store;
mod surroundings;

use serde_json::Value;

use super::scene::Scene;
pub use adapters::ADAPTERS;
pub use daemon::DAEMON;
pub use project::PROJECT;
#[cfg(target_os = "linux")]
pub use service::SERVICE;
pub use store::STORE;
pub use surroundings::SURROUNDINGS;

/// A way to break a home.
pub struct Fault {
    pub name: &'static str,
    pub make: fn(&mut Scene),
    /// The status and the name of what doctor has to find: nothing else.
    pub named: &'static [(&'static str, &'static str)],
    pub mended: Mended,
}

/// How it is mended.
#[derive(Clone, Copy)]
pub enum Mended {
    /// By `--fix`, and by the command that is suggested.
    Install,
    /// By the command that is suggested.
    Command,
    /// By the user, as here.
    Hand(fn(&mut Scene)),
}

const STATE: &str = "~/.claude.json";
const LOCAL: &str = ".claude/settings.local.json";
const SCRIPT: &str = "~/.tma1/hooks/tma1-hook.sh";
const CODEX_SCRIPT: &str = "~/.tma1/hooks/tma1-hook-codex.sh";
const DATABASE: &str = "~/.tma1/data/tma1.db";
const TOKEN: &str = "~/.tma1/token";

const fn fault(
    name: &'static str,
    named: &'static [(&'static str, &'static str)],
    make: fn(&mut Scene),
    mended: Mended,
) -> Fault {
    Fault { name, make, named, mended }
}

fn keep(scene: &Scene, name: &str) {
    fs_err::copy(scene.path(name), scene.path("kept")).unwrap();
}

/// Puts back what was kept.
fn give_back(scene: &Scene, name: &str) {
    fs_err::copy(scene.path("kept"), scene.path(name)).unwrap();
}

fn hooks_of<'v>(settings: &'v mut Value, event: &str) -> &'v mut Vec<Value> {
    settings["hooks"][event].as_array_mut().unwrap()
}
