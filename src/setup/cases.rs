//! Plans carried out in a temporary home directory.
#![cfg(unix)]

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::agent::Agent;
use crate::config::Environment;
use crate::paths::Paths;
use crate::platform;
use crate::setup::adapter::{Artifact, Content, Site, Whole};
use crate::setup::apply::{ApplyError, apply};
use crate::setup::binary::Binary;
use crate::setup::diff::Diff;
use crate::setup::disk::OperatingSystem;
use crate::setup::install::Options;
use crate::setup::plan::Plan;
use crate::setup::{InstallError, Task};
use crate::snapshot::assert_snapshot;

pub(super) const INSTALL: Task = Task::Install(Options { force: false, keeps_losses: false });

pub(super) struct Home {
    pub(super) folder: TempDir,
    pub(super) paths: Paths,
}

impl Home {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let environment = Environment::from_iter([("HOME", folder.path())]);
        let paths = Paths::resolve(&environment).unwrap();
        Self { folder, paths }
    }

    pub(super) fn with_settings(text: &str) -> Self {
        let home = Self::new();
        home.write(".claude/settings.json", text);
        home
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }

    fn chmod(&self, name: &str, mode: u32) {
        fs_err::set_permissions(self.path(name), PermissionsExt::from_mode(mode)).unwrap();
    }

    fn mode(&self, name: &str) -> u32 {
        let metadata = fs_err::symlink_metadata(self.path(name)).unwrap();
        metadata.permissions().mode() & 0o7777
    }

    pub(super) fn artifacts(&self) -> Vec<Artifact> {
        let binary = Binary::InPlace("/usr/bin/tma1".into());
        Site { paths: &self.paths, binary: &binary, port: 14318, project: None }
            .artifacts(&[Agent::ClaudeCode])
            .unwrap()
    }

    pub(super) fn plan(&self) -> Plan {
        INSTALL.plan(&self.artifacts(), &self.paths).unwrap()
    }

    fn install(&self) -> Result<Plan, InstallError> {
        INSTALL.carry_out(&self.artifacts(), &self.paths, &OperatingSystem)
    }

    fn uninstall(&self) -> Result<Plan, InstallError> {
        Task::Uninstall.carry_out(&self.artifacts(), &self.paths, &OperatingSystem)
    }

    /// Every path below the home directory.
    pub(super) fn tree(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs_err::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() && !path.is_symlink() {
                    folders.push(path.clone());
                }
                found.push(self.paths.display(&path));
            }
        }
        found.sort();
        found
    }

    /// `text` as it reads in any home directory.
    fn neutral(&self, text: &str) -> String {
        let home = self.folder.path();
        let real = fs_err::canonicalize(home).unwrap();
        text.replace(real.to_str().unwrap(), "[HOME]").replace(home.to_str().unwrap(), "[HOME]")
    }
}

#[test]
fn what_is_created_is_as_private_as_it_may_be() {
    let home = Home::new();
    home.install().unwrap();
    let created = [
        "~/.claude",
        "~/.claude.json",
        "~/.claude/commands",
        "~/.claude/commands/tma1-peer.md",
        "~/.claude/commands/tma1-recall.md",
        "~/.claude/settings.json",
        "~/.claude/skills",
        "~/.claude/skills/tma1-build",
        "~/.claude/skills/tma1-build/SKILL.md",
        "~/.claude/skills/tma1-peer",
        "~/.claude/skills/tma1-peer/SKILL.md",
        "~/.claude/skills/tma1-recall",
        "~/.claude/skills/tma1-recall/SKILL.md",
        "~/.claude/skills/tma1-setup",
        "~/.claude/skills/tma1-setup/SKILL.md",
        "~/.tma1",
        "~/.tma1/hooks",
        "~/.tma1/hooks/tma1-hook.sh",
        "~/.tma1/install.lock",
        "~/.tma1/receipts",
        "~/.tma1/receipts/install.json",
    ];
    assert_eq!(home.tree(), created);
    assert_eq!(home.mode(".claude/settings.json"), 0o600);
    assert_eq!(home.mode(".tma1/hooks/tma1-hook.sh"), 0o755);
    assert_eq!(home.mode(".tma1"), 0o700);
    assert!(home.plan().is_empty());
}

