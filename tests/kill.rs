//! Killed, out of space, out of rights: every file is the old one or the new one, and the next run
//! that can makes up for the rest.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use tma1::clock;

use crate::support::home::TestHome;
use crate::support::npm::skip;
use crate::support::process::Run;
use crate::support::scale;
use crate::support::tree::{Node, tree};

const BOTH: [&str; 4] = ["--adapter", "claude-code", "--adapter", "codex"];
const LIMIT: Duration = Duration::from_secs(30);
/// A user without rights, who is there on every system.
const NOBODY: u32 = 65534;

/// What a user has before us.
const USER_FILES: [(&str, &str); 4] = [
    (".claude.json", "{\"numStartups\": 7}\n"),
    (".claude/settings.json", "{\n  \"model\": \"opus\",\n  \"hooks\": {\"Stop\": []}\n}\n"),
    (".codex/hooks.json", "{\"hooks\": {}}"),
    (".codex/config.toml", "model = \"gpt\" # mine\n"),
];

fn home_in_use() -> TestHome {
    let home = TestHome::new();
    for (file, text) in USER_FILES {
        let path = home.home().join(file);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }
    home
}

/// The contents of all files and links below HOME, but for the receipt: after a kill that tells of
/// fewer folders, which then stay.
fn files(home: &TestHome) -> BTreeMap<PathBuf, String> {
    let nodes = tree(&home.home()).into_iter();
    nodes
        .filter(|node| !node.path.ends_with("receipts/install.json"))
        .filter_map(|node| Some((node.path, String::from_utf8(node.content?).unwrap())))
        .collect()
}

fn with_both(verb: &str) -> [&str; 5] {
    [verb, BOTH[0], BOTH[1], BOTH[2], BOTH[3]]
}

fn is_root() -> bool {
    tma1::platform::current_user() == 0
}

/// Somewhere between nothing and `most`.
fn any_part_of(most: Duration) -> Duration {
    let nanoseconds = u64::try_from(most.as_nanos()).unwrap();
    Duration::from_nanos(RandomState::new().hash_one(0) % nanoseconds)
}

