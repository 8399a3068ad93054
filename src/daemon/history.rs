//! The requests that are answered from the store, beside the hooks and without holding them up.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hyper::StatusCode;
use percent_encoding::percent_decode_str;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use crate::clock::{self, Local};
use crate::history::{
    AnomaliesQuery, HistoryError, Overview, Page, Reader, SearchQuery, SessionsQuery,
    TimelineQuery, anomalies, overview, search, sessions, timeline,
};

/// How many are answered at once. The other helpers are for hooks.
const MAX_READERS: usize = 2;

/// How long a request waits for its turn, and how long it may then take: a connection lasts three
/// seconds.
const WAIT: Duration = Duration::from_secs(1);
const PATIENCE: Duration = Duration::from_millis(1_500);

/// What a request is told: a status and JSON.
pub(super) type Told = (StatusCode, String);

/// Answers from the store.
#[derive(Debug)]
pub(super) struct History {
    database: PathBuf,
    turns: Arc<Semaphore>,
}

impl History {
    /// Answers from the store at `database`.
    pub fn new(database: PathBuf) -> Self {
        Self { database, turns: Arc::new(Semaphore::new(MAX_READERS)) }
    }

    /// Whether something is answered at `path`.
    pub fn has(path: &str) -> bool {
        matches!(path, "/api/sessions" | "/api/search" | "/api/anomalies")
            || session_in(path).is_some()
    }

    /// Answers a `GET` of `path`, at which there is something.
    pub async fn answer(&self, path: &str, query: &str) -> Told {
        match path {
            "/api/sessions" => self.page::<SessionsQuery, _>(query, sessions).await,
            "/api/search" => self.page::<SearchQuery, _>(query, search).await,
            "/api/anomalies" => self.page::<AnomaliesQuery, _>(query, anomalies).await,
            _ => {
                let session = session_in(path).unwrap_or_default();
                self.read(query, move |reader, query: TimelineQuery, local| {
                    let query = TimelineQuery { session, ..query };
                    let none = || HistoryError::NoSession(query.session.clone());
                    timeline(reader.ok_or_else(none)?, &query, local)
                })
                .await
            }
        }
    }

    /// How much the store holds; none if it can't be told in time.
    pub async fn overview(&self) -> Option<Overview> {
        self.turn(|reader| reader.map(overview).transpose()).await.ok()?.ok()?
    }

    async fn page<Q: DeserializeOwned + Send + 'static, T: Serialize + Send + 'static>(
        &self,
        query: &str,
        list: fn(&Reader, &Q, &Local) -> Result<Page<T>, HistoryError>,
    ) -> Told {
        self.read(query, move |reader, query, local| {
            reader.map_or(Ok(Page::EMPTY), |reader| list(reader, &query, local))
        })
        .await
    }

    /// What `answer` makes of the question in `query`, as JSON.
    async fn read<Q: DeserializeOwned + Send + 'static, T: Serialize + Send + 'static>(
        &self,
        query: &str,
        answer: impl FnOnce(Option<&Reader>, Q, &Local) -> Result<T, HistoryError> + Send + 'static,
    ) -> Told {
        let question: Q = match serde_html_form::from_str(query) {
            Ok(question) => question,
            Err(error) => return refused(StatusCode::BAD_REQUEST, &error.to_string(), None),
        };
        let told = self.turn(move |reader| {
            let answer = answer(reader, question, &clock::local())?;
            serde_json::to_string(&answer).map_err(|error| HistoryError::File(error.into()))
        });
        match told.await {
            Ok(Ok(json)) => (StatusCode::OK, json),
            Ok(Err(error)) => refused(status_of(&error), &chain(&error), Some(&error.hint())),
            Err(reason) => refused(StatusCode::SERVICE_UNAVAILABLE, reason, None),
        }
    }

    /// Lets `work` read the store once it is its turn.
    pub async fn turn<T: Send + 'static>(
        &self,
        work: impl FnOnce(Option<&Reader>) -> Result<T, HistoryError> + Send + 'static,
    ) -> Result<Result<T, HistoryError>, &'static str> {
        let turn = tokio::time::timeout(WAIT, Arc::clone(&self.turns).acquire_owned());
        let Ok(Ok(turn)) = turn.await else { return Err("the daemon reads for others") };
        let database = self.database.clone();
        let work = spawn_blocking(move || {
            // The turn ends with the work, also if nobody waits for it any more.
            let _turn = turn;
            work(Reader::open(&database, Some(PATIENCE))?.as_ref())
        });
        work.await.map_err(|_| "the store was not read")
    }
}

/// The session that a path is about.
fn session_in(path: &str) -> Option<String> {
    let session = path.strip_prefix("/api/sessions/").filter(|session| !session.is_empty())?;
    Some(percent_decode_str(session).decode_utf8().ok()?.into_owned())
}

fn status_of(error: &HistoryError) -> StatusCode {
    match error {
        HistoryError::NoSession(_) => StatusCode::NOT_FOUND,
        HistoryError::Ambiguous { .. } => StatusCode::CONFLICT,
        HistoryError::TookTooLong => StatusCode::SERVICE_UNAVAILABLE,
        HistoryError::File(_) | HistoryError::Database { .. } | HistoryError::Version { .. } => {
            StatusCode::INTERNAL_SERVER_ERROR
        }
    }
}

fn chain(error: &HistoryError) -> String {
    anyhow::Chain::new(error).map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

fn refused(status: StatusCode, reason: &str, hint: Option<&str>) -> Told {
    (status, json!({"error": reason, "hint": hint}).to_string())
}
