//! What can vanish beside our entries.

use std::os::unix::fs::symlink;

use serde_json::json;

use super::Mended::Hand;
use super::{Fault, fault, give_back, hooks_of, keep};
use crate::doctor::scene::{SETTINGS, Scene};

/// A hook of the user, and an install that has seen it.
fn with_a_hook_of_the_user(s: &Scene) {
    let theirs =
        json!({"matcher": "Bash", "hooks": [{"type": "command", "command": "/opt/ring -k x"}]});
    s.edit(SETTINGS, |it| hooks_of(it, "Stop").insert(0, theirs));
    s.shell("tma1 install --adapter claude-code --skip-project-files").succeeded();
}

/// Keeps the settings among the dotfiles.
fn link_settings(s: &Scene) {
    fs_err::rename(s.path(SETTINGS), s.path("~/dotfiles.json")).unwrap();
    symlink(s.path("~/dotfiles.json"), s.path(SETTINGS)).unwrap();
}

/// Settings that are kept among the dotfiles, and an install that has seen that.
fn with_linked_settings(s: &Scene) {
    link_settings(s);
    s.shell("tma1 install --adapter claude-code --skip-project-files").succeeded();
}

/// Writes the settings as programs do that know of no link.
fn make_plain(s: &Scene) {
    let text = s.read(SETTINGS);
    s.remove(SETTINGS);
    s.write(SETTINGS, text);
}

pub const SURROUNDINGS: &[Fault] = &[
    fault(
        "a hook of the user has gone",
        &[("warning", "claude-code other-hooks")],
        |s| {
            with_a_hook_of_the_user(s);
            keep(s, SETTINGS);
            s.edit(SETTINGS, |it| drop(hooks_of(it, "Stop").remove(0)));
        },
        Hand(|s| give_back(s, SETTINGS)),
    ),
    fault(
        "a hook of the user was taken out by the user",
        &[("warning", "claude-code other-hooks")],
        |s| {
            with_a_hook_of_the_user(s);
            s.edit(SETTINGS, |it| drop(hooks_of(it, "Stop").remove(0)));
        },
        Hand(|s| {
            s.shell("tma1 install --adapter claude-code").succeeded();
        }),
    ),
    fault(
        "a link became a file",
        &[("warning", "links")],
        |s| {
            with_linked_settings(s);
            make_plain(s);
        },
        Hand(|s| link_settings(s)),
    ),
    fault(
        "a link became a file, as the user wants it",
        &[("warning", "links")],
        |s| {
            with_linked_settings(s);
            make_plain(s);
        },
        Hand(|s| {
            s.shell("tma1 install --adapter claude-code").succeeded();
        }),
    ),
];
