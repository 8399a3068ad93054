//! `tma1 show`: what happened in a session.

use console::{Style, style};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;

use crate::agent::Agent;
use crate::cli::history::source::{Source, list};
use crate::cli::history::{more, nothing_yet, print_json, print_page, words};
use crate::cli::table::{Cell, Layout, Table};
use crate::cli::{Context, ExitStatus, Failure, pager};
use crate::clock::{self, Local};
use crate::history::{
    self, Moment, MomentKind, Outcome, SessionSummary, SessionTimeline, Since, TimelineQuery,
};
use crate::printable::printable;
use crate::world::Severity;

/// Show what happened in a session: prompts, calls, failures, anomalies, in order.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Arguments {
    /// The session: as much of the beginning of its id as names no other.
    #[arg(value_name = "SESSION")]
    session: String,
    /// Whose session it is, if several agents have one.
    #[arg(long, value_enum)]
    agent: Option<Agent>,
    /// Only since then: 30m, 2h, 7d, or a date such as 2026-11-30.
    #[arg(long, value_name = "WHEN")]
    since: Option<Since>,
    /// How many of the last events.
    #[arg(short = 'n', long, value_name = "NUMBER", default_value_t = 500)]
    limit: usize,
    /// Print it as JSON.
    #[arg(long)]
    json: bool,
}

/// What programs read.
#[derive(Debug, Serialize)]
struct Told {
    session: Option<SessionSummary>,
    timeline: Vec<Moment>,
}

pub(in crate::cli) fn run(arguments: &Arguments, context: &Context) -> Result<ExitStatus, Failure> {
    let local = clock::local();
    let Some(source) = Source::find(context)? else {
        return nothing_yet(arguments.json, context);
    };
    let query = TimelineQuery {
        session: arguments.session.clone(),
        agent: arguments.agent,
        since: arguments.since.map(|since| Since::At(since.moment(&local))),
        ..TimelineQuery::default()
    };
    let path = utf8_percent_encode(&arguments.session, NON_ALPHANUMERIC);
    let path = format!("/api/sessions/{path}");
    let mut session = None;
    let (mut moments, is_more) = list(arguments.limit, |limit, before| {
        let query = TimelineQuery { limit: Some(limit), before, ..query.clone() };
        let told: SessionTimeline =
            source.get(&path, &query, |reader| history::timeline(reader, &query, &local))?;
        session = Some(told.session);
        Ok(told.timeline)
    })?;
    moments.reverse();
    if arguments.json {
        return print_json(&Told { session, timeline: moments }, context);
    }
    let mut text = session.map_or_else(String::new, |session| heading(&session, &local));
    if is_more {
        text += &more(arguments.limit);
    }
    text += &table(&moments, &local).render(pager::width());
    print_page(&text, context)
}

/// What is known of the session as a whole.
fn heading(session: &SessionSummary, local: &Local) -> String {
    let mut lines = Vec::new();
    let mut field = |name: &str, value: &str| {
        if !value.is_empty() {
            lines.push(format!("{} {}", style(format!("{name:9}")).bold(), printable(value)));
        }
    };
    field("session", &format!("{} of {}", session.session_id, session.agent.title()));
    field("project", session.project_root.as_deref().unwrap_or_default());
    field("title", session.title.as_deref().unwrap_or_default());
    field("model", session.model.as_deref().unwrap_or_default());
    let lasted = words::took(session.last_ts.saturating_sub(session.first_ts));
    let ended = if session.ended_ts.is_some() { ", ended" } else { "" };
    field("time", &format!("{} for {lasted}{ended}", words::time(session.first_ts, local)));
    field(
        "calls",
        &format!(
            "{}, {} failed, {} anomalies",
            session.tool_calls, session.failures, session.anomalies
        ),
    );
    let tokens = (words::count(session.input_tokens), words::count(session.output_tokens));
    field("tokens", &format!("{} in, {} out", tokens.0, tokens.1));
    lines.join("\n") + "\n\n"
}

fn table(moments: &[Moment], local: &Local) -> Table {
    let mut table = Table::new(&[
        ("TIME", Layout::Left),
        ("WHAT", Layout::Left),
        ("HOW", Layout::Left),
        ("TOOK", Layout::Right),
        ("DETAIL", Layout::Flexible),
    ]);
    for moment in moments {
        table.row(vec![
            words::time(moment.ts, local).into(),
            what(moment),
            how(moment),
            moment.duration_ms.map(words::took).unwrap_or_default().into(),
            words::line(&moment.text).into(),
        ]);
    }
    table
}

fn what(moment: &Moment) -> Cell {
    let name = moment.name.as_deref().unwrap_or_default();
    let (what, style) = match moment.kind {
        MomentKind::Start => ("start", Style::new().dim()),
        MomentKind::Prompt => ("prompt", Style::new().bold().cyan()),
        MomentKind::Call => (name, Style::new()),
        MomentKind::Answer => ("answer", Style::new().bold()),
        MomentKind::Interruption => ("interrupted", Style::new().yellow()),
        MomentKind::Compaction => ("compaction", Style::new().dim()),
        MomentKind::End => ("end", Style::new().dim()),
        MomentKind::Anomaly => (name, Style::new().yellow()),
        MomentKind::ExternalChange => ("outside", Style::new().magenta()),
    };
    if moment.subagent.is_some() {
        return Cell::styled(&format!("↳ {what}"), &style);
    }
    Cell::styled(what, &style)
}

/// How a call went, and how much a finding matters.
fn how(moment: &Moment) -> Cell {
    match (moment.kind, moment.outcome, moment.exit_code, moment.severity) {
        (_, Some(Outcome::Succeeded), ..) => Cell::styled("ok", &Style::new().green()),
        (_, Some(Outcome::Failed), Some(code), _) => {
            Cell::styled(&format!("failed ({code})"), &Style::new().red())
        }
        (_, Some(Outcome::Failed), None, _) => Cell::styled("failed", &Style::new().red()),
        (_, Some(Outcome::Unknown), ..) => "?".into(),
        (MomentKind::Call, None, ..) => "open".into(),
        (_, _, _, Some(Severity::High)) => Cell::styled("high", &Style::new().red()),
        (_, _, _, Some(Severity::Medium)) => Cell::styled("medium", &Style::new().yellow()),
        (MomentKind::ExternalChange, ..) => moment.name.as_deref().unwrap_or_default().into(),
        _ => "".into(),
    }
}
