//! A program at a terminal, and a person who answers it.

use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use fs_err::{File, OpenOptions};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use tma1::clock;

use super::process::signal;

const LIMIT: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(100);

/// What Ctrl-C sends.
pub const INTERRUPT: &str = "\x03";

/// How a program ended, and what was to be seen.
#[derive(Debug)]
pub struct Seen {
    /// The exit status; none after a signal.
    pub status: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Everything that it wrote, with the sequences that move and colour.
    pub raw: String,
}

impl Seen {
    /// What it wrote, without these sequences.
    pub fn text(&self) -> String {
        console::strip_ansi_codes(&self.raw).replace('\r', "")
    }
}

/// Runs `command` at a terminal, and gives it each answer once its question is to be seen.
pub fn run_at_terminal(mut command: Command, answers: &[(&str, &str)]) -> Seen {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap().into_string().unwrap();
    let program_side = || {
        let file = OpenOptions::new().read(true).write(true).open(&name).unwrap();
        Stdio::from(file.into_parts().0)
    };
    command.stdin(program_side()).stdout(program_side()).stderr(program_side());
    let mut child = command.spawn().unwrap();
    // The sides of the program are its own now: when it ends, there is no more to read.
    drop(command);
    let mut terminal = File::from_parts(terminal.into(), "the terminal");
    let mut screen = Screen::watch(terminal.try_clone().unwrap());
    let mut from = 0;
    for (question, answer) in answers {
        from = screen.await_text(question, from);
        terminal.write_all(answer.as_bytes()).unwrap();
    }
    let interrupts = answers.last().is_some_and(|(_, answer)| *answer == INTERRUPT);
    while !screen.has_ended() {
        if clock::monotonic() > screen.deadline {
            signal("KILL", child.id());
        }
        // The first one is lost if the program was not reading yet: nobody else is at this terminal
        // whom it would have signalled.
        if interrupts {
            drop(terminal.write_all(INTERRUPT.as_bytes()));
        }
    }
    let status = child.wait().unwrap();
    Seen { status: status.code(), signal: status.signal(), raw: screen.text }
}

struct Screen {
    text: String,
    news: Receiver<String>,
    deadline: Instant,
}

impl Screen {
    fn watch(mut terminal: File) -> Self {
        let (sender, news) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // An error, where the other side is closed.
            while let Ok(count @ 1..) = terminal.read(&mut bytes) {
                if sender.send(String::from_utf8_lossy(&bytes[..count]).into_owned()).is_err() {
                    break;
                }
            }
        });
        Self { text: String::new(), news, deadline: clock::monotonic() + LIMIT }
    }

    /// Waits until `text` is to be seen after the offset `from`, and returns where it ends.
    fn await_text(&mut self, text: &str, from: usize) -> usize {
        loop {
            if let Some(at) = self.text[from..].find(text) {
                return from + at + text.len();
            }
            assert!(self.hear(), "{text:?} is not to be seen in {:?}", self.text);
        }
    }

    /// Waits for more; whether there is any.
    fn hear(&mut self) -> bool {
        let patience = self.deadline.saturating_duration_since(clock::monotonic());
        let Ok(news) = self.news.recv_timeout(patience) else { return false };
        self.text += &news;
        true
    }

    /// Takes in what comes in a while; whether it is the last.
    fn has_ended(&mut self) -> bool {
        loop {
            match self.news.recv_timeout(PAUSE) {
                Ok(news) => self.text += &news,
                Err(RecvTimeoutError::Timeout) => return false,
                Err(RecvTimeoutError::Disconnected) => return true,
            }
        }
    }
}
