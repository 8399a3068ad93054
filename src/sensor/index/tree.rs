//! What was seen of a project: which files and folders there are, and the contents of its manifests.

use std::collections::{BTreeMap, BTreeSet};

use jsonc_parser::{ParseOptions, parse_to_serde_value};
use serde_json::Value;
use toml_edit::DocumentMut;

/// How deep brackets of a manifest may nest. Nothing that people write comes near it, and parsers that
/// call themselves stay within their stack.
const MAX_NESTING: usize = 64;

/// A part of a project's tree. Folders are named as seen from its root, which is the empty name.
#[derive(Debug)]
pub(super) struct Tree {
    listings: BTreeMap<String, Listing>,
    manifests: BTreeMap<String, Manifest>,
    /// Whether nothing was left out because of a bound.
    pub complete: bool,
}

/// The names in a folder.
#[derive(Debug, Default)]
pub(super) struct Listing {
    pub files: BTreeSet<String>,
    pub folders: BTreeSet<String>,
}

#[derive(Debug)]
struct Manifest {
    text: String,
    /// As TOML or JSON, if its name says that it is, and it is.
    parsed: Parsed,
}

#[derive(Debug)]
enum Parsed {
    Toml(Box<DocumentMut>),
    Json(Value),
    Nothing,
}

impl Tree {
    /// A tree of which nothing is known yet, and nothing left out.
    pub(super) const fn new() -> Self {
        Self { listings: BTreeMap::new(), manifests: BTreeMap::new(), complete: true }
    }

    /// Adds a folder.
    pub(super) fn add_folder(&mut self, path: &str, listing: Listing) {
        self.listings.insert(path.to_owned(), listing);
    }

    /// Adds what was read of a file.
    pub(super) fn add_file(&mut self, path: &str, content: &[u8]) {
        let text = String::from_utf8_lossy(content).into_owned();
        let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
        let parsed = parse(path, &text);
        self.manifests.insert(path.to_owned(), Manifest { text, parsed });
    }

    /// All folders, those above before those below.
    pub(super) fn folders(&self) -> Vec<Folder<'_>> {
        let mut folders: Vec<_> = self
            .listings
            .iter()
            .map(|(path, listing)| Folder { tree: self, path, listing })
            .collect();
        folders.sort_by_key(|folder| (folder.depth(), folder.path));
        folders
    }

    fn folder(&self, path: &str) -> Option<Folder<'_>> {
        let (path, listing) = self.listings.get_key_value(path)?;
        Some(Folder { tree: self, path, listing })
    }

    /// What is at or below the folder `path`, by path.
    fn below<'a, V>(
        map: &'a BTreeMap<String, V>,
        path: &'a str,
    ) -> impl Iterator<Item = (&'a String, &'a V)> {
        map.range(path.to_owned()..).take_while(move |(found, _)| found.starts_with(path)).filter(
            move |(found, _)| {
                path.is_empty()
                    || found
                        .strip_prefix(path)
                        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            },
        )
    }
}

fn parse(path: &str, text: &str) -> Parsed {
    let extension = path.rsplit('.').next().unwrap_or_default();
    if !matches!(extension, "toml" | "json" | "jsonc") || nests_deeply(text) {
        return Parsed::Nothing;
    }
    if extension == "toml" {
        return text.parse().map_or(Parsed::Nothing, |document| Parsed::Toml(Box::new(document)));
    }
    // Many of these files have comments.
    parse_to_serde_value(text, &ParseOptions::default()).map_or(Parsed::Nothing, Parsed::Json)
}

/// Whether more brackets than [`MAX_NESTING`] are open at once, those in strings and comments among
/// them, or a key of TOML has more parts than that.
fn nests_deeply(text: &str) -> bool {
    let (mut depth, mut deepest) = (0_usize, 0);
    let (mut dots, mut most_dots) = (0_usize, 0);
    for byte in text.bytes() {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            b'.' => dots += 1,
            b'\n' => dots = 0,
            _ => {}
        }
        deepest = deepest.max(depth);
        most_dots = most_dots.max(dots);
    }
    deepest > MAX_NESTING || (most_dots > MAX_NESTING * 8)
}

