//! The thread that indexes projects when an event gives reason to, so that a large one holds up no
//! answer.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hashlink::LruCache;
use tokio::sync::oneshot;

use super::scan::{self, Limits, Scan, Stamp};
use super::{git, index};
use crate::agent::{EventKind, HookEvent};
use crate::clock::Timestamp;
use crate::sensor::project::Projects;
use crate::world::{Observation, ProjectIndex};

/// How long the answer to the start of a session waits for the index.
const PATIENCE: Duration = Duration::from_millis(300);

/// How long who asks for an index waits for it.
const PATIENCE_OF_QUESTIONS: Duration = Duration::from_secs(2);

/// How long an index holds if no marker changes.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// How often the markers of a project are looked at, unless a session starts or somebody asks.
const INTERVAL: Duration = Duration::from_secs(2);

/// How many requests may wait, how many indexes that nobody waited for are kept until the next event,
/// and of how many projects the index is kept.
const MAX_WAITING: usize = 64;
const MAX_LATE: usize = 64;
const MAX_PROJECTS: usize = 64;

/// Indexes projects.
#[derive(Debug)]
pub struct Indexer {
    requests: SyncSender<Request>,
    late: Late,
}

/// What nobody waited for any more.
type Late = Arc<Mutex<VecDeque<Observation>>>;

#[derive(Debug)]
struct Request {
    root: String,
    at: Timestamp,
    /// Whether the markers are to be looked at, however short ago they were.
    at_once: bool,
    reply: Reply,
}

/// Who wants to know.
#[derive(Debug)]
enum Reply {
    /// An event: of an index that is not told yet.
    News(oneshot::Sender<Option<Observation>>),
    /// A question: of the index.
    Index(oneshot::Sender<ProjectIndex>),
}

impl Indexer {
    /// Starts the thread, which indexes `projects`. It ends when the indexer is dropped.
    pub fn start(projects: Arc<Projects>, limits: Limits) -> io::Result<Self> {
        let (requests, received) = sync_channel(MAX_WAITING);
        let late = Late::default();
        let mut worker =
            Worker { projects, limits, kept: LruCache::new(MAX_PROJECTS), late: Arc::clone(&late) };
        std::thread::Builder::new().name("indexer".to_owned()).spawn(move || {
            while let Ok(request) = received.recv() {
                worker.answer(request);
            }
        })?;
        Ok(Self { requests, late })
    }

    /// The indexes that are new since the last event, that of the project at `root` among them if the
    /// event starts a session and it is ready soon enough. On other events nothing is waited for.
    pub async fn look(&self, event: &HookEvent, root: &str, at: Timestamp) -> Vec<Observation> {
        let starts = matches!(event.kind, EventKind::SessionStart(_));
        let mut news: Vec<_> = lock(&self.late).drain(..).collect();
        if root.is_empty() {
            return news;
        }
        let (reply, mut answered) = oneshot::channel();
        if !starts {
            // Nobody waits: what comes is kept for the next event, and not lost in a channel.
            answered.close();
        }
        let request =
            Request { root: root.to_owned(), at, at_once: starts, reply: Reply::News(reply) };
        if self.requests.try_send(request).is_ok() && starts {
            let in_time = tokio::time::timeout(PATIENCE, &mut answered).await;
            let told = in_time.unwrap_or_else(|_| {
                // From here on it is kept; what came in this moment is here.
                answered.close();
                Ok(answered.try_recv().ok().flatten())
            });
            news.extend(told.ok().flatten());
        }
        news
    }

    /// The index of the project at `root` as it is now; none if there is no project, or to look at it
    /// takes too long.
    pub async fn index(&self, root: &str, at: Timestamp) -> Option<ProjectIndex> {
        let (reply, answered) = oneshot::channel();
        let reply = Reply::Index(reply);
        self.requests.try_send(Request { root: root.to_owned(), at, at_once: true, reply }).ok()?;
        tokio::time::timeout(PATIENCE_OF_QUESTIONS, answered).await.ok()?.ok()
    }
}

struct Worker {
    projects: Arc<Projects>,
    limits: Limits,
    kept: LruCache<String, Kept>,
    late: Late,
}

/// The index of a project, and when it holds.
struct Kept {
    index: ProjectIndex,
    stamps: Vec<(PathBuf, Stamp)>,
    indexed_at: Timestamp,
    looked_at: Timestamp,
    /// Whether it is on its way into the world.
    told: bool,
}

impl Kept {
    fn holds(&self, at: Timestamp) -> bool {
        at.since(self.indexed_at) < KEPT
            && self.stamps.iter().all(|(path, then)| scan::stamp(path) == *then)
    }
}

impl Worker {
    fn answer(&mut self, request: Request) {
        let Request { root, at, at_once, reply } = request;
        self.refresh(&root, at, at_once);
        let Some(kept) = self.kept.get_mut(&root) else {
            return;
        };
        match reply {
            // What a question finds out is told with the next event.
            Reply::Index(reply) => drop(reply.send(kept.index.clone())),
            Reply::News(reply) => {
                let news = (!kept.told).then(|| Observation::Indexed {
                    root: root.clone(),
                    index: Box::new(kept.index.clone()),
                });
                kept.told = true;
                if let Err(Some(news)) = reply.send(news) {
                    let mut late = lock(&self.late);
                    late.push_back(news);
                    let excess = late.len().saturating_sub(MAX_LATE);
                    late.drain(..excess);
                }
            }
        }
    }

