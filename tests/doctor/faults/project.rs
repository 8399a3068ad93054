//! What can be wrong in a project.

use std::os::unix::fs::symlink;

use super::Mended::{Hand, Install};
use super::{Fault, fault};

const BLOCK: &[(&str, &str)] = &[("failure", "project")];

pub const PROJECT: &[Fault] = &[
    fault(
        "half a block",
        BLOCK,
        |s| s.write("CLAUDE.md", "# x\n<!-- tma1:start -->\ntext\n"),
        Hand(|s| s.remove("CLAUDE.md")),
    ),
    fault(
        "a block within a block",
        BLOCK,
        |s| s.write("AGENTS.md", "<!-- tma1:start -->\n<!-- tma1:start -->\n<!-- tma1:end -->\n"),
        Hand(|s| s.remove("AGENTS.md")),
    ),
    fault(
        "a block of another version",
        &[("warning", "project")],
        |s| s.write("CLAUDE.md", "# x\n<!-- tma1:start -->\nolder\n<!-- tma1:end -->\n"),
        Install,
    ),
    fault(
        "instructions behind a link that are damaged",
        BLOCK,
        |s| {
            s.write("docs/agents.md", "<!-- tma1:end -->\n<!-- tma1:start -->\n");
            symlink("docs/agents.md", s.path("AGENTS.md")).unwrap();
        },
        Hand(|s| s.write("docs/agents.md", "# x\n")),
    ),
];
