//! What a family of markers tells about one folder.

use globset::{GlobBuilder, GlobMatcher};

use super::tree::Folder;
use crate::agent::beginning;
use crate::world::TestRunner;

/// How long a name from a manifest may be, in bytes.
const MAX_NAME: usize = 100;

/// How many patterns of a workspace are heeded, and how long each may be, in bytes.
const MAX_PATTERNS: usize = 64;
const MAX_PATTERN: usize = 200;

/// What a family of markers tells about a folder.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// What the manifest calls it.
    pub name: Option<String>,
    pub languages: Vec<&'static str>,
    pub build_systems: Vec<&'static str>,
    pub test_runners: Vec<TestRunner>,
    /// The markers.
    pub key_files: Vec<String>,
    /// Which folders below belong to it; none if it does not say.
    pub workspace: Option<Workspace>,
}

impl Found {
    /// By the marker `manifest`, something in `language` that `build_system` builds.
    pub(super) fn new(manifest: &str, language: &'static str, build_system: &'static str) -> Self {
        Self {
            languages: vec![language],
            build_systems: vec![build_system],
            key_files: vec![manifest.to_owned()],
            ..Self::default()
        }
    }

    /// Whose tests are run so.
    pub(super) fn tested(mut self, name: &str, command: impl Into<String>) -> Self {
        self.test(name, command);
        self
    }

    /// Adds what runs its tests.
    pub(super) fn test(&mut self, name: &str, command: impl Into<String>) {
        self.test_runners.push(TestRunner { name: name.to_owned(), command: command.into() });
    }

    /// Sets what the manifest calls it.
    pub(super) fn set_name(&mut self, name: Option<&str>) {
        self.name =
            name.filter(|name| is_plain(name)).map(|name| beginning(name, MAX_NAME).to_owned());
    }

    /// Adds those of `names` that the folder has to the key files.
    pub(super) fn add_files(&mut self, folder: Folder<'_>, names: &[&str]) {
        let there = names.iter().filter(|name| folder.has(name));
        self.key_files.extend(there.map(|name| (*name).to_owned()));
    }
}

/// Whether a text from outside is fit for one line.
pub(super) fn is_plain(text: &str) -> bool {
    !text.is_empty() && !text.chars().any(char::is_control)
}

/// The folders that a manifest counts in.
#[derive(Debug, Default)]
pub(super) struct Workspace {
    included: Vec<Pattern>,
    excluded: Vec<Pattern>,
}

impl Workspace {
    /// Of patterns such as `packages/*`; those that begin with `!` take out.
    pub(super) fn of<S: AsRef<str>>(patterns: impl IntoIterator<Item = S>) -> Self {
        let mut workspace = Self::default();
        for pattern in patterns.into_iter().take(MAX_PATTERNS) {
            match pattern.as_ref().strip_prefix('!') {
                Some(pattern) => workspace.exclude([pattern]),
                None => workspace.included.push(Pattern::new(pattern.as_ref())),
            }
        }
        workspace
    }

    /// Takes out what these patterns match.
    pub(super) fn exclude<S: AsRef<str>>(&mut self, patterns: impl IntoIterator<Item = S>) {
        let patterns = patterns.into_iter().take(MAX_PATTERNS);
        self.excluded.extend(patterns.map(|pattern| Pattern::new(pattern.as_ref())));
    }

    /// Whether it names nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.included.is_empty()
    }

    /// Whether the folder `path`, as seen from the manifest's, is in it.
    pub(super) fn includes(&self, path: &str) -> bool {
        self.included.iter().any(|pattern| pattern.matches(path))
            && !self.excluded.iter().any(|pattern| pattern.covers(path))
    }
}

/// Which folders a workspace names.
#[derive(Debug)]
struct Pattern {
    text: String,
    glob: Option<GlobMatcher>,
}

impl Pattern {
    /// `./packages\web/` names `packages/web`.
    fn new(pattern: &str) -> Self {
        let text = beginning(pattern.trim(), MAX_PATTERN).replace('\\', "/");
        let text = text.strip_prefix("./").unwrap_or(&text).trim_end_matches('/').to_owned();
        let glob = text
            .contains(['*', '?', '[', '{'])
            .then(|| GlobBuilder::new(&text).literal_separator(true).build().ok())
            .flatten();
        Self { glob: glob.map(|glob| glob.compile_matcher()), text }
    }

    fn matches(&self, path: &str) -> bool {
        self.text == path || self.glob.as_ref().is_some_and(|glob| glob.is_match(path))
    }

    /// Whether it matches the folder, or one that it lies in.
    fn covers(&self, path: &str) -> bool {
        let below = path.strip_prefix(self.text.as_str());
        self.matches(path) || below.is_some_and(|below| below.starts_with('/'))
    }
}