    /// Looks at a project again if it is time to.
    fn refresh(&mut self, root: &str, at: Timestamp, at_once: bool) {
        let path = Path::new(root);
        if let Some(kept) = self.kept.get_mut(root) {
            if !at_once && at.since(kept.looked_at) < INTERVAL {
                return;
            }
            kept.looked_at = at;
            if kept.holds(at) {
                let git::Head { branch, commit } = git::head(path);
                if (&branch, &commit) != (&kept.index.branch, &kept.index.head_commit) {
                    (kept.index.branch, kept.index.head_commit) = (branch, commit);
                    kept.told = false;
                }
                return;
            }
        }
        if !path.is_dir() || !self.projects.is_project(root) {
            self.kept.remove(root);
            return;
        }
        let Scan { tree, stamps } = scan::scan(path, &self.limits);
        let git::Head { branch, commit } = git::head(path);
        let index = ProjectIndex { branch, head_commit: commit, ..index(&tree) };
        let told = self.kept.get(root).is_some_and(|kept| kept.told && kept.index == index);
        let kept = Kept { index, stamps, indexed_at: at, looked_at: at, told };
        self.kept.insert(root.to_owned(), kept);
    }
}

fn lock(late: &Mutex<VecDeque<Observation>>) -> MutexGuard<'_, VecDeque<Observation>> {
    late.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_unix_millis(seconds * 1000)
    }

    struct Scene {
        _home: tempfile::TempDir,
        root: PathBuf,
        worker: Worker,
    }

    impl Scene {
        fn new() -> Self {
            let home = tempfile::tempdir().unwrap();
            let root = home.path().join("shop");
            fs_err::create_dir(&root).unwrap();
            let limits = Limits { time: Duration::from_secs(60), ..Limits::default() };
            let projects = Arc::new(Projects::new(home.path()));
            let kept = LruCache::new(MAX_PROJECTS);
            let worker = Worker { projects, limits, kept, late: Late::default() };
            Self { _home: home, root, worker }
        }

        fn write(&self, path: &str, content: &str) {
            let path = self.root.join(path);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, content).unwrap();
        }

        /// What an event at this time has told, of the root: its build systems and its branch.
        fn news(&mut self, at: Timestamp, at_once: bool) -> Option<(Vec<String>, Option<String>)> {
            let (reply, mut answered) = oneshot::channel();
            let root = self.root.to_str().unwrap().to_owned();
            self.worker.answer(Request { root, at, at_once, reply: Reply::News(reply) });
            match answered.try_recv().ok()? {
                Some(Observation::Indexed { index, .. }) => {
                    Some((index.shape.build_systems, index.branch))
                }
                _ => None,
            }
        }
    }

    #[test]
    fn an_index_holds_until_a_marker_changes_or_a_day_has_passed() {
        let mut scene = Scene::new();
        scene.write("src/api/a.go", "");
        let of = |tools: &[&str]| {
            Some((tools.iter().map(|tool| (*tool).to_owned()).collect::<Vec<_>>(), None))
        };
        assert_eq!(scene.news(at(0), true), of(&[]));
        assert_eq!(scene.news(at(10), true), None);
        scene.write("package.json", "{}");
        assert_eq!(scene.news(at(11), false), None, "it was looked at just before");
        assert_eq!(scene.news(at(12), false), of(&["npm"]));
        scene.write("package.json", r#"{"packageManager": "yarn@4"}"#);
        assert_eq!(scene.news(at(12), true), of(&["yarn"]));
        // A folder that had no marker is looked into a day later, unless something else changes.
        scene.write("src/api/go.mod", "module a");
        assert_eq!(scene.news(at(20), true), None);
        assert_eq!(scene.news(at(24 * 60 * 60 + 12), true), of(&["yarn", "go"]));
    }

    #[test]
    fn another_branch_is_told_and_the_home_directory_is_no_project() {
        let mut scene = Scene::new();
        scene.write(".git/HEAD", "ref: refs/heads/main");
        assert_eq!(scene.news(at(0), true), Some((Vec::new(), Some("main".to_owned()))));
        scene.write(".git/HEAD", "ref: refs/heads/fix");
        assert_eq!(scene.news(at(9), false), Some((Vec::new(), Some("fix".to_owned()))));
        scene.root.pop();
        assert_eq!(scene.news(at(9), true), None);
    }

    #[test]
    fn what_nobody_waited_for_is_told_later() {
        let mut scene = Scene::new();
        let (reply, answered) = oneshot::channel();
        drop(answered);
        let root = scene.root.to_str().unwrap().to_owned();
        let reply = Reply::News(reply);
        scene.worker.answer(Request { root: root.clone(), at: at(0), at_once: false, reply });
        let late: Vec<_> = lock(&scene.worker.late).drain(..).collect();
        assert!(matches!(&late[..], [Observation::Indexed { root: told, .. }] if *told == root));
    }
}
