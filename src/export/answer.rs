//! What an answer of the server means for the rows that were sent.

use serde::Deserialize;
use serde_json::Value;

use crate::agent::beginning;
use crate::printable::printable;

/// How much of what a server says is shown, in bytes. It may repeat what it was sent.
const MAX_SAID: usize = 200;

/// A statement that is longer than this may be too long for a server that says that it has no room.
const LARGE: usize = 64 * 1024;

/// What the server answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// The body, as far as it is looked at.
    pub body: String,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Silence {
    /// It did not come in time; the rows may be stored all the same.
    #[error("the server did not answer in time")]
    Timeout,
    /// The connection could not be made, or broke.
    #[error("{0}")]
    Broken(String),
}

/// What to do after a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The rows are stored.
    Done,
    /// It passes: try again, later and later.
    Retry,
    /// The same, with fewer rows.
    RetrySmaller,
    /// It may pass, or be the fault of a row.
    Uncertain,
    /// A row is wrong, and none of the statement was stored.
    BadRow,
    /// Fewer rows may do.
    TooLarge,
    /// The database is not there.
    NoDatabase,
    /// The table is not there.
    NoTable,
    /// The table lacks a column.
    NoColumn,
    /// We are not known, or may not do it.
    Forbidden,
    /// It stays so until somebody does something.
    Refused,
}

/// An answer, as the exporter understands it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// What to do.
    pub verdict: Verdict,
    /// What the server says, shortened; empty if all is well.
    pub said: String,
    /// The rows that were asked for.
    pub rows: Vec<Vec<Value>>,
}

#[derive(Deserialize)]
struct Body {
    code: Option<i64>,
    error: Option<String>,
    output: Option<Vec<Output>>,
}

#[derive(Deserialize)]
struct Output {
    records: Option<Records>,
}

#[derive(Deserialize)]
struct Records {
    rows: Vec<Vec<Value>>,
}

/// Reads the answer to a statement of `length` bytes.
///
/// The code of an error decides, and the HTTP status where there is none that we know: `4007` comes
/// with the status of a wrong password, and a date that can't be read with that of a broken server.
pub fn judge(reply: &Result<Reply, Silence>, length: usize) -> Answer {
    let reply = match reply {
        Ok(reply) => reply,
        Err(silence) => {
            let verdict = match silence {
                Silence::Timeout => Verdict::RetrySmaller,
                Silence::Broken(_) => Verdict::Retry,
            };
            return Answer { verdict, said: shortened(&silence.to_string()), rows: Vec::new() };
        }
    };
    let body = serde_json::from_str(&reply.body).ok();
    let Body { code, error, output } =
        body.unwrap_or(Body { code: None, error: None, output: None });
    if let (200, None, Some(output)) = (reply.status, code, output) {
        let rows = output.into_iter().filter_map(|output| output.records);
        let rows = rows.flat_map(|records| records.rows).collect();
        return Answer { verdict: Verdict::Done, said: String::new(), rows };
    }
    let said = error.as_deref().unwrap_or(&reply.body);
    let verdict = match (code, reply.status) {
        (Some(4007), _) => Verdict::Retry,
        (_, 401 | 403) => Verdict::Forbidden,
        (Some(code), _) => of_code(code, said).unwrap_or_else(|| of_status(reply.status, length)),
        (None, _) => of_status(reply.status, length),
    };
    let number = code.map_or_else(|| format!("HTTP {}", reply.status), |code| code.to_string());
    let said = match shortened(said) {
        said if reply.status == 200 => format!("what answers is no GreptimeDB: {said}"),
        said if said.is_empty() => number,
        said => format!("{said} ({number})"),
    };
    Answer { verdict, said, rows: Vec::new() }
}

fn of_code(code: i64, said: &str) -> Option<Verdict> {
    Some(match code {
        4004 => Verdict::NoDatabase,
        4001 => Verdict::NoTable,
        4002 => Verdict::NoColumn,
        1004 if said.starts_with("Cannot find column by name") => Verdict::NoColumn,
        1001 | 1004 | 2000 | 3000 => Verdict::BadRow,
        1007 | 1009 | 4008 | 4009 | 4010 | 5000 | 6001 => Verdict::Retry,
        1005 | 1008 => Verdict::RetrySmaller,
        1000 | 1002 | 1003 | 1006 | 3001 | 6000 => Verdict::Uncertain,
        7000..=7006 => Verdict::Forbidden,
        _ => return None,
    })
}

fn of_status(status: u16, length: usize) -> Verdict {
    match status {
        413 => Verdict::TooLarge,
        429 if length > LARGE => Verdict::TooLarge,
        504 => Verdict::RetrySmaller,
        408 | 429 | 500..=599 => Verdict::Retry,
        _ => Verdict::Refused,
    }
}

/// The beginning of a text of others, on one line.
fn shortened(text: &str) -> String {
    let text = text.trim();
    let start = beginning(text, MAX_SAID);
    let dots = if start.len() < text.len() { "…" } else { "" };
    printable(&format!("{start}{dots}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Exchange {
        name: String,
        status: u16,
        response: Value,
        verdict: String,
    }

    #[test]
    fn what_a_server_really_said_is_understood() {
        let recorded = include_str!("../../tests/fixtures/greptimedb/exchanges.jsonl");
        for line in recorded.lines() {
            let exchange: Exchange = serde_json::from_str(line).unwrap();
            let body = match &exchange.response {
                Value::String(text) => text.clone(),
                response => response.to_string(),
            };
            let answer = judge(&Ok(Reply { status: exchange.status, body }), LARGE + 1);
            assert_eq!(format!("{:?}", answer.verdict), exchange.verdict, "{}", exchange.name);
            assert_eq!(answer.said.is_empty(), answer.verdict == Verdict::Done, "{}", answer.said);
        }
    }

    #[test]
    fn what_was_not_recorded_is_decided_by_code_and_then_by_status() {
        for (status, body, verdict) in [
            (401, r#"{"code":4007,"error":"region is read-only"}"#, Verdict::Retry),
            (503, r#"{"code":1007,"error":"x"}"#, Verdict::Retry),
            (500, r#"{"code":1003,"error":"x"}"#, Verdict::Uncertain),
            (504, r#"{"code":1008,"error":"x"}"#, Verdict::RetrySmaller),
            (429, r#"{"code":6001,"error":"x"}"#, Verdict::Retry),
            (400, r#"{"code":9999,"error":"x"}"#, Verdict::Refused),
            (502, "<html>bad gateway</html>", Verdict::Retry),
            (302, "", Verdict::Refused),
            (200, "<html>a login page</html>", Verdict::Refused),
            (200, "{}", Verdict::Refused),
        ] {
            let reply = Ok(Reply { status, body: body.to_owned() });
            assert_eq!(judge(&reply, 100).verdict, verdict, "{status} {body}");
        }
        let small = Ok(Reply { status: 429, body: "no memory".to_owned() });
        assert_eq!(judge(&small, 100).verdict, Verdict::Retry);
        assert_eq!(judge(&Err(Silence::Timeout), 1).verdict, Verdict::RetrySmaller);
    }

    #[test]
    fn what_is_shown_is_short_and_on_one_line() {
        let body = format!(r#"{{"code":2000,"error":"bad\n\u001b[31m{}"}}"#, "x".repeat(200_000));
        let said = judge(&Ok(Reply { status: 400, body }), 1).said;
        assert!(said.len() < 2 * MAX_SAID && !said.contains(char::is_control), "{said}");
    }
}
