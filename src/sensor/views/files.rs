//! The files that agents have seen, as they were then.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::agent::SessionKey;
use crate::clock::Timestamp;
use crate::platform::Version;
use crate::sensor::views::content::{self, Digest};
use crate::world::{Observation, is_own_file};

/// How many files are known. Beyond it the one that was used for longest ago is forgotten.
pub(super) const MAX_FILES: usize = 2048;

/// How long all of their paths together may be, in bytes.
const MAX_PATH_BYTES: usize = 512 * 1024;

/// By how many names a file is known, and in how many projects.
const MAX_NAMES: usize = 4;

/// The files that agents have seen.
///
/// One file can have several names, as a folder in its path can be a link. It is the same file by each.
#[derive(Debug, Default)]
pub(super) struct Files {
    /// By their real paths.
    known: HashMap<String, Known>,
    /// The real path of each name.
    real: HashMap<String, String>,
    path_bytes: usize,
    uses: u64,
    /// The real paths of those of which something new is known.
    news: BTreeSet<String>,
    /// The real paths of those whose content is still to be read.
    undigested: VecDeque<String>,
}

/// A file.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// By which agents have used it, the last one last.
    names: Vec<String>,
    /// The projects of the sessions that have.
    roots: Vec<String>,
    /// None if it is not there.
    version: Option<Version>,
    /// What it holds; none if it is large, or was not read yet.
    digest: Option<Digest>,
    /// Who changed it last, of the agents, and when.
    pub changed_by: Option<(SessionKey, Timestamp)>,
    /// The number of its last use.
    used: u64,
}

/// What is known of a file, for the log: enough to tell after a restart that it was changed meanwhile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownFile {
    names: Vec<String>,
    /// Its real path, if that is none of its names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    real: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    version: Option<Version>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    digest: Option<Digest>,
}

impl Known {
    fn path_bytes(&self) -> usize {
        self.names.iter().chain(&self.roots).map(String::len).sum()
    }
}

impl Files {
    /// Notes how the file at `path` is now, as an agent that works in the project at `root` has seen
    /// it or, if `by` says so, made it. Returns its other names.
    pub(super) fn know(
        &mut self,
        path: &str,
        root: &str,
        by: Option<(SessionKey, Timestamp)>,
    ) -> Vec<String> {
        if !is_to_be_known(path) {
            return Vec::new();
        }
        let version = version_of(path);
        let real = real_path(path);
        let others = self.update(&real, |known| {
            if known.version != version || version.is_none() {
                known.digest = None;
            }
            known.version = version;
            known.changed_by = by.or(known.changed_by.take());
            put_last(&mut known.roots, root);
            put_last(&mut known.names, path);
            known.names.iter().filter(|name| *name != path).cloned().collect()
        });
        self.await_digest(&real);
        self.news.insert(real);
        others
    }

    /// Takes in what the log has of a file that a session in the project at `root` has used.
    pub(super) fn restore(&mut self, file: KnownFile, root: &str) {
        let KnownFile { mut names, real, version, digest } = file;
        names.truncate(MAX_NAMES);
        let Some(real) = real.or_else(|| names.last().cloned()) else { return };
        self.update(&real, |known| {
            put_last(&mut known.roots, root);
            (known.names, known.version, known.digest) = (names, version, digest);
        });
    }

    /// What is known now and was not when this was asked last.
    pub(super) fn take_news(&mut self) -> Vec<KnownFile> {
        let news = std::mem::take(&mut self.news);
        let news = news.into_iter().filter_map(|real| {
            let Known { names, version, digest, .. } = self.known.get(&real)?;
            let (names, version, digest) = (names.clone(), *version, *digest);
            let real = (names.last() != Some(&real)).then_some(real);
            Some(KnownFile { names, real, version, digest })
        });
        news.collect()
    }

    /// Whether the content of some file is still to be read.
    pub(super) fn has_undigested(&self) -> bool {
        !self.undigested.is_empty()
    }

    /// Reads the content of one file that is still to be read.
    pub(super) fn digest_next(&mut self) {
        let Some(real) = self.undigested.pop_front() else { return };
        let Some(known) = self.known.get_mut(&real) else { return };
        let Some(path) = known.names.last() else { return };
        let digest = Digest::of(path);
        // What was written meanwhile is not what was seen.
        if digest.is_some() && version_of(path) == known.version {
            known.digest = digest;
            self.news.insert(real);
        }
    }

    /// The real paths of the files that were used last below `root` or by its sessions, up to `most`.
    pub(super) fn used_in(&self, root: &str, most: usize) -> Vec<String> {
        let is_used = |known: &Known| {
            known.roots.iter().any(|known| known == root)
                || known.names.iter().any(|name| is_below(name, root))
        };
        let mut used: Vec<_> = self.known.iter().filter(|(_, known)| is_used(known)).collect();
        // No two were used at once, so the order does not depend on the map.
        used.sort_unstable_by_key(|(_, known)| Reverse(known.used));
        used.into_iter().take(most).map(|(real, _)| real.clone()).collect()
    }

