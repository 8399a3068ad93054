//! Plans to take away the skills and commands that this version no longer ships.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::paths::Paths;
use crate::setup::adapter::{self, Artifact};
use crate::setup::plan::{Change, Plan, PlanError, Reason};
use crate::setup::receipt::Receipt;

/// The skill that was shipped at one time; the others of its time have the names of today's.
const FORMER_SKILL: &str = "tma1";

/// Removes what the receipt says to be ours, from the folders in which `artifacts` are, unless it is
/// one of these or was changed. Names every other skill that looks like ours and stays. Returns the
/// removed files.
pub(super) fn plan(
    plan: &mut Plan,
    receipt: &mut Receipt,
    artifacts: &[Artifact],
    paths: &Paths,
) -> Result<Vec<PathBuf>, PlanError> {
    let is_shipped = |path: &Path| artifacts.iter().any(|artifact| artifact.path.starts_with(path));
    let mut swept = Vec::new();
    for (folder, holds_skills) in adapter::text_folders(paths) {
        if !is_shipped(&folder) {
            continue;
        }
        let mut explained = BTreeSet::new();
        let former: Vec<_> = receipt.texts_in(&folder).collect();
        for path in former.into_iter().filter(|path| !is_shipped(path)) {
            explained.extend(entry_of(&folder, &path));
            if sweep(plan, receipt, &path)? {
                swept.push(path);
            }
        }
        let skills = if holds_skills { skills_like_ours(&folder) } else { Vec::new() };
        for skill in skills {
            if !is_shipped(&skill) && !explained.contains(&skill) {
                let is_former = skill.ends_with(FORMER_SKILL);
                plan.note(&skill, if is_former { Reason::Outdated } else { Reason::Foreign });
            }
        }
    }
    Ok(swept)
}

/// Removes one file of ours, if nobody changed it.
fn sweep(plan: &mut Plan, receipt: &mut Receipt, path: &Path) -> Result<bool, PlanError> {
    let target = plan.inspect(path)?;
    let wrote = |bytes: &[u8]| receipt.record(path).is_some_and(|record| record.wrote(bytes));
    let is_unchanged = match &target.before {
        Some(before) if !wrote(&before.bytes) => {
            plan.note(path, Reason::Outdated);
            return Ok(false);
        }
        before => before.is_some(),
    };
    if is_unchanged {
        target.require_replaceable()?;
        let why = "no longer part of tma1";
        plan.push(Change { target, after: None, why, hooks: None });
    }
    receipt.forget(path);
    Ok(is_unchanged)
}

/// The file or folder in `folder` at or in which `path` is.
fn entry_of(folder: &Path, path: &Path) -> Option<PathBuf> {
    let first = path.strip_prefix(folder).ok()?.components().next()?;
    Some(folder.join(first))
}

fn skills_like_ours(folder: &Path) -> Vec<PathBuf> {
    let is_like_ours = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name == "tma1" || name.starts_with("tma1-")) && path.is_dir()
    };
    let entries = fs_err::read_dir(folder).into_iter().flatten().flatten();
    let mut skills: Vec<_> = entries.map(|entry| entry.path()).filter(is_like_ours).collect();
    skills.sort();
    skills
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::setup::Task;
    use crate::setup::cases::{Home, INSTALL};
    use crate::setup::disk::OperatingSystem;
    use crate::setup::receipt::{Record, sha256};

    const OLD: &str = ".claude/skills/tma1-old/SKILL.md";
    const OLDER: &str = ".claude/skills/tma1-older/SKILL.md";
    const COMMAND: &str = ".claude/commands/tma1-old.md";

    /// A home into which an earlier version installed three files, which hold `text` now.
    fn home_with_former(text: &str) -> Home {
        let home = Home::new();
        INSTALL.carry_out(&home.artifacts(), &home.paths, &OperatingSystem).unwrap();
        let path = home.paths.receipt();
        let mut receipt = Receipt::read(&fs_err::read(&path).unwrap());
        for file in [OLD, OLDER, COMMAND] {
            home.write(file, text);
            let sha256 = Some(sha256(b"shipped"));
            receipt.note(&home.path(file), Record { created: true, sha256, ..Record::default() });
            if file != COMMAND {
                receipt.note_folder(home.path(file).parent().unwrap());
            }
        }
        fs_err::write(path, receipt.to_bytes().unwrap()).unwrap();
        home
    }

    fn notes(plan: &Plan, home: &Home) -> Vec<(String, Reason)> {
        let notes = plan.notes().iter();
        let notes = notes.map(|note| (home.paths.display(&note.path), note.reason.clone()));
        notes.filter(|(_, reason)| !matches!(reason, Reason::Absent)).collect()
    }

    #[test]
    fn what_is_no_longer_shipped_goes_with_its_folder() {
        for task in [INSTALL, Task::Uninstall] {
            let home = home_with_former("shipped");
            let taken = task.carry_out(&home.artifacts(), &home.paths, &OperatingSystem).unwrap();
            assert_eq!(notes(&taken, &home), []);
            let left = home.tree();
            assert!(
                !left.iter().any(|path| path.contains("old") || path.contains("peer")),
                "{left:?}"
            );
            assert_eq!(left.is_empty(), matches!(task, Task::Uninstall), "{left:?}");
            assert!(task.plan(&home.artifacts(), &home.paths).unwrap().is_empty());
        }
    }

    #[test]
    fn what_was_changed_since_stays_and_is_named() {
        for task in [INSTALL, Task::Uninstall] {
            let home = home_with_former("mine");
            let taken = task.carry_out(&home.artifacts(), &home.paths, &OperatingSystem).unwrap();
            let named = [OLD, OLDER, COMMAND].map(|path| (format!("~/{path}"), Reason::Outdated));
            assert_eq!(notes(&taken, &home), named);
            for path in [OLD, OLDER, COMMAND] {
                assert_eq!(fs_err::read_to_string(home.path(path)).unwrap(), "mine");
            }
        }
    }

    #[test]
    fn other_skills_of_our_name_are_named_and_others_are_not() {
        let home = Home::new();
        for name in ["tma1", "tma1-mine", "tma1x", "other", "tma1-recall/more"] {
            home.write(&format!(".claude/skills/{name}/SKILL.md"), "mine");
        }
        home.write(".claude/skills/tma1-file", "mine");
        home.write(".agents/skills/tma1-codex/SKILL.md", "mine");
        let expected = [
            ("~/.claude/skills/tma1", Reason::Outdated),
            ("~/.claude/skills/tma1-mine", Reason::Foreign),
        ];
        let expected = expected.map(|(path, reason)| (path.to_owned(), reason));
        assert_eq!(notes(&home.plan(), &home), expected);
        let before = home.tree();
        INSTALL.carry_out(&home.artifacts(), &home.paths, &OperatingSystem).unwrap();
        let taken =
            Task::Uninstall.carry_out(&home.artifacts(), &home.paths, &OperatingSystem).unwrap();
        assert_eq!(notes(&taken, &home), expected);
        assert_eq!(home.tree(), before);
    }
}
