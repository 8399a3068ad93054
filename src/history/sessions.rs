//! The sessions, as they are listed.

use rusqlite::{Row, params_from_iter};
use serde::{Deserialize, Serialize};

use crate::agent::{Agent, beginning};
use crate::clock::Local;
use crate::history::narrowing::{Narrowing, names};
use crate::history::page::page_size;
use crate::history::{Cursor, HistoryError, Page, Reader, Since};

/// How much of a title is told, in bytes.
const MAX_TITLE_BYTES: usize = 300;

/// How many sessions are named where a prefix means several.
const MAX_CANDIDATES: usize = 5;

/// Which sessions are to be listed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SessionsQuery {
    /// Only those of this agent.
    pub agent: Option<Agent>,
    /// Only those in this project: its root, a folder in which it lies, or its name.
    pub project: Option<String>,
    /// Only those in which something happened since.
    pub since: Option<Since>,
    /// How many, up to [`MAX_PAGE`](crate::history::MAX_PAGE).
    pub limit: Option<usize>,
    /// The `next` of the page before.
    pub before: Option<Cursor>,
}

/// A session in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionSummary {
    /// Where it is in the store.
    #[serde(skip)]
    id: i64,
    /// Whose session it is.
    pub agent: Agent,
    /// The agent's id for it.
    pub session_id: String,
    /// The root of the project that it is in; none if that is not known.
    pub project_root: Option<String>,
    /// What it is about: the beginning of its first prompt.
    pub title: Option<String>,
    /// The model that was last seen in it.
    pub model: Option<String>,
    /// When its first event came, in milliseconds since the Unix epoch.
    pub first_ts: i64,
    /// When its last event came.
    pub last_ts: i64,
    /// When it ended; none if it did not say so.
    pub ended_ts: Option<i64>,
    /// How many events came.
    pub events: u64,
    /// How many prompts.
    pub prompts: u64,
    /// How many tool calls.
    pub tool_calls: u64,
    /// How many of them failed.
    pub failures: u64,
    /// How many anomalies its agent was told.
    pub anomalies: u64,
    /// The tokens that went into the model, as far as its transcript tells.
    pub input_tokens: u64,
    /// The tokens that came out of it.
    pub output_tokens: u64,
}

const COLUMNS: &str = "id, agent_source, session_id, project_root, title, model, first_ts, last_ts, \
                       ended_ts, events, prompts, tool_calls, failures, anomalies, input_tokens, \
                       output_tokens";

impl SessionSummary {
    /// None if this version does not know the agent.
    fn from_row(row: &Row<'_>) -> rusqlite::Result<Option<Self>> {
        let Some(agent) = Agent::from_name(&row.get::<_, String>("agent_source")?) else {
            return Ok(None);
        };
        let title: Option<String> = row.get("title")?;
        Ok(Some(Self {
            id: row.get("id")?,
            agent,
            session_id: row.get("session_id")?,
            project_root: row.get("project_root")?,
            title: title.map(|title| beginning(&title, MAX_TITLE_BYTES).to_owned()),
            model: row.get("model")?,
            first_ts: row.get("first_ts")?,
            last_ts: row.get("last_ts")?,
            ended_ts: row.get("ended_ts")?,
            events: row.get("events")?,
            prompts: row.get("prompts")?,
            tool_calls: row.get("tool_calls")?,
            failures: row.get("failures")?,
            anomalies: row.get("anomalies")?,
            input_tokens: row.get("input_tokens")?,
            output_tokens: row.get("output_tokens")?,
        }))
    }
}

/// The sessions, the one that did something last first.
pub fn sessions(
    reader: &Reader,
    query: &SessionsQuery,
    local: &Local,
) -> Result<Page<SessionSummary>, HistoryError> {
    let mut narrowing = Narrowing::default();
    narrowing.agent(query.agent);
    narrowing.project(reader, query.project.as_deref())?;
    if let Some(since) = query.since {
        narrowing.and("last_ts >= ?", [since.moment(local).as_unix_millis().into()]);
    }
    if let Some(Cursor { ts, id }) = query.before {
        narrowing.and("(last_ts, id) < (?, ?)", [ts.into(), id.into()]);
    }
    let limit = page_size(query.limit);
    let list = format!(
        "SELECT {COLUMNS} FROM tma1_sessions{} ORDER BY last_ts DESC, id DESC LIMIT {}",
        narrowing.clause(),
        limit + 1
    );
    let found = read(reader, &list, &narrowing)?;
    Ok(Page::of(found, limit, |session| Cursor { ts: session.last_ts, id: session.id }))
}

/// The one session whose id is `prefix`, or else begins with it.
pub(super) fn session(
    reader: &Reader,
    prefix: &str,
    agent: Option<Agent>,
) -> Result<SessionSummary, HistoryError> {
    let mut narrowing = Narrowing::default();
    // Named one by one, the agents let the index be used, which begins with them.
    narrowing.one_of("agent_source", names(agent));
    narrowing.and(
        "session_id >= ? AND session_id < ?",
        [prefix.to_owned().into(), format!("{prefix}\u{10ffff}").into()],
    );
    let list = format!(
        "SELECT {COLUMNS} FROM tma1_sessions{} ORDER BY session_id <> ?, last_ts DESC LIMIT {}",
        narrowing.clause(),
        MAX_CANDIDATES + 1
    );
    narrowing.values.push(prefix.to_owned().into());
    let mut found = read(reader, &list, &narrowing)?;
    let exact = found.iter().filter(|session| session.session_id == prefix).count();
    if exact == 1 {
        found.truncate(1);
    }
    match found.pop() {
        None => Err(HistoryError::NoSession(prefix.to_owned())),
        Some(session) if found.is_empty() => Ok(session),
        Some(oldest) => {
            found.push(oldest);
            let named = found.iter().take(MAX_CANDIDATES);
            let named = named.map(|it| format!("{} of {}", it.session_id, it.agent));
            let more = (found.len() > MAX_CANDIDATES).then(|| "and more".to_owned());
            let candidates = named.chain(more).collect();
            Err(HistoryError::Ambiguous { prefix: prefix.to_owned(), candidates })
        }
    }
}

fn read(
    reader: &Reader,
    sql: &str,
    narrowing: &Narrowing,
) -> Result<Vec<SessionSummary>, HistoryError> {
    let read = || {
        let mut statement = reader.connection.prepare(sql)?;
        let values = params_from_iter(&narrowing.values);
        let rows = statement.query_map(values, SessionSummary::from_row)?;
        rows.filter_map(Result::transpose).collect::<rusqlite::Result<_>>()
    };
    read().map_err(|error| reader.failed(error))
}
