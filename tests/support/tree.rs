//! Everything below a directory, to compare before and after.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// One file, folder or link.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Node {
    pub path: PathBuf,
    /// The bytes of a file, the target of a link; none for a folder.
    pub content: Option<Vec<u8>>,
    pub modified: SystemTime,
}

/// All of it, sorted. Links are not followed.
pub fn tree(root: &Path) -> Vec<Node> {
    let mut nodes = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs_err::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let metadata = fs_err::symlink_metadata(&path).unwrap();
            let content = if metadata.is_symlink() {
                Some(fs_err::read_link(&path).unwrap().into_os_string().into_encoded_bytes())
            } else if metadata.is_dir() {
                folders.push(path.clone());
                None
            } else {
                Some(fs_err::read(&path).unwrap())
            };
            nodes.push(Node { path, content, modified: metadata.modified().unwrap() });
        }
    }
    nodes.sort();
    nodes
}
