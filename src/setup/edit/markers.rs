//! A block of ours between two markers in a Markdown file.

use std::ops::Range;

use crate::setup::edit::fences::{self, Fences};
use crate::setup::edit::splice::{Splice, spliced};
use crate::setup::edit::tail;
use crate::setup::edit::text::{self, Position};

const START: &str = "<!-- tma1:start -->";
const END: &str = "<!-- tma1:end -->";

/// Why a Markdown file is left alone.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum MarkerError {
    /// The bytes are not text.
    #[error("it is not UTF-8 text ({0})")]
    NotUtf8(Position),
    /// Where our block ends, or starts, is not known.
    #[error("`{marker}` stands there without its other half (line {line})")]
    Half {
        /// The marker that is there.
        marker: &'static str,
        /// Where.
        line: usize,
    },
    /// The end is before the start.
    #[error("`{END}` stands before `{START}` (line {line})")]
    Reversed {
        /// Where the end is.
        line: usize,
    },
    /// A second start before the end.
    #[error("`{START}` stands there a second time before `{END}` (line {line})")]
    Nested {
        /// Where.
        line: usize,
    },
    /// More than one block.
    #[error("a second `{marker}` stands after the block (line {line})")]
    Repeated {
        /// The marker that is repeated.
        marker: &'static str,
        /// Where.
        line: usize,
    },
    /// What is appended would be part of somebody's code.
    #[error("the code fence that opens there is never closed (line {line})")]
    OpenFence {
        /// Where it opens.
        line: usize,
    },
    /// The edited text would not be what it should. A bug, caught before anything is written.
    #[error("the edit would have changed more than our own block")]
    Guard,
}

impl MarkerError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::NotUtf8(_) => "save it as UTF-8, then try again".to_owned(),
            Self::Half { .. } | Self::Reversed { .. } => {
                format!("leave `{START}` and `{END}` around our text, or neither, then try again")
            }
            Self::Nested { .. } | Self::Repeated { .. } => {
                format!("leave one `{START}` and one `{END}`, then try again")
            }
            Self::OpenFence { .. } => {
                "close it, so that text can follow it, then try again".to_owned()
            }
            Self::Guard => "please report this, with the file if you can share it".to_owned(),
        }
    }
}

/// `before` with our block in it and `inside` between its markers, without the last line end of
/// that; the same bytes if it is there already.
pub fn install_into(before: &[u8], inside: &str) -> Result<Vec<u8>, MarkerError> {
    let (mark, text) = text::decode(before).map_err(MarkerError::NotUtf8)?;
    let layout = Layout::of(text)?;
    let line_end = layout.block.as_ref().map(|block| tail::line_end_at(text, block.whole.start));
    let line_end = line_end.unwrap_or_else(|| text::line_end(text));
    let inside: String =
        inside.trim_end_matches(['\r', '\n']).lines().flat_map(|line| [line, line_end]).collect();
    let splice = match (&layout.block, layout.open_fence) {
        (Some(block), _) => Splice { range: block.inside.clone(), text: inside.clone() },
        (None, Some(line)) => return Err(MarkerError::OpenFence { line }),
        (None, None) => tail::append(text, &format!("{START}{line_end}{inside}{END}"), line_end),
    };
    let after = spliced(mark, text, vec![splice]);
    guard(text, after.strip_prefix(mark).unwrap_or(&after), &inside)?;
    Ok(after.into_bytes())
}

/// `before` without our block; the same bytes if it has none.
pub fn remove_from(before: &[u8]) -> Result<Vec<u8>, MarkerError> {
    let (mark, text) = text::decode(before).map_err(MarkerError::NotUtf8)?;
    let layout = Layout::of(text)?;
    Ok(spliced(mark, text, layout.removal(text)).into_bytes())
}

/// Requires that `after` has our block with `inside`, and is the same text without it.
fn guard(before: &str, after: &str, inside: &str) -> Result<(), MarkerError> {
    let rest = |text: &str| {
        let layout = Layout::of(text).map_err(|_| MarkerError::Guard)?;
        Ok((spliced("", text, layout.removal(text)), layout.block))
    };
    let (others, _) = rest(before)?;
    let (kept, block) = rest(after)?;
    let installed = block.and_then(|block| after.get(block.inside));
    if kept == others && installed == Some(inside) { Ok(()) } else { Err(MarkerError::Guard) }
}

/// Our block, as it stands in a text.
#[derive(Debug)]
struct Block {
    /// From the start marker's line to the end of that of the end marker, without its line end.
    whole: Range<usize>,
    /// The lines between the markers.
    inside: Range<usize>,
}

/// What matters of a Markdown text.
#[derive(Debug)]
struct Layout {
    block: Option<Block>,
    /// The line of a code fence that is open at the end.
    open_fence: Option<usize>,
}

impl Layout {
    fn of(text: &str) -> Result<Self, MarkerError> {
        let mut fences = Fences::default();
        let mut markers = Vec::new();
        let mut start = 0;
        for (number, line) in (1..).zip(text.split_inclusive('\n')) {
            // A carriage return alone ends a line of Markdown, too.
            let content = line.trim_end_matches(['\r', '\n']);
            let mut is_text = true;
            for line in content.split('\r') {
                is_text &= fences.read(number, line);
            }
            // With more blanks before it, it would be code.
            let marker = fences::indentation(content).map(|(_, text)| text.trim_end());
            let marker = [START, END].into_iter().find(|kind| marker == Some(*kind));
            if let Some(kind) = marker.filter(|_| is_text) {
                markers.push(Marker { kind, line: number, start, next: start + line.len() });
            }
            start += line.len();
        }
        Ok(Self { block: block(text, &markers)?, open_fence: fences.open_since() })
    }

    fn removal(&self, text: &str) -> Vec<Splice> {
        self.block.iter().map(|block| tail::cut(text, block.whole.clone())).collect()
    }
}

/// A line that is a marker.
#[derive(Debug)]
struct Marker {
    kind: &'static str,
    line: usize,
    start: usize,
    /// Where the next line starts.
    next: usize,
}

fn block(text: &str, markers: &[Marker]) -> Result<Option<Block>, MarkerError> {
    match markers {
        [] => Ok(None),
        [Marker { kind, line, .. }] => Err(MarkerError::Half { marker: kind, line: *line }),
        [Marker { kind: END, line, .. }, ..] => Err(MarkerError::Reversed { line: *line }),
        [_, Marker { kind: START, line, .. }, ..] => Err(MarkerError::Nested { line: *line }),
        [start, end] => Ok(Some(Block {
            whole: start.start..tail::end_of_line(text, end.start).0,
            inside: start.next..end.start,
        })),
        [_, _, Marker { kind, line, .. }, ..] => {
            Err(MarkerError::Repeated { marker: kind, line: *line })
        }
    }
}
