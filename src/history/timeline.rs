//! What happened in a session, event by event, with what we had to say about it.

use rusqlite::params;
use serde::{Deserialize, Serialize};

use crate::agent::{
    Agent, EventKind, HookEvent, Payload, Status, Subject, ToolCall, ToolResult, beginning,
};
use crate::clock::Local;
use crate::history::page::page_size;
use crate::history::sessions::session;
use crate::history::{Cursor, HistoryError, Page, Reader, SessionSummary, Since};
use crate::world::Severity;

/// How much of a text is told, in bytes: with it the largest page stays below what clients take, even
/// if each of these becomes an escape.
const MAX_TEXT_BYTES: usize = 500;

/// How many events may lie between a call and its result, for the one to be found from the other.
const CALL_SPAN: i64 = 10_000;

/// How many findings or changes of files are told between the events of one page.
const MAX_BESIDE: usize = 100;

/// Which part of which timeline is to be told.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TimelineQuery {
    /// The beginning of the session's id, which is no part of the query on the wire but of the path.
    #[serde(skip)]
    pub session: String,
    /// Whose session it is.
    pub agent: Option<Agent>,
    /// Only what happened since.
    pub since: Option<Since>,
    /// How many events, up to [`MAX_PAGE`](crate::history::MAX_PAGE).
    pub limit: Option<usize>,
    /// The `next` of the page before.
    pub before: Option<Cursor>,
}

/// A session and what happened in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionTimeline {
    /// The session.
    pub session: SessionSummary,
    /// A page of what happened, latest first.
    pub timeline: Page<Moment>,
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moment {
    /// When, in milliseconds since the Unix epoch; of a tool call, when it returned.
    pub ts: i64,
    /// What.
    pub kind: MomentKind,
    /// The subagent that it happened in; none in the session itself.
    pub subagent: Option<String>,
    /// The tool that was called, or the rule that found something.
    pub name: Option<String>,
    /// What was said, called or found: its beginning.
    pub text: String,
    /// How a call went; absent of everything else, and of a call that has not returned.
    pub outcome: Option<Outcome>,
    /// The exit status of a command, where it is known.
    pub exit_code: Option<i64>,
    /// How long a call took, in milliseconds, as far as we saw it begin.
    pub duration_ms: Option<i64>,
    /// How much a finding matters.
    pub severity: Option<Severity>,
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MomentKind {
    /// The session opened, or went on.
    Start,
    /// A prompt.
    Prompt,
    /// A tool call.
    Call,
    /// The turn ended, with what the agent said last.
    Answer,
    /// The turn was interrupted, or the model's service failed.
    Interruption,
    /// The older turns were replaced by a summary.
    Compaction,
    /// The session ended.
    End,
    /// We told the agent of an anomaly.
    Anomaly,
    /// A file was changed from outside.
    ExternalChange,
}

/// How a tool call went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Well.
    Succeeded,
    /// Not well.
    Failed,
    /// The event does not say it.
    Unknown,
}

/// What happened in the session that is asked for.
pub fn timeline(
    reader: &Reader,
    query: &TimelineQuery,
    local: &Local,
) -> Result<SessionTimeline, HistoryError> {
    let session = session(reader, &query.session, query.agent)?;
    let since = query.since.map_or(i64::MIN, |since| since.moment(local).as_unix_millis());
    let read = || {
        let events = events(reader, &session, query, since)?;
        let from = if events.next.is_some() { events.items.last() } else { None };
        let from = from.map_or(since, |event| event.ts);
        let until = query.before.map_or(i64::MAX, |before| before.ts);
        let mut moments: Vec<_> = events.items.into_iter().filter_map(Event::moment).collect();
        moments.extend(findings(reader, &session, from, until)?);
        moments.extend(changes(reader, &session, from, until)?);
        // Stable: of what happened in the same millisecond, the events stay in their order.
        moments.sort_by_key(|moment| std::cmp::Reverse(moment.ts));
        Ok(Page { items: moments, next: events.next })
    };
    let timeline = read().map_err(|error| reader.failed(error))?;
    Ok(SessionTimeline { session, timeline })
}

/// A row of the log.
struct Event {
    id: i64,
    ts: i64,
    agent: Agent,
    payload: String,
    begun: Option<i64>,
}

/// The events but for the beginnings of calls that returned.
fn events(
    reader: &Reader,
    session: &SessionSummary,
    query: &TimelineQuery,
    since: i64,
) -> rusqlite::Result<Page<Event>> {
    let (agent, limit) = (session.agent, page_size(query.limit));
    let mut statement = reader.connection.prepare(
        "SELECT id, ts, payload,
             (SELECT begun.ts FROM tma1_hook_events AS begun
              WHERE begun.session_id = event.session_id AND begun.id < event.id
                  AND begun.id > event.id - ?5 AND begun.tool_use_id = event.tool_use_id
                  AND begun.event_type = 'PreToolUse' AND event.event_type <> 'PreToolUse'
              ORDER BY begun.id DESC LIMIT 1) AS begun
         FROM tma1_hook_events AS event
         WHERE session_id = ?1 AND agent_source = ?2 AND id < ?3 AND ts >= ?6
             AND NOT (event_type = 'PreToolUse' AND tool_use_id IS NOT NULL AND EXISTS (
                 SELECT 1 FROM tma1_hook_events AS ended
                 WHERE ended.session_id = event.session_id AND ended.id > event.id
                     AND ended.id < event.id + ?5 AND ended.tool_use_id = event.tool_use_id
                     AND ended.event_type IN ('PostToolUse', 'PostToolUseFailure')))
         ORDER BY id DESC LIMIT ?4",
    )?;
    let values = params![
        session.session_id,
        agent.name(),
        query.before.map_or(i64::MAX, |before| before.id),
        limit + 1,
        CALL_SPAN,
        since,
    ];
    let rows = statement.query_map(values, |row| {
        Ok(Event {
            id: row.get("id")?,
            ts: row.get("ts")?,
            agent,
            payload: row.get("payload")?,
            begun: row.get("begun")?,
        })
    })?;
    let cursor = |event: &Event| Cursor { ts: event.ts, id: event.id };
    Ok(Page::of(rows.collect::<rusqlite::Result<_>>()?, limit, cursor))
}

