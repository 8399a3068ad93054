//! Where answers come from: the daemon, or if none runs, the store itself.

use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::cli::{Context, Failure};
use crate::clock;
use crate::daemon::client::{Question, Response};
use crate::daemon::lifecycle::Presence;
use crate::daemon::token::Token;
use crate::history::{Cursor, HistoryError, MAX_PAGE, Page, Reader};
use crate::paths::Paths;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// The status of a daemon that has too much to do, or not the time for so much.
const BUSY: u16 = 503;

/// Where answers come from.
#[derive(Debug)]
pub(super) enum Source<'a> {
    /// A daemon of this version runs.
    Daemon { port: u16, paths: &'a Paths },
    /// None does.
    Store(Reader),
}

/// The body of an error.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ErrorBody {
    error: String,
    hint: Option<String>,
}

impl<'a> Source<'a> {
    /// Finds it; none if nothing was recorded yet.
    pub fn find(context: &'a Context) -> Result<Option<Self>, Failure> {
        let paths = &context.paths;
        if let Presence::Running { port, health } = Presence::of(paths, context.config.port)?
            && health.version == env!("CARGO_PKG_VERSION")
        {
            return Ok(Some(Self::Daemon { port, paths }));
        }
        Ok(Reader::open(&paths.database(), Some(PATIENCE))?.map(Self::Store))
    }

    /// Asks the daemon at `path`, or the store in the same way. The daemon has less time to give.
    pub fn get<T: DeserializeOwned>(
        &self,
        path: &str,
        query: &impl Serialize,
        read: impl FnOnce(&Reader) -> Result<T, HistoryError>,
    ) -> Result<T, Failure> {
        let (port, paths) = match self {
            Self::Store(reader) => return Ok(read(reader)?),
            Self::Daemon { port, paths } => (*port, *paths),
        };
        let query = serde_html_form::to_string(query).map_err(|error| Failure::new(error, None))?;
        let answer = ask(port, paths, &format!("{path}?{query}"))?;
        if answer.status == BUSY
            && let Some(reader) = Reader::open(&paths.database(), Some(PATIENCE))?
        {
            return Ok(read(&reader)?);
        }
        told(&answer)
    }
}

/// Up to `limit` items of a list, page by page, and whether there are more.
pub(super) fn list<T>(
    limit: usize,
    mut page: impl FnMut(usize, Option<Cursor>) -> Result<Page<T>, Failure>,
) -> Result<(Vec<T>, bool), Failure> {
    let (mut items, mut before) = (Vec::new(), None);
    loop {
        let wanted = limit.saturating_sub(items.len()).min(MAX_PAGE);
        let next = page(wanted, before)?;
        items.extend(next.items);
        before = next.next;
        if before.is_none() || items.len() >= limit {
            items.truncate(limit);
            return Ok((items, before.is_some()));
        }
    }
}

/// Asks the daemon for `target`.
pub(super) fn ask(port: u16, paths: &Paths, target: &str) -> Result<Response, Failure> {
    let token = Token::read(&paths.token()).ok();
    let question = Question { method: "GET", target, token: token.as_ref(), paths };
    Ok(question.ask(port, clock::monotonic() + PATIENCE)?)
}

/// What an answer tells.
pub(super) fn told<T: DeserializeOwned>(answer: &Response) -> Result<T, Failure> {
    let restart = || Some("it may be of another version: `tma1 restart`".to_owned());
    if answer.status != 200 {
        let body = serde_json::from_slice::<ErrorBody>(&answer.body).unwrap_or_default();
        return Err(Failure::new(anyhow::anyhow!(body.error), body.hint.or_else(restart)));
    }
    serde_json::from_slice(&answer.body).map_err(|error| Failure::new(error, restart()))
}
