//! Reads a bounded part of a project's tree, without following links.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use fs_err::File;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::markers;
use super::tree::{Listing, Tree, join};
use crate::clock;

/// How many lines of one file with patterns are heeded.
const MAX_PATTERNS: usize = 300;

/// How much of a project is looked at.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// How many entries of folders, all together.
    pub entries: usize,
    /// How many of one folder.
    pub entries_of_folder: usize,
    /// How many folders below the root.
    pub depth: usize,
    /// How many files are read.
    pub files: usize,
    /// How much of each, in bytes. A manifest that is longer is not understood, but still one.
    pub bytes_of_file: u64,
    /// How long.
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            entries: 2000,
            entries_of_folder: 500,
            depth: 4,
            files: 300,
            bytes_of_file: 64 * 1024,
            time: Duration::from_millis(200),
        }
    }
}

/// What tells whether a file or a folder was changed: when it was written last, and its size.
pub(super) type Stamp = Option<(SystemTime, u64)>;

/// What was seen.
#[derive(Debug)]
pub(super) struct Scan {
    pub tree: Tree,
    /// How each marker was, and each folder that holds some.
    pub stamps: Vec<(PathBuf, Stamp)>,
}

/// Looks at the project at `root`.
pub(super) fn scan(root: &Path, limits: &Limits) -> Scan {
    let mut scanner = Scanner {
        root,
        limits,
        until: clock::monotonic() + limits.time,
        entries: 0,
        files: 0,
        ignored: BTreeMap::new(),
        scan: Scan { tree: Tree::new(), stamps: Vec::new() },
    };
    scanner.run();
    scanner.scan
}

/// How a file or a folder is now; nothing is followed.
pub(super) fn stamp(path: &Path) -> Stamp {
    let metadata = fs_err::symlink_metadata(path).ok()?;
    let size = if metadata.is_dir() { 0 } else { metadata.len() };
    Some((metadata.modified().ok()?, size))
}

struct Scanner<'a> {
    root: &'a Path,
    limits: &'a Limits,
    until: Instant,
    entries: usize,
    files: usize,
    /// The patterns that each folder brings.
    ignored: BTreeMap<String, Gitignore>,
    scan: Scan,
}

impl Scanner<'_> {
    fn run(&mut self) {
        // What lies in a folder with a manifest comes after what lies elsewhere: sources are many.
        let mut waiting = VecDeque::from([(String::new(), 0)]);
        let mut later = VecDeque::new();
        while let Some((path, depth)) = waiting.pop_front().or_else(|| later.pop_front()) {
            if self.is_over() {
                self.scan.tree.complete = false;
                return;
            }
            let Ok(listing) = self.list(&path) else {
                self.scan.tree.complete = false;
                continue;
            };
            let has_manifest = self.read_markers(&path, &listing);
            let queue = if has_manifest && depth > 0 { &mut later } else { &mut waiting };
            if depth < self.limits.depth {
                let entered = listing.folders.iter().filter(|name| markers::is_entered(name));
                queue.extend(entered.map(|name| (join(&path, name), depth + 1)));
            }
            self.scan.tree.add_folder(&path, listing);
        }
    }

    fn is_over(&self) -> bool {
        self.entries >= self.limits.entries || clock::monotonic() >= self.until
    }

    /// What is in a folder, but for links and what is no file. Of a large one some, and each marker.
    fn list(&mut self, path: &str) -> io::Result<Listing> {
        let folder = self.root.join(path);
        let mut listing = Listing::default();
        let mut left = self.limits.entries_of_folder.min(self.limits.entries - self.entries);
        for entry in fs_err::read_dir(&folder)? {
            if left == 0 || (left.is_multiple_of(64) && clock::monotonic() >= self.until) {
                self.scan.tree.complete = false;
                break;
            }
            left -= 1;
            self.entries += 1;
            let entry = entry?;
            // A name that is no text is no marker.
            let (Ok(name), kind) = (entry.file_name().into_string(), entry.file_type()?) else {
                continue;
            };
            if kind.is_dir() {
                listing.folders.insert(name);
            } else if kind.is_file() {
                listing.files.insert(name);
            }
        }
        if left == 0 {
            for name in markers::names() {
                let is_file = |metadata: std::fs::Metadata| metadata.is_file();
                if fs_err::symlink_metadata(folder.join(name)).is_ok_and(is_file) {
                    listing.files.insert(name.to_owned());
                }
            }
        }
        self.heed_patterns(path, &listing);
        listing.folders.retain(|name| !self.is_ignored(path, name));
        Ok(listing)
    }

    /// Reads the manifests of a folder; says whether it has any.
    fn read_markers(&mut self, path: &str, listing: &Listing) -> bool {
        let mut has_manifest = false;
        for name in listing.files.iter().filter(|name| markers::is_marker(name)) {
            let file = join(path, name);
            self.scan.stamps.push((self.root.join(&file), stamp(&self.root.join(&file))));
            if !markers::is_read(name) || name == ".gitignore" {
                continue;
            }
            has_manifest = true;
            if let Some(content) = self.read(&file) {
                self.scan.tree.add_file(&file, &content);
            }
        }
        if has_manifest || path.is_empty() {
            let folder = self.root.join(path);
            let above = folder.parent().filter(|_| !path.is_empty()).map(Path::to_owned);
            for folder in above.into_iter().chain([folder]) {
                if !self.scan.stamps.iter().any(|(known, _)| *known == folder) {
                    let stamp = stamp(&folder);
                    self.scan.stamps.push((folder, stamp));
                }
            }
        }
        has_manifest
    }

    fn read(&mut self, path: &str) -> Option<Vec<u8>> {
        if self.files >= self.limits.files || clock::monotonic() >= self.until {
            self.scan.tree.complete = false;
            return None;
        }
        self.files += 1;
        let mut content = Vec::new();
        let file = File::open(self.root.join(path)).ok()?;
        file.take(self.limits.bytes_of_file).read_to_end(&mut content).ok()?;
        Some(content)
    }

    fn heed_patterns(&mut self, path: &str, listing: &Listing) {
        if !listing.files.contains(".gitignore") {
            return;
        }
        let content = self.read(&join(path, ".gitignore")).unwrap_or_default();
        let mut builder = GitignoreBuilder::new(self.root.join(path));
        for line in String::from_utf8_lossy(&content).lines().take(MAX_PATTERNS) {
            // A line that is no pattern ignores nothing.
            drop(builder.add_line(None, line));
        }
        if let Ok(patterns) = builder.build() {
            self.ignored.insert(path.to_owned(), patterns);
        }
    }

    /// Whether git ignores the folder `name` in `path`: the nearest pattern decides.
    fn is_ignored(&self, path: &str, name: &str) -> bool {
        let folder = self.root.join(path).join(name);
        let mut above = Some(path);
        while let Some(place) = above {
            if let Some(patterns) = self.ignored.get(place) {
                let decision = patterns.matched(&folder, true);
                if !decision.is_none() {
                    return decision.is_ignore();
                }
            }
            above = (!place.is_empty())
                .then(|| place.rsplit_once('/').map_or("", |(parent, _)| parent));
        }
        false
    }
}
