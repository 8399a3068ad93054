//! Cuts what is read of a file into lines.

/// A longer line is skipped. The longest ones known hold images and have some two megabytes.
pub const MAX_LINE_BYTES: usize = 8 * 1024 * 1024;

/// The line that is not whole yet.
#[derive(Debug, Default)]
pub(super) struct Lines {
    half: Vec<u8>,
    skipping: bool,
}

impl Lines {
    /// Hands each line that these bytes end to `line`, without its end.
    pub(super) fn feed(&mut self, bytes: &[u8], mut line: impl FnMut(&[u8])) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            match piece.strip_suffix(b"\n") {
                Some(end) => self.finish(end, &mut line),
                None => self.keep(piece),
            }
        }
    }

    /// How many bytes of a line are kept that has no end yet.
    pub(super) fn half_bytes(&self) -> usize {
        self.half.len()
    }

    /// Drops what is kept; returns how many bytes that was. What is skipped goes on being skipped.
    pub(super) fn forget_half(&mut self) -> usize {
        std::mem::take(&mut self.half).len()
    }

    fn finish(&mut self, end: &[u8], line: &mut impl FnMut(&[u8])) {
        let skipped = std::mem::take(&mut self.skipping) || self.is_too_long(end);
        if !skipped {
            if self.half.is_empty() {
                line(end);
            } else {
                self.half.extend_from_slice(end);
                line(&self.half);
            }
        }
        self.half.clear();
    }

    fn keep(&mut self, piece: &[u8]) {
        if self.skipping {
            return;
        }
        if self.is_too_long(piece) {
            self.skipping = true;
            self.half = Vec::new();
        } else {
            self.half.extend_from_slice(piece);
        }
    }

    fn is_too_long(&self, more: &[u8]) -> bool {
        self.half.len() + more.len() > MAX_LINE_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(lines: &mut Lines, bytes: &[u8]) -> Vec<usize> {
        let mut lengths = Vec::new();
        lines.feed(bytes, |line| lengths.push(line.len()));
        lengths
    }

    #[test]
    fn a_line_is_whole_when_it_has_its_end() {
        let mut lines = Lines::default();
        assert_eq!(lengths(&mut lines, b"ab\n\ncd"), [2, 0]);
        assert_eq!(lines.half_bytes(), 2);
        assert_eq!(lengths(&mut lines, b""), [0; 0]);
        assert_eq!(lengths(&mut lines, b"e\nf"), [3]);
        assert_eq!((lines.forget_half(), lines.half_bytes()), (1, 0));
        assert_eq!(lengths(&mut lines, b"fg\n"), [2]);
    }

    #[test]
    fn an_over_long_line_is_skipped_whole_in_one_piece_or_many() {
        let line = |bytes: usize| [vec![b'x'; bytes], b"\nshort\n".to_vec()].concat();
        for (bytes, expected) in
            [(MAX_LINE_BYTES, vec![MAX_LINE_BYTES, 5]), (MAX_LINE_BYTES + 1, vec![5])]
        {
            assert_eq!(lengths(&mut Lines::default(), &line(bytes)), expected);
            let mut lines = Lines::default();
            let pieces = line(bytes);
            let found: Vec<_> =
                pieces.chunks(1_000_000).flat_map(|piece| lengths(&mut lines, piece)).collect();
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn nothing_is_kept_of_a_line_that_is_skipped() {
        let mut lines = Lines::default();
        for _ in 0..9 {
            lines.feed(&vec![b'x'; 1024 * 1024], |_| {});
        }
        assert_eq!((lines.half_bytes(), lines.half.capacity()), (0, 0));
        assert_eq!(lines.forget_half(), 0);
        assert_eq!(lengths(&mut lines, b"rest\nnext\n"), [4]);
    }
}