    /// The real paths of those of these files that are known.
    pub(super) fn known_of<'p>(&self, paths: impl Iterator<Item = &'p String>) -> Vec<String> {
        let real = paths.map(|path| match self.real.get(path) {
            Some(real) => real.clone(),
            None => real_path(path),
        });
        real.filter(|real| self.known.contains_key(real)).collect()
    }

    /// Looks at the files with these real paths; `author` tells whose a change is.
    pub(super) fn look(
        &mut self,
        real_paths: &[String],
        at: Timestamp,
        author: impl Fn(&[String], &Known, Timestamp) -> Option<SessionKey>,
    ) -> Vec<Observation> {
        let mut seen = Vec::new();
        for real in real_paths {
            let Some(known) = self.known.get_mut(real) else { continue };
            let Some(path) = known.names.last() else { continue };
            let now = version_of(path);
            if now == known.version {
                continue;
            }
            self.news.insert(real.clone());
            let is_same = content::is_same_size(known.version, now)
                && known.digest.is_some()
                && Digest::of(path) == known.digest;
            known.version = now;
            if is_same {
                continue;
            }
            known.digest = None;
            let changed_at = now.map_or(at, |now| Timestamp::from_system(now.modified()));
            let session = author(&known.names, known, changed_at);
            known.changed_by = (session.clone().map(|session| (session, changed_at)))
                .or_else(|| known.changed_by.take());
            let removed = now.is_none();
            for path in known.names.iter().cloned() {
                seen.push(match session.clone() {
                    Some(session) => Observation::OwnChange { session, path, removed },
                    None => Observation::ExternalChange { path, removed },
                });
            }
            self.await_digest(real);
        }
        seen
    }

    /// Changes what is known of a file, which is used by this.
    fn update<R>(&mut self, real: &str, change: impl FnOnce(&mut Known) -> R) -> R {
        self.uses += 1;
        let mut known = self.take_out(real).unwrap_or_default();
        known.used = self.uses;
        let changed = change(&mut known);
        for name in &known.names {
            // A link that leads elsewhere now is no name of what it led to.
            if let Some(former) = self.real.get(name).cloned()
                && let Some(mut other) = self.take_out(&former)
            {
                other.names.retain(|known| known != name);
                if !other.names.is_empty() {
                    self.put_in(former, other);
                }
            }
        }
        self.put_in(real.to_owned(), known);
        while self.known.len() > MAX_FILES || self.path_bytes > MAX_PATH_BYTES {
            let oldest = self.known.iter().min_by_key(|(_, known)| known.used);
            let Some(oldest) = oldest.map(|(real, _)| real.clone()) else { break };
            drop(self.take_out(&oldest));
        }
        changed
    }

    fn put_in(&mut self, real: String, known: Known) {
        for name in &known.names {
            self.real.insert(name.clone(), real.clone());
        }
        self.path_bytes += real.len() + known.path_bytes();
        self.known.insert(real, known);
    }

    fn take_out(&mut self, real: &str) -> Option<Known> {
        let known = self.known.remove(real)?;
        self.path_bytes -= real.len() + known.path_bytes();
        for name in &known.names {
            self.real.remove(name);
        }
        Some(known)
    }

    fn await_digest(&mut self, real: &str) {
        let is_wanted = self.known.get(real).is_some_and(|known| {
            known.digest.is_none() && known.version.is_some_and(content::is_small)
        });
        let is_awaited = || self.undigested.iter().any(|awaited| awaited == real);
        if is_wanted && self.undigested.len() < MAX_FILES && !is_awaited() {
            self.undigested.push_back(real.to_owned());
        }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.known.len()
    }
}

/// Puts `value` at the end of what is kept of the last ones.
fn put_last(values: &mut Vec<String>, value: &str) {
    values.retain(|known| known != value);
    if values.len() >= MAX_NAMES {
        values.remove(0);
    }
    values.push(value.to_owned());
}

/// Whether the path names a file wherever one is, and not our own.
pub(super) fn is_to_be_known(path: &str) -> bool {
    (path.starts_with('/') || path.contains(':')) && !is_own_file(path)
}

pub(super) fn version_of(path: &str) -> Option<Version> {
    Version::behind(Path::new(path))
}

/// The path without links; that of the folder with the name, if the file is not there.
fn real_path(path: &str) -> String {
    let canonical = |path: &Path| fs_err::canonicalize(path).ok();
    let in_folder = |path: &Path| Some(canonical(path.parent()?)?.join(path.file_name()?));
    let path_of = Path::new(path);
    canonical(path_of)
        .or_else(|| in_folder(path_of))
        .and_then(|real: PathBuf| real.into_os_string().into_string().ok())
        .unwrap_or_else(|| path.to_owned())
}

fn is_below(path: &str, root: &str) -> bool {
    !root.is_empty()
        && path.strip_prefix(root.trim_end_matches('/')).is_some_and(|rest| rest.starts_with('/'))
}