#[test]
fn an_uninstall_gives_back_every_byte_and_leaves_no_trace() {
    for settings in [
        None,
        Some(""),
        Some("\n"),
        Some("{}"),
        Some("{ }\n"),
        Some("{\"model\": \"opus\"}"),
        Some("{\"hooks\": {}}"),
        Some("{\r\n\t\"hooks\": {\r\n\t\t\"Stop\": []\r\n\t}\r\n}\r\n"),
        Some("\u{feff}{\n    \"hooks\": {\"Stop\": [{\"hooks\": []}]}\n}"),
    ] {
        let home = Home::new();
        if let Some(text) = settings {
            home.write(".claude/settings.json", text);
        }
        let before = home.tree();
        home.install().unwrap();
        home.install().unwrap();
        let taken = home.uninstall().unwrap();
        assert!(!taken.is_empty());
        assert_eq!(home.tree(), before, "{settings:?}");
        if let Some(text) = settings {
            let after = fs_err::read_to_string(home.path(".claude/settings.json")).unwrap();
            assert_eq!(after, text);
        }
        assert!(home.uninstall().unwrap().is_empty());
        assert_eq!(home.tree(), before, "{settings:?}");
    }
}

#[test]
fn without_the_receipt_an_uninstall_takes_the_same_and_keeps_what_may_be_the_users() {
    let home = Home::with_settings("{\"model\": \"opus\"}");
    home.install().unwrap();
    fs_err::remove_dir_all(home.path(".tma1/receipts")).unwrap();
    home.uninstall().unwrap();
    let after = fs_err::read_to_string(home.path(".claude/settings.json")).unwrap();
    assert!(after.contains("opus") && !after.contains("tma1"), "{after}");
    assert!(!home.path(".tma1/hooks/tma1-hook.sh").exists());
}

#[test]
fn what_the_user_added_meanwhile_stays() {
    let home = Home::new();
    home.install().unwrap();
    let path = home.path(".claude/settings.json");
    let text = fs_err::read_to_string(&path).unwrap();
    fs_err::write(&path, text.replacen('{', "{\n  \"model\": \"opus\",", 1)).unwrap();
    home.write(".tma1/hooks/own.sh", "mine");
    home.uninstall().unwrap();
    let after = fs_err::read_to_string(&path).unwrap();
    assert!(after.contains("opus") && !after.contains("tma1"), "{after}");
    assert_eq!(fs_err::read_to_string(home.path(".tma1/hooks/own.sh")).unwrap(), "mine");
}

#[test]
fn a_script_at_our_path_is_ours_whatever_is_in_it() {
    const SCRIPT: &str = ".tma1/hooks/tma1-hook.sh";
    for text in ["", "#!/bin/sh\n", "#!/bin/bash\ncurl -sf -m 0.5 http://127.0.0.1:14318\n"] {
        let home = Home::new();
        home.write(SCRIPT, text);
        home.write(".tma1/hooks/mine.sh", text);
        home.install().unwrap();
        let written = fs_err::read_to_string(home.path(SCRIPT)).unwrap();
        assert!(written.contains("Written by `tma1 install"), "{written}");
        // Also by an uninstall, with a receipt and without.
        for folder in ["receipts", "none"] {
            home.write(SCRIPT, text);
            drop(fs_err::remove_dir_all(home.path(".tma1").join(folder)));
            home.uninstall().unwrap();
            assert!(!home.path(SCRIPT).exists());
            home.install().unwrap();
        }
        home.uninstall().unwrap();
        assert_eq!(fs_err::read_to_string(home.path(".tma1/hooks/mine.sh")).unwrap(), text);
    }
}

#[test]
fn what_a_link_at_the_path_of_our_script_leads_to_is_not_ours() {
    for (link, to) in [(".tma1/hooks", "../own"), (".tma1/hooks/tma1-hook.sh", "../../own/mine")] {
        let home = Home::new();
        for file in ["own/tma1-hook.sh", "own/mine"] {
            home.write(file, "#!/bin/sh\necho mine\n");
        }
        fs_err::create_dir_all(home.path(link).parent().unwrap()).unwrap();
        symlink(to, home.path(link)).unwrap();
        let before = home.tree();
        let error = home.install().unwrap_err().to_string();
        assert!(error.ends_with("is in the way: it is not a file of tma1"), "{error}");
        assert!(home.uninstall().unwrap().is_empty());
        assert_eq!(home.tree(), before);
    }
}

#[test]
fn a_file_keeps_its_mode() {
    let home = Home::with_settings("{}");
    home.chmod(".claude/settings.json", 0o640);
    home.install().unwrap();
    assert_eq!(home.mode(".claude/settings.json"), 0o640);
}

