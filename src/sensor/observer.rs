//! The thread that looks when an event gives reason to, so that a slow disk holds up no answer.

use std::collections::VecDeque;
use std::io;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use crate::agent::{EventKind, HookEvent, SessionKey};
use crate::clock::Timestamp;
use crate::sensor::transcripts::Transcripts;
use crate::sensor::views::{KnownFile, Views};
use crate::world::Observation;

/// How long an answer waits for what is seen. What comes later is told with the next event.
const PATIENCE: Duration = Duration::from_millis(60);

/// How many events may wait to be looked at. A disk that has stalled must not fill the memory.
const MAX_WAITING: usize = 256;

/// How much that came too late is kept.
const MAX_LATE: usize = 1024;

/// How much of a transcript is read at once, in bytes: a few milliseconds' worth. A longer one is read
/// on while nobody waits.
const BUDGET: usize = 1024 * 1024;

/// Looks at files and transcripts.
#[derive(Debug)]
pub struct Observer {
    requests: SyncSender<Request>,
    late: Late,
}

/// What the observer tells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Noted {
    /// What it has seen, for the world.
    Seen(Observation),
    /// What it knows from now on, for itself after a restart.
    Known(KnownFile),
}

/// What nobody waited for any more.
type Late = Arc<Mutex<VecDeque<Noted>>>;

#[derive(Debug)]
struct Request {
    event: HookEvent,
    root: String,
    at: Timestamp,
    answer: oneshot::Sender<Vec<Noted>>,
}

impl Observer {
    /// Starts the thread. It ends when the observer is dropped. `views` are what is known already.
    pub fn start(transcripts: Transcripts, views: Views) -> io::Result<Self> {
        let (requests, received) = sync_channel(MAX_WAITING);
        let late = Late::default();
        let worker =
            Worker { transcripts, views, unread: VecDeque::new(), late: Arc::clone(&late) };
        std::thread::Builder::new()
            .name("observer".to_owned())
            .spawn(move || worker.run(&received))?;
        Ok(Self { requests, late })
    }

    /// What is to be known before `event`, which happened in the project at `root`.
    pub async fn look(&self, event: &HookEvent, root: &str, at: Timestamp) -> Vec<Noted> {
        let mut seen: Vec<_> = lock(&self.late).drain(..).collect();
        let (answer, answered) = oneshot::channel();
        let request = Request { event: event.clone(), root: root.to_owned(), at, answer };
        if self.requests.try_send(request).is_ok()
            && let Ok(Ok(answer)) = tokio::time::timeout(PATIENCE, answered).await
        {
            seen.extend(answer);
        }
        seen
    }
}

struct Worker {
    transcripts: Transcripts,
    views: Views,
    /// The transcripts that are not read to their end.
    unread: VecDeque<(SessionKey, String)>,
    late: Late,
}

impl Worker {
    fn run(mut self, requests: &Receiver<Request>) {
        loop {
            let request = if self.unread.is_empty() && !self.views.has_unread() {
                requests.recv().map_err(|_| TryRecvError::Disconnected)
            } else {
                requests.try_recv()
            };
            match request {
                Ok(request) => self.answer(request),
                Err(TryRecvError::Empty) => self.read_on(),
                Err(TryRecvError::Disconnected) => return,
            }
        }
    }

    fn answer(&mut self, Request { event, root, at, answer }: Request) {
        let mut seen = self.views.take(&event, &root, at);
        if let Some(transcript) = event.transcript.filter(|_| may_have_grown(&event.kind)) {
            seen.extend(self.read(event.session, transcript));
        }
        if let Err(seen) = answer.send(self.noted(seen)) {
            self.tell_later(seen);
        }
    }

    fn read_on(&mut self) {
        if let Some((session, transcript)) = self.unread.pop_front() {
            let seen = self.read(session, transcript);
            self.tell_later(seen.into_iter().map(Noted::Seen));
        } else {
            self.views.read_on();
            if !self.views.has_unread() {
                let known = self.views.take_news();
                self.tell_later(known.into_iter().map(Noted::Known));
            }
        }
    }

    /// What was seen, and what is known by it.
    fn noted(&mut self, seen: Vec<Observation>) -> Vec<Noted> {
        let known = self.views.take_news().into_iter().map(Noted::Known);
        seen.into_iter().map(Noted::Seen).chain(known).collect()
    }

    fn read(&mut self, session: SessionKey, transcript: String) -> Vec<Observation> {
        let reading = self.transcripts.read_on(&session, &transcript, BUDGET);
        let unread = (session, transcript);
        if reading.more && !self.unread.contains(&unread) {
            self.unread.push_back(unread);
        }
        reading.observations
    }

    fn tell_later(&self, seen: impl IntoIterator<Item = Noted>) {
        let mut late = lock(&self.late);
        late.extend(seen);
        let excess = late.len().saturating_sub(MAX_LATE);
        late.drain(..excess);
    }
}

/// Whether the answer to an event may tell of tokens, or the event follows on the end of a command.
fn may_have_grown(kind: &EventKind) -> bool {
    match kind {
        EventKind::SessionStart(_)
        | EventKind::UserPromptSubmit { .. }
        | EventKind::PostToolUse(_)
        | EventKind::Stop { .. }
        | EventKind::PreCompact => true,
        EventKind::SessionEnd
        | EventKind::PreToolUse(_)
        | EventKind::RejectedCalls(_)
        | EventKind::TurnBroken
        | EventKind::Other => false,
    }
}

fn lock(late: &Mutex<VecDeque<Noted>>) -> MutexGuard<'_, VecDeque<Noted>> {
    late.lock().unwrap_or_else(PoisonError::into_inner)
}
