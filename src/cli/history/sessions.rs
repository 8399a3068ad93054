//! `tma1 sessions`: what agents did, session by session.

use console::Style;

use crate::cli::history::narrow::Narrow;
use crate::cli::history::source::{Source, list};
use crate::cli::history::{nothing_yet, print_json, print_page, print_table, words};
use crate::cli::table::{Cell, Layout, Table};
use crate::cli::{Context, ExitStatus, Failure};
use crate::clock::{self, Local};
use crate::history::{self, SessionSummary, SessionsQuery};

/// List the sessions of your agents, the latest first.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Arguments {
    #[command(flatten)]
    narrow: Narrow,
    /// How many.
    #[arg(short = 'n', long, value_name = "NUMBER", default_value_t = 50)]
    limit: usize,
}

pub(in crate::cli) fn run(arguments: &Arguments, context: &Context) -> Result<ExitStatus, Failure> {
    let (narrow, local) = (&arguments.narrow, clock::local());
    let Some(source) = Source::find(context)? else { return nothing_yet(narrow.json, context) };
    let query = SessionsQuery {
        agent: narrow.agent(),
        project: narrow.project(context),
        since: narrow.since(&local),
        ..SessionsQuery::default()
    };
    let (sessions, is_more) = list(arguments.limit, |limit, before| {
        let query = SessionsQuery { limit: Some(limit), before, ..query.clone() };
        source.get("/api/sessions", &query, |reader| history::sessions(reader, &query, &local))
    })?;
    if narrow.json {
        return print_json(&sessions, context);
    }
    if sessions.is_empty() {
        return if narrow.is_narrow() {
            print_page("No session matches.\n", context)
        } else {
            nothing_yet(false, context)
        };
    }
    print_table(&table(&sessions, &local), arguments.limit, is_more, context)
}

fn table(sessions: &[SessionSummary], local: &Local) -> Table {
    let mut table = Table::new(&[
        ("SESSION", Layout::Left),
        ("AGENT", Layout::Left),
        ("PROJECT", Layout::Flexible),
        ("LAST", Layout::Left),
        ("LASTED", Layout::Right),
        ("CALLS", Layout::Right),
        ("FAILED", Layout::Right),
        ("ANOMALIES", Layout::Right),
        ("IN", Layout::Right),
        ("OUT", Layout::Right),
        ("TITLE", Layout::Flexible),
    ]);
    let length = words::id_length(sessions.iter().map(|session| session.session_id.as_str()));
    for session in sessions {
        table.row(vec![
            Cell::styled(&words::short(&session.session_id, length), &Style::new().cyan()),
            words::agent(session.agent).into(),
            words::project(session.project_root.as_deref()).into(),
            words::ago(session.last_ts, local).into(),
            words::took(session.last_ts.saturating_sub(session.first_ts)).into(),
            words::count(session.tool_calls).into(),
            alarming(session.failures, &Style::new().red()),
            alarming(session.anomalies, &Style::new().yellow()),
            words::count(session.input_tokens).into(),
            words::count(session.output_tokens).into(),
            session.title.as_deref().unwrap_or_default().into(),
        ]);
    }
    table
}

/// A number that is in `style` unless it is zero.
fn alarming(number: u64, style: &Style) -> Cell {
    let number_text = words::count(number);
    if number > 0 { Cell::styled(&number_text, style) } else { number_text.into() }
}
