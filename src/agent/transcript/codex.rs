//! The rollouts of Codex, from the first of 2025 to those of 0.171.

use serde::Deserialize;

use crate::agent::transcript::exit_code::exit_code;
use crate::agent::transcript::fields::{Field, number, object, text, unescaped};
use crate::agent::transcript::history::History;
use crate::agent::transcript::{CommandEnd, Tokens, Window};

/// The longest id of a thread or a call that is kept, in bytes.
const MAX_ID_BYTES: usize = 128;

/// The thread of one rollout.
///
/// Codex counts the tokens of a thread up, and a fork starts from where its parent was. What a thread
/// has used itself is therefore the sum of the steps between one count and the next.
#[derive(Debug)]
pub(super) struct Thread {
    /// The session that the file was named for.
    session: String,
    /// The id of the thread; it is not the session's in a subagent.
    id: Option<String>,
    /// Whether the thread goes on from another one, and so does its count.
    is_fork: bool,
    /// While the lines are a copy of another thread's.
    history: Option<History>,
    /// The last count.
    count: Option<Tokens>,
    /// Whether that count is of this thread itself.
    has_counted: bool,
    tokens: Tokens,
    /// What was counted before the file began anew.
    before: Tokens,
    window: Option<Window>,
    /// Whether the rollout tells the end of commands by itself, and not only what the model is told.
    has_items: bool,
    ended: Vec<CommandEnd>,
}

/// A line: an envelope, or in the oldest rollouts the payload alone.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    timestamp: Field<'a>,
    #[serde(borrow)]
    ordinal: Field<'a>,
    #[serde(rename = "type", borrow)]
    kind: Field<'a>,
    #[serde(borrow)]
    payload: Field<'a>,
}

#[derive(Deserialize)]
struct Payload<'a> {
    #[serde(rename = "type", borrow)]
    kind: Field<'a>,
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    thread_id: Field<'a>,
    #[serde(borrow)]
    forked_from_id: Field<'a>,
    #[serde(borrow)]
    subagent_history_start_ordinal: Field<'a>,
    #[serde(borrow)]
    info: Field<'a>,
    #[serde(borrow)]
    item: Field<'a>,
    #[serde(borrow)]
    call_id: Field<'a>,
    #[serde(borrow)]
    exit_code: Field<'a>,
    #[serde(borrow)]
    output: Field<'a>,
}

#[derive(Deserialize)]
struct Info<'a> {
    #[serde(borrow)]
    total_token_usage: Field<'a>,
    #[serde(borrow)]
    last_token_usage: Field<'a>,
    #[serde(borrow)]
    model_context_window: Field<'a>,
}

#[derive(Deserialize)]
struct Usage<'a> {
    #[serde(rename = "input_tokens", borrow)]
    input: Field<'a>,
    #[serde(rename = "output_tokens", borrow)]
    output: Field<'a>,
    #[serde(rename = "total_tokens", borrow)]
    total: Field<'a>,
}

#[derive(Deserialize)]
struct Item<'a> {
    #[serde(rename = "type", borrow)]
    kind: Field<'a>,
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    exit_code: Field<'a>,
}

impl Thread {
    /// A thread of which nothing is known yet, in a file that was named for `session`.
    pub(super) fn new(session: &str) -> Self {
        Self {
            session: session.to_owned(),
            id: None,
            is_fork: false,
            history: None,
            count: None,
            has_counted: false,
            tokens: Tokens::default(),
            before: Tokens::default(),
            window: None,
            has_items: false,
            ended: Vec::new(),
        }
    }

    /// Takes in one record, if it is one.
    pub(super) fn read(&mut self, record: &str) -> bool {
        let Ok(line) = serde_json::from_str::<Line<'_>>(record) else { return false };
        let payload = line.payload.map_or(record, |payload| payload.get());
        let Ok(payload) = serde_json::from_str::<Payload<'_>>(payload) else { return true };
        self.leave_history(&line, &payload);
        let kind = text(line.kind);
        match (kind, text(payload.kind)) {
            (Some("session_meta"), _) => self.read_meta(&line, &payload),
            (Some("compacted"), _) | (_, Some("context_compacted")) => self.window = None,
            (_, Some("token_count")) => self.read_count(&payload),
            _ if self.history.is_some() => {}
            (_, Some("item_completed")) => self.read_item(&payload),
            (_, Some("exec_command_end")) => {
                self.has_items = true;
                self.note_end(payload.call_id, number(payload.exit_code));
            }
            (_, Some("function_call_output")) if !self.has_items => {
                let output = unescaped(payload.output).unwrap_or_default();
                self.note_end(payload.call_id, exit_code(&output));
            }
            _ => {}
        }
        true
    }

