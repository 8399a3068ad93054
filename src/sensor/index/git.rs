//! Where the repository of a project stands, from its files.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use fs_err::File;

/// How much of a small file is read, and of the file of packed references, in bytes.
const MAX_BYTES: u64 = 4096;
const MAX_PACKED: u64 = 4 * 1024 * 1024;

/// What is checked out.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Head {
    pub branch: Option<String>,
    pub commit: Option<String>,
}

/// What is checked out in the repository whose work tree is at `root`.
pub(super) fn head(root: &Path) -> Head {
    let Some(folder) = git_folder(root) else {
        return Head::default();
    };
    let Some(head) = first_line(&folder.join("HEAD")) else {
        return Head::default();
    };
    let Some(reference) = head.strip_prefix("ref: ") else {
        return Head { branch: None, commit: Some(head).filter(|head| is_commit(head)) };
    };
    if !is_reference(reference) {
        return Head::default();
    }
    // A linked work tree has its own HEAD, and shares the branches.
    let shared = first_line(&folder.join("commondir")).map(|shared| folder.join(shared));
    let shared = shared.unwrap_or_else(|| folder.clone());
    let loose = [&folder, &shared].into_iter().find_map(|it| first_line(&it.join(reference)));
    let commit = loose.filter(|commit| is_commit(commit)).or_else(|| packed(&shared, reference));
    // What keeps its references elsewhere names a branch that there can't be.
    let branch = reference.strip_prefix("refs/heads/").filter(|branch| *branch != ".invalid");
    Head { branch: branch.map(str::to_owned), commit }
}

fn git_folder(root: &Path) -> Option<PathBuf> {
    let git = root.join(".git");
    let metadata = fs_err::symlink_metadata(&git).ok()?;
    if metadata.is_dir() {
        return Some(git);
    }
    let line = metadata.is_file().then(|| first_line(&git)).flatten()?;
    Some(root.join(line.strip_prefix("gitdir: ")?))
}

fn packed(folder: &Path, reference: &str) -> Option<String> {
    let file = open(&folder.join("packed-refs"))?;
    let lines = BufReader::new(file.take(MAX_PACKED)).lines();
    let mut lines = lines.map_while(Result::ok);
    lines.find_map(|line| {
        let (commit, name) = line.split_once(' ')?;
        (name == reference && is_commit(commit)).then(|| commit.to_owned())
    })
}

fn first_line(path: &Path) -> Option<String> {
    let mut text = String::new();
    open(path)?.take(MAX_BYTES).read_to_string(&mut text).ok()?;
    text.lines().next().map(|line| line.trim_end().to_owned())
}

/// Opens a regular file: to open another kind could wait for ever.
fn open(path: &Path) -> Option<File> {
    let is_file = fs_err::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file());
    is_file.then(|| File::open(path).ok()).flatten()
}

/// Whether a text is the name of a commit, by SHA-1 or SHA-256.
fn is_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether a text can name a reference, and nothing outside of the repository.
fn is_reference(text: &str) -> bool {
    text.starts_with("refs/")
        && text.len() <= 250
        && !text.contains("..")
        && !text.chars().any(|it| it.is_control() || it == '\\' || it == ' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

    fn head_of(files: &[(&str, &str)]) -> Head {
        let root = tempfile::tempdir().unwrap();
        for (path, content) in files {
            let path = root.path().join(path);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, content).unwrap();
        }
        head(root.path())
    }

    #[test]
    fn the_head_of_a_repository() {
        let on = |branch: &str| Head {
            branch: Some(branch.to_owned()),
            commit: Some(COMMIT.to_owned()),
        };
        let line = format!("{COMMIT}\n");
        let packed = format!("# pack-refs with: peeled\n{COMMIT} refs/heads/fix/a\n^{COMMIT}\n");
        let main = "ref: refs/heads/main\n";
        for (files, expected) in [
            (vec![(".git/HEAD", main), (".git/refs/heads/main", line.as_str())], on("main")),
            (
                vec![(".git/HEAD", "ref: refs/heads/fix/a"), (".git/packed-refs", &packed)],
                on("fix/a"),
            ),
            (
                vec![
                    (".git", "gitdir: base/.git/worktrees/w\n"),
                    ("base/.git/worktrees/w/HEAD", main),
                    ("base/.git/worktrees/w/commondir", "../..\n"),
                    ("base/.git/refs/heads/main", &line),
                ],
                on("main"),
            ),
            (vec![(".git/HEAD", &line)], Head { branch: None, commit: Some(COMMIT.to_owned()) }),
            // Nothing is committed yet.
            (vec![(".git/HEAD", main)], Head { branch: Some("main".to_owned()), commit: None }),
            (vec![(".git/HEAD", "ref: refs/heads/.invalid")], Head::default()),
            (vec![(".git/HEAD", "ref: ../../etc/passwd")], Head::default()),
            (vec![(".git/HEAD", "ref: refs/../../x")], Head::default()),
            (vec![(".git/HEAD", "\u{1b}[2J")], Head::default()),
            (vec![(".git/HEAD/x", "")], Head::default()),
            (vec![(".git", "gitdir: nowhere")], Head::default()),
            (vec![("a", "")], Head::default()),
        ] {
            assert_eq!(head_of(&files), expected, "{files:?}");
        }
    }
}
