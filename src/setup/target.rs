//! The file that a path leads to, as it is now, and whether it may be changed.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use bytes::Bytes;

use crate::platform::{self, Attributes};
use crate::setup::disk::{Disk, OperatingSystem};

/// More links in a row than any real path has.
const MAX_LINKS: usize = 40;

/// Written by this user alone.
const OWNER_WRITES: u32 = 0o200;

/// A path, the file that it leads to, and what is there.
#[derive(Debug, Clone)]
pub struct Target {
    /// The path as the agent knows it.
    pub path: PathBuf,
    /// The file behind it: links are followed once and then held to.
    pub resolved: PathBuf,
    /// Whether the path itself or its folder is a link.
    pub through_link: bool,
    /// The file as it is, if there is one.
    pub before: Option<Snapshot>,
}

/// A file at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// Its content.
    pub bytes: Bytes,
    /// Its mode, owner and links.
    pub attributes: Attributes,
}

/// A file that is left alone, and why.
#[derive(Debug, thiserror::Error)]
#[error("{} can't be changed: {reason}", path.display())]
pub struct Refusal {
    path: PathBuf,
    reason: Reason,
}

/// Why a file is left alone.
#[derive(Debug, thiserror::Error)]
pub enum Reason {
    /// The links never end at a file.
    #[error("its links lead in a circle")]
    LinkLoop,
    /// A folder on its way is a link to nothing.
    #[error("{} is a link to a folder that is not there", .0.display())]
    DanglingFolder(PathBuf),
    /// What `..` means depends on a folder that is not there.
    #[error("its path has `..` after a folder that is not there")]
    ParentOfMissing,
    /// A file on its way is no folder.
    #[error("{} is not a folder", .0.display())]
    NotAFolder(PathBuf),
    /// Its group could not be kept.
    #[error("it belongs to a group (id {0}) that you are not in, which a write would lose")]
    OtherGroup(u32),
    /// A folder, a pipe or a device.
    #[error("it is not a regular file")]
    NotRegular,
    /// An atomic write would part the names.
    #[error("it has {0} names (hard links), of which a write would keep one")]
    HardLinks(u64),
    /// The owner has said that it stays as it is.
    #[error("it is read-only")]
    ReadOnly,
    /// Nothing can be created or renamed beside it.
    #[error("its folder {} is not writable", .0.display())]
    FolderReadOnly(PathBuf),
    /// A write would make it ours.
    #[error("{} belongs to another user", .0.display())]
    OtherOwner(PathBuf),
    /// A file of the project that is none.
    #[error("it leads to {}, which is no file of the project", .0.display())]
    OutsideProject(PathBuf),
    /// A build of Nix, whose files never change.
    #[error("it lies in the Nix store ({})", .0.display())]
    NixStore(PathBuf),
    /// It can't even be looked at.
    #[error("{0}")]
    Unreadable(io::Error),
}

impl Refusal {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match &self.reason {
            Reason::LinkLoop => "remove the link, or point it to a file".to_owned(),
            Reason::DanglingFolder(_) => "create the folder, or remove the link".to_owned(),
            Reason::ParentOfMissing => "write the path without `..`".to_owned(),
            Reason::NotAFolder(_) => "move that file away, then try again".to_owned(),
            Reason::OtherGroup(_) => "give it to a group of yours (`chgrp`)".to_owned(),
            Reason::NotRegular => "move it away, then try again".to_owned(),
            Reason::HardLinks(_) => "replace the other names by symbolic links".to_owned(),
            Reason::ReadOnly => "make it writable (`chmod u+w`) if it may change".to_owned(),
            Reason::FolderReadOnly(_) => {
                "make the folder writable (`chmod u+w`) if it may change".to_owned()
            }
            Reason::OtherOwner(_) => {
                "run as the user whose home directory this is, without sudo".to_owned()
            }
            Reason::OutsideProject(_) => "make it a file of its own".to_owned(),
            Reason::NixStore(_) => "make it an ordinary file, try again, and copy the hooks into \
                 your Nix configuration"
                .to_owned(),
            Reason::Unreadable(_) => "make it readable for this user".to_owned(),
        }
    }
}

impl Target {
    /// Follows `path` and reads what is there.
    pub fn inspect(path: &Path) -> Result<Self, Refusal> {
        Self::inspect_on(path, &OperatingSystem)
    }

    /// The same through `disk`.
    pub(super) fn inspect_on(path: &Path, disk: &impl Disk) -> Result<Self, Refusal> {
        let refuse = |reason| Refusal { path: path.to_owned(), reason };
        let resolved = resolve(path).map_err(refuse)?;
        let before = disk.snapshot(&resolved).map_err(refuse)?;
        Ok(Self {
            path: path.to_owned(),
            through_link: path.is_symlink() || path.parent().is_some_and(Path::is_symlink),
            resolved,
            before,
        })
    }

    /// Requires that the file is one of `project`: a link that came with the project, as a clone of a
    /// repository brings it, must not lead us to the user's own files, nor to those of Git.
    pub fn require_in_project(&self, project: &Path) -> Result<(), Refusal> {
        let refuse = |reason| Refusal { path: self.path.clone(), reason };
        let root =
            fs_err::canonicalize(project).map_err(|error| refuse(Reason::Unreadable(error)))?;
        let leads = || refuse(Reason::OutsideProject(self.resolved.clone()));
        let inside = self.resolved.strip_prefix(root).map_err(|_| leads())?;
        if inside.components().any(|part| part.as_os_str().eq_ignore_ascii_case(".git")) {
            return Err(leads());
        }
        Ok(())
    }

