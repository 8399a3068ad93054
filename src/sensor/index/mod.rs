//! The index of a project: what it is made of, as its marker files tell.
//!
//! [`scan`] reads a bounded part of the tree, [`Tree`] is what it saw, and the files of the families of
//! markers tell what that means. [`Indexer`] is the thread that does it, and keeps the result.

mod cargo;
mod dotnet;
mod elixir;
mod found;
mod git;
mod go;
mod indexer;
mod jvm;
mod markers;
mod native;
mod node;
mod php;
mod python;
mod ruby;
mod scan;
mod swift;
mod tasks;
mod tree;

use std::collections::{BTreeMap, HashMap};

use crate::agent::beginning;
use crate::world::{Member, ProjectIndex, Shape};
use found::{Found, is_plain};
pub use indexer::Indexer;
pub use scan::Limits;
use tree::{Folder, Tree};

/// How many members, folders and key files of one folder an index names at most.
const MAX_MEMBERS: usize = 100;
const MAX_FOLDERS: usize = 100;
const MAX_KEY_FILES: usize = 24;

/// How long a path may be that an index names, in bytes.
const MAX_PATH: usize = 200;

/// Endings of sources, for a project without a manifest.
const SOURCES: [(&str, &str); 18] = [
    ("rs", "Rust"),
    ("py", "Python"),
    ("go", "Go"),
    ("ts", "TypeScript"),
    ("tsx", "TypeScript"),
    ("js", "JavaScript"),
    ("mjs", "JavaScript"),
    ("java", "Java"),
    ("kt", "Kotlin"),
    ("c", "C"),
    ("cc", "C++"),
    ("cpp", "C++"),
    ("rb", "Ruby"),
    ("php", "PHP"),
    ("cs", "C#"),
    ("ex", "Elixir"),
    ("swift", "Swift"),
    ("sh", "Shell"),
];

/// A family of markers.
struct Family {
    read: fn(Folder<'_>) -> Option<Found>,
    nested: Nested,
}

/// What a marker below another one of its family is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Nested {
    /// A project of its own, unless a workspace above says otherwise.
    Separate,
    /// A part of the one above.
    Absorbed,
    /// No project by itself, here or elsewhere below the root.
    Companion,
}

const FAMILIES: [Family; 16] = [
    Family { read: cargo::read, nested: Nested::Separate },
    Family { read: go::read, nested: Nested::Separate },
    Family { read: jvm::read_gradle, nested: Nested::Separate },
    Family { read: jvm::read_maven, nested: Nested::Separate },
    Family { read: jvm::read_sbt, nested: Nested::Absorbed },
    Family { read: dotnet::read, nested: Nested::Separate },
    Family { read: elixir::read, nested: Nested::Separate },
    Family { read: python::read, nested: Nested::Separate },
    Family { read: ruby::read, nested: Nested::Separate },
    Family { read: php::read, nested: Nested::Separate },
    Family { read: node::read_deno, nested: Nested::Separate },
    Family { read: node::read, nested: Nested::Separate },
    Family { read: swift::read, nested: Nested::Separate },
    Family { read: native::read_cmake, nested: Nested::Absorbed },
    Family { read: native::read_meson, nested: Nested::Absorbed },
    Family { read: tasks::read, nested: Nested::Companion },
];

/// What was found in a folder, with the number of the family.
type Finds = Vec<(usize, Found)>;

/// The index of the project whose tree this is.
fn index(tree: &Tree) -> ProjectIndex {
    let mut found: HashMap<&str, Finds> = HashMap::new();
    let mut index = ProjectIndex { complete: tree.complete, ..ProjectIndex::default() };
    for folder in tree.folders() {
        let finds = FAMILIES.iter().enumerate();
        let finds = finds.filter_map(|(number, family)| Some((number, (family.read)(folder)?)));
        let finds: Finds = finds.filter(|(number, _)| belongs(folder, *number, &found)).collect();
        if folder.depth() == 0 {
            index.shape = shape(&finds);
            index.folders = names(folder.folders());
            let key_files = markers::KEY_FILES.into_iter().filter(|name| folder.has(name));
            index.shape.key_files.extend(key_files.map(str::to_owned));
            index.shape.key_files.extend(pipelines(folder));
            index.shape.key_files.truncate(MAX_KEY_FILES);
        } else if is_member(folder, &finds) {
            add_member(&mut index, folder, &finds);
        }
        if !finds.is_empty() {
            found.insert(folder.path(), finds);
        }
    }
    if index.shape.languages.is_empty() {
        index.shape.languages.extend(language_of_sources(tree));
    }
    index
}

