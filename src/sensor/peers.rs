//! The sessions of a project by the transcripts that agents keep of them: also those of which no hook
//! told, as from before an install.

use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::agent::transcript::{SpokenMessage, last_messages};
use crate::agent::{Agent, SessionKey};
use crate::clock::Timestamp;
use crate::sensor::transcripts::Folders;

/// How many files are looked at, the latest first: a year of rollouts is no reason to wait.
const MAX_FILES: usize = 300;

/// How much of a transcript is read, from its end.
const TAIL: u64 = 512 * 1024;

/// The longest first line that is read: what a rollout says of itself, with its instructions.
const MAX_HEAD: u64 = 256 * 1024;

/// A session of which there is a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// Which.
    pub session: SessionKey,
    /// When something was last written to it.
    pub last_at: Timestamp,
    path: PathBuf,
}

impl Recorded {
    /// The last `most` messages, the last first.
    pub fn messages(&self, folders: &Folders, most: usize) -> Vec<SpokenMessage> {
        let Some((mut file, metadata)) = folders.open(self.session.agent, &self.path) else {
            return Vec::new();
        };
        let mut tail = Vec::new();
        let from = metadata.len().saturating_sub(TAIL);
        match file.seek(SeekFrom::Start(from)).and_then(|_| file.take(TAIL).read_to_end(&mut tail))
        {
            Ok(_) => last_messages(self.session.agent, &tail, most),
            Err(_) => Vec::new(),
        }
    }
}

/// The sessions of `agent` in the project at `root` with a transcript that was written to after `since`,
/// the latest first, up to `most`.
pub fn recorded(
    folders: &Folders,
    agent: Agent,
    root: &str,
    since: Timestamp,
    most: usize,
) -> Vec<Recorded> {
    let mut files: Vec<_> = match agent {
        Agent::ClaudeCode => {
            let name = slug(root);
            folders.of(agent).iter().flat_map(|folder| files_in(&folder.join(&name), 0)).collect()
        }
        // A year, a month and a day.
        Agent::Codex => folders.of(agent).iter().flat_map(|folder| files_in(folder, 3)).collect(),
    };
    files.retain(|(at, _)| *at >= since);
    files.sort_by(|one, other| other.cmp(one));
    files.dedup_by(|one, other| one.1 == other.1);
    let sessions = files.into_iter().take(MAX_FILES).filter_map(|(last_at, path)| {
        let id = match agent {
            Agent::ClaudeCode => path.file_stem()?.to_str()?.to_owned(),
            Agent::Codex => session_of_rollout(folders, &path, root)?,
        };
        Some(Recorded { session: SessionKey { agent, id }, last_at, path })
    });
    sessions.take(most).collect()
}

/// The name of the folder in which Claude Code keeps the sessions of a directory.
fn slug(root: &str) -> String {
    root.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

/// The transcripts in `folder` and, `depth` deep, below it, with the time of the last write.
fn files_in(folder: &Path, depth: usize) -> Vec<(Timestamp, PathBuf)> {
    let mut found = Vec::new();
    for entry in fs_err::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(metadata) = entry.metadata() else { continue };
        let path = entry.path();
        if metadata.is_dir() && depth > 0 {
            found.extend(files_in(&path, depth - 1));
        } else if metadata.is_file()
            && path.extension().is_some_and(|extension| extension == "jsonl")
            && let Ok(modified) = metadata.modified()
        {
            found.push((Timestamp::from_system(modified), path));
        }
    }
    found
}

/// The session of a rollout, if it is one of the project at `root` and not of a subagent.
fn session_of_rollout(folders: &Folders, path: &Path, root: &str) -> Option<String> {
    let (file, _) = folders.open(Agent::Codex, path)?;
    let mut head = Vec::new();
    BufReader::new(file.take(MAX_HEAD)).read_until(b'\n', &mut head).ok()?;
    let head: Value = serde_json::from_slice(&head).ok()?;
    let meta = head.get("payload").unwrap_or(&head);
    let cwd = Path::new(meta.get("cwd")?.as_str()?);
    let is_subagent = meta.pointer("/source/subagent").is_some();
    let id = meta.get("session_id").or_else(|| meta.get("id"))?.as_str()?;
    (cwd.starts_with(root) && !is_subagent).then(|| id.to_owned())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::config::Environment;
    use crate::paths::Paths;

    const LONG_AGO: Timestamp = Timestamp::from_unix_millis(0);

    fn home() -> (tempfile::TempDir, Folders) {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().to_str().unwrap();
        let paths = Paths::resolve(&Environment::from_iter([("HOME", home)])).unwrap();
        (folder, Folders::new(&paths))
    }

    fn place(home: &Path, name: &str, fixture: &str) {
        let fixture = format!("{}/tests/fixtures/{fixture}", env!("CARGO_MANIFEST_DIR"));
        let path = home.join(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::copy(fixture, path).unwrap();
    }

    #[test]
    fn sessions_of_a_project_are_found_with_what_was_said() {
        let (home, folders) = home();
        let claude = ".claude/projects/-home-dev-my-shop/0a1b.jsonl";
        place(home.path(), claude, "claude-code/transcript.jsonl");
        place(home.path(), ".claude/projects/-other/ffff.jsonl", "claude-code/transcript.jsonl");
        let rollout = ".codex/sessions/2026/01/15/rollout-x.jsonl";
        place(home.path(), rollout, "codex/rollout.jsonl");
        let of = |agent, root, most| recorded(&folders, agent, root, LONG_AGO, most);
        let [claude] = of(Agent::ClaudeCode, "/home/dev/my shop", 5).try_into().unwrap();
        assert_eq!(claude.session.id, "0a1b");
        assert!(!claude.messages(&folders, 3).is_empty());
        let [codex] = of(Agent::Codex, "/home/dev/project", 5).try_into().unwrap();
        assert_eq!(codex.session.id, "0199c000-0000-7000-8000-000000000001");
        assert!(!codex.messages(&folders, 3).is_empty());
        assert_eq!(of(Agent::Codex, "/home/dev/proj", 5), []);
        assert_eq!(of(Agent::Codex, "/home/dev/project", 0), []);
        let later = Timestamp::from_unix_millis(i64::MAX);
        assert_eq!(recorded(&folders, Agent::Codex, "/home/dev/project", later, 5), []);
    }

    #[test]
    fn a_link_in_the_folder_leads_nowhere() {
        let (home, folders) = home();
        let secret = home.path().join("secret.jsonl");
        let line = r#"{"type":"user","message":{"content":"hunter2"}}"#;
        fs_err::write(&secret, line).unwrap();
        let folder = home.path().join(".claude/projects/-p");
        fs_err::create_dir_all(&folder).unwrap();
        fs_err::os::unix::fs::symlink(&secret, folder.join("a.jsonl")).unwrap();
        let found = recorded(&folders, Agent::ClaudeCode, "/p", LONG_AGO, 5);
        assert!(found.iter().all(|it| it.messages(&folders, 5).is_empty()), "{found:?}");
    }
}
