//! How a JSON text is laid out, so that what we insert looks like the rest of it.

use std::iter;
use std::ops::Range;

use crate::setup::edit::json::Document;
use crate::setup::edit::literal::Literal;
use crate::setup::edit::splice::{Container, Splice};
use crate::setup::edit::text;

/// The indentation of a file that has none to follow.
const DEFAULT_INDENTATION: &str = "  ";

/// What is added to a container: a member of an object, or an element of an array.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) name: Option<&'static str>,
    pub(super) value: Literal,
}

/// The habits of one document.
#[derive(Debug)]
pub(super) struct Layout<'a> {
    pub(super) text: &'a str,
    line_end: &'static str,
    indentation: &'a str,
    /// Whether a space follows a comma or colon within a line.
    spaced: bool,
    /// Whether the document has members and all of them are on one line.
    one_line: bool,
}

/// Where a new value goes: on the rest of this line, or over lines that start with this indentation.
#[derive(Clone, Copy)]
enum Shape<'i> {
    OneLine,
    Lines(&'i str),
}

impl<'a> Layout<'a> {
    pub(super) fn of(document: &Document<'a>) -> Self {
        let text = document.text;
        let members = &document.root.members;
        let is_one_line = is_one_line(text.trim());
        Self {
            text,
            line_end: text::line_end(text),
            indentation: indentation_of(document).unwrap_or(DEFAULT_INDENTATION),
            spaced: members.first().is_none_or(|member| {
                let between = text.get(member.key.range().end..member.value.start);
                between.is_some_and(|colon| !colon.ends_with(':'))
            }),
            one_line: !members.is_empty() && is_one_line,
        }
    }

    /// Adds `items`, at least one, at the end of `container`.
    pub(super) fn append(&self, container: &Container, items: &[Item]) -> Splice {
        match container.items.last() {
            Some(last) => self.append_after(container, last.start, last.end, items),
            None => self.fill(container, items),
        }
    }

    /// Writes `value` in place of the value at `range`.
    pub(super) fn replace(&self, range: Range<usize>, value: &Literal) -> Splice {
        let was_one_line = self.text.get(range.clone()).is_some_and(is_one_line);
        let shape = if was_one_line {
            Shape::OneLine
        } else {
            Shape::Lines(line_indentation(self.text, range.start))
        };
        Splice { text: self.render(value, shape), range }
    }

    fn append_after(
        &self,
        container: &Container,
        last_start: usize,
        last_end: usize,
        items: &[Item],
    ) -> Splice {
        let indentation = line_indentation(self.text, last_start);
        let separator = if alone_on_line(self.text, last_start).is_some() {
            format!(",{}{indentation}", self.line_end)
        } else {
            self.comma().to_owned()
        };
        let inside = self.text.get(container.inside.clone()).unwrap_or("");
        let shape = if is_one_line(inside) { Shape::OneLine } else { Shape::Lines(indentation) };
        let added = self.listed(items, shape, &separator);
        Splice::insertion(last_end, separator + &added)
    }

    fn fill(&self, container: &Container, items: &[Item]) -> Splice {
        let at = container.inside.start;
        let inside = self.text.get(container.inside.clone()).unwrap_or("");
        if self.one_line {
            return Splice::insertion(at, self.listed(items, Shape::OneLine, self.comma()));
        }
        let outer = line_indentation(self.text, at);
        let inner = format!("{outer}{}", self.indentation);
        let line = format!("{}{inner}", self.line_end);
        let mut added = line.clone();
        added += &self.listed(items, Shape::Lines(&inner), &format!(",{line}"));
        if is_one_line(inside) {
            added += self.line_end;
            added += outer;
        }
        Splice::insertion(at, added)
    }

    fn listed(&self, items: &[Item], shape: Shape<'_>, separator: &str) -> String {
        let rendered: Vec<_> = items.iter().map(|item| self.render_item(item, shape)).collect();
        rendered.join(separator)
    }

    fn render_item(&self, item: &Item, shape: Shape<'_>) -> String {
        let value = self.render(&item.value, shape);
        match item.name {
            Some(name) => format!("{}{}{value}", quoted(name), self.colon(shape)),
            None => value,
        }
    }

    fn render(&self, value: &Literal, shape: Shape<'_>) -> String {
        match value {
            Literal::Text(text) => quoted(text),
            Literal::Number(number) => number.to_string(),
            Literal::Flag(flag) => flag.to_string(),
            Literal::List(elements) => {
                self.bracketed(['[', ']'], shape, elements, |element, shape| {
                    self.render(element, shape)
                })
            }
            Literal::Table(members) => {
                self.bracketed(['{', '}'], shape, members, |(name, value), shape| {
                    let value = self.render(value, shape);
                    format!("{}{}{value}", quoted(name), self.colon(shape))
                })
            }
        }
    }

    fn bracketed<T>(
        &self,
        [open, close]: [char; 2],
        shape: Shape<'_>,
        items: &[T],
        render: impl Fn(&T, Shape<'_>) -> String,
    ) -> String {
        let rendered = |shape| -> Vec<_> { items.iter().map(|item| render(item, shape)).collect() };
        match shape {
            Shape::OneLine => {
                let items = rendered(shape).join(self.comma());
                format!("{open}{items}{close}")
            }
            Shape::Lines(outer) => {
                let inner = format!("{outer}{}", self.indentation);
                let line = format!("{}{inner}", self.line_end);
                let items = rendered(Shape::Lines(&inner)).join(&format!(",{line}"));
                format!("{open}{line}{items}{}{outer}{close}", self.line_end)
            }
        }
    }

    fn comma(&self) -> &'static str {
        if self.spaced { ", " } else { "," }
    }

    fn colon(&self, shape: Shape<'_>) -> &'static str {
        match shape {
            Shape::OneLine if !self.spaced => ":",
            _ => ": ",
        }
    }
}

/// The indentation of the first member of the root that has a line of its own. Only what stands
/// between two members is looked at, as a line may be a long one.
fn indentation_of<'a>(document: &Document<'a>) -> Option<&'a str> {
    let members = &document.root.members;
    let ends = members.iter().map(|member| member.value.range().end);
    let gaps = iter::once(document.root.range.start + 1).chain(ends).zip(members);
    gaps.filter_map(|(end, member)| document.text.get(end..member.key.start))
        .find_map(|gap| alone_on_line(gap, gap.len()))
}

fn is_one_line(text: &str) -> bool {
    !text.contains('\n')
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The blanks at the start of the line on which `offset` is.
fn line_indentation(text: &str, offset: usize) -> &str {
    let before = text.get(..offset).unwrap_or("");
    let line = before.rsplit_once('\n').map_or(before, |(_, line)| line);
    let blank = line.len() - line.trim_start_matches([' ', '\t']).len();
    line.get(..blank).unwrap_or("")
}

/// The indentation of what starts at `offset`, if nothing stands before it on its line, and it is
/// not on the first one.
fn alone_on_line(text: &str, offset: usize) -> Option<&str> {
    let (_, line) = text.get(..offset)?.rsplit_once('\n')?;
    line.trim_start_matches([' ', '\t']).is_empty().then_some(line)
}
