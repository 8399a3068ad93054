//! Tables for people: columns as wide as what is in them, or as the terminal leaves room for.

use console::{Alignment, Style, measure_text_width, pad_str, truncate_str};

use crate::printable::printable;

/// What lies between two columns.
const GAP: &str = "  ";

/// The narrowest that a column becomes to let the others fit.
const NARROWEST: usize = 12;

/// How far texts are padded where lines may be as long as they like.
const PADDED: usize = 60;

/// How a column is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// Texts.
    Left,
    /// Numbers.
    Right,
    /// Texts that give way if the terminal is narrow.
    Flexible,
}

/// A text in one line, with the sequences that style it on a terminal.
#[derive(Debug, Clone)]
pub(super) struct Cell(String);

impl Cell {
    /// A cell in `style`.
    pub fn styled(text: &str, style: &Style) -> Self {
        Self(style.apply_to(printable(text)).to_string())
    }

    /// Cells in a row.
    pub fn joined(cells: &[Self]) -> Self {
        Self(cells.iter().map(|cell| cell.0.as_str()).collect())
    }
}

impl<T: AsRef<str>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self(printable(text.as_ref()))
    }
}

/// Rows below the titles of their columns.
#[derive(Debug)]
pub(super) struct Table {
    layouts: Vec<Layout>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table without rows.
    pub fn new(columns: &[(&str, Layout)]) -> Self {
        let title = |(title, _): &(&str, Layout)| Cell::styled(title, &Style::new().bold());
        Self {
            layouts: columns.iter().map(|(_, layout)| *layout).collect(),
            rows: vec![columns.iter().map(title).collect()],
        }
    }

    /// Adds a row, which has a cell for each column.
    pub fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    /// The table in lines. If there is a `width`, none is wider; else nothing is cut.
    pub fn render(&self, width: Option<usize>) -> String {
        let widths = self.widths(width);
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::new();
            let mut columns = row.iter().zip(&widths).zip(&self.layouts).peekable();
            while let Some(((cell, column), layout)) = columns.next() {
                let shown = match width {
                    Some(_) => truncate_str(&cell.0, *column, "…"),
                    None => cell.0.as_str().into(),
                };
                let alignment = match layout {
                    Layout::Right => Alignment::Right,
                    Layout::Left | Layout::Flexible => Alignment::Left,
                };
                // Nothing is put behind the last text of a line.
                if columns.peek().is_none() && alignment == Alignment::Left {
                    line.push_str(&shown);
                } else {
                    line.push_str(&pad_str(&shown, *column, alignment, None));
                }
                if columns.peek().is_some() {
                    line.push_str(GAP);
                }
            }
            let line =
                width.map_or_else(|| line.as_str().into(), |width| truncate_str(&line, width, "…"));
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }

    /// How wide each column is.
    fn widths(&self, room: Option<usize>) -> Vec<usize> {
        let mut widths: Vec<usize> = (0..self.layouts.len())
            .map(|column| {
                let cells = self.rows.iter().filter_map(|row| row.get(column));
                cells.map(|cell| measure_text_width(&cell.0)).max().unwrap_or_default()
            })
            .collect();
        let Some(room) = room else {
            return widths.into_iter().map(|width| width.min(PADDED)).collect();
        };
        let gaps = GAP.len() * widths.len().saturating_sub(1);
        let mut excess = (widths.iter().sum::<usize>() + gaps).saturating_sub(room);
        // The last one first: it is the one with the most to say, and the least to miss.
        for (width, layout) in widths.iter_mut().zip(&self.layouts).rev() {
            if *layout == Layout::Flexible {
                let given = excess.min(width.saturating_sub(NARROWEST));
                *width -= given;
                excess -= given;
            }
        }
        widths
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn table(rows: &[[&str; 3]]) -> Table {
        let mut table =
            Table::new(&[("ID", Layout::Left), ("N", Layout::Right), ("TEXT", Layout::Flexible)]);
        for row in rows {
            table.row(row.iter().map(Cell::from).collect());
        }
        table
    }

    #[test]
    fn columns_are_as_wide_as_what_is_seen() {
        let table = table(&[["a", "1", "short"], ["项目🦀", "1000", "a\u{1b}[2Jb\nc"]]);
        let expected = "ID         N  TEXT\n\
                        a          1  short\n\
                        项目🦀  1000  a\\u{1b}[2Jb\\u{a}c\n";
        assert_eq!(table.render(None), expected);
    }

    #[test]
    fn a_narrow_terminal_takes_from_what_can_give() {
        let table = table(&[["abcdef", "12", "the quick brown fox jumps"]]);
        assert_eq!(table.render(Some(30)).lines().last(), Some("abcdef  12  the quick brown f…"));
        // Where nothing can give any more, the line ends.
        assert_eq!(table.render(Some(9)).lines().last(), Some("abcdef  …"));
        // A pipe takes everything.
        let long = "x".repeat(1_000);
        let table = self::table(&[[&long, "1", &long]]);
        assert_eq!(table.render(None).lines().last(), Some(&*format!("{long}  1  {long}")));
    }

    proptest! {
        #[test]
        fn no_line_is_wider_than_the_terminal_and_none_is_missing(
            rows in prop::collection::vec([".*", ".*", ".*"], 0..4),
            width in 1_usize..100,
        ) {
            let rows: Vec<_> = rows.iter().map(|row| row.each_ref().map(String::as_str)).collect();
            let text = table(&rows).render(Some(width));
            prop_assert_eq!(text.lines().count(), rows.len() + 1);
            for line in text.lines() {
                prop_assert!(measure_text_width(line) <= width, "{:?}", line);
            }
        }
    }
}
