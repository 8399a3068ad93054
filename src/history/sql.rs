//! `tma1 query`: one statement of the user's, which can only read.

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::types::ValueRef;
use serde_json::Value;

use crate::history::{HistoryError, Reader};

/// What a statement may ask SQLite about itself; none of it changes anything.
const PRAGMAS: [&str; 13] = [
    "collation_list",
    "compile_options",
    "data_version",
    "foreign_key_list",
    "freelist_count",
    "function_list",
    "index_info",
    "index_list",
    "index_xinfo",
    "page_count",
    "table_info",
    "table_list",
    "table_xinfo",
];

/// How much memory SQLite may take in this process once a statement was asked, in bytes. What it sorts
/// and groups goes to files long before.
const MAX_MEMORY: i64 = 256 * 1024 * 1024;

/// Why a statement has no answer.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// It is none that SQLite understands, or not one.
    #[error("the statement is not understood")]
    Statement(#[source] rusqlite::Error),
    /// It would do more than read.
    #[error("the statement does more than read the store")]
    NotReading,
    /// The store can't be read.
    #[error(transparent)]
    Store(#[from] HistoryError),
}

/// The answer to a statement, to be read row by row.
pub struct Rows<'a> {
    reader: &'a Reader,
    /// The names of the columns, each once.
    pub columns: Vec<String>,
    answer: rusqlite::Rows<'a>,
}

/// A value in a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Nothing.
    Null,
    /// A whole number.
    Integer(i64),
    /// A number.
    Real(f64),
    /// A text; what is none in it is replaced.
    Text(String),
    /// Bytes, as hexadecimal digits.
    Blob(String),
}

/// Runs `sql` and hands its answer to `read`.
pub fn query<T>(
    reader: &mut Reader,
    sql: &str,
    read: impl FnOnce(&mut Rows<'_>) -> T,
) -> Result<T, QueryError> {
    let limited = reader.connection.pragma_update(None, "hard_heap_limit", MAX_MEMORY);
    let set = limited.and_then(|()| reader.connection.authorizer(Some(authorize)));
    let reader = &*reader;
    let failed = |error| QueryError::Store(reader.failed(error));
    set.map_err(failed)?;
    let mut statement =
        reader.connection.prepare(sql).map_err(|error| match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::AuthorizationForStatementDenied) => QueryError::NotReading,
            Some(rusqlite::ErrorCode::OperationInterrupted) => failed(error),
            _ => QueryError::Statement(error),
        })?;
    if !statement.readonly() {
        return Err(QueryError::NotReading);
    }
    let columns = distinct(statement.column_names());
    let answer = statement.query(()).map_err(QueryError::Statement)?;
    Ok(read(&mut Rows { reader, columns, answer }))
}

fn authorize(context: AuthContext<'_>) -> Authorization {
    let is_allowed = match context.action {
        AuthAction::Select | AuthAction::Recursive | AuthAction::Read { .. } => true,
        AuthAction::Function { function_name } => function_name != "load_extension",
        AuthAction::Pragma { pragma_name, .. } => PRAGMAS.contains(&pragma_name),
        _ => false,
    };
    if is_allowed { Authorization::Allow } else { Authorization::Deny }
}

impl Rows<'_> {
    /// The next row; none after the last.
    pub fn read(&mut self) -> Result<Option<Vec<Cell>>, QueryError> {
        let count = self.columns.len();
        let row = self.answer.next().map_err(|error| match self.reader.failed(error) {
            HistoryError::Database { source, .. } => QueryError::Statement(source),
            error => error.into(),
        })?;
        let Some(row) = row else { return Ok(None) };
        let cell = |column| row.get_ref(column).map(Cell::of);
        (0..count).map(cell).collect::<Result<_, _>>().map(Some).map_err(QueryError::Statement)
    }
}

impl Cell {
    pub(super) fn of(value: ValueRef<'_>) -> Self {
        match value {
            ValueRef::Null => Self::Null,
            ValueRef::Integer(number) => Self::Integer(number),
            ValueRef::Real(number) => Self::Real(number),
            ValueRef::Text(text) => Self::Text(String::from_utf8_lossy(text).into_owned()),
            ValueRef::Blob(bytes) => {
                let digit = |four: u8| char::from_digit(four.into(), 16).unwrap_or_default();
                let digits = bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]);
                Self::Blob(digits.collect())
            }
        }
    }

    /// As JSON. What JSON has no number for, such as an infinity, is null.
    pub fn into_json(self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Integer(number) => number.into(),
            Self::Real(number) => number.into(),
            Self::Text(text) | Self::Blob(text) => text.into(),
        }
    }
}

/// The names, with a number after those that were there before.
fn distinct<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut distinct: Vec<String> = Vec::new();
    for name in names {
        let numbered = (2..).map(|number| format!("{name}_{number}"));
        let free = std::iter::once(name.to_owned())
            .chain(numbered)
            .find(|candidate| !distinct.contains(candidate));
        distinct.extend(free);
    }
    distinct
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_column_has_a_name_of_its_own() {
        assert_eq!(
            distinct(["id", "ts", "id", "id_2", "id"]),
            ["id", "ts", "id_2", "id_2_2", "id_3"]
        );
    }
}
