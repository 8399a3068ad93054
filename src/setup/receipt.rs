//! What was installed, as far as the files themselves can't tell: which of them were not there
//! before, and what exactly was written into them.
//!
//! It makes an uninstall exact to the byte and to the folder. Without it, what is removed is the same
//! but for emptied containers and files, which then stay.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::setup::edit::trace::Trace;
use crate::setup::surroundings::Surroundings;
use crate::setup::target::Target;

/// The version of the format. A receipt of a later one is not read, and replaced by the next install.
const FORMAT: u32 = 1;

/// What was installed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    format: u32,
    /// By path.
    #[serde(default)]
    files: BTreeMap<PathBuf, Record>,
    /// The folders that were not there before.
    #[serde(default)]
    folders: BTreeSet<PathBuf>,
}

/// What was done to one file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Whether it was not there before.
    #[serde(default)]
    pub created: bool,
    /// What was written, if the file is ours as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// What the editor has to remember, if the file is the user's.
    #[serde(default, skip_serializing_if = "Trace::is_empty")]
    pub trace: Trace,
    /// What was around our entries at the last install, if the file is the user's.
    #[serde(default, skip_serializing_if = "Surroundings::is_empty")]
    pub surroundings: Surroundings,
}

impl Default for Receipt {
    fn default() -> Self {
        Self { format: FORMAT, files: BTreeMap::new(), folders: BTreeSet::new() }
    }
}

impl Receipt {
    /// Reads a receipt; what can't be read is none.
    pub fn read(bytes: &[u8]) -> Self {
        serde_json::from_slice(bytes)
            .ok()
            .filter(|receipt: &Self| receipt.format == FORMAT)
            .unwrap_or_default()
    }

    /// The receipt as it is kept. Its format is text, so it can't tell of a path that is not; that
    /// path is the error.
    pub fn to_bytes(&self) -> Result<Vec<u8>, PathBuf> {
        let paths = self.files.keys().chain(&self.folders);
        if let Some(path) = paths.into_iter().find(|path| path.to_str().is_none()) {
            return Err(path.clone());
        }
        // With names that are text for keys, nothing else in it can fail.
        let mut bytes = serde_json::to_vec_pretty(self).map_err(|_| PathBuf::new())?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// The files that it knows of, each as it was named at its first install.
    pub(super) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.keys().map(PathBuf::as_path)
    }

    /// The same with what was done to them.
    pub fn files(&self) -> impl Iterator<Item = (&Path, &Record)> {
        self.files.iter().map(|(path, record)| (path.as_path(), record))
    }

    /// Takes note of what is around our entries in a file that it knows, and that stays as it is.
    pub fn look_around(&mut self, path: &Path, surroundings: &Surroundings) {
        let name = self.known_name(path).map(Path::to_owned);
        if let Some(record) = name.and_then(|name| self.files.get_mut(&name)) {
            record.surroundings.clone_from(surroundings);
        }
    }

    /// What was done to the file that `path` leads to, by whatever name.
    pub fn record(&self, path: &Path) -> Option<&Record> {
        self.files.get(self.known_name(path)?)
    }

    /// The name by which the receipt knows the file that `path` leads to.
    fn known_name<'a>(&'a self, path: &'a Path) -> Option<&'a Path> {
        if self.files.contains_key(path) {
            return Some(path);
        }
        let resolved = Target::resolved(path);
        self.paths().find(|known| Target::resolved(known) == resolved)
    }

    /// Takes in what is done to a file. What an earlier install found stays true as long as the file
    /// was there all the while.
    pub fn note(&mut self, path: &Path, later: Record) {
        let name = self.known_name(path).unwrap_or(path).to_owned();
        let record = self.files.entry(name).or_default();
        record.created |= later.created;
        record.sha256 = later.sha256;
        record.trace.extend(later.trace);
        record.surroundings = later.surroundings;
    }

    /// The texts below `folder` that are ours as a whole, by their names there.
    pub(super) fn texts_in<'a>(&'a self, folder: &'a Path) -> impl Iterator<Item = PathBuf> {
        let real_folder = Target::resolved(folder);
        let texts = self.files.iter().filter(|(_, record)| record.sha256.is_some());
        texts.filter_map(move |(path, _)| {
            let below = match path.strip_prefix(folder) {
                Ok(below) => below.to_owned(),
                Err(_) => Target::resolved(path).strip_prefix(&real_folder).ok()?.to_owned(),
            };
            Some(folder.join(below))
        })
    }

    /// Takes in a folder that was made.
    pub fn note_folder(&mut self, path: &Path) {
        self.folders.insert(path.to_owned());
    }

    /// The folders that were made, innermost first.
    pub fn folders(&self) -> impl Iterator<Item = &Path> {
        self.folders.iter().rev().map(PathBuf::as_path)
    }

    /// Whether the folder was made by us.
    pub fn made(&self, folder: &Path) -> bool {
        self.folders.contains(folder)
    }

    /// Forgets a file that is no longer installed.
    pub fn forget(&mut self, path: &Path) {
        while let Some(name) = self.known_name(path).map(Path::to_owned) {
            self.files.remove(&name);
        }
    }

    /// Forgets a folder that is removed.
    pub fn forget_folder(&mut self, path: &Path) {
        self.folders.remove(path);
    }

    /// Whether nothing is left to remember.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }
}

impl Record {
    /// Whether `bytes` are what was written.
    pub fn wrote(&self, bytes: &[u8]) -> bool {
        self.sha256.as_deref() == Some(sha256(bytes).as_str())
    }
}

/// The SHA-256 of `bytes` in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receipt_reads_as_it_was_written() {
        let mut receipt = Receipt::default();
        let record = Record { created: true, sha256: Some(sha256(b"x")), ..Record::default() };
        receipt.note(Path::new("/a"), record);
        receipt.note_folder(Path::new("/b"));
        assert_eq!(Receipt::read(&receipt.to_bytes().unwrap()), receipt);
        assert!(receipt.record(Path::new("/a")).unwrap().wrote(b"x"));
    }

    #[cfg(unix)]
    #[test]
    fn a_path_that_is_not_text_is_named_and_not_dropped() {
        use std::os::unix::ffi::OsStrExt;
        let path = Path::new(std::ffi::OsStr::from_bytes(b"/home/\xff"));
        let mut receipt = Receipt::default();
        receipt.note_folder(path);
        assert_eq!(receipt.to_bytes(), Err(path.to_owned()));
        receipt.forget_folder(path);
        receipt.note(path, Record::default());
        assert_eq!(receipt.to_bytes(), Err(path.to_owned()));
    }

    #[test]
    fn a_broken_receipt_and_one_of_a_later_format_are_none() {
        for text in ["", "{", "[]", r#"{"format":2,"files":{"/a":{"created":true}}}"#] {
            assert_eq!(Receipt::read(text.as_bytes()), Receipt::default(), "{text}");
        }
    }

    #[test]
    fn fields_of_a_later_version_and_absent_ones_do_no_harm() {
        let text = r#"{"format":1,"files":{"/a":{"new":1}},"more":[]}"#;
        let receipt = Receipt::read(text.as_bytes());
        assert_eq!(receipt.record(Path::new("/a")), Some(&Record::default()));
    }

    #[test]
    fn what_the_first_install_found_stays_true() {
        let mut receipt = Receipt::default();
        receipt.note(Path::new("/a"), Record { created: true, ..Record::default() });
        receipt.note(Path::new("/a"), Record::default());
        assert!(receipt.record(Path::new("/a")).unwrap().created);
    }
}
