//! What the command writes, on its way to where we were told to write: the same bytes, at once, in the
//! same order.

use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::fstat;
use rustix::io::{Errno, read, write};
use rustix::pipe::{PipeFlags, pipe_with};

use super::tap::{Stream, Tap};
use super::terminal::Terminal;
use crate::clock;

/// How much is read at once, in bytes.
const CHUNK: usize = 64 * 1024;

/// How much the command can write ahead of us, in bytes.
#[cfg(target_os = "linux")]
const PIPE: usize = 256 * 1024;

/// How long nothing must come once the command has ended, and how long it may take in all, until the
/// rest is left to another process.
const QUIET: Duration = Duration::from_millis(20);
const LAST: Duration = Duration::from_millis(200);

/// A way for what the command writes, and the ends of it that the command gets.
struct Way {
    stream: Stream,
    ours: Arc<OwnedFd>,
    theirs: OwnedFd,
    terminal: Option<Arc<Mutex<Terminal>>>,
}

/// The ways of both streams; one that could not be made is the command's own, without us.
pub(super) struct Streams {
    output: Option<Way>,
    /// None if both are one, as after `2>&1`.
    error: Option<Way>,
    is_one: bool,
}

/// The terminals of the ways, for whoever sees to them.
pub(super) type Terminals = Vec<Arc<Mutex<Terminal>>>;

/// What was still open when the command had ended: our end, and where it goes.
pub(super) type Rest = (Stream, Arc<OwnedFd>);

impl Streams {
    /// Makes a way for each stream of ours, and looks whether they are one and the same.
    pub(super) fn open() -> (Self, Terminals) {
        let (stdout, stderr) = (io::stdout(), io::stderr());
        let is_one = is_same(stdout.as_fd(), stderr.as_fd());
        let output = Way::open(Stream::Output, stdout.as_fd(), stdout.is_terminal()).ok();
        let error = if is_one {
            None
        } else {
            Way::open(Stream::Error, stderr.as_fd(), stderr.is_terminal()).ok()
        };
        let ways = [&output, &error];
        let terminals = ways.into_iter().flatten().filter_map(|way| way.terminal.clone()).collect();
        (Self { output, error, is_one }, terminals)
    }

    /// Gives the command its ends.
    pub(super) fn give_to(&self, command: &mut Command) -> io::Result<()> {
        let end = |way: &Option<Way>| match way {
            Some(way) => way.theirs.try_clone().map(Stdio::from),
            None => Ok(Stdio::inherit()),
        };
        command.stdout(end(&self.output)?);
        command.stderr(end(if self.is_one { &self.output } else { &self.error })?);
        Ok(())
    }

    /// Lets go of the command's ends, and carries over what comes until `until_ended` is closed.
    pub(super) fn start(
        self,
        tap: &Arc<Tap>,
        until_ended: &Arc<OwnedFd>,
    ) -> io::Result<Vec<JoinHandle<Option<Rest>>>> {
        let Self { output, error, .. } = self;
        let start = |way: Way| {
            let Way { stream, ours, theirs, terminal } = way;
            drop(theirs);
            let (tap, until_ended) = (Arc::clone(tap), Arc::clone(until_ended));
            let relay = Relay { stream, ours, terminal, tap, until_ended };
            thread::Builder::new().name("relay".to_owned()).spawn(move || match stream {
                Stream::Output => relay.run(&io::stdout()),
                Stream::Error => relay.run(&io::stderr()),
            })
        };
        [output, error].into_iter().flatten().map(start).collect()
    }
}

impl Way {
    fn open(stream: Stream, sink: BorrowedFd<'_>, is_terminal: bool) -> io::Result<Self> {
        if is_terminal {
            let (terminal, (ours, theirs)) = Terminal::like(sink)?;
            let terminal = Some(Arc::new(Mutex::new(terminal)));
            return Ok(Self { stream, ours, theirs, terminal });
        }
        let (ours, theirs) = pipe_with(PipeFlags::CLOEXEC)?;
        widen(&ours);
        Ok(Self { stream, ours: Arc::new(ours), theirs, terminal: None })
    }
}

/// Gives a pipe more room, so that a command that writes much is stopped less often by our being there.
/// The system may have a reason to refuse.
fn widen(pipe: &OwnedFd) {
    #[cfg(target_os = "linux")]
    let _ = rustix::pipe::fcntl_setpipe_size(pipe, PIPE);
    #[cfg(not(target_os = "linux"))]
    let _ = pipe;
}

/// Whether two streams are one, so that the order of what is written to both can be seen.
fn is_same(one: BorrowedFd<'_>, other: BorrowedFd<'_>) -> bool {
    let (Ok(one), Ok(other)) = (fstat(one), fstat(other)) else { return false };
    (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)
}

