//! The thread that reads along and tells the daemon.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::build::excerpt::{Excerpt, tells_error};
use crate::build::lines::Lines;
use crate::build::tap::Tap;
use crate::build::verdict::{Verdict, verdict};
use crate::build::{End, Event, Message, Plan, Selection};
use crate::clock;
use crate::daemon::client::Question;
use crate::daemon::token::Token;
use crate::paths::Paths;

/// How long lines wait to be told together, at first and, as a command goes on and on, at most; and how
/// many at once: those that tell of errors first.
const FIRST_BATCH: Duration = Duration::from_secs(1);
const LAST_BATCH: Duration = Duration::from_secs(60);
const MAX_BATCH: usize = 100;

/// How many messages wait for a daemon that is slow. Beyond it they are dropped: the last one has what
/// matters.
const MAX_WAITING: usize = 8;

/// How long the daemon may take for a message, while the command runs.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long the end of the command may be held up to be told. A user feels nothing of it.
const LAST_WORD: Duration = Duration::from_millis(100);

/// What a shell says of a command that it could not start.
const NOT_STARTED: i32 = 127;

/// Where the daemon is.
#[derive(Debug)]
pub struct Daemon {
    /// Its port on 127.0.0.1.
    pub port: u16,
    /// Where its token is.
    pub paths: Paths,
}

impl Daemon {
    /// Tells it a message; tells whether it has taken it.
    fn tell(&self, message: &Message, deadline: Instant) -> bool {
        let Ok(body) = serde_json::to_vec(message) else { return false };
        let Ok(token) = Token::read(&self.paths.token()) else { return false };
        let (method, target) = ("POST", "/api/builds");
        let question = Question { method, target, token: Some(&token), paths: &self.paths };
        question.ask_with(&body, self.port, deadline).is_ok_and(|response| response.status == 200)
    }
}

/// Reads along with a command.
#[derive(Debug)]
pub struct Reporter {
    /// What is told about the command.
    pub plan: Plan,
    /// Which lines.
    pub selection: Selection,
    /// Whom.
    pub daemon: Daemon,
}

/// A reporter that reads along.
pub(super) struct Reading {
    ended: SyncSender<End>,
    told: Receiver<()>,
}

impl Reading {
    /// Tells how the command ended, for a moment.
    pub(super) fn finish(self, end: End) {
        let _ = self.ended.send(end);
        let _ = self.told.recv_timeout(LAST_WORD);
    }
}

impl Reporter {
    /// Reads along until the tap is closed; not if there is no room for threads.
    pub(super) fn start(self, tap: &Arc<Tap>) -> Option<Reading> {
        let (ended, end) = sync_channel(1);
        let (done, told) = channel();
        let (messages, waiting) = sync_channel::<Message>(MAX_WAITING);
        let Self { plan, selection, daemon } = self;
        let post = move || {
            for message in waiting {
                let is_last = matches!(message.event, Event::Exited(_) | Event::Killed(_));
                let patience = if is_last { LAST_WORD } else { PATIENCE };
                daemon.tell(&message, clock::monotonic() + patience);
            }
            let _ = done.send(());
        };
        thread::Builder::new().name("build messages".to_owned()).spawn(post).ok()?;
        let tap = Arc::clone(tap);
        let read = move || Reader::new(plan, selection, messages).run(&tap, &end);
        thread::Builder::new().name("build lines".to_owned()).spawn(read).ok()?;
        Some(Reading { ended, told })
    }
}

/// Makes messages of what comes through the tap.
struct Reader {
    plan: Plan,
    selection: Selection,
    messages: SyncSender<Message>,
    build_id: String,
    command: String,
    begun: Instant,
    excerpt: Excerpt,
    /// What came since the last message: lines that tell of errors, and others.
    batch: (Vec<String>, Vec<String>),
    batch_due: Instant,
    pause: Duration,
    dropped: u64,
    seen: u64,
    /// What the command has said of its state, and when that is told.
    state: Option<Verdict>,
    state_due: Option<Instant>,
}

