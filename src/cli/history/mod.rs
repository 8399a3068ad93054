//! The commands that look at what the store holds.

mod anomalies;
mod context;
mod export;
mod narrow;
mod query;
mod search;
mod sessions;
mod show;
mod source;
mod words;

pub(super) use anomalies::Arguments as AnomaliesArguments;
pub(super) use context::Arguments as ContextArguments;
pub(super) use export::Arguments as ExportArguments;
pub(super) use query::Arguments as QueryArguments;
pub(super) use search::Arguments as SearchArguments;
pub(super) use sessions::Arguments as SessionsArguments;
pub(super) use show::Arguments as ShowArguments;

pub(super) use anomalies::run as anomalies;
pub(super) use context::run as context;
pub(super) use export::run as export;
pub(super) use query::run as query;
pub(super) use search::run as search;
pub(super) use sessions::run as sessions;
pub(super) use show::run as show;

use serde::Serialize;

use crate::cli::table::Table;
use crate::cli::{Context, ExitStatus, Failure, pager};
use crate::history::HistoryError;

/// What there is to say before anything was recorded.
const NOTHING_YET: &str = "There is nothing here yet: no agent has reported anything. \
                           `tma1 install` connects them, `tma1 doctor` tells what is missing.\n";

impl From<HistoryError> for Failure {
    fn from(error: HistoryError) -> Self {
        let hint = error.hint();
        Self::new(error, Some(hint))
    }
}

/// Says that nothing was recorded yet.
fn nothing_yet(json: bool, context: &Context) -> Result<ExitStatus, Failure> {
    context.printer.out(if json { "[]\n" } else { NOTHING_YET })?;
    Ok(ExitStatus::Done)
}

/// Prints what other programs read.
fn print_json<T: Serialize>(told: &T, context: &Context) -> Result<ExitStatus, Failure> {
    let text = serde_json::to_string_pretty(told).map_err(|error| Failure::new(error, None))?;
    context.printer.out(format_args!("{text}\n"))?;
    Ok(ExitStatus::Done)
}

/// Prints what people read.
fn print_page(text: &str, context: &Context) -> Result<ExitStatus, Failure> {
    pager::page(text, context)?;
    Ok(ExitStatus::Done)
}

/// Prints a table of up to `limit` rows, and that it is not all if there are more.
fn print_table(
    table: &Table,
    limit: usize,
    is_more: bool,
    context: &Context,
) -> Result<ExitStatus, Failure> {
    let mut text = table.render(pager::width());
    if is_more {
        text += &more(limit);
    }
    print_page(&text, context)
}

/// What is said below a list that is not all there is.
fn more(limit: usize) -> String {
    format!("There is more: --limit {} shows it.\n", limit.saturating_mul(2))
}
