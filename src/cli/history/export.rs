//! `tma1 export`: every row, for other programs.

use crate::cli::{Context, ExitStatus, Failure};
use crate::clock;
use crate::history::{self, ExportTable, Reader, Since};

/// Print every row of the store as JSON, one a line.
///
/// Each line is an object with the table's name as `table` and a field for each column. Times are
/// milliseconds since the Unix epoch.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Arguments {
    /// Only of this table; may be given several times.
    #[arg(long, value_enum, value_name = "TABLE")]
    table: Vec<ExportTable>,
    /// Only since then: 30m, 2h, 7d, or a date such as 2026-11-30.
    #[arg(long, value_name = "WHEN")]
    since: Option<Since>,
}

pub(in crate::cli) fn run(arguments: &Arguments, context: &Context) -> Result<ExitStatus, Failure> {
    let Some(reader) = Reader::open(&context.paths.database(), None)? else {
        return Ok(ExitStatus::Done);
    };
    let local = clock::local();
    let since = arguments.since.map(|since| since.moment(&local));
    let is_wanted =
        |table: &ExportTable| arguments.table.is_empty() || arguments.table.contains(table);
    context.printer.stream(|out| {
        for table in ExportTable::ALL.into_iter().filter(is_wanted) {
            history::export(&reader, table, since, |row| {
                serde_json::to_writer(&mut *out, row).map_err(std::io::Error::from)?;
                writeln!(out).map_err(Failure::from)
            })?;
        }
        Ok::<_, Failure>(())
    })?;
    Ok(ExitStatus::Done)
}
