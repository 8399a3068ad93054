//! Paths as agents write them, made absolute by their text alone: no file is looked at.

/// A longer path is longer than any system's, so it names no file.
pub(in crate::agent) const MAX_PATH_BYTES: usize = 4096;

/// `path` as seen from `cwd`, with `/` between its parts and `.` and `..` resolved. It stays relative
/// if it is and `cwd` is not known.
pub(in crate::agent) fn absolute(cwd: &str, path: &str) -> String {
    let path = path.replace('\\', "/");
    let is_whole = cwd.is_empty() || path.starts_with('/') || has_drive(&path);
    let joined = if is_whole { path } else { format!("{}/{path}", cwd.replace('\\', "/")) };
    let mut parts: Vec<&str> = Vec::new();
    for part in joined.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let root = if joined.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}

/// Whether a path names its file wherever one is.
pub(in crate::agent) fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || has_drive(path)
}

/// The directory that `cd target` leads to, called in `cwd`.
///
/// The event after a call of Claude Code names the directory that the call has led to, so a relative
/// target that `cwd` ends with is the one that it is in already.
pub(in crate::agent) fn directory_after(cwd: &str, target: &str) -> String {
    let there = absolute("", target);
    let cwd = absolute("", cwd);
    let is_name = !is_absolute(target) && !there.is_empty() && !target.contains("..");
    if is_name && cwd.strip_suffix(&there).is_some_and(|parent| parent.ends_with('/')) {
        return cwd;
    }
    absolute(&cwd, target)
}

/// Whether a path begins with a Windows drive, such as `C:/`.
fn has_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_absolute_by_their_text() {
        for (path, expected) in [
            ("a", "/home/a"),
            ("./a//b", "/home/a/b"),
            ("../../../etc", "/etc"),
            ("/x/../y", "/y"),
            (r"C:\src\a.rs", "C:/src/a.rs"),
            ("", "/home"),
        ] {
            assert_eq!(absolute("/home", path), expected, "{path}");
        }
        assert_eq!(absolute("", "./a"), "a");
        assert_eq!(absolute("", "/a/."), "/a");
    }

    #[test]
    fn a_directory_is_the_one_that_cd_leads_to() {
        for (cwd, target, expected) in [
            ("/p", "app", "/p/app"),
            ("/p/app", "app", "/p/app"),
            ("/p/app/", "./app/", "/p/app"),
            ("/p/my-app", "app", "/p/my-app/app"),
            ("/p/app", "../lib", "/p/lib"),
            ("/p/app", "/x", "/x"),
            ("/p", ".", "/p"),
        ] {
            assert_eq!(directory_after(cwd, target), expected, "{cwd} {target}");
        }
    }
}
