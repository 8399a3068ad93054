//! Bytes become lines, as they read on a terminal.

use crate::build::tap::{Piece, Stream};

/// What is kept of a line, in bytes.
const MAX_LINE: usize = 400;

/// How long a line may get before its rest is left out. Colours and progress that was written over make
/// it longer than what is to be seen of it.
const MAX_RAW: usize = 16 * 1024;

/// The lines of both streams.
#[derive(Debug, Default)]
pub(super) struct Lines {
    output: Partial,
    error: Partial,
}

/// A line whose end is yet to come.
#[derive(Debug, Default)]
struct Partial {
    bytes: Vec<u8>,
    /// Whether the beginning of the line is not there, so that it says nothing.
    is_broken: bool,
}

impl Lines {
    /// Hands each line that `piece` ends to `visit`. Empty lines and what is no text are left out.
    pub(super) fn take(&mut self, piece: &Piece, mut visit: impl FnMut(String)) {
        if piece.after_gap {
            for partial in [&mut self.output, &mut self.error] {
                *partial = Partial { bytes: Vec::new(), is_broken: true };
            }
        }
        let partial = match piece.stream {
            Stream::Output => &mut self.output,
            Stream::Error => &mut self.error,
        };
        for part in piece.bytes.split_inclusive(|byte| *byte == b'\n') {
            let room = MAX_RAW.saturating_sub(partial.bytes.len());
            partial.bytes.extend_from_slice(part.get(..part.len().min(room)).unwrap_or_default());
            if part.ends_with(b"\n") {
                let done = std::mem::take(partial);
                done.read().into_iter().for_each(&mut visit);
            }
        }
    }

    /// What was written without an end of the line.
    pub(super) fn finish(&mut self, visit: impl FnMut(String)) {
        let partials = [std::mem::take(&mut self.output), std::mem::take(&mut self.error)];
        partials.into_iter().filter_map(Partial::read).for_each(visit);
    }
}

impl Partial {
    /// The line as it reads; none if there is nothing to be read.
    fn read(self) -> Option<String> {
        if self.is_broken || self.bytes.contains(&0) {
            return None;
        }
        let text = String::from_utf8_lossy(&self.bytes);
        let text = console::strip_ansi_codes(&text);
        // Of what was written over, what came last.
        let shown =
            text.trim_end_matches(['\r', '\n']).rsplit('\r').find(|it| !it.trim().is_empty())?;
        let shown: String =
            shown.replace('\t', "    ").chars().filter(|it| !it.is_control()).collect();
        let shown = crate::agent::beginning(shown.trim_end(), MAX_LINE);
        (!shown.is_empty()).then(|| shown.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn piece(stream: Stream, bytes: &[u8]) -> Piece {
        Piece { stream, bytes: bytes.to_vec(), after_gap: false }
    }

    fn read(pieces: &[Piece]) -> Vec<String> {
        let (mut lines, mut read) = (Lines::default(), Vec::new());
        for piece in pieces {
            lines.take(piece, |line| read.push(line));
        }
        lines.finish(|line| read.push(line));
        read
    }

    #[test]
    fn lines_read_as_on_a_terminal() {
        for (bytes, expected) in [
            (&b"a\nb\n"[..], &["a", "b"][..]),
            (b"a\r\nb", &["a", "b"]),
            (b"\x1b[31merror\x1b[0m: x\n", &["error: x"]),
            (b"10%\r20%\r100%\ndone\n", &["100%", "done"]),
            (b"  Building [=>  ] 1/2\r\x1b[K   Compiling a\n", &["   Compiling a"]),
            (b"\n\n  \n", &[]),
            (b"\x00\x01\x02\nb\n", &["b"]),
            (b"\xff\xfe\n", &["\u{fffd}\u{fffd}"]),
            (b"a\tb\x07\n", &["a    b"]),
        ] {
            assert_eq!(read(&[piece(Stream::Output, bytes)]), expected, "{bytes:?}");
        }
    }

    #[test]
    fn streams_do_not_mix_within_a_line_and_a_gap_breaks_one() {
        let (out, err) = (Stream::Output, Stream::Error);
        let mixed = [piece(out, b"one "), piece(err, b"error\n"), piece(out, b"two\n")];
        assert_eq!(read(&mixed), ["error", "one two"]);
        let mut late = piece(out, b"of it\nwhole\n");
        late.after_gap = true;
        assert_eq!(read(&[piece(out, b"the beginning "), late]), ["whole"]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        #[test]
        fn no_output_breaks_a_line(
            pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..20),
        ) {
            let pieces: Vec<_> = pieces.iter().map(|bytes| piece(Stream::Output, bytes)).collect();
            for line in read(&pieces) {
                prop_assert!(!line.is_empty() && line.len() <= MAX_LINE);
                prop_assert!(!line.contains(char::is_control));
            }
        }

        #[test]
        fn it_makes_no_difference_where_output_is_cut(
            text in "[a-c\\r\\n ]{0,60}", at in 0_usize..60,
        ) {
            let bytes = text.as_bytes();
            let (before, after) = bytes.split_at(at.min(bytes.len()));
            let cut = [piece(Stream::Output, before), piece(Stream::Output, after)];
            prop_assert_eq!(read(&cut), read(&[piece(Stream::Output, bytes)]));
        }
    }
}
