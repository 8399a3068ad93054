//! `tma1 search`: where something was said.

use console::Style;

use crate::cli::history::narrow::Narrow;
use crate::cli::history::source::{Source, list};
use crate::cli::history::{nothing_yet, print_json, print_page, print_table, words};
use crate::cli::table::{Cell, Layout, Table};
use crate::cli::{Context, ExitStatus, Failure};
use crate::clock::{self, Local};
use crate::history::{self, Hit, HitKind, SearchQuery};

/// Search prompts, answers, commands and errors.
///
/// Finds the texts that have every word; the last may be the beginning of one. Signs in a word, as in
/// `snake_case`, `a::b` or `src/main.rs`, take it apart, and the parts must stand in a row.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Arguments {
    /// The words.
    #[arg(required = true, value_name = "TEXT")]
    text: Vec<String>,
    /// Only in texts of this kind.
    #[arg(long, value_enum)]
    kind: Option<HitKind>,
    #[command(flatten)]
    narrow: Narrow,
    /// How many.
    #[arg(short = 'n', long, value_name = "NUMBER", default_value_t = 20)]
    limit: usize,
}

pub(in crate::cli) fn run(arguments: &Arguments, context: &Context) -> Result<ExitStatus, Failure> {
    let (narrow, local) = (&arguments.narrow, clock::local());
    let Some(source) = Source::find(context)? else { return nothing_yet(narrow.json, context) };
    let query = SearchQuery {
        text: arguments.text.join(" "),
        agent: narrow.agent(),
        project: narrow.project(context),
        kind: arguments.kind,
        since: narrow.since(&local),
        ..SearchQuery::default()
    };
    let (hits, is_more) = list(arguments.limit, |limit, before| {
        let query = SearchQuery { limit: Some(limit), before, ..query.clone() };
        source.get("/api/search", &query, |reader| history::search(reader, &query, &local))
    })?;
    if narrow.json {
        return print_json(&hits, context);
    }
    if hits.is_empty() {
        return print_page("Nothing was found.\n", context);
    }
    print_table(&table(&hits, &local), arguments.limit, is_more, context)
}

fn table(hits: &[Hit], local: &Local) -> Table {
    let mut table = Table::new(&[
        ("WHEN", Layout::Left),
        ("SESSION", Layout::Left),
        ("PROJECT", Layout::Flexible),
        ("KIND", Layout::Left),
        ("TEXT", Layout::Flexible),
    ]);
    let length = words::id_length(hits.iter().map(|hit| hit.session_id.as_str()));
    for hit in hits {
        let snippet = &hit.snippet;
        table.row(vec![
            words::ago(hit.ts, local).into(),
            Cell::styled(&words::short(&hit.session_id, length), &Style::new().cyan()),
            words::project(hit.project_root.as_deref()).into(),
            hit.kind.name().into(),
            Cell::joined(&[
                (&snippet.before).into(),
                marked(&snippet.matched),
                (&snippet.after).into(),
            ]),
        ]);
    }
    table
}

/// A match: in bold where there are colours, else in brackets.
fn marked(matched: &str) -> Cell {
    match matched {
        "" => matched.into(),
        _ if console::colors_enabled() => Cell::styled(matched, &Style::new().bold().yellow()),
        _ => format!("[{matched}]").into(),
    }
}
