//! One event in the log.

use rusqlite::{Connection, Row, named_params};

use crate::agent::Agent;
use crate::clock::Timestamp;
use crate::world::Finding;

/// One event, as the log keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// When the daemon received it.
    pub at: Timestamp,
    /// Whose hook sent it.
    pub agent: Agent,
    /// The root of the project that its session was in; none if that was not known.
    pub project_root: Option<String>,
    /// What sensors had seen just before, and what they knew by it, as a JSON list; none if that was
    /// nothing.
    pub observed: Option<String>,
    /// The findings that its answer told. They are written with it, and not read again: the world
    /// finds them anew.
    pub said: Vec<Finding>,
    /// The [`Payload`](crate::agent::Payload) that the event was read from, as JSON: what waits for
    /// the writer is not larger than what it writes.
    pub payload: String,
}

impl Entry {
    /// How much memory it takes while it waits, as good as all of it.
    pub(super) fn size(&self) -> usize {
        let said = self.said.iter().map(|it| it.evidence.len() + it.suggestion.len());
        self.payload.len() + self.observed.as_ref().map_or(0, String::len) + said.sum::<usize>()
    }

    /// Appends it, with the next id unless it had one before.
    pub(super) fn insert(&self, connection: &Connection, id: Option<i64>) -> rusqlite::Result<()> {
        connection
            .prepare_cached(
                "INSERT INTO tma1_hook_events (id, ts, agent_source, session_id, event_type, tool_name,
                     tool_use_id, agent_id, cwd, transcript_path, project_root, observed,
                     payload)
                 VALUES (:id, :ts, :agent_source, :payload ->> 'session_id',
                     :payload ->> 'hook_event_name', :payload ->> 'tool_name',
                     :payload ->> 'tool_use_id', :payload ->> 'agent_id', :payload ->> 'cwd',
                     :payload ->> 'transcript_path', :project_root, :observed,
                     :payload)",
            )?
            .execute(named_params! {
                ":id": id,
                ":ts": self.at.as_unix_millis(),
                ":agent_source": self.agent.name(),
                ":project_root": self.project_root,
                ":observed": self.observed,
                ":payload": self.payload,
            })?;
        Ok(())
    }

    pub(super) fn from_row(row: &Row<'_>) -> rusqlite::Result<Option<Self>> {
        let agent: String = row.get("agent_source")?;
        let at = Timestamp::from_unix_millis(row.get("ts")?);
        let (project_root, observed) = (row.get("project_root")?, row.get("observed")?);
        let payload = row.get("payload")?;
        Ok(Agent::from_name(&agent).map(|agent| Self {
            at,
            agent,
            project_root,
            observed,
            said: Vec::new(),
            payload,
        }))
    }
}

/// Hands every entry with its id to `visit` in the order of ids, `ASC` or `DESC`, until that has enough.
pub(super) fn read_by_id(
    connection: &Connection,
    order: &'static str,
    mut visit: impl FnMut(i64, Entry) -> bool,
) -> rusqlite::Result<()> {
    // Of an older version there may be fewer columns.
    let optional = |column: &str| {
        let asked = format!("SELECT {column} FROM tma1_hook_events LIMIT 0");
        if connection.prepare(&asked).is_ok() {
            column.to_owned()
        } else {
            format!("NULL AS {column}")
        }
    };
    let (root, observed) = (optional("project_root"), optional("observed"));
    let mut statement = connection.prepare(&format!(
        "SELECT id, ts, agent_source, {root}, {observed}, payload FROM tma1_hook_events
         ORDER BY id {order}"
    ))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        // A value of the wrong type is damage of this row, and of no other.
        if let (Ok(id), Ok(Some(entry))) = (row.get("id"), Entry::from_row(row))
            && !visit(id, entry)
        {
            break;
        }
    }
    Ok(())
}