    /// The file that `path` leads to; `path` itself if that can't be told.
    pub(super) fn resolved(path: &Path) -> PathBuf {
        resolve(path).unwrap_or_else(|_| path.to_owned())
    }

    /// The folder of the file.
    pub fn folder(&self) -> &Path {
        self.resolved.parent().unwrap_or(Path::new("/"))
    }

    /// Requires that the file may be changed with all that the system keeps about it, or created.
    pub fn require_writable(&self) -> Result<(), Refusal> {
        self.require_replaceable()?;
        let group = self.before.as_ref().map(|before| before.attributes.group);
        match group.filter(|group| !self.may_keep_group(*group)) {
            None => Ok(()),
            Some(group) => self.refuse(Reason::OtherGroup(group)),
        }
    }

    /// Requires that the file may be removed, or replaced by one that is wholly ours.
    pub fn require_replaceable(&self) -> Result<(), Refusal> {
        match self.obstacle() {
            None => Ok(()),
            Some(reason) => self.refuse(reason),
        }
    }

    fn refuse(&self, reason: Reason) -> Result<(), Refusal> {
        Err(Refusal { path: self.path.clone(), reason })
    }

    /// Whether a new file in the place of this one can have its group.
    fn may_keep_group(&self, group: u32) -> bool {
        let hands_it_down = || {
            fs_err::metadata(self.folder()).is_ok_and(|folder| {
                let folder = platform::attributes(&folder);
                folder.group == group && platform::hands_down_group(folder)
            })
        };
        platform::may_give_to_group(group) || hands_it_down()
    }

    fn obstacle(&self) -> Option<Reason> {
        if self.resolved.starts_with("/nix/store") {
            return Some(Reason::NixStore(self.resolved.clone()));
        }
        let file = self.before.as_ref().map(|before| before.attributes);
        match file {
            Some(file) if file.owner != platform::current_user() => {
                Some(Reason::OtherOwner(self.resolved.clone()))
            }
            Some(file) if file.mode & OWNER_WRITES == 0 => Some(Reason::ReadOnly),
            Some(file) if file.hard_links > 1 => Some(Reason::HardLinks(file.hard_links)),
            _ => folder_obstacle(self.folder()),
        }
    }
}

/// The same for the folder of a file, or the folder in which that will be created.
fn folder_obstacle(folder: &Path) -> Option<Reason> {
    let existing = folder.ancestors().find(|folder| folder.exists())?;
    let attributes = match fs_err::metadata(existing) {
        Ok(metadata) if metadata.is_dir() => platform::attributes(&metadata),
        Ok(_) => return Some(Reason::NotAFolder(existing.to_owned())),
        Err(error) => return Some(Reason::Unreadable(error)),
    };
    let user = platform::current_user();
    if user == 0 && attributes.owner != user {
        // Root may write anywhere, and would leave files that the user can't change.
        return Some(Reason::OtherOwner(existing.to_owned()));
    }
    let writable = attributes.mode & OWNER_WRITES != 0 && platform::is_writable_dir(existing);
    (!writable).then(|| Reason::FolderReadOnly(existing.to_owned()))
}

impl Snapshot {
    /// Reads the file at `path`, which is no link; `None` if there is none.
    pub fn take(path: &Path) -> Result<Option<Self>, Reason> {
        let metadata = match fs_err::symlink_metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                return Err(Reason::NotAFolder(first_file(path)));
            }
            Err(error) => return Err(Reason::Unreadable(error)),
        };
        if !metadata.is_file() {
            return Err(Reason::NotRegular);
        }
        let bytes = fs_err::read(path).map_err(Reason::Unreadable)?.into();
        Ok(Some(Self { bytes, attributes: platform::attributes(&metadata) }))
    }
}

/// The file that `path` leads to, which need not exist.
fn resolve(path: &Path) -> Result<PathBuf, Reason> {
    let mut resolved = path.to_owned();
    for _ in 0..MAX_LINKS {
        resolved = in_real_folder(&resolved)?;
        if !resolved.is_symlink() {
            return Ok(resolved);
        }
        let link = fs_err::read_link(&resolved).map_err(Reason::Unreadable)?;
        resolved = match resolved.parent() {
            Some(folder) => folder.join(link),
            None => link,
        };
    }
    Err(Reason::LinkLoop)
}

/// `path` with the links among its folders followed, as far as these exist.
fn in_real_folder(path: &Path) -> Result<PathBuf, Reason> {
    let mut missing: Vec<OsString> = path.file_name().map(OsString::from).into_iter().collect();
    let mut folder = path.parent().unwrap_or(path);
    loop {
        match fs_err::canonicalize(folder) {
            Ok(real) => {
                return Ok(missing.iter().rev().fold(real, |path, name| path.join(name)));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                return Err(Reason::NotAFolder(first_file(folder)));
            }
            Err(error) => return Err(Reason::Unreadable(error)),
        }
        if folder.is_symlink() {
            return Err(Reason::DanglingFolder(folder.to_owned()));
        }
        let (Some(name), Some(parent)) = (folder.file_name(), folder.parent()) else {
            return Err(Reason::ParentOfMissing);
        };
        missing.push(name.to_owned());
        folder = parent;
    }
}

/// The part of `path` that is there and is no folder.
fn first_file(path: &Path) -> PathBuf {
    path.ancestors().find(|part| part.is_file()).unwrap_or(path).to_owned()
}