/// Starts `tma1`, and kills it after `delay` unless it has ended by then.
fn kill_after(home: &TestHome, arguments: &[&str], delay: Duration) {
    let mut command = home.tma1_command(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    std::thread::sleep(delay);
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn killed_at_any_moment_it_leaves_each_file_old_or_new_and_the_next_run_converges() {
    let home = home_in_use();
    let old = files(&home);
    let started = clock::monotonic();
    home.tma1(&with_both("install")).succeeded();
    let most = clock::monotonic() - started;
    let new = files(&home);
    home.tma1(&with_both("uninstall")).succeeded();
    assert_eq!(files(&home), old);

    let mut torn_apart = 0;
    for round in 0..10 * scale() {
        for (verb, from, to) in [("install", &old, &new), ("uninstall", &new, &old)] {
            let delay = any_part_of(most);
            kill_after(&home, &with_both(verb), delay);
            let left = files(&home);
            for (path, content) in from {
                let found = left.get(path);
                let is_whole = found == Some(content) || found == to.get(path);
                assert!(is_whole, "round {round}: {verb} killed after {delay:?}: {path:?}");
            }
            torn_apart += usize::from(left != *from && left != *to);
            home.tma1(&with_both(verb)).succeeded();
            assert_eq!(files(&home), *to, "round {round}: {verb} killed after {delay:?}");
        }
    }
    // Else the kills came too early or too late to show anything.
    assert!(torn_apart > 0, "no kill came in between, within {most:?}");
}

#[test]
fn killed_at_any_moment_it_leaves_nothing_that_an_uninstall_does_not_take() {
    let home = home_in_use();
    let paths = || -> Vec<_> { tree(home.root()).into_iter().map(|node| node.path).collect() };
    let before = paths();
    let started = clock::monotonic();
    home.tma1(&with_both("install")).succeeded();
    let most = clock::monotonic() - started;
    home.tma1(&with_both("uninstall")).succeeded();
    assert_eq!(paths(), before);
    for round in 0..20 * scale() {
        let delay = any_part_of(most);
        kill_after(&home, &with_both("install"), delay);
        home.tma1(&with_both("uninstall")).succeeded();
        assert_eq!(paths(), before, "round {round}: killed after {delay:?}");
    }
}

/// A file system of 64 KiB; it goes when this is dropped.
struct SmallDisk(PathBuf);

impl SmallDisk {
    /// None where this may not be done.
    fn mount(at: &Path) -> Option<Self> {
        let arguments = ["-t", "tmpfs", "-o", "size=64k,mode=700", "tmpfs"];
        let mount = || Command::new("mount").args(arguments).arg(at).output().ok();
        let is_mounted = is_root() && mount().is_some_and(|output| output.status.success());
        is_mounted.then(|| Self(at.to_owned()))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let status = Command::new("umount").arg(&self.0).status();
        assert!(std::thread::panicking() || status.unwrap().success());
    }
}

#[test]
fn on_a_full_disk_nothing_changes_and_with_room_again_everything_works() {
    const SETTINGS: usize = 9_000;
    let home = TestHome::new();
    let folder = home.home().join(".claude");
    fs_err::create_dir(&folder).unwrap();
    let Some(_disk) = SmallDisk::mount(&folder) else {
        skip("only root may mount a small disk");
        return;
    };
    let filler = home.home().join(".claude/filler");
    let settings = format!("{{\"env\": {{\"A\": \"{}\"}}}}", "x".repeat(SETTINGS));
    fs_err::write(folder.join("settings.json"), settings).unwrap();
    let without_times = || -> Vec<Node> {
        let nodes = tree(&home.home()).into_iter();
        nodes.map(|node| Node { modified: std::time::UNIX_EPOCH, ..node }).collect()
    };
    let mut refused = [0, 0];
    for blocks in 0..=12 {
        fs_err::write(&filler, vec![b'x'; blocks * 4096]).unwrap();
        let before = without_times();
        for (verb, refused) in ["install", "uninstall"].iter().zip(&mut refused) {
            let now = without_times();
            let run = home.tma1(&with_both(verb));
            if run.status == Some(0) {
                continue;
            }
            *refused += 1;
            assert_eq!(run.status, Some(1), "{run:#?}");
            assert!(run.stderr.contains("can't be written"), "{run:#?}");
            assert!(run.stderr.contains("No space left on device"), "{run:#?}");
            assert!(run.stderr.contains("every file is as it was"), "{run:#?}");
            assert_eq!(without_times(), now, "{verb} with {blocks} blocks taken");
        }
        fs_err::write(&filler, "").unwrap();
        home.tma1(&with_both("install")).succeeded();
        home.tma1(&with_both("uninstall")).succeeded();
        fs_err::write(&filler, vec![b'x'; blocks * 4096]).unwrap();
        assert_eq!(without_times(), before, "{blocks} blocks taken");
    }
    assert!(refused[0] > 1, "the disk was never full: {refused:?}");
}

/// Gives everything of `home` to a user without rights, unless we are one ourselves.
fn give_away(home: &TestHome) {
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

fn as_ordinary_user(home: &TestHome, arguments: &[&str]) -> Run {
    let command = home.tma1_command(arguments);
    if !is_root() {
        return Run::of(&mut { command }, LIMIT);
    }
    let mut lowered = home.command("setpriv");
    let id = NOBODY.to_string();
    lowered.args(["--reuid", &id, "--regid", &id, "--clear-groups", "--"]);
    lowered.arg(command.get_program()).args(command.get_args());
    Run::of(&mut lowered, LIMIT)
}

#[test]
fn without_the_right_to_write_somewhere_nothing_is_written_anywhere() {
    type Take = fn(&TestHome);
    fn mode(home: &TestHome, name: &str, mode: u32) {
        let path = home.home().join(name);
        fs_err::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    }
    /// Root's, in a home that is not. An ordinary user can't prepare that.
    fn to_root(home: &TestHome, name: &str) {
        if is_root() {
            chown(home.home().join(name), Some(0), Some(0)).unwrap();
        } else {
            mode(home, name, 0o500);
        }
    }
    if is_root() && Command::new("setpriv").arg("--version").output().is_err() {
        skip("there is no setpriv to become another user with");
        return;
    }
    let cases: [(&str, Take, &str); 8] = [
        ("folder", |home| mode(home, ".claude", 0o555), "is not writable"),
        ("codex folder", |home| mode(home, ".codex", 0o555), "is not writable"),
        ("home", |home| mode(home, "", 0o555), "is not writable"),
        ("read-only file", |home| mode(home, ".codex/config.toml", 0o400), "it is read-only"),
        ("unreadable file", |home| mode(home, ".claude.json", 0o200), "ermission denied"),
        ("folder of root", |home| to_root(home, ".claude"), "is not writable"),
        ("closed folder", |home| mode(home, ".codex", 0o000), "ermission denied"),
        (
            "own folder",
            |home| {
                fs_err::create_dir(home.home().join(".tma1")).unwrap();
                give_away(home);
                mode(home, ".tma1", 0o555);
            },
            "is not writable",
        ),
    ];
    for (name, take, word) in cases {
        let home = home_in_use();
        give_away(&home);
        take(&home);
        let tree_of = |home: &TestHome| {
            // Root sees it anyhow, others only what is open.
            if is_root() { tree(home.root()) } else { Vec::new() }
        };
        let before = tree_of(&home);
        let run = as_ordinary_user(&home, &with_both("install"));
        assert_eq!(run.status, Some(1), "{name}: {run:#?}");
        assert!(run.stderr.contains(word) && run.stderr.contains("hint: "), "{name}: {run:#?}");
        assert_eq!(tree_of(&home), before, "{name}");
        // So that it can be removed.
        for folder in ["", ".claude", ".codex"] {
            mode(&home, folder, 0o755);
        }
    }
}

#[test]
fn a_group_that_a_user_is_not_in_is_kept_or_is_no_loss_or_is_in_the_way() {
    const THEIRS: u32 = 12_345;
    if !is_root() || Command::new("setpriv").arg("--version").output().is_err() {
        skip("only root can give files to a group");
        return;
    }
    let home = home_in_use();
    give_away(&home);
    let give = |name: &str, mode: u32| {
        let path = home.home().join(name);
        chown(&path, None, Some(THEIRS)).unwrap();
        fs_err::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    };
    let group = |name: &str| fs_err::metadata(home.home().join(name)).unwrap().gid();
    // Whatever is created in this folder gets its group.
    give(".claude/settings.json", 0o640);
    give(".claude", 0o2775);
    let before: Vec<_> = tree(home.root()).into_iter().map(Node::without_time).collect();
    as_ordinary_user(&home, &with_both("install")).succeeded();
    for name in [".claude/settings.json", ".claude/skills/tma1-recall/SKILL.md"] {
        assert_eq!(group(name), THEIRS, "{name}");
    }
    as_ordinary_user(&home, &with_both("uninstall")).succeeded();
    let after: Vec<_> = tree(home.root()).into_iter().map(Node::without_time).collect();
    assert_eq!(after, before);
    assert_eq!(group(".claude/settings.json"), THEIRS);
    // What is ours as a whole may have any group.
    as_ordinary_user(&home, &with_both("install")).succeeded();
    let script = ".tma1/hooks/tma1-hook.sh";
    fs_err::write(home.home().join(script), "").unwrap();
    give(script, 0o755);
    as_ordinary_user(&home, &with_both("install")).succeeded();
    assert_eq!(group(script), NOBODY);
    give(script, 0o755);
    as_ordinary_user(&home, &with_both("uninstall")).succeeded();
    assert!(!home.home().join(script).exists());
    // The user's own file would lose the group.
    give(".codex/config.toml", 0o640);
    let run = as_ordinary_user(&home, &with_both("install"));
    assert_eq!(run.status, Some(1), "{run:#?}");
    assert!(run.stderr.contains("a group (id 12345) that you are not in"), "{run:#?}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_is_mounted_by_itself_is_left_with_all_others_and_the_user_is_told_why() {
    let home = home_in_use();
    let state = home.home().join(".claude.json");
    let outside = home.tmp().join("state.json");
    fs_err::copy(&state, &outside).unwrap();
    // In a name space of its own, so that the mount is gone with the process.
    let mut command = home.command("unshare");
    let script = "mount --bind \"$1\" \"$2\" || exit 77; shift 2; exec \"$@\"";
    command.args(["-m", "/bin/sh", "-c", script, "sh"]).arg(&outside).arg(&state);
    command.arg(home.binary()).args(with_both("install"));
    if !is_root() {
        return skip("only root may mount a file");
    }
    let before = files(&home);
    let run = Run::of(&mut command, LIMIT);
    if run.status == Some(77) {
        return skip("nothing can be mounted here");
    }
    assert_eq!(run.status, Some(1), "{run:#?}");
    assert!(run.stderr.contains(".claude.json can't be written"), "{run:#?}");
    assert!(run.stderr.contains("mounted by itself"), "{run:#?}");
    assert_eq!(files(&home), before);
}
