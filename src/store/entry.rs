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

    pub(super) fn insert(&self, connection: &Connection) -> rusqlite::Result<()> {
        connection
            .prepare_cached(
                "INSERT INTO tma1_hook_events (ts, agent_source, session_id, event_type, tool_name,
                     tool_use_id, agent_id, cwd, transcript_path, project_root, observed,
                     payload)
                 VALUES (:ts, :agent_source, :payload ->> 'session_id',
                     :payload ->> 'hook_event_name', :payload ->> 'tool_name',
                     :payload ->> 'tool_use_id', :payload ->> 'agent_id', :payload ->> 'cwd',
                     :payload ->> 'transcript_path', :project_root, :observed,
                     :payload)",
            )?
            .execute(named_params! {
                ":ts": self.at.as_unix_millis(),
                ":agent_source": self.agent.name(),
                ":project_root": self.project_root,
                ":observed": self.observed,
                ":payload": self.payload,
            })?;
        Ok(())
    }

    fn from_row(row: &Row<'_>) -> rusqlite::Result<Option<Self>> {
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

pub(super) fn read_since(
    connection: &Connection,
    since: Timestamp,
    mut visit: impl FnMut(Entry),
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(
        "SELECT ts, agent_source, project_root, observed, payload FROM tma1_hook_events
         WHERE ts >= ?1 ORDER BY id",
    )?;
    let mut rows = statement.query([since.as_unix_millis()])?;
    while let Some(row) = rows.next()? {
        if let Some(entry) = Entry::from_row(row)? {
            visit(entry);
        }
    }
    Ok(())
}
