//! Finds the project that a directory belongs to.

use std::path::{Component, Path, PathBuf};

/// What the root of a project holds: a repository, or the file by which a linked work tree or a
/// submodule names its repository.
const ROOT_MARKER: &str = ".git";

/// Knows which directories are projects.
#[derive(Debug)]
pub struct Projects {
    /// The home directory by each of its names, as it may be a link.
    homes: Vec<PathBuf>,
}

impl Projects {
    /// For the user whose home directory is `home`.
    pub fn new(home: &Path) -> Self {
        let canonical = fs_err::canonicalize(home).ok();
        Self { homes: canonical.into_iter().chain([home.to_owned()]).collect() }
    }

    /// The root of the project that `directory` lies in: the nearest directory upwards with a
    /// repository, else `directory` itself. Empty if it is relative: what it is relative to is the
    /// agent's secret.
    ///
    /// The home directory is a project only for what runs right in it. A repository of dotfiles
    /// there must not swallow every project below it.
    pub fn root_of(&self, directory: &str) -> String {
        if Path::new(directory).is_relative() {
            return String::new();
        }
        let directory = without_dots(Path::new(directory));
        let root = directory
            .ancestors()
            .take_while(|ancestor| !self.homes.iter().any(|home| home == ancestor))
            .find(|ancestor| ancestor.join(ROOT_MARKER).exists());
        root.unwrap_or(&directory).to_string_lossy().into_owned()
    }

    /// Whether the directory `root`, which events name, is a project: neither the home directory nor one
    /// that holds it, such as that of the file system.
    pub fn is_project(&self, root: &str) -> bool {
        let root = Path::new(root);
        let canonical = fs_err::canonicalize(root).ok();
        let holds_home = |root: &Path| self.homes.iter().any(|home| home.starts_with(root));
        root.parent().is_some() && !holds_home(root) && !canonical.is_some_and(|it| holds_home(&it))
    }
}

/// `path` with `.` and `..` resolved by the text alone.
fn without_dots(path: &Path) -> PathBuf {
    let mut resolved = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(resolved.pop()),
            component => resolved.push(component),
        }
    }
    resolved
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
        let projects = Projects::new(home);
        for (directory, root) in [
            ("shop", "shop"),
            ("shop/src/api", "shop"),
            ("shop/vendor/lib", "shop/vendor/lib"),
            ("shop/not/there", "shop"),
            ("loose/./../shop/src/..", "shop"),
            ("loose/notes", "loose/notes"),
            ("", ""),
        ] {
            let found = projects.root_of(home.join(directory).to_str().unwrap());
            assert_eq!(Path::new(&found), home.join(root), "{directory}");
        }
    }

    #[test]
    fn a_relative_path_is_not_looked_up_where_we_happen_to_run() {
        for directory in ["", ".", "src"] {
            assert_eq!(Projects::new(Path::new("/home")).root_of(directory), "", "{directory}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_home_that_is_a_link_is_home_by_both_names() {
        let folder = tempfile::tempdir().unwrap();
        let folder = fs_err::canonicalize(folder.path()).unwrap();
        fs_err::create_dir_all(folder.join("real/.git")).unwrap();
        fs_err::create_dir_all(folder.join("real/notes")).unwrap();
        fs_err::os::unix::fs::symlink(folder.join("real"), folder.join("home")).unwrap();
        let projects = Projects::new(&folder.join("home"));
        for notes in [folder.join("real/notes"), folder.join("home/notes")] {
            let notes = notes.to_str().unwrap();
            assert_eq!(projects.root_of(notes), notes);
        }
    }
}
