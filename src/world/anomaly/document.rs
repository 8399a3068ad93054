//! Files that no build reads.

/// Extensions of files that people read.
const EXTENSIONS: [&str; 6] = ["md", "markdown", "mdx", "rst", "adoc", "txt"];

/// Beginnings of the names of such files that often have no extension.
const NAMES: [&str; 8] =
    ["license", "licence", "copying", "notice", "authors", "readme", "changelog", "contributing"];

/// Text files that builds do read.
const BUILD_FILES: [&str; 3] = ["cmakelists", "requirements", "constraints"];

/// Whether a file is only documentation, so that its edit breaks no build.
pub(in crate::world) fn is_document(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    let (stem, extension) = match name.rsplit_once('.') {
        Some((stem, extension)) => (stem, Some(extension)),
        None => (name.as_str(), None),
    };
    if BUILD_FILES.iter().any(|file| stem.starts_with(file)) {
        return false;
    }
    match extension {
        Some(extension) => EXTENSIONS.contains(&extension),
        None => NAMES.iter().any(|file| stem.starts_with(file)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documentation_is_told_from_what_builds_read() {
        for path in ["/a/README.md", "/a/LICENSE", "/a/LICENSE-MIT", "/a/notes.TXT", "/a/README"] {
            assert!(is_document(path), "{path}");
        }
        for path in [
            "/a/src/main.rs",
            "/a/CMakeLists.txt",
            "/a/requirements-dev.txt",
            "/a/readme.rs",
            "/a/Makefile",
            "/docs/conf.py",
        ] {
            assert!(!is_document(path), "{path}");
        }
    }
}
