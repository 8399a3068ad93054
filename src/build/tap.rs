//! What the command says, on its way to whoever reads along: never more than fits, never waited for.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How many bytes wait at most. Beyond it the oldest go: what a build says last matters most.
const MAX_WAITING: usize = 256 * 1024;

/// Pieces below this size share one allocation.
const SMALL: usize = 16 * 1024;

/// How long is gathered before the reader is given anything, so that a flood costs little to read along.
const GATHER: Duration = Duration::from_millis(50);

/// Where the command said it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stream {
    /// Standard output, or one stream that is both.
    Output,
    /// Standard error.
    Error,
}

/// Something that the command said.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub stream: Stream,
    pub bytes: Vec<u8>,
    /// Whether something before it is missing.
    pub after_gap: bool,
}

/// A bounded queue of what the command says.
#[derive(Debug, Default)]
pub(super) struct Tap {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    pieces: VecDeque<Piece>,
    waiting: usize,
    dropped: u64,
    closed: bool,
}

/// What was said since the last time.
#[derive(Debug, Default)]
pub(super) struct Taken {
    pub pieces: VecDeque<Piece>,
    /// How many bytes were dropped since.
    pub dropped: u64,
    /// Whether nothing more will come.
    pub closed: bool,
}

impl Tap {
    /// Notes what the command has said, and leaves `said` empty. Much of it is not copied, its memory is
    /// exchanged for that of what is dropped: in a flood that is most of what reading along costs.
    pub(super) fn push(&self, stream: Stream, said: &mut Vec<u8>) {
        let mut state = self.state();
        let was_empty = state.pieces.is_empty();
        let capacity = said.capacity();
        state.waiting += said.len();
        match state.pieces.back_mut() {
            Some(last) if last.stream == stream && last.bytes.len() + said.len() <= SMALL => {
                last.bytes.append(said);
            }
            _ if said.len() <= SMALL => {
                state.pieces.push_back(Piece { stream, bytes: said.clone(), after_gap: false });
            }
            _ => {
                let bytes = std::mem::take(said);
                state.pieces.push_back(Piece { stream, bytes, after_gap: false });
            }
        }
        while state.waiting > MAX_WAITING
            && let Some(oldest) = state.pieces.pop_front()
        {
            state.waiting -= oldest.bytes.len();
            state.dropped += u64::try_from(oldest.bytes.len()).unwrap_or_default();
            if let Some(next) = state.pieces.front_mut() {
                next.after_gap = true;
            }
            if said.capacity() < capacity {
                *said = oldest.bytes;
            }
        }
        drop(state);
        said.clear();
        said.reserve(capacity);
        if was_empty {
            self.changed.notify_one();
        }
    }

    /// Nothing more will come.
    pub(super) fn close(&self) {
        self.state().closed = true;
        self.changed.notify_one();
    }

    /// Waits up to `patience` for something, then a moment for more of it.
    pub(super) fn take(&self, patience: Duration) -> Taken {
        let nothing_yet = |state: &mut State| state.pieces.is_empty() && !state.closed;
        let (state, _) = self
            .changed
            .wait_timeout_while(self.state(), patience, nothing_yet)
            .unwrap_or_else(PoisonError::into_inner);
        if state.pieces.is_empty() && !state.closed {
            return Taken::default();
        }
        drop(state);
        let open = |state: &mut State| !state.closed;
        let (mut state, _) = self
            .changed
            .wait_timeout_while(self.state(), GATHER, open)
            .unwrap_or_else(PoisonError::into_inner);
        state.waiting = 0;
        Taken {
            pieces: std::mem::take(&mut state.pieces),
            dropped: std::mem::take(&mut state.dropped),
            closed: state.closed,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_comes_out_in_order_and_by_stream() {
        let tap = Tap::default();
        for (stream, said) in [
            (Stream::Output, "a"),
            (Stream::Output, "b"),
            (Stream::Error, "c"),
            (Stream::Output, "d"),
        ] {
            tap.push(stream, &mut said.into());
        }
        tap.close();
        let taken = tap.take(Duration::ZERO);
        let texts: Vec<_> = taken.pieces.iter().map(|it| (it.stream, &*it.bytes)).collect();
        let (out, err) = (Stream::Output, Stream::Error);
        assert_eq!(texts, [(out, &b"ab"[..]), (err, b"c"), (out, b"d")]);
        assert!(taken.closed && taken.dropped == 0);
    }

    #[test]
    fn of_a_flood_the_end_is_kept_and_the_rest_counted() {
        let tap = Tap::default();
        let mut chunk = Vec::with_capacity(64 * 1024);
        for _ in 0..100 {
            chunk.resize(64 * 1024, b'x');
            tap.push(Stream::Output, &mut chunk);
            assert!(chunk.is_empty() && chunk.capacity() == 64 * 1024);
        }
        tap.push(Stream::Error, &mut "the end".into());
        tap.close();
        let taken = tap.take(Duration::ZERO);
        let kept: usize = taken.pieces.iter().map(|it| it.bytes.len()).sum();
        assert!(kept <= MAX_WAITING);
        assert_eq!(u64::try_from(kept).unwrap() + taken.dropped, 100 * 64 * 1024 + 7);
        assert_eq!(taken.pieces.back().unwrap().bytes, b"the end");
        assert!(taken.pieces.front().unwrap().after_gap);
    }
}
