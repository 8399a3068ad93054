//! Paths as agents write them, made absolute by their text alone: no file is looked at.

/// A longer path is longer than any system's, so it names no file.
pub(in crate::agent) const MAX_PATH_BYTES: usize = 4096;

/// `path` as seen from `cwd`, with `/` between its parts and `.` and `..` resolved. It stays relative
/// if it is and `cwd` is not known.
///
/// A backslash parts a path where one of the two is of Windows; elsewhere it is a character like others.
pub(in crate::agent) fn absolute(cwd: &str, path: &str) -> String {
    let is_of_windows = |path: &str| has_drive(path) || path.starts_with(r"\\");
    let has_backslashes = is_of_windows(path) || is_of_windows(cwd);
    let slashed =
        |path: &str| if has_backslashes { path.replace('\\', "/") } else { path.to_owned() };
    let path = slashed(path);
    let is_whole = cwd.is_empty() || path.starts_with('/') || has_drive(&path);
    let joined = if is_whole { path } else { format!("{}/{path}", slashed(cwd)) };
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
    let cwd = absolute("", cwd);
    let there = if has_drive(&cwd) { target.replace('\\', "/") } else { target.to_owned() };
    let there = absolute("", &there);
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
            (r"back\slash/../a\b.rs", r"/home/a\b.rs"),
            (r"/x\y/../z", "/z"),
            ("", "/home"),
        ] {
            assert_eq!(absolute("/home", path), expected, "{path}");
        }
        for (path, expected) in [(r"sub\a.rs", "C:/src/sub/a.rs"), (r"D:\a.rs", "D:/a.rs")] {
            assert_eq!(absolute(r"C:\src", path), expected, "{path}");
        }
        assert_eq!(absolute(r"\\server\share", r"sub\a.rs"), "/server/share/sub/a.rs");
        assert_eq!(absolute(r"/home/back\slash", "a.rs"), r"/home/back\slash/a.rs");
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
            (r"C:\src", r"my\app", "C:/src/my/app"),
            (r"C:\src\my\app", r"my\app", "C:/src/my/app"),
        ] {
            assert_eq!(directory_after(cwd, target), expected, "{cwd} {target}");
        }
    }
}