fn is_member(folder: Folder<'_>, finds: &Finds) -> bool {
    let of_its_own = |(number, _): &(usize, Found)| {
        FAMILIES.get(*number).is_some_and(|it| it.nested != Nested::Companion)
    };
    is_plain(folder.path()) && finds.iter().any(of_its_own)
}

fn add_member(index: &mut ProjectIndex, folder: Folder<'_>, finds: &Finds) {
    let shape = shape(finds);
    add_new(&mut index.shape.languages, &shape.languages);
    add_new(&mut index.shape.build_systems, &shape.build_systems);
    if index.members.len() >= MAX_MEMBERS || folder.path().len() > MAX_PATH {
        index.more_members += 1;
        return;
    }
    let name = finds.iter().find_map(|(_, found)| found.name.clone());
    index.members.push(Member { path: folder.path().to_owned(), name, shape });
}

/// Whether a find of this family in `folder` counts, as far as those above say.
fn belongs(folder: Folder<'_>, family: usize, found: &HashMap<&str, Finds>) -> bool {
    let nested = FAMILIES.get(family).map(|family| family.nested);
    let mut is_left_out = false;
    for above in folder.ancestors() {
        let finds = found.get(above.path()).into_iter().flatten();
        let Some((_, above_found)) = finds.into_iter().find(|(number, _)| *number == family) else {
            continue;
        };
        if nested == Some(Nested::Absorbed) {
            return false;
        }
        match &above_found.workspace {
            Some(workspace) if workspace.includes(folder.seen_from(above)) => return true,
            Some(_) => is_left_out = true,
            None => {}
        }
    }
    !is_left_out
}

fn shape(finds: &Finds) -> Shape {
    let mut shape = Shape::default();
    for (_, found) in finds {
        let owned =
            |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        add_new(&mut shape.languages, &owned(&found.languages));
        add_new(&mut shape.build_systems, &owned(&found.build_systems));
        shape.test_runners.extend(found.test_runners.iter().cloned());
        let fit = found.key_files.iter().filter(|name| is_plain(name) && name.len() <= MAX_PATH);
        add_new(&mut shape.key_files, &fit.cloned().collect::<Vec<_>>());
    }
    shape.key_files.truncate(MAX_KEY_FILES);
    shape
}

fn add_new(names: &mut Vec<String>, more: &[String]) {
    for name in more {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
}

fn names<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    names
        .filter(|name| is_plain(name) && !name.starts_with('.'))
        .take(MAX_FOLDERS)
        .map(|name| beginning(name, MAX_PATH).to_owned())
        .collect()
}

/// The files that tell a forge what to run.
fn pipelines(root: Folder<'_>) -> Vec<String> {
    let folder = root.descendants().find(|folder| folder.path() == ".github/workflows");
    let files = folder.into_iter().flat_map(Folder::files).filter(|name| is_plain(name));
    let files = files.filter(|name| name.len() <= MAX_PATH);
    files.map(|name| tree::join(".github/workflows", name)).take(MAX_KEY_FILES / 2).collect()
}

/// The language of most sources.
fn language_of_sources(tree: &Tree) -> Option<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for name in tree.folders().into_iter().flat_map(Folder::files) {
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        if let Some((_, language)) = SOURCES.iter().find(|(known, _)| *known == ending) {
            *counts.entry(language).or_default() += 1;
        }
    }
    let most =
        counts.into_iter().max_by_key(|(language, count)| (*count, std::cmp::Reverse(*language)));
    most.map(|(language, _)| language.to_owned())
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod shapes;