/// Carries over one stream.
struct Relay {
    stream: Stream,
    ours: Arc<OwnedFd>,
    terminal: Option<Arc<Mutex<Terminal>>>,
    tap: Arc<Tap>,
    until_ended: Arc<OwnedFd>,
}

impl Relay {
    /// Until nobody writes or reads any more. Once the command has ended, until nothing more comes: what
    /// is returned then is still open.
    fn run(self, sink: &impl AsFd) -> Option<Rest> {
        let mut chunk = Vec::with_capacity(CHUNK);
        let mut last = None;
        loop {
            let ready = ready(
                &self.ours,
                sink,
                Some(&self.until_ended).filter(|_| last.is_none()),
                last.map(|_| QUIET),
            );
            match ready {
                Ready::Source => {
                    read_some(&self.ours, &mut chunk)?;
                    if let Some(terminal) = &self.terminal {
                        terminal.lock().unwrap_or_else(PoisonError::into_inner).follow();
                    }
                    write_all(sink, &chunk).ok()?;
                    self.tap.push(self.stream, &mut chunk);
                }
                // The command learns it as it would without us: its next write fails.
                Ready::Over => return None,
                Ready::Ended => last = Some(clock::monotonic() + LAST),
                Ready::Nothing => return Some((self.stream, self.ours)),
            }
            if last.is_some_and(|last| clock::monotonic() > last) {
                return Some((self.stream, self.ours));
            }
        }
    }
}

/// What there is to do.
enum Ready {
    /// Something is there to be read.
    Source,
    /// Nobody writes any more, or nobody reads.
    Over,
    /// The command has ended.
    Ended,
    /// Nothing has happened.
    Nothing,
}

fn ready(
    source: &OwnedFd,
    sink: &impl AsFd,
    until_ended: Option<&Arc<OwnedFd>>,
    patience: Option<Duration>,
) -> Ready {
    let gone = PollFlags::ERR | PollFlags::HUP;
    let patience = patience.and_then(|patience| Timespec::try_from(patience).ok());
    let mut fds = vec![PollFd::new(source, PollFlags::IN), PollFd::new(sink, PollFlags::empty())];
    fds.extend(until_ended.map(|ended| PollFd::new(&**ended, PollFlags::IN)));
    loop {
        match poll(&mut fds, patience.as_ref()) {
            Err(Errno::INTR) => {}
            Err(_) => return Ready::Over,
            Ok(_) => break,
        }
    }
    let came = |index: usize| fds.get(index).map_or(PollFlags::empty(), PollFd::revents);
    if came(1).intersects(gone) {
        Ready::Over
    } else if came(0).contains(PollFlags::IN) {
        Ready::Source
    } else if came(0).intersects(gone) {
        Ready::Over
    } else if came(2).intersects(gone) {
        Ready::Ended
    } else {
        Ready::Nothing
    }
}

/// Fills the empty `chunk` with what is there; none at the end. A terminal that nobody has open any more
/// ends in an error.
fn read_some(source: impl AsFd, chunk: &mut Vec<u8>) -> Option<()> {
    loop {
        match read(&source, spare_capacity(chunk)) {
            Err(Errno::INTR | Errno::AGAIN) => {}
            Ok(0) | Err(_) => return None,
            Ok(_) => return Some(()),
        }
    }
}

/// Writes everything, also to a sink that somebody else has made non-blocking.
fn write_all(sink: &impl AsFd, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match write(sink, bytes) {
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                // It fails only as the next attempt will.
                let _ = poll(&mut [PollFd::new(sink, PollFlags::OUT)], None);
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Copies `source` to `sink` until nobody writes or reads any more.
pub(super) fn carry_over(source: &impl AsFd, sink: &impl AsFd) {
    let mut chunk = Vec::with_capacity(CHUNK);
    while let Some(()) = read_some(source, &mut chunk) {
        if write_all(sink, &chunk).is_err() {
            break;
        }
        chunk.clear();
    }
}

/// Leaves what is still open to a process of its own: what the command has left behind must be able to
/// write, as it would without us, when we are gone.
pub(super) fn relay_rest((stream, source): Rest) {
    let Ok(program) = std::env::current_exe() else { return };
    let sink = match stream {
        Stream::Output => io::stdout().as_fd().try_clone_to_owned(),
        Stream::Error => io::stderr().as_fd().try_clone_to_owned(),
    };
    let (Ok(source), Ok(sink)) = (source.try_clone(), sink) else { return };
    let mut relay = Command::new(program);
    relay.arg("relay").stdin(source).stdout(sink).stderr(Stdio::null());
    // We end now, so whoever adopts it waits for it.
    drop(relay.spawn());
}
