//! What other sessions of a project did and said, for an agent that asks for its peers.

use rusqlite::{Row, params};
use serde::{Deserialize, Serialize};

use crate::agent::{Agent, SessionKey};
use crate::clock::Timestamp;
use crate::history::{HistoryError, Reader};

/// How many sessions are told at most.
pub const MAX_PEERS: i64 = 5;

/// How many messages of each.
pub const MAX_PEER_MESSAGES: i64 = 100;

/// How far back sessions are looked for, unless it is said, in minutes.
pub const DEFAULT_SINCE_MIN: i64 = 24 * 60;

/// A session of the project, as the store knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Peer {
    /// Which.
    pub session: SessionKey,
    /// The beginning of its first prompt.
    pub title: Option<String>,
    /// When something happened in it last.
    pub last_at: Timestamp,
    /// Whether it has said that it ended.
    pub ended: bool,
    /// How many tools it called.
    pub tool_calls: u64,
    /// How many of these calls failed.
    pub failures: u64,
}

/// Something that was said in a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeerMessage {
    /// `user` or `assistant`.
    pub role: String,
    /// What.
    pub text: String,
    /// When; none where the source does not say it.
    #[serde(skip)]
    pub at: Option<Timestamp>,
}

impl Peer {
    fn from_row(row: &Row<'_>) -> rusqlite::Result<Option<Self>> {
        let Some(agent) = Agent::from_name(&row.get::<_, String>("agent_source")?) else {
            return Ok(None);
        };
        let ended_ts: Option<i64> = row.get("ended_ts")?;
        Ok(Some(Self {
            session: SessionKey { agent, id: row.get("session_id")? },
            title: row.get("title")?,
            last_at: Timestamp::from_unix_millis(row.get("last_ts")?),
            ended: ended_ts.is_some(),
            tool_calls: row.get("tool_calls")?,
            failures: row.get("failures")?,
        }))
    }
}

/// The sessions in the project at `root`, of `agent` or of any, in which something happened since, the
/// latest first.
pub fn peers(
    reader: &Reader,
    root: &str,
    agent: Option<Agent>,
    since: Timestamp,
    most: usize,
) -> Result<Vec<Peer>, HistoryError> {
    let list = "SELECT * FROM tma1_sessions
                WHERE project_root = ?1 AND last_ts >= ?2 AND (?3 IS NULL OR agent_source = ?3)
                ORDER BY last_ts DESC, id DESC LIMIT ?4";
    let read = || {
        let mut statement = reader.connection.prepare(list)?;
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let values = params![root, since.as_unix_millis(), agent.map(Agent::name), most];
        let rows = statement.query_map(values, Peer::from_row)?;
        rows.filter_map(Result::transpose).collect::<rusqlite::Result<Vec<_>>>()
    };
    read().map_err(|error| reader.failed(error))
}

/// The last `most` things that were said in a session, the last first.
pub fn messages(
    reader: &Reader,
    session: &SessionKey,
    most: usize,
) -> Result<Vec<PeerMessage>, HistoryError> {
    let list = "SELECT role, content, ts FROM tma1_messages
                WHERE session_id = ?1 AND agent_source = ?2
                    AND message_type IN ('prompt', 'response')
                ORDER BY id DESC LIMIT ?3";
    let read = || {
        let mut statement = reader.connection.prepare(list)?;
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let rows = statement.query_map(params![session.id, session.agent.name(), most], |row| {
            let at = Some(Timestamp::from_unix_millis(row.get("ts")?));
            Ok(PeerMessage { role: row.get("role")?, text: row.get("content")?, at })
        })?;
        rows.collect::<rusqlite::Result<Vec<_>>>()
    };
    read().map_err(|error| reader.failed(error))
}