#[test]
fn a_file_keeps_what_its_user_has_attached_to_it() {
    use rustix::fs::{XattrFlags, getxattr, setxattr};
    let home = Home::with_settings("{}");
    let path = home.path(".claude/settings.json");
    if setxattr(&path, "user.note", b"keep", XattrFlags::empty()).is_err() {
        // Not every file system has attributes.
        return;
    }
    home.install().unwrap();
    let mut value = [0; 8];
    assert_eq!(getxattr(&path, "user.note", &mut value[..]), Ok(4));
    assert_eq!(&value[..4], b"keep");
}

#[test]
fn a_script_that_can_not_run_is_made_to() {
    let home = Home::new();
    home.install().unwrap();
    home.chmod(".tma1/hooks/tma1-hook.sh", 0o644);
    assert_eq!(home.plan().changes().count(), 1);
    home.install().unwrap();
    assert_eq!(home.mode(".tma1/hooks/tma1-hook.sh"), 0o755);
}

#[test]
fn links_stay_links() {
    let home = Home::with_settings("");
    home.write("dotfiles/claude.json", "{}");
    let settings = home.path(".claude/settings.json");
    fs_err::remove_file(&settings).unwrap();
    symlink("../dotfiles/link.json", &settings).unwrap();
    symlink("claude.json", home.path("dotfiles/link.json")).unwrap();
    home.install().unwrap();
    assert_eq!(fs_err::read_link(&settings).unwrap(), Path::new("../dotfiles/link.json"));
    let text = fs_err::read_to_string(home.path("dotfiles/claude.json")).unwrap();
    assert!(text.contains("tma1-hook.sh"));
    // Also a link to a file that is not there yet.
    fs_err::remove_file(home.path("dotfiles/claude.json")).unwrap();
    home.install().unwrap();
    assert!(home.path("dotfiles/claude.json").is_file());
    assert!(settings.is_symlink());
}

#[test]
fn a_file_that_changed_since_planning_is_not_written() {
    for later in ["{\"model\":\"x\"}", ""] {
        let home = Home::with_settings("{}");
        let plan = home.plan();
        home.write(".claude/settings.json", later);
        let before = home.tree();
        assert!(matches!(
            apply(&plan, &|_| None, &OperatingSystem),
            Err(ApplyError::ChangedMeanwhile(_))
        ));
        assert_eq!(home.tree(), before);
        let text = fs_err::read_to_string(home.path(".claude/settings.json")).unwrap();
        assert_eq!(text, later);
    }
}

#[test]
fn a_file_that_appeared_since_planning_is_not_replaced() {
    let home = Home::new();
    let plan = home.plan();
    home.write(".claude/settings.json", "{}");
    assert!(matches!(
        apply(&plan, &|_| None, &OperatingSystem),
        Err(ApplyError::ChangedMeanwhile(_))
    ));
}

#[test]
fn what_may_not_be_changed_is_refused_before_anything_is_written() {
    type Prepare = fn(&Home);
    let cases: [(&str, Prepare); 14] = [
        ("read-only", |home| {
            home.chmod(".claude/settings.json", 0o444);
        }),
        ("read-only-folder", |home| home.chmod(".claude", 0o555)),
        ("hard-link", |home| {
            let settings = home.path(".claude/settings.json");
            fs_err::hard_link(settings, home.path("other")).unwrap();
        }),
        ("folder", |home| {
            fs_err::remove_file(home.path(".claude/settings.json")).unwrap();
            fs_err::create_dir(home.path(".claude/settings.json")).unwrap();
        }),
        ("link-loop", |home| {
            let settings = home.path(".claude/settings.json");
            fs_err::remove_file(&settings).unwrap();
            symlink("settings.json", settings).unwrap();
        }),
        ("dangling-folder", |home| {
            fs_err::rename(home.path(".claude"), home.path("elsewhere")).unwrap();
            symlink("gone", home.path(".claude")).unwrap();
        }),
        ("file-for-folder", |home| {
            fs_err::rename(home.path(".claude"), home.path("elsewhere")).unwrap();
            home.write(".claude", "");
        }),
        ("lock-is-a-folder", |home| {
            fs_err::create_dir_all(home.path(".tma1/install.lock")).unwrap();
        }),
        ("file-for-own-folder", |home| home.write(".tma1/receipts", "mine")),
        ("own-folder-dangling", |home| symlink("gone", home.path(".tma1")).unwrap()),
        ("nix-store", |home| {
            let settings = home.path(".claude/settings.json");
            fs_err::remove_file(&settings).unwrap();
            symlink("/nix/store/abc-settings.json", settings).unwrap();
        }),
        ("comment", |home| {
            home.write(".claude/settings.json", "{\n  // why\n}");
        }),
        ("hooks-list", |home| {
            home.write(".claude/settings.json", "{\"hooks\": []}");
        }),
        ("hooks-twice", |home| {
            home.write(".claude/settings.json", "{\"hooks\": {}, \"hooks\": {}}");
        }),
    ];
    let mut refusals = String::new();
    for (name, prepare) in cases {
        let home = Home::with_settings("{}");
        prepare(&home);
        let before = home.tree();
        let error = home.install().unwrap_err();
        assert_eq!(home.tree(), before, "{name}");
        let hint = error.hint();
        let text = home.neutral(&format!("{name}\nerror: {error}\nhint: {hint}\n\n"));
        refusals += &text;
        // So that the folder can be removed.
        if home.path(".claude").is_dir() {
            home.chmod(".claude", 0o755);
        }
    }
    assert_snapshot("install-refusals", &refusals);
}

