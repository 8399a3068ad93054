//! Where Markdown is code: between fences, as `CommonMark` has them.

/// Reads a text line by line and knows which fence is open.
#[derive(Debug, Default)]
pub(super) struct Fences {
    open: Option<Fence>,
}

/// An opened fence.
#[derive(Debug)]
struct Fence {
    mark: char,
    length: usize,
    line: usize,
    /// The column at which the list item that it opened in has its content.
    item: usize,
    /// Whether it opened in a quote.
    is_quoted: bool,
}

impl Fences {
    /// Takes in the next line; whether it is outside of code.
    pub(super) fn read(&mut self, number: usize, line: &str) -> bool {
        if let Some(open) = &self.open
            && open.holds(line)
        {
            if open.is_closed_by(line) {
                self.open = None;
            }
            return false;
        }
        self.open = Fence::opened_by(number, line);
        self.open.is_none()
    }

    /// The line of the fence that would hold a line that follows. A line without blanks before it
    /// ends a list item or quote, and a fence in that.
    pub(super) fn open_since(&self) -> Option<usize> {
        self.open.as_ref().filter(|open| open.holds("text")).map(|open| open.line)
    }
}

impl Fence {
    /// Also in the first line of a list item or quote.
    fn opened_by(number: usize, line: &str) -> Option<Self> {
        let (mut column, mut item, mut is_quoted) = (0, 0, false);
        let mut rest = line;
        loop {
            let (blanks, text) = indentation(rest)?;
            column += blanks;
            if let Some((mark, length, info)) = fence(text) {
                // An info string with a backtick would make it inline code.
                let opens = mark == '~' || !info.contains('`');
                return opens.then_some(Self { mark, length, line: number, item, is_quoted });
            }
            if let Some(quoted) = text.strip_prefix('>') {
                is_quoted = true;
                rest = quoted;
                column += 1;
            } else {
                rest = after_list_marker(text)?;
                column += text.len() - rest.len();
                item = column;
            }
        }
    }

    /// Whether `line` is still in the list item or quote that the fence is in.
    fn holds(&self, line: &str) -> bool {
        let blanks = line.len() - line.trim_start_matches(' ').len();
        let is_blank = line.trim().is_empty();
        if self.is_quoted {
            line.trim_start().starts_with('>')
        } else {
            is_blank || line.starts_with('\t') || blanks >= self.item
        }
    }

    fn is_closed_by(&self, line: &str) -> bool {
        let line = if self.is_quoted { line.trim_start_matches([' ', '>']) } else { line };
        let text = line.trim_start_matches(' ');
        let is_near = line.len() - text.len() <= self.item + 3;
        fence(text).is_some_and(|(mark, length, rest)| {
            is_near && mark == self.mark && length >= self.length && rest.trim().is_empty()
        })
    }
}

/// The blanks before `text`, if these are too few to make it code.
pub(super) fn indentation(line: &str) -> Option<(usize, &str)> {
    let text = line.trim_start_matches(' ');
    let blanks = line.len() - text.len();
    (blanks <= 3 && !text.starts_with('\t')).then_some((blanks, text))
}

/// The mark, its length and what follows.
fn fence(text: &str) -> Option<(char, usize, &str)> {
    let mark = text.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let rest = text.trim_start_matches(mark);
    let length = text.len() - rest.len();
    (length >= 3).then_some((mark, length, rest))
}

/// What follows a list marker and the blank behind it.
fn after_list_marker(text: &str) -> Option<&str> {
    let digits = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = match text.len() - digits.len() {
        0 => text.strip_prefix(['-', '*', '+'])?,
        1..=9 => digits.strip_prefix(['.', ')'])?,
        _ => return None,
    };
    rest.strip_prefix(' ')
}
