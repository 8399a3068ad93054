//! Everything below a directory, to compare before and after.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// One file, folder or link.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Node {
    pub path: PathBuf,
    /// The bytes of a file, the target of a link; none for a folder.
    pub content: Option<Vec<u8>>,
    pub is_link: bool,
    /// The permission bits; none where there are none.
    pub mode: u32,
    pub modified: SystemTime,
}

impl Node {
    /// The same whenever it was written.
    pub fn without_time(self) -> Self {
        Self { modified: SystemTime::UNIX_EPOCH, ..self }
    }
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
            #[cfg(unix)]
            let mode = std::os::unix::fs::MetadataExt::mode(&metadata);
            #[cfg(not(unix))]
            let mode = 0;
            let (is_link, modified) = (metadata.is_symlink(), metadata.modified().unwrap());
            nodes.push(Node { path, content, is_link, mode, modified });
        }
    }
    nodes.sort();
    nodes
}
