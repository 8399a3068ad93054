//! The events of sessions, as much of them as can be folded in time.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, OptionalExtension, params};

use crate::agent::{Agent, SessionKey};
use crate::clock::Timestamp;
use crate::store::{Database, Entry, StoreError};
use crate::world::Totals;

/// How many events of a session are read when it goes on.
const RECALLED: i64 = 2_000;

/// A session that the log knows, and the last of its events.
#[derive(Debug)]
pub struct Recalled {
    /// What it came to in all, if it has more events than these.
    pub totals: Option<Totals>,
    /// The last of its events, in their order.
    pub entries: Vec<Entry>,
}

/// Looks sessions up, beside the writer.
#[derive(Debug)]
pub struct Memory {
    path: PathBuf,
}

impl Memory {
    /// What the database at `path` knows.
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    /// The session `key`; none if the log does not know it.
    pub fn recall(&self, key: &SessionKey) -> Result<Option<Recalled>, StoreError> {
        self.try_recall(key)
            .map_err(|source| StoreError::Database { path: self.path.clone(), source })
    }

    fn try_recall(&self, key: &SessionKey) -> rusqlite::Result<Option<Recalled>> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.path, flags)?;
        let (agent, id) = (key.agent.name(), &key.id);
        let known = "SELECT first_ts, tool_calls, failures FROM tma1_sessions
                     WHERE agent_source = ?1 AND session_id = ?2";
        let known = connection.query_row(known, params![agent, id], |row| {
            Ok(Totals {
                began_at: Timestamp::from_unix_millis(row.get(0)?),
                tool_calls: row.get(1)?,
                failed: row.get(2)?,
                tools: Vec::new(),
            })
        });
        let Some(mut totals) = known.optional()? else {
            return Ok(None);
        };
        let mut statement = connection.prepare(
            "SELECT ts, agent_source, project_root, observed, payload FROM tma1_hook_events
             WHERE session_id = ?1 AND agent_source = ?2 ORDER BY id DESC LIMIT ?3",
        )?;
        let mut rows = statement.query(params![id, agent, RECALLED])?;
        let mut entries = Vec::new();
        while let Some(row) = rows.next()? {
            entries.extend(Entry::from_row(row)?);
        }
        entries.reverse();
        let is_whole = i64::try_from(entries.len()).is_ok_and(|read| read < RECALLED);
        if is_whole {
            return Ok(Some(Recalled { totals: None, entries }));
        }
        totals.tools = tools(&connection, key)?;
        Ok(Some(Recalled { totals: Some(totals), entries }))
    }
}

/// How often a session has called each tool; an event that was delivered twice counts once.
fn tools(connection: &Connection, key: &SessionKey) -> rusqlite::Result<Vec<(String, u64)>> {
    let mut statement = connection.prepare(
        "SELECT tool_name, count(DISTINCT coalesce(tool_use_id, id)) FROM tma1_hook_events
         WHERE session_id = ?1 AND agent_source = ?2 AND event_type = 'PreToolUse'
             AND tool_name IS NOT NULL
         GROUP BY tool_name",
    )?;
    let counts = statement
        .query_map(params![key.id, key.agent.name()], |row| Ok((row.get(0)?, row.get(1)?)))?;
    counts.collect()
}

impl Database {
    /// Hands the events of the sessions that did something since `since` to `visit`, in the order in
    /// which they were appended: of the latest ones, as many as have `most` events together; one that alone has more is left out. It goes
    /// on until `visit` has no time left; the sessions that are not complete then are the answer.
    pub fn latest_sessions(
        &self,
        since: Timestamp,
        most: i64,
        visit: impl FnMut(Entry) -> bool,
    ) -> Result<Vec<SessionKey>, StoreError> {
        self.try_latest_sessions(since, most, visit)
            .map_err(|source| StoreError::Database { path: self.path.clone(), source })
    }

    fn try_latest_sessions(
        &self,
        since: Timestamp,
        most: i64,
        mut visit: impl FnMut(Entry) -> bool,
    ) -> rusqlite::Result<Vec<SessionKey>> {
        let mut sessions = self.connection.prepare(
            "SELECT agent_source, session_id, events FROM tma1_sessions
             WHERE last_ts >= ?1 ORDER BY last_ts DESC, id DESC",
        )?;
        let mut sessions = sessions.query([since.as_unix_millis()])?;
        let (mut chosen, mut events) = (BTreeSet::new(), 0_i64);
        while let Some(row) = sessions.next()? {
            let with_it = events.saturating_add(row.get("events")?);
            if with_it > most {
                continue;
            }
            events = with_it;
            let agent: String = row.get("agent_source")?;
            if let Some(agent) = Agent::from_name(&agent) {
                chosen.insert(SessionKey { agent, id: row.get("session_id")? });
            }
        }
        let mut ids = BTreeSet::new();
        let mut of_session = self.connection.prepare(
            "SELECT id FROM tma1_hook_events WHERE session_id = ?1 AND agent_source = ?2",
        )?;
        for key in &chosen {
            let found =
                of_session.query_map(params![key.id, key.agent.name()], |row| row.get(0))?;
            for id in found {
                let id: i64 = id?;
                ids.insert(id);
            }
        }
        let mut event = self.connection.prepare(
            "SELECT ts, agent_source, project_root, observed, payload, session_id
             FROM tma1_hook_events WHERE id = ?1",
        )?;
        let mut has_time = true;
        let mut incomplete = BTreeSet::new();
        for id in ids {
            let mut rows = event.query([id])?;
            let Some(row) = rows.next()? else { continue };
            let session: String = row.get("session_id")?;
            let Some(entry) = Entry::from_row(row)? else { continue };
            if has_time {
                has_time = visit(entry);
            } else {
                incomplete.insert(SessionKey { agent: entry.agent, id: session });
            }
        }
        Ok(incomplete.into_iter().collect())
    }
}
