//! What a project is made of, as its marker files tell.

use serde::{Deserialize, Serialize};

/// What a project is made of, and where its repository stands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectIndex {
    /// What its root is made of. Languages and build systems of its members are among these, after its
    /// own.
    #[serde(flatten)]
    pub shape: Shape,
    /// The folders in its root, in the order of their names, without hidden and ignored ones.
    pub folders: Vec<String>,
    /// The members of its workspaces, and other folders with a manifest of their own.
    pub members: Vec<Member>,
    /// How many members there are beyond those.
    pub more_members: usize,
    /// The branch that is checked out; none if that is a commit, or there is no repository.
    pub branch: Option<String>,
    /// The commit that is checked out, in hexadecimal.
    pub head_commit: Option<String>,
    /// Whether all was looked at that there is to look at: neither the time nor a bound ended it.
    pub complete: bool,
}

/// What one folder is made of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    /// Its languages, such as `Rust`; the one that its first manifest is for comes first.
    pub languages: Vec<String>,
    /// Its build systems and package managers, such as `cargo` or `pnpm`.
    pub build_systems: Vec<String>,
    /// What runs its tests, what does most first.
    pub test_runners: Vec<TestRunner>,
    /// Files that tell about it: manifests, instructions, pipelines.
    pub key_files: Vec<String>,
}

/// What runs the tests of a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestRunner {
    /// Its name, such as `pytest`.
    pub name: String,
    /// The command that runs all tests, in the folder that it is the runner of.
    pub command: String,
}

/// A folder with a manifest of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// The folder, as seen from the root of the project, with `/` between names.
    pub path: String,
    /// What its manifest calls it.
    pub name: Option<String>,
    /// What it is made of.
    #[serde(flatten)]
    pub shape: Shape,
}

impl ProjectIndex {
    /// The languages, in one text for a column; none if there is none.
    pub fn language(&self) -> Option<String> {
        joined(self.shape.languages.iter())
    }

    /// The build systems, in one text for a column; none if there is none.
    pub fn build_system(&self) -> Option<String> {
        joined(self.shape.build_systems.iter())
    }

    /// The names of the test runners, or those of the members if the root has none, in one text for a
    /// column; none if there is none.
    pub fn test_runner(&self) -> Option<String> {
        let own = self.shape.test_runners.iter();
        let own: Vec<_> = own.map(|runner| &runner.name).collect();
        if !own.is_empty() {
            return joined(own.into_iter());
        }
        let mut names: Vec<&String> = Vec::new();
        for runner in self.members.iter().flat_map(|member| &member.shape.test_runners) {
            if !names.contains(&&runner.name) {
                names.push(&runner.name);
            }
        }
        joined(names.into_iter())
    }
}

fn joined<'a>(values: impl Iterator<Item = &'a String>) -> Option<String> {
    let values: Vec<_> = values.map(String::as_str).collect();
    (!values.is_empty()).then(|| values.join(", "))
}