impl Event {
    /// What happened, if it is worth a line.
    fn moment(self) -> Option<Moment> {
        let payload = Payload::read(self.payload.as_bytes()).ok()?;
        let event = HookEvent::from_payload(self.agent, &payload).ok()?;
        let (kind, text) = match &event.kind {
            EventKind::SessionStart(_) => (MomentKind::Start, payload.text("source")),
            EventKind::SessionEnd => (MomentKind::End, payload.text("reason")),
            EventKind::UserPromptSubmit { .. } => (MomentKind::Prompt, payload.text("prompt")),
            EventKind::Stop { .. } => (MomentKind::Answer, payload.text("last_assistant_message")),
            EventKind::TurnBroken => (MomentKind::Interruption, payload.text("error")),
            EventKind::PreCompact => (MomentKind::Compaction, payload.text("trigger")),
            EventKind::PreToolUse(call) => {
                return Some(Moment { subagent: event.subagent, ..Moment::of_call(self.ts, call) });
            }
            EventKind::PostToolUse(result) => {
                let moment = Moment::of_result(self.ts, result, self.begun);
                return Some(Moment { subagent: event.subagent, ..moment });
            }
            EventKind::RejectedCalls(_) | EventKind::Other => return None,
        };
        Some(Moment { subagent: event.subagent, ..Moment::new(self.ts, kind, text) })
    }
}

impl Moment {
    fn new(ts: i64, kind: MomentKind, text: &str) -> Self {
        Self {
            ts,
            kind,
            subagent: None,
            name: None,
            text: beginning(text, MAX_TEXT_BYTES).to_owned(),
            outcome: None,
            exit_code: None,
            duration_ms: None,
            severity: None,
        }
    }

    fn of_call(ts: i64, call: &ToolCall) -> Self {
        let text = match &call.subject {
            Some(Subject::File(text) | Subject::Input(text)) => text,
            None => "",
        };
        Self { name: Some(call.name.clone()), ..Self::new(ts, MomentKind::Call, text) }
    }

    fn of_result(ts: i64, result: &ToolResult, begun: Option<i64>) -> Self {
        let (outcome, exit_code) = match result.status {
            Status::Succeeded => (Outcome::Succeeded, None),
            Status::Failed { exit_code, .. } => (Outcome::Failed, exit_code),
            Status::Unknown => (Outcome::Unknown, None),
        };
        Self {
            outcome: Some(outcome),
            exit_code,
            duration_ms: begun.map(|begun| ts.saturating_sub(begun).max(0)),
            ..Self::of_call(ts, &result.call)
        }
    }
}

/// What we told the agent of the session, from `from` on, before `until`.
fn findings(
    reader: &Reader,
    session: &SessionSummary,
    from: i64,
    until: i64,
) -> rusqlite::Result<Vec<Moment>> {
    let mut statement = reader.connection.prepare(
        "SELECT ts, kind, severity, evidence, suggestion FROM tma1_anomaly_emits
         WHERE session_id = ?1 AND agent_source = ?2 AND ts >= ?3 AND ts < ?4
         ORDER BY id DESC LIMIT ?5",
    )?;
    let values = params![session.session_id, session.agent.name(), from, until, MAX_BESIDE];
    let rows = statement.query_map(values, |row| {
        let (evidence, suggestion): (String, String) =
            (row.get("evidence")?, row.get("suggestion")?);
        Ok(Moment {
            name: Some(row.get("kind")?),
            severity: Severity::from_name(&row.get::<_, String>("severity")?),
            ..Moment::new(
                row.get("ts")?,
                MomentKind::Anomaly,
                format!("{evidence} {suggestion}").trim(),
            )
        })
    })?;
    rows.collect()
}

/// The files of the project that were changed from outside while the session lasted.
fn changes(
    reader: &Reader,
    session: &SessionSummary,
    from: i64,
    until: i64,
) -> rusqlite::Result<Vec<Moment>> {
    let mut statement = reader.connection.prepare(
        "SELECT ts, change_type, path FROM tma1_external_changes
         WHERE project_root = ?1 AND source = 'external' AND ts >= ?2 AND ts < ?3
         ORDER BY ts DESC, id DESC LIMIT ?4",
    )?;
    let (from, until) = (from.max(session.first_ts), until.min(session.last_ts + 1));
    let rows =
        statement.query_map(params![session.project_root, from, until, MAX_BESIDE], |row| {
            let path: String = row.get("path")?;
            Ok(Moment {
                name: Some(row.get("change_type")?),
                ..Moment::new(row.get("ts")?, MomentKind::ExternalChange, &path)
            })
        })?;
    rows.collect()
}
