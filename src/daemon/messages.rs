//! The daemon's messages, which must never hold it up.
//!
//! Whoever reads them may be gone, or the disk full, so that writing fails; or they may have stopped
//! reading, so that it blocks. A thread of their own writes them; what it can't keep up with is dropped.

use std::fmt::Display;
use std::io::{self, Write};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::time::Duration;

/// How many messages may wait to be written.
const MAX_WAITING: usize = 1024;

/// How long the last messages may take when the daemon ends.
const LAST_WORDS: Duration = Duration::from_millis(250);

/// Takes messages, without waiting and without failing.
#[derive(Debug, Clone)]
pub struct Messages {
    queue: SyncSender<Message>,
}

#[derive(Debug)]
enum Message {
    Text(Vec<u8>),
    /// Dropped when everything before it is written.
    Mark(#[expect(dead_code, reason = "it is there to be dropped")] Sender<()>),
}

impl Messages {
    /// Starts the thread that writes to `sink`.
    pub fn start(sink: impl Write + Send + 'static) -> io::Result<Self> {
        let (queue, messages) = sync_channel(MAX_WAITING);
        std::thread::Builder::new()
            .name("messages".to_owned())
            .spawn(move || write(&messages, sink))?;
        Ok(Self { queue })
    }

    /// Says one line.
    pub fn line(&self, text: impl Display) {
        self.push(Message::Text(format!("{text}\n").into_bytes()));
    }

    /// Waits, briefly, until everything said so far is written.
    pub fn flush(&self) {
        let (mark, written) = channel();
        self.push(Message::Mark(mark));
        // It fails when the mark is dropped, which is what is waited for.
        let _ = written.recv_timeout(LAST_WORDS);
    }

    fn push(&self, message: Message) {
        drop(self.queue.try_send(message));
    }
}

/// One call is one message.
impl Write for Messages {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.push(Message::Text(text.to_vec()));
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn write(messages: &Receiver<Message>, mut sink: impl Write) {
    for message in messages {
        if let Message::Text(text) = message {
            drop(sink.write_all(&text));
        }
    }
}