impl Reader {
    fn new(plan: Plan, selection: Selection, messages: SyncSender<Message>) -> Self {
        let now = clock::monotonic();
        let words: Vec<_> = plan.words.iter().map(|word| word.to_string_lossy()).collect();
        let words = words.iter().map(AsRef::as_ref);
        // A word with a NUL could not have been given to us.
        let command = shlex::try_join(words).unwrap_or_default();
        Self {
            plan,
            selection,
            messages,
            build_id: format!("{:016x}", getrandom::u64().unwrap_or_default()),
            command,
            begun: now,
            excerpt: Excerpt::default(),
            batch: (Vec::new(), Vec::new()),
            batch_due: now + FIRST_BATCH,
            pause: FIRST_BATCH,
            dropped: 0,
            seen: 0,
            state: None,
            state_due: None,
        }
    }

    fn run(mut self, tap: &Tap, end: &Receiver<End>) {
        self.tell(Event::Start, Vec::new());
        let mut lines = Lines::default();
        loop {
            let taken = tap.take(self.patience());
            self.dropped += taken.dropped;
            for piece in &taken.pieces {
                lines.take(piece, |line| self.read(line));
            }
            if taken.closed {
                break;
            }
            self.tell_what_is_due();
        }
        lines.finish(|line| self.read(line));
        let event = match end.recv() {
            Ok(End::Exited(code)) => Event::Exited(code),
            Ok(End::Killed(signal)) => Event::Killed(signal),
            Err(_) => Event::Exited(NOT_STARTED),
        };
        // The one that may wait.
        drop(self.messages.send(self.message(event, self.excerpt.lines())));
    }

    fn patience(&self) -> Duration {
        let due =
            self.state_due.into_iter().chain((!self.is_batch_empty()).then_some(self.batch_due));
        let now = clock::monotonic();
        due.min().map_or(Duration::from_secs(3600), |due| due.saturating_duration_since(now))
    }

    fn is_batch_empty(&self) -> bool {
        self.batch.0.is_empty() && self.batch.1.is_empty()
    }

    fn read(&mut self, line: String) {
        self.seen += 1;
        if self.plan.watch {
            let now = clock::monotonic();
            match verdict(&line) {
                Some(Verdict::Begins) => {
                    self.excerpt = Excerpt::default();
                    self.state_due = None;
                }
                Some(state) => {
                    self.state = Some(state);
                    self.state_due = Some(now + self.plan.debounce);
                }
                None if self.state_due.is_some() => self.state_due = Some(now + self.plan.debounce),
                None => {}
            }
        }
        if !self.selection.takes(&line) {
            return;
        }
        let (errors, others) = &mut self.batch;
        let batch = if tells_error(&line) { errors } else { others };
        if batch.len() < MAX_BATCH {
            batch.push(line.clone());
        }
        self.excerpt.add(line);
    }

    fn tell_what_is_due(&mut self) {
        let now = clock::monotonic();
        if self.state_due.is_some_and(|due| due <= now) {
            self.state_due = None;
            let event = if self.state == Some(Verdict::Red) { Event::Red } else { Event::Green };
            let lines = std::mem::take(&mut self.excerpt).lines();
            self.tell(event, lines);
        }
        if self.batch_due <= now && !self.is_batch_empty() {
            self.pause = (self.pause * 2).min(LAST_BATCH);
            self.batch_due = now + self.pause;
            let (mut lines, others) = std::mem::take(&mut self.batch);
            lines.extend(others);
            lines.truncate(MAX_BATCH);
            self.tell(Event::Lines, lines);
        }
    }

    fn tell(&self, event: Event, lines: Vec<String>) {
        drop(self.messages.try_send(self.message(event, lines)));
    }

    fn message(&self, event: Event, lines: Vec<String>) -> Message {
        let Plan { cwd, project, tag, watch, caller, .. } = self.plan.clone();
        let took = clock::monotonic() - self.begun;
        Message {
            build_id: self.build_id.clone(),
            event,
            command: self.command.clone(),
            cwd,
            project,
            tag,
            watch,
            duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            lines,
            lines_seen: self.seen,
            bytes_dropped: self.dropped,
            caller,
        }
    }
}