/// A folder of a tree.
#[derive(Debug, Clone, Copy)]
pub(super) struct Folder<'t> {
    tree: &'t Tree,
    path: &'t str,
    listing: &'t Listing,
}

impl<'t> Folder<'t> {
    /// As seen from the root.
    pub(super) const fn path(self) -> &'t str {
        self.path
    }

    /// How many folders it is below the root.
    pub(super) fn depth(self) -> usize {
        if self.path.is_empty() { 0 } else { self.path.split('/').count() }
    }

    /// Whether there is such a file in it, or below: `config/application.rb`.
    pub(super) fn has(self, name: &str) -> bool {
        match name.rsplit_once('/') {
            Some((folder, name)) => self
                .tree
                .listings
                .get(&self.join(folder))
                .is_some_and(|listing| listing.files.contains(name)),
            None => self.listing.files.contains(name),
        }
    }

    /// Whether there is such a folder in it, or below.
    pub(super) fn has_folder(self, name: &str) -> bool {
        match name.rsplit_once('/') {
            Some((folder, name)) => self
                .tree
                .listings
                .get(&self.join(folder))
                .is_some_and(|listing| listing.folders.contains(name)),
            None => self.listing.folders.contains(name),
        }
    }

    /// The names of the files in it.
    pub(super) fn files(self) -> impl Iterator<Item = &'t str> {
        self.listing.files.iter().map(String::as_str)
    }

    /// The names of the folders in it.
    pub(super) fn folders(self) -> impl Iterator<Item = &'t str> {
        self.listing.folders.iter().map(String::as_str)
    }

    /// The file whose name ends so, the first one.
    pub(super) fn with_ending(self, ending: &str) -> Option<&'t str> {
        self.files().find(|name| name.ends_with(ending))
    }

    /// What was read of a file; none if it was not read, or is no file.
    pub(super) fn text(self, name: &str) -> Option<&'t str> {
        self.manifest(name).map(|manifest| manifest.text.as_str())
    }

    /// Whether a file was read and holds `what`.
    pub(super) fn mentions(self, name: &str, what: &str) -> bool {
        self.text(name).is_some_and(|text| text.contains(what))
    }

    /// A file that is JSON, with comments or without.
    pub(super) fn json(self, name: &str) -> Option<&'t Value> {
        match &self.manifest(name)?.parsed {
            Parsed::Json(value) => Some(value),
            Parsed::Toml(_) | Parsed::Nothing => None,
        }
    }

    /// A file that is TOML.
    pub(super) fn toml(self, name: &str) -> Option<&'t DocumentMut> {
        match &self.manifest(name)?.parsed {
            Parsed::Toml(document) => Some(document),
            Parsed::Json(_) | Parsed::Nothing => None,
        }
    }

    /// The folders that it lies in, the nearest first.
    pub(super) fn ancestors(self) -> impl Iterator<Item = Folder<'t>> {
        let mut next = Some(self.path).filter(|path| !path.is_empty());
        std::iter::from_fn(move || {
            let path = next?;
            let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
            next = Some(parent).filter(|parent| !parent.is_empty());
            self.tree.folder(parent)
        })
    }

    /// It, and all below it.
    pub(super) fn descendants(self) -> impl Iterator<Item = Folder<'t>> {
        Tree::below(&self.tree.listings, self.path).map(move |(path, listing)| Folder {
            tree: self.tree,
            path,
            listing,
        })
    }

    /// Where this is as seen from `ancestor`: `packages/web`.
    pub(super) fn seen_from(self, ancestor: Folder<'_>) -> &'t str {
        let rest = self.path.strip_prefix(ancestor.path).unwrap_or(self.path);
        rest.strip_prefix('/').unwrap_or(rest)
    }

    /// The way up to `ancestor`: `../../`, or nothing if it is that.
    pub(super) fn way_to(self, ancestor: Folder<'_>) -> String {
        "../".repeat(self.depth().saturating_sub(ancestor.depth()))
    }

    fn manifest(self, name: &str) -> Option<&'t Manifest> {
        self.tree.manifests.get(&self.join(name))
    }

    fn join(self, name: &str) -> String {
        join(self.path, name)
    }
}

/// `name` in the folder `path`.
pub(super) fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") }
}
