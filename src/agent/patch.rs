//! The patches of Codex's `apply_patch`, as far as their file names go.

use crate::agent::shell::Script;
use crate::agent::tool::path::directory_after;

/// The longest command in front of a patch, in bytes.
const MAX_COMMAND_BYTES: usize = 1024;

/// The files that a patch touches, in its order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Files<'a> {
    /// Created or changed.
    pub written: Vec<&'a str>,
    /// Deleted, or moved away.
    pub removed: Vec<&'a str>,
}

/// Reads the file lines of a patch.
///
/// Every line of a file's content is prefixed by `+`, `-`, a space or `@@`, so a line that begins
/// with `***` is the patch's own.
pub(super) fn files(patch: &str) -> Files<'_> {
    let mut files = Files::default();
    for line in patch.lines() {
        let Some(directive) = line.strip_prefix("*** ") else {
            continue;
        };
        if let Some(path) = value_of(directive, "Add File:") {
            files.written.push(path);
        } else if let Some(path) = value_of(directive, "Update File:") {
            files.written.push(path);
        } else if let Some(path) = value_of(directive, "Delete File:") {
            files.removed.push(path);
        } else if let Some(path) = value_of(directive, "Move to:") {
            // Follows the `Update File:` line of the file that moves.
            files.removed.extend(files.written.pop());
            files.written.push(path);
        }
    }
    files
}

/// The patch's own lines without the content between them, and the command in front that applies it
/// if there is one; none if `text` is no patch.
pub(super) fn outline(text: &str) -> Option<String> {
    const BEGIN: &str = "*** Begin Patch";
    let is_command = |before: &&str| {
        let before = before.trim();
        before.is_empty() || (before.len() <= MAX_COMMAND_BYTES && before.contains("apply_patch"))
    };
    let (before, _) = text.split_once(BEGIN)?;
    let patch = text.strip_prefix(before).filter(|_| is_command(&before))?;
    let own = patch.split_inclusive('\n').filter(|line| line.starts_with("*** "));
    Some(std::iter::once(before).chain(own).collect())
}

/// The patch that a command line applies by `apply_patch`, alone or after the way into a directory,
/// and the directory that it is applied in, called in `cwd`.
pub(super) fn in_script(script: &Script<'_>, cwd: &str) -> Option<(String, String)> {
    let (last, ways) = script.parts.split_last()?;
    let mut directory = cwd.to_owned();
    for way in ways {
        match way.words.as_slice() {
            [cd, target] if cd.value == "cd" && target.is_literal => {
                directory = directory_after(&directory, &target.value);
            }
            _ => return None,
        }
    }
    let patch = match (last.words.as_slice(), last.redirects.as_slice()) {
        ([_], [document]) => document.body?.to_owned(),
        ([_, patch], []) => patch.value.clone(),
        _ => return None,
    };
    let is_patch = last.program() == "apply_patch" && patch.trim_start().starts_with("*** Begin");
    is_patch.then_some((patch, directory))
}

fn value_of<'a>(directive: &'a str, name: &str) -> Option<&'a str> {
    directive.strip_prefix(name).map(str::trim).filter(|path| !path.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_file_line_counts() {
        let patch = "*** Begin Patch\n*** Add File: src/login.py\n+def login():\n+*** Add File: not.me\n\
                     *** Update File: README.md\n@@\n-old\n+new\n*** Delete File: old.txt\n\
                     *** Update File: from.rs\n*** Move to: to.rs\n@@\n-a\n+b\n*** End Patch\n";
        assert_eq!(
            files(patch),
            Files {
                written: vec!["src/login.py", "README.md", "to.rs"],
                removed: vec!["old.txt", "from.rs"],
            }
        );
    }

    #[test]
    fn a_patch_without_files_has_none() {
        for patch in ["", "*** Add File:", "*** Add File:   ", "not a patch"] {
            assert_eq!(files(patch), Files::default(), "{patch}");
        }
    }
}
