//! Finds the project that a directory belongs to.

use std::path::{Path, PathBuf};

/// What the root of a project holds: a repository, or the file by which a linked work tree or a
/// submodule names its repository.
const ROOT_MARKER: &str = ".git";

/// The root of the project that `directory` lies in: the nearest directory upwards with a
/// repository, else `directory` itself.
///
/// The home directory is a project only for what runs right in it. A repository of dotfiles there
/// must not swallow every project below it. A relative path is taken as it is: what it is relative to
/// is the agent's secret.
pub fn root_of(directory: &Path, home: &Path) -> PathBuf {
    if directory.is_relative() {
        return directory.to_path_buf();
    }
    directory
        .ancestors()
        .take_while(|ancestor| *ancestor != home)
        .find(|ancestor| ancestor.join(ROOT_MARKER).exists())
        .unwrap_or(directory)
        .to_path_buf()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_repository_is_the_project() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        for directory in [".git", "shop/.git", "shop/src/api", "loose/notes", "shop/vendor/lib"] {
            fs_err::create_dir_all(home.join(directory)).unwrap();
        }
        fs_err::write(home.join("shop/vendor/lib/.git"), "gitdir: ../../.git/modules/lib").unwrap();
        for (directory, root) in [
            ("shop", "shop"),
            ("shop/src/api", "shop"),
            ("shop/vendor/lib", "shop/vendor/lib"),
            ("shop/not/there", "shop"),
            ("loose/notes", "loose/notes"),
            ("", ""),
        ] {
            assert_eq!(root_of(&home.join(directory), home), home.join(root), "{directory}");
        }
    }

    #[test]
    fn a_relative_path_is_not_looked_up_where_we_happen_to_run() {
        for directory in ["", ".", "src"] {
            assert_eq!(root_of(Path::new(directory), Path::new("/home")), Path::new(directory));
        }
    }
}
