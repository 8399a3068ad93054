//! The anomalies that agents were told of.

use rusqlite::{Row, params_from_iter};
use serde::{Deserialize, Serialize};

use crate::agent::{Agent, beginning};
use crate::clock::Local;
use crate::history::narrowing::Narrowing;
use crate::history::page::page_size;
use crate::history::{Cursor, HistoryError, Page, Reader, Since};

/// How much of a text is told, in bytes.
const MAX_TEXT_BYTES: usize = 1_000;

/// Which anomalies are to be listed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AnomaliesQuery {
    /// Only those that this agent was told.
    pub agent: Option<Agent>,
    /// Only those of sessions in this project: its root, a folder in which it lies, or its name.
    pub project: Option<String>,
    /// Only those of this session, by its whole id.
    pub session: Option<String>,
    /// Only those that this rule found.
    pub kind: Option<String>,
    /// Only those that were told since.
    pub since: Option<Since>,
    /// How many, up to [`MAX_PAGE`](crate::history::MAX_PAGE).
    pub limit: Option<usize>,
    /// The `next` of the page before.
    pub before: Option<Cursor>,
}

/// An anomaly, as an agent was told of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Emit {
    /// Where it is in the store.
    #[serde(skip)]
    id: i64,
    /// When, in milliseconds since the Unix epoch.
    pub ts: i64,
    /// Whose session was told.
    pub agent: Agent,
    /// The agent's id for it.
    pub session_id: String,
    /// The root of its project; none if that is not known.
    pub project_root: Option<String>,
    /// Which rule found it.
    pub kind: String,
    /// How much it matters.
    pub severity: String,
    /// Where it was told.
    pub channel: String,
    /// What was seen.
    pub evidence: String,
    /// What to do next.
    pub suggestion: String,
}

impl Emit {
    fn from_row(row: &Row<'_>) -> rusqlite::Result<Option<Self>> {
        let Some(agent) = Agent::from_name(&row.get::<_, String>("agent_source")?) else {
            return Ok(None);
        };
        let text = |column: &str| -> rusqlite::Result<String> {
            let text: Option<String> = row.get(column)?;
            Ok(beginning(&text.unwrap_or_default(), MAX_TEXT_BYTES).to_owned())
        };
        Ok(Some(Self {
            id: row.get("id")?,
            ts: row.get("ts")?,
            agent,
            session_id: text("session_id")?,
            project_root: row.get("project_root")?,
            kind: text("kind")?,
            severity: text("severity")?,
            channel: text("channel")?,
            evidence: text("evidence")?,
            suggestion: text("suggestion")?,
        }))
    }
}

/// What agents were told, latest first.
pub fn anomalies(
    reader: &Reader,
    query: &AnomaliesQuery,
    local: &Local,
) -> Result<Page<Emit>, HistoryError> {
    let mut narrowing = Narrowing::default();
    narrowing.agent(query.agent);
    narrowing.project(reader, query.project.as_deref())?;
    if let Some(session) = &query.session {
        narrowing.and("session_id = ?", [session.clone().into()]);
    }
    if let Some(kind) = &query.kind {
        narrowing.and("kind = ?", [kind.clone().into()]);
    }
    if let Some(since) = query.since {
        narrowing.and("ts >= ?", [since.moment(local).as_unix_millis().into()]);
    }
    if let Some(before) = query.before {
        narrowing.and("id < ?", [before.id.into()]);
    }
    let limit = page_size(query.limit);
    let list = format!(
        "SELECT * FROM tma1_anomaly_emits{} ORDER BY id DESC LIMIT {}",
        narrowing.clause(),
        limit + 1
    );
    let read = || {
        let mut statement = reader.connection.prepare(&list)?;
        let rows = statement.query_map(params_from_iter(&narrowing.values), Emit::from_row)?;
        rows.filter_map(Result::transpose).collect::<rusqlite::Result<Vec<_>>>()
    };
    let found = read().map_err(|error| reader.failed(error))?;
    Ok(Page::of(found, limit, |emit| Cursor { ts: emit.ts, id: emit.id }))
}