#[test]
fn a_file_of_another_user_is_refused() {
    if platform::current_user() != 0 {
        // Only root can give a file away.
        return;
    }
    let home = Home::with_settings("{}");
    let settings = home.path(".claude/settings.json");
    for theirs in [settings, home.path(".claude")] {
        std::os::unix::fs::chown(&theirs, Some(1), None).unwrap();
        let error = home.install().unwrap_err().to_string();
        assert!(error.contains("belongs to another user"), "{error}");
        std::os::unix::fs::chown(&theirs, Some(0), None).unwrap();
    }
    assert!(home.install().is_ok());
}

/// `text` without the hashes of files, which differ with the paths in them.
fn without_hashes(text: &str) -> String {
    let is_hash = |word: &&str| word.len() == 64 && word.bytes().all(|b| b.is_ascii_hexdigit());
    text.split('"')
        .filter(is_hash)
        .fold(text.to_owned(), |text, hash| text.replace(hash, "[SHA256]"))
}

#[test]
fn a_dry_run_shows_each_change() {
    console::set_colors_enabled(false);
    let home = Home::with_settings("");
    home.write(
        "dotfiles/claude.json",
        "{\n    \"model\": \"opus\",\n    \"hooks\": {\n        \"Stop\": [\n            \
         {\n                \"hooks\": [{\"type\": \"command\", \"command\": \"notify\"}]\n            \
         }\n        ]\n    }\n}",
    );
    let settings = home.path(".claude/settings.json");
    fs_err::remove_file(&settings).unwrap();
    symlink(home.path("dotfiles/claude.json"), settings).unwrap();
    home.write("program", "\0ELF");
    let binary = Binary::Copy { from: home.path("program"), to: home.paths.bin().join("tma1") };
    let mut artifacts = Site { paths: &home.paths, binary: &binary, port: 14318, project: None }
        .artifacts(&[Agent::ClaudeCode])
        .unwrap();
    // What is in the skills is no matter of how a diff reads.
    artifacts.retain(|artifact| !matches!(artifact.content, Content::Whole(Whole::Text(_))));
    let plan = INSTALL.plan(&artifacts, &home.paths).unwrap();
    let diff = Diff { plan: &plan, paths: &home.paths };
    let text = without_hashes(&home.neutral(&diff.to_string()));
    assert_snapshot("install-dry-run", &text);
}

#[test]
fn a_diff_tells_of_a_missing_line_end_and_of_a_changed_mode() {
    console::set_colors_enabled(false);
    let home = Home::with_settings("{}");
    home.install().unwrap();
    let shown = || {
        let plan = &home.plan();
        let paths = &home.paths;
        Diff { plan, paths }.to_string()
    };
    home.chmod(".tma1/hooks/tma1-hook.sh", 0o644);
    assert_eq!(
        shown(),
        "--- ~/.tma1/hooks/tma1-hook.sh\n\
         +++ ~/.tma1/hooks/tma1-hook.sh (mode 0644 -> 0755)\n\
         # hands each event to the local daemon\n\n\
         1 file would change: 1 updated. Nothing was written.\n"
    );
    home.write(".claude/settings.json", "{}");
    let text = shown();
    assert!(text.contains("\n-{}\n\\ No newline at end of file\n+{\n"), "{text}");
    assert!(text.contains("\n+}\n\\ No newline at end of file\n# "), "{text}");
}

#[test]
fn hooks_that_are_turned_off_are_named_in_every_run() {
    let home = Home::with_settings("{\"disableAllHooks\": true}");
    for _ in 0..2 {
        let plan = home.plan();
        let [note] = plan.notes() else { panic!("{:?}", plan.notes()) };
        assert_eq!(note.path, home.path(".claude/settings.json"));
        assert_eq!(note.reason.to_string(), "Claude Code runs no hooks: disableAllHooks is on");
        assert!(!note.stays());
        home.install().unwrap();
    }
}
