//! `tma1 anomalies`: what agents were told of.

use console::Style;

use crate::cli::history::narrow::Narrow;
use crate::cli::history::source::{Source, list};
use crate::cli::history::{nothing_yet, print_json, print_page, print_table, words};
use crate::cli::table::{Cell, Layout, Table};
use crate::cli::{Context, ExitStatus, Failure};
use crate::clock::{self, Local};
use crate::history::{self, AnomaliesQuery, Emit};
use crate::world::Severity;

/// List the anomalies that your agents were told of, the latest first.
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
    let query = AnomaliesQuery {
        agent: narrow.agent(),
        project: narrow.project(context),
        since: narrow.since(&local),
        ..AnomaliesQuery::default()
    };
    let (emits, is_more) = list(arguments.limit, |limit, before| {
        let query = AnomaliesQuery { limit: Some(limit), before, ..query.clone() };
        source.get("/api/anomalies", &query, |reader| history::anomalies(reader, &query, &local))
    })?;
    if narrow.json {
        return print_json(&emits, context);
    }
    if emits.is_empty() {
        return print_page("No agent was told of an anomaly.\n", context);
    }
    print_table(&table(&emits, &local), arguments.limit, is_more, context)
}

fn table(emits: &[Emit], local: &Local) -> Table {
    let mut table = Table::new(&[
        ("WHEN", Layout::Left),
        ("SESSION", Layout::Left),
        ("PROJECT", Layout::Flexible),
        ("SEVERITY", Layout::Left),
        ("ANOMALY", Layout::Left),
        ("TOLD", Layout::Left),
        ("WHAT", Layout::Flexible),
    ]);
    let length = words::id_length(emits.iter().map(|emit| emit.session_id.as_str()));
    for emit in emits {
        let style = severity(&emit.severity);
        table.row(vec![
            words::ago(emit.ts, local).into(),
            Cell::styled(&words::short(&emit.session_id, length), &Style::new().cyan()),
            words::project(emit.project_root.as_deref()).into(),
            Cell::styled(&emit.severity, &style),
            Cell::styled(&emit.kind, &style),
            emit.channel.as_str().into(),
            format!("{} {}", emit.evidence, emit.suggestion).trim().into(),
        ]);
    }
    table
}

fn severity(name: &str) -> Style {
    match Severity::from_name(name) {
        Some(Severity::High) => Style::new().red(),
        Some(Severity::Medium) => Style::new().yellow(),
        None => Style::new(),
    }
}
