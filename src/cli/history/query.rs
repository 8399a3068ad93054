//! `tma1 query`: a statement of the user's.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::cli::history::{more, nothing_yet};
use crate::cli::table::{Layout, Table};
use crate::cli::{Context, ExitStatus, Failure, pager};
use crate::history::{self, Cell, HistoryError, QueryError, Reader, Rows};

/// How many rows of a table are laid out at once in a pipe.
const LAID_OUT: usize = 1_000;

/// How many rows are shown on a terminal unless told otherwise.
const SHOWN: usize = 1_000;

/// How much text is laid out at once, in bytes.
const LAID_OUT_BYTES: usize = 4 * 1024 * 1024;

/// How much of a value is shown on a terminal, in characters.
const MAX_CHARS: usize = 2_000;

/// Ask the store with a statement of SQL, which can only read.
///
/// For instance: `tma1 query "SELECT kind, count(*) FROM tma1_anomaly_emits GROUP BY kind"`
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Arguments {
    /// One SELECT.
    #[arg(value_name = "SQL")]
    sql: String,
    /// How many rows [default: 1000 on a terminal, else all].
    #[arg(short = 'n', long, value_name = "NUMBER")]
    limit: Option<usize>,
    /// For how many seconds it may run.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    timeout: u64,
    /// Print it as JSON.
    #[arg(long)]
    json: bool,
}

pub(in crate::cli) fn run(arguments: &Arguments, context: &Context) -> Result<ExitStatus, Failure> {
    let patience = Duration::from_secs(arguments.timeout.min(86_400));
    let Some(mut reader) = Reader::open(&context.paths.database(), Some(patience))? else {
        return nothing_yet(arguments.json, context);
    };
    let width = pager::width();
    history::query(&mut reader, &arguments.sql, |rows| match (arguments.json, width) {
        (true, _) => json(rows, arguments.limit, context),
        (false, Some(width)) => shown(rows, arguments.limit.unwrap_or(SHOWN), width, context),
        (false, None) => streamed(rows, arguments.limit, context),
    })??;
    Ok(ExitStatus::Done)
}

impl From<QueryError> for Failure {
    fn from(error: QueryError) -> Self {
        let hint = match &error {
            QueryError::Statement(_) => {
                "`tma1 query \"SELECT name, sql FROM sqlite_schema\"` shows what there is"
                    .to_owned()
            }
            QueryError::NotReading => "only SELECT, and PRAGMAs that tell something".to_owned(),
            QueryError::Store(HistoryError::TookTooLong) => "give it --timeout SECONDS".to_owned(),
            QueryError::Store(error) => error.hint(),
        };
        Self::new(error, Some(hint))
    }
}

/// A list of objects, written as it is read.
fn json(rows: &mut Rows<'_>, limit: Option<usize>, context: &Context) -> Result<(), Failure> {
    context.printer.stream(|out| {
        let mut before = "[";
        let mut left = limit.unwrap_or(usize::MAX);
        while left > 0
            && let Some(row) = rows.read()?
        {
            let values = row.into_iter().map(Cell::into_json);
            let object: Map<String, Value> = rows.columns.iter().cloned().zip(values).collect();
            write!(out, "{before}\n  {}", Value::Object(object))?;
            before = ",";
            left -= 1;
        }
        Ok(writeln!(out, "{}]", if before == "[" { "[" } else { "\n" })?)
    })
}

/// A table for a terminal, all of it read before it is shown: nobody knows when a pager ends.
fn shown(
    rows: &mut Rows<'_>,
    limit: usize,
    width: usize,
    context: &Context,
) -> Result<(), Failure> {
    let mut table = table(rows);
    let mut is_more = false;
    for number in 0..=limit {
        let Some(row) = rows.read()? else { break };
        is_more = number == limit;
        if !is_more {
            table.row(row.into_iter().map(|cell| cut(&text(cell)).into()).collect());
        }
    }
    let mut text = table.render(Some(width));
    if is_more {
        text += &more(limit);
    }
    Ok(pager::page(&text, context)?)
}

/// A table for a pipe, laid out in pieces, with nothing cut.
fn streamed(rows: &mut Rows<'_>, limit: Option<usize>, context: &Context) -> Result<(), Failure> {
    let mut left = limit.unwrap_or(usize::MAX);
    context.printer.stream(|out| {
        let mut titles = true;
        loop {
            let mut piece = table(rows);
            let (mut count, mut bytes) = (0, 0);
            while count < LAID_OUT.min(left)
                && bytes < LAID_OUT_BYTES
                && let Some(row) = rows.read()?
            {
                let cells: Vec<_> = row.into_iter().map(text).collect();
                bytes += cells.iter().map(String::len).sum::<usize>();
                piece.row(cells.iter().map(Into::into).collect());
                count += 1;
            }
            let text = piece.render(None);
            let body = text.split_once('\n').map_or("", |(_, body)| body);
            out.write_all(if titles { &text } else { body }.as_bytes())?;
            left -= count;
            titles = false;
            if count == 0 || left == 0 {
                return Ok(());
            }
        }
    })
}

/// A table for the columns, without rows.
fn table(rows: &Rows<'_>) -> Table {
    let columns: Vec<_> =
        rows.columns.iter().map(|column| (column.as_str(), Layout::Flexible)).collect();
    Table::new(&columns)
}

fn text(cell: Cell) -> String {
    match cell {
        Cell::Null => String::new(),
        Cell::Integer(number) => number.to_string(),
        Cell::Real(number) => number.to_string(),
        Cell::Text(text) | Cell::Blob(text) => text,
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