    /// The file is read again from its beginning.
    pub(super) fn restart(&mut self) {
        let (before, ended) = (self.tokens(), std::mem::take(&mut self.ended));
        *self = Self { before, ended, ..Self::new(&self.session) };
    }

    pub(super) fn tokens(&self) -> Tokens {
        Tokens {
            input: self.tokens.input.max(self.before.input),
            output: self.tokens.output.max(self.before.output),
        }
    }

    pub(super) fn window(&self) -> Option<Window> {
        self.window
    }

    pub(super) fn is_subagent(&self) -> bool {
        self.id.as_ref().is_some_and(|id| *id != self.session)
    }

    pub(super) fn take_ended(&mut self) -> Vec<CommandEnd> {
        std::mem::take(&mut self.ended)
    }

    fn read_meta(&mut self, line: &Line<'_>, payload: &Payload<'_>) {
        let Some(id) = text(payload.id).filter(|id| id.len() <= MAX_ID_BYTES) else { return };
        match &self.id {
            None => {
                self.id = Some(id.to_owned());
                self.is_fork = payload.forked_from_id.is_some();
                if self.is_fork {
                    let end = number(payload.subagent_history_start_ordinal);
                    self.history = Some(History::new(end));
                }
            }
            Some(own) if own == id => {}
            // A copy of the parent's lines begins with the parent's first.
            Some(_) => drop(self.history.get_or_insert_default()),
        }
        if let Some(history) = &mut self.history {
            history.reaches(text(line.timestamp));
        }
    }

    /// Notices that this line is the thread's own.
    fn leave_history(&mut self, line: &Line<'_>, payload: &Payload<'_>) {
        let Some(history) = &mut self.history else { return };
        let is_of_thread = self.id.is_some() && text(payload.thread_id) == self.id.as_deref();
        let is_after =
            history.ends_before(number(line.ordinal)) || !history.reaches(text(line.timestamp));
        if is_of_thread || is_after {
            self.history = None;
        }
    }

    fn read_count(&mut self, payload: &Payload<'_>) {
        let Some(info) = object::<Info<'_>>(payload.info) else { return };
        let Some(total) = object::<Usage<'_>>(info.total_token_usage) else { return };
        let last = object::<Usage<'_>>(info.last_token_usage);
        let count = total.tokens();
        let before = self.count.replace(count);
        if self.history.is_some() {
            return;
        }
        let step = match before {
            // Said anew when nothing was used, with other limits or an estimate.
            Some(before) if before == count => return,
            Some(before) if self.has_counted && before.is_within(count) => count.minus(before),
            None if !self.is_fork => count,
            // The first count of a thread can hold another's. Or it began anew.
            _ => last.as_ref().map_or(Tokens::default(), Usage::tokens),
        };
        if step == Tokens::default() {
            return;
        }
        self.has_counted = true;
        self.tokens.input = self.tokens.input.saturating_add(step.input);
        self.tokens.output = self.tokens.output.saturating_add(step.output);
        self.window = last.and_then(|last| {
            let size = number(info.model_context_window).filter(|size| *size > 0);
            Some(Window { used: number(last.total)?, size })
        });
    }

    fn read_item(&mut self, payload: &Payload<'_>) {
        let Some(item) = object::<Item<'_>>(payload.item) else { return };
        if text(item.kind) == Some("CommandExecution") {
            self.has_items = true;
            self.note_end(item.id, number(item.exit_code));
        }
    }

    fn note_end(&mut self, call_id: Field<'_>, exit_code: Option<i64>) {
        let call_id = text(call_id).filter(|id| id.len() <= MAX_ID_BYTES);
        if let (Some(call_id), Some(exit_code)) = (call_id, exit_code) {
            self.ended.push(CommandEnd { call_id: call_id.to_owned(), exit_code });
        }
    }
}

impl Usage<'_> {
    fn tokens(&self) -> Tokens {
        let tokens = |field| number(field).unwrap_or(0);
        Tokens { input: tokens(self.input), output: tokens(self.output) }
    }
}

impl Tokens {
    fn is_within(self, other: Self) -> bool {
        self.input <= other.input && self.output <= other.output
    }

    /// The difference to what is [within](Self::is_within) this.
    fn minus(self, before: Self) -> Self {
        Self {
            input: self.input.saturating_sub(before.input),
            output: self.output.saturating_sub(before.output),
        }
    }
}
