//! The transcripts of Claude Code, of 1.0.0 to 2.1.332.

use std::collections::VecDeque;

use serde::Deserialize;

use crate::agent::transcript::context_window::context_window;
use crate::agent::transcript::fields::{Field, is_true, number, object, text};
use crate::agent::transcript::requests::RequestId;
use crate::agent::transcript::{Owner, Requests, Tokens, Window};

/// How many of the last requests are known by their id: lines of one that follow those of the next
/// are no return to it.
const RECENT_REQUESTS: usize = 16;

/// The model of messages that the client made itself.
const NO_MODEL: &str = "<synthetic>";

/// The chain of messages in one file, and the subagents' that older clients keep in the same.
#[derive(Debug)]
pub(super) struct Chain {
    owner: Owner,
    tokens: Tokens,
    last: Option<Last>,
    recent: VecDeque<RequestId>,
}

/// The last request of the chain itself.
#[derive(Debug)]
struct Last {
    id: RequestId,
    window: Window,
}

#[derive(Deserialize)]
struct Record<'a> {
    #[serde(rename = "type", borrow)]
    kind: Field<'a>,
    #[serde(borrow)]
    subtype: Field<'a>,
    #[serde(rename = "isSidechain", borrow)]
    is_sidechain: Field<'a>,
    #[serde(rename = "isCompactSummary", borrow)]
    is_compact_summary: Field<'a>,
    #[serde(rename = "isApiErrorMessage", borrow)]
    is_api_error: Field<'a>,
    #[serde(rename = "sessionId", borrow)]
    session_id: Field<'a>,
    /// The session that made the request, where this line is a copy of its line.
    #[serde(rename = "requestSessionId", borrow)]
    request_session_id: Field<'a>,
    #[serde(rename = "requestId", borrow)]
    request_id: Field<'a>,
    #[serde(rename = "requestedModel", borrow)]
    requested_model: Field<'a>,
    #[serde(borrow)]
    message: Field<'a>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    model: Field<'a>,
    #[serde(borrow)]
    usage: Field<'a>,
}

#[derive(Deserialize)]
struct Usage<'a> {
    #[serde(rename = "input_tokens", borrow)]
    input: Field<'a>,
    #[serde(rename = "output_tokens", borrow)]
    output: Field<'a>,
    #[serde(rename = "cache_creation_input_tokens", borrow)]
    cache_creation: Field<'a>,
    #[serde(rename = "cache_read_input_tokens", borrow)]
    cache_read: Field<'a>,
}

impl Chain {
    pub(super) fn new(owner: Owner) -> Self {
        Self { owner, tokens: Tokens::default(), last: None, recent: VecDeque::new() }
    }

    /// Takes in one record, if it is one.
    pub(super) fn read(&mut self, record: &str, requests: &mut Requests) -> bool {
        let Ok(record) = serde_json::from_str::<Record<'_>>(record) else { return false };
        let is_compaction =
            text(record.subtype) == Some("compact_boundary") || is_true(record.is_compact_summary);
        match text(record.kind) {
            Some("assistant") => self.count(&record, requests),
            Some("system" | "user") if is_compaction && !is_true(record.is_sidechain) => {
                self.last = None;
            }
            _ => {}
        }
        true
    }

    /// The file is read again from its beginning; its requests are known as counted.
    pub(super) fn restart(&mut self) {
        self.last = None;
        self.recent.clear();
    }

    pub(super) fn tokens(&self) -> Tokens {
        self.tokens
    }

    pub(super) fn window(&self) -> Option<Window> {
        let Window { used, size } = self.last.as_ref()?.window;
        // A request that does not fit tells that the user has the model with another window.
        Some(Window { used, size: size.filter(|size| used <= *size) })
    }

    /// Counts a line of an answer of the model.
    fn count(&mut self, record: &Record<'_>, requests: &mut Requests) {
        let Some(message) = object::<Message<'_>>(record.message) else { return };
        let model = text(message.model).unwrap_or_default();
        if model == NO_MODEL || is_true(record.is_api_error) {
            return;
        }
        let Some(usage) = object::<Usage<'_>>(message.usage) else { return };
        let id = RequestId::new(text(message.id), text(record.request_id));
        let Some(id) = id else { return };
        let tokens = |field| number::<u64>(field).unwrap_or(0);
        let (input, output) = (tokens(usage.input), tokens(usage.output));
        if !is_copy(record) {
            let more = requests.count(id, self.owner, Tokens { input, output });
            self.tokens.input += more.input;
            self.tokens.output += more.output;
        }
        if !is_true(record.is_sidechain) {
            let written = tokens(usage.cache_creation);
            let cached = written.saturating_add(tokens(usage.cache_read));
            let used = input.saturating_add(cached).saturating_add(output);
            let size = context_window(model, text(record.requested_model));
            self.note_window(id, Window { used, size });
        }
    }

    fn note_window(&mut self, id: RequestId, window: Window) {
        match &mut self.last {
            Some(last) if last.id == id => {
                last.window.used = last.window.used.max(window.used);
            }
            _ if self.recent.contains(&id) => {}
            last => {
                *last = Some(Last { id, window });
                self.recent.truncate(RECENT_REQUESTS - 1);
                self.recent.push_front(id);
            }
        }
    }
}

/// Whether another session made the request, as today's clients note. Older ones don't, and
/// [`Requests`] must know them.
fn is_copy(record: &Record<'_>) -> bool {
    let (made_by, session) = (text(record.request_session_id), text(record.session_id));
    made_by.is_some() && session.is_some() && made_by != session
}
