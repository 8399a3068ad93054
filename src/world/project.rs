//! Projects.

/// A project: what its sessions have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Project {
    root: String,
}

impl Project {
    /// The project whose root directory is `root`.
    pub(super) fn new(root: &str) -> Self {
        // On Unix a backslash is a character like others.
        let root = if root.starts_with('/') { root.to_owned() } else { root.replace('\\', "/") };
        let trimmed = root.trim_end_matches('/');
        Self { root: if trimmed.is_empty() { root } else { trimmed.to_owned() } }
    }

    /// The root directory; empty if it is not known.
    pub(super) fn root(&self) -> &str {
        &self.root
    }

    /// The name of the root directory.
    pub(super) fn name(&self) -> &str {
        match self.root.rsplit('/').next() {
            Some(name) if !name.is_empty() => name,
            _ => "/",
        }
    }

    /// Whether `path` lies in the project; nothing lies in one that is not known.
    pub(super) fn contains(&self, path: &str) -> bool {
        !self.root.is_empty() && self.relative(path).len() < path.len()
    }

    /// A directory as seen from the root; none if it is the root, or not known.
    pub(super) fn other_directory<'a>(&self, directory: &'a str) -> Option<&'a str> {
        let is_other = !directory.is_empty() && !self.root.is_empty() && directory != self.root;
        is_other.then(|| self.relative(directory))
    }

    /// `path` as seen from the root, or as it is if it lies outside.
    pub(super) fn relative<'a>(&self, path: &'a str) -> &'a str {
        path.strip_prefix(self.root.trim_end_matches('/'))
            .and_then(|rest| rest.strip_prefix('/'))
            .filter(|rest| !rest.is_empty())
            .unwrap_or(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_is_named_after_its_root() {
        for (root, name) in [
            ("/home/dev/project", "project"),
            ("/home/dev/project/", "project"),
            (r"C:\src\app", "app"),
            (r"/home/dev/back\slash", r"back\slash"),
            ("/", "/"),
            ("", "/"),
        ] {
            assert_eq!(Project::new(root).name(), name, "{root}");
        }
    }

    #[test]
    fn a_directory_is_named_if_it_is_not_the_root() {
        let project = Project::new("/home/dev/project/");
        for (directory, named) in [
            ("/home/dev/project", None),
            ("", None),
            ("/home/dev/project/packages/a", Some("packages/a")),
            ("/home/dev", Some("/home/dev")),
        ] {
            assert_eq!(project.other_directory(directory), named, "{directory}");
        }
        assert_eq!(Project::new("").other_directory("/a"), None);
    }

    #[test]
    fn paths_are_relative_inside_and_whole_outside() {
        let project = Project::new("/home/dev/project");
        assert_eq!(project.relative("/home/dev/project/src/a.rs"), "src/a.rs");
        assert_eq!(project.relative("/home/dev/project-two/a.rs"), "/home/dev/project-two/a.rs");
        assert_eq!(project.relative("/home/dev/project"), "/home/dev/project");
        assert_eq!(project.relative("/etc/hosts"), "/etc/hosts");
        assert!(project.contains("/home/dev/project/src/a.rs"));
        assert!(!project.contains("/home/dev/project-two/a.rs"));
        assert!(Project::new("/").contains("/etc/hosts"));
        assert!(!Project::new("").contains("/etc/hosts"));
    }
}
