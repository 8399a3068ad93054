//! One file of a session.

use std::fs::{File, Metadata};
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

use crate::agent::SessionKey;
use crate::agent::transcript::{Owner, Requests, Transcript};
use crate::platform;

/// How much is read at once.
const CHUNK_BYTES: usize = 64 * 1024;

#[derive(Debug)]
pub(super) struct SessionFile {
    pub(super) transcript: Transcript,
    /// The call by which an event has named it last; none for a file that we found ourselves.
    pub(super) named_at: Option<u64>,
    /// What tells the file from another one of its name, once it was opened.
    number: Option<u64>,
    /// How many of its bytes were read, to the end of a line.
    offset: u64,
    is_behind: bool,
}

impl SessionFile {
    pub(super) fn new(session: &SessionKey, owner: Owner, named_at: Option<u64>) -> Self {
        let transcript = Transcript::new(session, owner);
        Self { transcript, named_at, number: None, offset: 0, is_behind: false }
    }

    /// Whether an event has named it and it was never there yet.
    pub(super) fn is_awaited(&self) -> bool {
        self.named_at.is_some() && self.number.is_none()
    }

    /// Whether it is the session's own file, and no subagent's.
    pub(super) fn is_of_session(&self) -> bool {
        self.named_at.is_some() && self.offset > 0 && !self.transcript.is_of_subagent()
    }

    /// Whether there was more to read than the budget allowed.
    pub(super) fn is_behind(&self) -> bool {
        self.is_behind
    }

    /// Reads on at `path`, with `open` if something is new, and takes what is read off `budget`;
    /// returns whether there is more.
    pub(super) fn read_on(
        &mut self,
        path: &Path,
        open: impl FnOnce(&Path) -> Option<(File, Metadata)>,
        requests: &mut Requests,
        budget: &mut usize,
    ) -> bool {
        if self.is_as_read(path) {
            return false;
        }
        let Some((mut file, metadata)) = open(path) else { return false };
        let number = platform::file_number(&metadata);
        let is_another = self.number.is_some_and(|known| known != number);
        if is_another || metadata.len() < self.offset {
            self.transcript.restart();
            self.offset = 0;
        }
        self.number = Some(number);
        if file.seek(SeekFrom::Start(self.offset)).is_err() {
            return false;
        }
        self.is_behind = self.read(&mut file, requests, budget) && self.offset < metadata.len();
        self.is_behind
    }

    /// Whether nothing was written since. A file that is gone was read as far as it can be.
    fn is_as_read(&self, path: &Path) -> bool {
        fs_err::metadata(path).map_or(true, |metadata| {
            self.number == Some(platform::file_number(&metadata)) && self.offset == metadata.len()
        })
    }

    /// Reads until the end, or until the budget is used up and a line has ended; returns which.
    fn read(&mut self, file: &mut File, requests: &mut Requests, budget: &mut usize) -> bool {
        let mut chunk = vec![0; CHUNK_BYTES];
        let mut done = 0;
        let stopped = loop {
            // With nothing left of it, the line that was begun is read to its end.
            let most = if *budget == 0 { CHUNK_BYTES } else { CHUNK_BYTES.min(*budget) };
            let read = match file.read(chunk.get_mut(..most).unwrap_or_default()) {
                Ok(read) => chunk.get(..read).unwrap_or_default(),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(_) => break false,
            };
            if read.is_empty() {
                break false;
            }
            self.transcript.feed(read, requests);
            done += read.len();
            *budget = budget.saturating_sub(read.len());
            if *budget == 0 && self.transcript.half_bytes() < done {
                break true;
            }
        };
        // Nothing is kept of a line until it is whole, so that the memory of many files is flat.
        let half = self.transcript.forget_half();
        self.offset += u64::try_from(done - half).unwrap_or(0);
        stopped
    }
}
