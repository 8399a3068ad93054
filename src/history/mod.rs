//! What the store tells: sessions, their timelines, what was said, what was found.
//!
//! Every answer is a plain function from a [`Reader`] and a typed question to a value that is JSON
//! on the wire. The daemon serves them under `/api/`; where none runs, the command line calls them
//! itself.

mod anomalies;
mod changes;
mod export;
mod narrowing;
mod needle;
mod overview;
mod page;
mod peers;
mod reader;
mod search;
mod sessions;
mod since;
mod snippet;
mod sql;
mod timeline;

use std::path::PathBuf;

pub use anomalies::{AnomaliesQuery, Emit, anomalies};
pub use changes::{ChangedFile, external_changes};
pub use export::{ExportTable, export};
pub use overview::{Overview, overview};
pub use page::{Cursor, MAX_PAGE, Page};
pub use peers::{
    DEFAULT_SINCE_MIN, MAX_PEER_MESSAGES, MAX_PEERS, Peer, PeerMessage, messages, peers,
};
pub use reader::Reader;
pub use search::{Hit, HitKind, SearchQuery, search};
pub use sessions::{SessionSummary, SessionsQuery, sessions};
pub use since::{BadSince, Since};
pub use snippet::Snippet;
pub use sql::{Cell, QueryError, Rows, query};
pub use timeline::{Moment, MomentKind, Outcome, SessionTimeline, TimelineQuery, timeline};

/// Why the store does not tell.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// The file can't be looked at.
    #[error("failed to look at the event log")]
    File(#[from] std::io::Error),
    /// SQLite can't read the file.
    #[error("failed to read the event log `{path}`")]
    Database {
        /// The database.
        path: PathBuf,
        /// What SQLite says.
        source: rusqlite::Error,
    },
    /// Another version of tma1 has written the file.
    #[error(
        "the event log `{path}` has schema {found}, this version of tma1 reads schema {}",
        crate::store::VERSION
    )]
    Version {
        /// The database.
        path: PathBuf,
        /// Its schema version.
        found: i64,
    },
    /// There was no time for all of it.
    #[error("it took too long")]
    TookTooLong,
    /// No session has an id that begins so.
    #[error("there is no session `{0}`")]
    NoSession(String),
    /// Several sessions have.
    #[error("`{prefix}` is the beginning of more than one session: {}", .candidates.join(", "))]
    Ambiguous {
        /// What was asked for.
        prefix: String,
        /// The first of them.
        candidates: Vec<String>,
    },
}

impl HistoryError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::File(_) => "check that the file is yours to read".to_owned(),
            Self::Database { .. } => "`tma1 doctor` looks whether the file is damaged".to_owned(),
            Self::Version { found, .. } if *found < crate::store::VERSION => {
                "the daemon brings it up to date: `tma1 restart`".to_owned()
            }
            Self::Version { .. } => {
                "use the version of tma1 that wrote it, or a newer one".to_owned()
            }
            Self::TookTooLong => "narrow it with --since, --agent or --project".to_owned(),
            Self::NoSession(_) => "`tma1 sessions` lists them".to_owned(),
            Self::Ambiguous { .. } => "give more of the id, or --agent".to_owned(),
        }
    }
}

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
