//! Full text search over prompts, answers, commands and errors.

use rusqlite::types::Value;
use rusqlite::{Row, params_from_iter};
use serde::{Deserialize, Serialize};

use crate::agent::Agent;
use crate::clock::Local;
use crate::history::narrowing::{Narrowing, roots_of};
use crate::history::needle::Needle;
use crate::history::page::page_size;
use crate::history::snippet::Snippet;
use crate::history::{Cursor, HistoryError, Page, Reader, Since};
use crate::store::{agent_facet, kind_facet, project_facet};

/// How much before a moment rows may lie that are younger: a clock was set back.
const CLOCK_MARGIN_MS: i64 = 3_600_000;

/// What is searched for, and where.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SearchQuery {
    /// The words, all of which are to be there; the last may be the beginning of one.
    pub text: String,
    /// Only in sessions of this agent.
    pub agent: Option<Agent>,
    /// Only in sessions in this project: its root, a folder in which it lies, or its name.
    pub project: Option<String>,
    /// Only in texts of this kind.
    pub kind: Option<HitKind>,
    /// Only in what was said since.
    pub since: Option<Since>,
    /// How many hits, up to [`MAX_PAGE`](crate::history::MAX_PAGE).
    pub limit: Option<usize>,
    /// The `next` of the page before.
    pub before: Option<Cursor>,
}

/// What a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum HitKind {
    /// What the user told the agent.
    Prompt,
    /// What the agent told the user.
    Answer,
    /// A command that the agent ran.
    Command,
    /// What a tool call that failed said.
    Error,
}

impl HitKind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Prompt, Self::Answer, Self::Command, Self::Error];

    /// The name, on the command line and on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Answer => "answer",
            Self::Command => "command",
            Self::Error => "error",
        }
    }

    /// How the store calls it.
    const fn message_type(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Answer => "response",
            Self::Command => "tool_use",
            Self::Error => "tool_error",
        }
    }

    fn from_message_type(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.message_type() == name)
    }
}

/// A text that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hit {
    /// Where it is in the store.
    #[serde(skip)]
    id: i64,
    /// When it was said, in milliseconds since the Unix epoch.
    pub ts: i64,
    /// Whose session it was said in.
    pub agent: Agent,
    /// The agent's id for it.
    pub session_id: String,
    /// The root of its project; none if that is not known.
    pub project_root: Option<String>,
    /// What it is.
    pub kind: HitKind,
    /// The tool of a command or an error.
    pub tool: Option<String>,
    /// What stands around the first match.
    pub snippet: Snippet,
}

/// What was found, latest first. A text in which there is no word finds nothing.
pub fn search(
    reader: &Reader,
    query: &SearchQuery,
    local: &Local,
) -> Result<Page<Hit>, HistoryError> {
    let Some(needle) = Needle::new(&query.text) else { return Ok(Page::EMPTY) };
    let Some(narrowing) = narrowing(reader, query, &needle, local)? else {
        return Ok(Page::EMPTY);
    };
    let limit = page_size(query.limit);
    let list = format!(
        "SELECT message.* FROM tma1_messages_fts AS text
         JOIN tma1_messages AS message ON message.id = text.rowid{}
         ORDER BY text.rowid DESC LIMIT {}",
        narrowing.clause(),
        limit + 1
    );
    let read = || {
        let mut statement = reader.connection.prepare(&list)?;
        let values = params_from_iter(&narrowing.values);
        let rows = statement.query_map(values, |row| Hit::from_row(row, &needle))?;
        rows.filter_map(Result::transpose).collect::<rusqlite::Result<Vec<_>>>()
    };
    let found = read().map_err(|error| reader.failed(error))?;
    Ok(Page::of(found, limit, |hit| Cursor { ts: hit.ts, id: hit.id }))
}

/// What narrows the search; nothing if no project is meant.
fn narrowing(
    reader: &Reader,
    query: &SearchQuery,
    needle: &Needle,
    local: &Local,
) -> Result<Option<Narrowing>, HistoryError> {
    let mut facets = Vec::new();
    facets.extend(query.agent.map(|agent| vec![agent_facet(agent.name())]));
    facets.extend(query.kind.map(|kind| vec![kind_facet(kind.message_type())]));
    if let Some(project) = &query.project {
        let roots = roots_of(reader, project)?;
        if roots.is_empty() {
            return Ok(None);
        }
        facets.push(roots.iter().map(|root| project_facet(root)).collect());
    }
    let mut narrowing = Narrowing::default();
    narrowing.and("tma1_messages_fts MATCH ?", [needle.fts_query(&facets).into()]);
    // What this version does not know is left out.
    narrowing.agent(None);
    narrowing.one_of("message_type", HitKind::ALL.map(|kind| kind.message_type().to_owned()));
    if let Some(since) = query.since {
        let since = since.moment(local).as_unix_millis();
        narrowing.and("text.rowid >= ?", [first_since(reader, since)?]);
        narrowing.and("ts >= ?", [since.into()]);
    }
    if let Some(before) = query.before {
        narrowing.and("text.rowid < ?", [before.id.into()]);
    }
    Ok(Some(narrowing))
}

/// The id before which nothing has to be looked at.
fn first_since(reader: &Reader, since: i64) -> Result<Value, HistoryError> {
    let first = "SELECT ifnull((SELECT id FROM tma1_messages WHERE ts >= ?1
                                ORDER BY ts LIMIT 1), 9223372036854775807)";
    reader
        .connection
        .query_row(first, [since.saturating_sub(CLOCK_MARGIN_MS)], |row| row.get(0))
        .map_err(|error| reader.failed(error))
}

impl Hit {
    fn from_row(row: &Row<'_>, needle: &Needle) -> rusqlite::Result<Option<Self>> {
        let agent: String = row.get("agent_source")?;
        let kind: String = row.get("message_type")?;
        let (Some(agent), Some(kind)) =
            (Agent::from_name(&agent), HitKind::from_message_type(&kind))
        else {
            return Ok(None);
        };
        let content: String = row.get("content")?;
        Ok(Some(Self {
            id: row.get("id")?,
            ts: row.get("ts")?,
            agent,
            session_id: row.get("session_id")?,
            project_root: row.get("project_root")?,
            kind,
            tool: row.get("tool_name")?,
            snippet: Snippet::around(&content, needle),
        }))
    }
}
