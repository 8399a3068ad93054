//! What agents ask by way of the MCP server: of their own session, of its project, of its peers.
//!
//! The answers are for models: every text is cut and cleaned, lists are short, and a `note` says what
//! was left out. The names of the fields are part of the interface.

use std::collections::BTreeSet;
use std::time::Duration;

use hyper::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::agent::{Agent, SessionKey};
use crate::clock::{self, Timestamp};
use crate::daemon::history::{History, Told};
use crate::daemon::hooks::Hooks;
use crate::daemon::state::{Question, Which};
use crate::history::{
    AnomaliesQuery, DEFAULT_SINCE_MIN, HistoryError, MAX_PEER_MESSAGES, MAX_PEERS, Peer,
    PeerMessage, Reader, anomalies, external_changes, messages, peers,
};
use crate::sensor::peers::{Recorded, recorded};
use crate::sensor::transcripts::Folders;
use crate::world::{Finding, clean};

/// How many characters of a message are told, and of all messages of one answer: agents cut what is
/// much longer.
const MAX_MESSAGE_CHARS: usize = 2_000;
const MAX_ANSWER_CHARS: usize = 24_000;

const MAX_TITLE_CHARS: usize = 160;
const MAX_ID_CHARS: usize = 128;
const MAX_PATH_CHARS: usize = 300;
const MAX_TEXT_CHARS: usize = 500;

/// How many changed files, and how many things that were told before, are listed.
const MAX_CHANGES: usize = 50;
const MAX_TOLD: usize = 20;

/// How far back changes are told of, unless it is said, in minutes.
const CHANGES_SINCE_MIN: i64 = 60;

/// How many messages of a peer are told, unless it is said.
const DEFAULT_MESSAGES: i64 = 10;

/// What can be asked for, all of it in one place; who asks is read as of any session.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct AgentQuery {
    since_min: Option<i64>,
    tag: Option<String>,
    agent_source: Option<Agent>,
    caller_agent: Option<Agent>,
    project: Option<String>,
    limit: Option<i64>,
    message_limit: Option<i64>,
    /// The directory of who asks, where its session is not known.
    near: Option<String>,
}

impl AgentQuery {
    fn since(&self, default: i64, now: Timestamp) -> Timestamp {
        let minutes = self.since_min.unwrap_or(default).max(1);
        let seconds = u64::try_from(minutes).unwrap_or(u64::MAX).saturating_mul(60);
        now.minus(Duration::from_secs(seconds))
    }
}

/// What is wrong in a session, and what it was told of.
#[derive(Debug, Serialize)]
struct SessionFindings {
    session: String,
    findings: Vec<Finding>,
    told: Vec<ToldBefore>,
}

#[derive(Debug, Serialize)]
struct ToldBefore {
    kind: String,
    severity: String,
    suggestion: String,
    ago_s: u64,
}

/// The files of a project that were changed from outside.
#[derive(Debug, Serialize)]
struct ProjectChanges {
    project: String,
    /// Latest first.
    changes: Vec<ChangeState>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
}

#[derive(Debug, Serialize)]
struct ChangeState {
    path: String,
    removed: bool,
    ago_s: u64,
    times: u64,
}

/// The sessions of others in a project.
#[derive(Debug, Serialize)]
struct Peers {
    project: String,
    /// The one in which something happened last.
    most_recent_session: Option<PeerName>,
    /// Latest first.
    sessions: Vec<PeerState>,
    /// What could not be read.
    partial_failures: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

#[derive(Debug, Clone, Serialize)]
struct PeerName {
    agent: &'static str,
    session: String,
    ago_s: u64,
}

#[derive(Debug, Serialize)]
struct PeerState {
    #[serde(flatten)]
    name: PeerName,
    /// `hooks` if it reported to us, `transcript` if only its agent's own record is there.
    source: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_calls: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failed_calls: Option<u64>,
    /// In the order in which they were said.
    messages: Vec<PeerMessage>,
}

/// Whether something is answered at `path`.
pub(super) fn has(path: &str) -> bool {
    matches!(path, "/api/findings" | "/api/build-status" | "/api/external-changes" | "/api/peers")
}

/// Answers a `GET` of `path`, at which there is something.
pub(super) async fn answer(
    hooks: &Hooks,
    history: &History,
    folders: &Folders,
    path: &str,
    query: &str,
) -> Told {
    let asked: AgentQuery = match serde_html_form::from_str(query) {
        Ok(asked) => asked,
        Err(error) => return refused(StatusCode::BAD_REQUEST, &error.to_string()),
    };
    let question = match Question::parse(query) {
        Ok(question) => question,
        Err(error) => return refused(StatusCode::BAD_REQUEST, &error.to_string()),
    };
    let told = match path {
        "/api/findings" => findings(hooks, history, &question, &asked).await,
        "/api/build-status" => builds(hooks, &question, &asked),
        "/api/external-changes" => changes(hooks, history, &question, &asked).await,
        _ => others(hooks, history, folders, &question, &asked).await,
    };
    told.unwrap_or_else(|| refused(StatusCode::NOT_FOUND, "no event of this session has been seen"))
}

async fn findings(
    hooks: &Hooks,
    history: &History,
    question: &Question,
    asked: &AgentQuery,
) -> Option<Told> {
    let now = clock::now();
    let (key, _) = hooks.asked(&question.which)?;
    let found = hooks.findings(&key);
    let since = asked.since(DEFAULT_SINCE_MIN, now);
    let session = key.id.clone();
    let told = history.turn(move |reader| {
        let query = AnomaliesQuery {
            session: Some(session),
            limit: Some(MAX_TOLD),
            ..AnomaliesQuery::default()
        };
        let local = clock::local();
        reader.map_or(Ok(Vec::new()), |reader| Ok(anomalies(reader, &query, &local)?.items))
    });
    let told = match flat(told.await) {
        Ok(told) => told,
        Err(reason) => return Some(refused(StatusCode::SERVICE_UNAVAILABLE, &reason)),
    };
    let at = |ts: i64| Timestamp::from_unix_millis(ts);
    let told = told.into_iter().filter(|emit| at(emit.ts) >= since).map(|emit| ToldBefore {
        kind: clean(&emit.kind, MAX_ID_CHARS),
        severity: clean(&emit.severity, MAX_ID_CHARS),
        suggestion: clean(&emit.suggestion, MAX_TEXT_CHARS),
        ago_s: now.since(at(emit.ts)).as_secs(),
    });
    let session = clean(&key.id, MAX_ID_CHARS);
    Some(ok(&SessionFindings { session, findings: found, told: told.collect() }))
}

fn builds(hooks: &Hooks, question: &Question, asked: &AgentQuery) -> Option<Told> {
    let (key, _) = hooks.asked(&question.which)?;
    Some(ok(&hooks.build_status(&key, asked.tag.as_deref())?))
}

async fn changes(
    hooks: &Hooks,
    history: &History,
    question: &Question,
    asked: &AgentQuery,
) -> Option<Told> {
    let now = clock::now();
    let root = project(hooks, question, asked)?;
    let since = asked.since(CHANGES_SINCE_MIN, now);
    let place = root.clone();
    let changed = history.turn(move |reader| {
        reader.map_or(Ok(Vec::new()), |reader| {
            external_changes(reader, &place, since, MAX_CHANGES + 1)
        })
    });
    let mut changed = match flat(changed.await) {
        Ok(changed) => changed,
        Err(reason) => return Some(refused(StatusCode::SERVICE_UNAVAILABLE, &reason)),
    };
    let is_cut = changed.len() > MAX_CHANGES;
    changed.truncate(MAX_CHANGES);
    let relative = |path: &str| {
        let below = path.strip_prefix(root.trim_end_matches('/'));
        let below = below.and_then(|below| below.strip_prefix('/'));
        clean(below.unwrap_or(path), MAX_PATH_CHARS)
    };
    let told = changed.iter().map(|file| ChangeState {
        path: relative(&file.path),
        removed: file.removed,
        ago_s: now.since(file.at).as_secs(),
        times: file.times,
    });
    Some(ok(&ProjectChanges {
        project: clean(&root, MAX_PATH_CHARS),
        changes: told.collect(),
        note: is_cut.then_some("older changes are left out; a smaller since_min has fewer"),
    }))
}

/// The root of the project that is asked about.
fn project(hooks: &Hooks, question: &Question, asked: &AgentQuery) -> Option<String> {
    let of_session = hooks.asked(&question.which).map(|(_, root)| root);
    let root = of_session.or_else(|| match (&question.which, &asked.near) {
        (Which::LatestIn { cwd, .. } | Which::Session { cwd: Some(cwd), .. }, _) => {
            Some(hooks.root_of(cwd))
        }
        (Which::Session { cwd: None, .. }, near) => near.as_ref().map(|near| hooks.root_of(near)),
    });
    root.filter(|root| !root.is_empty())
}

async fn others(
    hooks: &Hooks,
    history: &History,
    folders: &Folders,
    question: &Question,
    asked: &AgentQuery,
) -> Option<Told> {
    let now = clock::now();
    let own = match &question.which {
        Which::Session { key, .. } => Some(key.clone()),
        Which::LatestIn { .. } => None,
    };
    let root = match &asked.project {
        Some(project) if project.starts_with('/') => hooks.root_of(project),
        Some(name) => hooks.project_named(name)?,
        None => project(hooks, question, asked)?,
    };
    let wanted: Vec<_> = match (asked.agent_source, asked.caller_agent) {
        (Some(agent), _) => vec![agent],
        (None, Some(caller)) => Agent::ALL.into_iter().filter(|agent| *agent != caller).collect(),
        (None, None) => Agent::ALL.to_vec(),
    };
    let most = bounded(asked.limit.unwrap_or(1), MAX_PEERS);
    let per_session = bounded(asked.message_limit.unwrap_or(DEFAULT_MESSAGES), MAX_PEER_MESSAGES);
    let since = asked.since(DEFAULT_SINCE_MIN, now);
    let search = Search { root: root.clone(), wanted, own, since, most, per_session };
    let folders = folders.clone();
    let found = history.turn(move |reader| Ok(search.run(reader, &folders)));
    let (found, partial_failures) = match flat(found.await) {
        Ok(found) => found,
        Err(reason) => (Vec::new(), vec![reason]),
    };
    Some(ok(&Peers::of(&root, found, &partial_failures, now)))
}

/// What is looked for among the sessions of others.
struct Search {
    root: String,
    wanted: Vec<Agent>,
    own: Option<SessionKey>,
    since: Timestamp,
    most: usize,
    per_session: usize,
}

/// A session that was found, where it was, and what was said in it, the last first.
enum Found {
    Told(Peer, Vec<PeerMessage>),
    Recorded(Recorded, Vec<PeerMessage>),
}

impl Found {
    const fn last_at(&self) -> Timestamp {
        match self {
            Self::Told(peer, _) => peer.last_at,
            Self::Recorded(recorded, _) => recorded.last_at,
        }
    }

    const fn session(&self) -> &SessionKey {
        match self {
            Self::Told(peer, _) => &peer.session,
            Self::Recorded(recorded, _) => &recorded.session,
        }
    }
}

impl Search {
    /// The sessions, the latest first, and what could not be read.
    fn run(self, reader: Option<&Reader>, folders: &Folders) -> (Vec<Found>, Vec<String>) {
        let (mut found, mut failures) = (Vec::new(), Vec::new());
        let is_own = |session: &SessionKey| self.own.as_ref() == Some(session);
        for agent in &self.wanted {
            // One more, as the one that asks may be among them.
            let told = reader.map_or(Ok(Vec::new()), |reader| {
                peers(reader, &self.root, Some(*agent), self.since, self.most + 1)
            });
            match told {
                Ok(told) => {
                    found.extend(told.into_iter().map(|peer| Found::Told(peer, Vec::new())));
                }
                Err(error) => failures.push(format!("{}: {}", agent.name(), reason(&error))),
            }
            let known: BTreeSet<_> = found.iter().map(|it| it.session().clone()).collect();
            let on_disk = recorded(folders, *agent, &self.root, self.since, self.most + 1);
            let unknown = on_disk.into_iter().filter(|it| !known.contains(&it.session));
            found.extend(unknown.map(|it| Found::Recorded(it, Vec::new())));
        }
        found.retain(|it| !is_own(it.session()));
        found.sort_by_key(|it| std::cmp::Reverse(it.last_at()));
        found.truncate(self.most);
        for it in &mut found {
            match it {
                Found::Told(peer, said) => {
                    let read =
                        reader.map(|reader| messages(reader, &peer.session, self.per_session));
                    match read.transpose() {
                        Ok(read) => *said = read.unwrap_or_default(),
                        Err(error) => {
                            failures.push(format!("{}: {}", peer.session.id, reason(&error)));
                        }
                    }
                }
                Found::Recorded(recorded, said) => {
                    let read = recorded.messages(folders, self.per_session);
                    *said = (read.into_iter())
                        .map(|it| PeerMessage { role: it.role.to_owned(), text: it.text, at: None })
                        .collect();
                }
            }
        }
        (found, failures)
    }
}

impl Peers {
    fn of(root: &str, found: Vec<Found>, partial_failures: &[String], now: Timestamp) -> Self {
        let (mut space, mut left_out) = (MAX_ANSWER_CHARS, 0);
        let sessions: Vec<_> =
            found.into_iter().map(|it| PeerState::of(it, &mut space, &mut left_out, now)).collect();
        let note = match (sessions.is_empty(), left_out) {
            (true, _) => Some(
                "no session of another agent is known here; a longer since_min or another \
                 agent_source may find one"
                    .to_owned(),
            ),
            (false, 0) => None,
            (false, count) => {
                Some(format!("{count} older messages are left out; a smaller limit shows more"))
            }
        };
        Self {
            project: clean(root, MAX_PATH_CHARS),
            most_recent_session: sessions.first().map(|session| session.name.clone()),
            sessions,
            partial_failures: partial_failures
                .iter()
                .map(|failure| clean(failure, MAX_TEXT_CHARS))
                .collect(),
            note,
        }
    }
}

impl PeerState {
    fn of(found: Found, room: &mut usize, left_out: &mut usize, now: Timestamp) -> Self {
        let name = PeerName {
            agent: found.session().agent.name(),
            session: clean(&found.session().id, MAX_ID_CHARS),
            ago_s: now.since(found.last_at()).as_secs(),
        };
        let (told, said) = match found {
            Found::Told(peer, said) => (Some(peer), said),
            Found::Recorded(_, said) => (None, said),
        };
        let count = said.len();
        let mut messages: Vec<_> = said
            .into_iter()
            .map(|it| PeerMessage { text: clean(&it.text, MAX_MESSAGE_CHARS), ..it })
            .map_while(|it| {
                *room = room.checked_sub(it.text.chars().count())?;
                Some(it)
            })
            .collect();
        *left_out += count - messages.len();
        messages.reverse();
        Self {
            name,
            source: if told.is_some() { "hooks" } else { "transcript" },
            title: (told.as_ref())
                .and_then(|peer| peer.title.as_deref())
                .map(|title| clean(title, MAX_TITLE_CHARS)),
            ended: told.as_ref().map(|peer| peer.ended),
            tool_calls: told.as_ref().map(|peer| peer.tool_calls),
            failed_calls: told.as_ref().map(|peer| peer.failures),
            messages,
        }
    }
}

fn bounded(number: i64, most: i64) -> usize {
    usize::try_from(number.clamp(1, most)).unwrap_or(1)
}

/// What was read, or why it was not.
fn flat<T>(read: Result<Result<T, HistoryError>, &'static str>) -> Result<T, String> {
    match read {
        Ok(Ok(read)) => Ok(read),
        Ok(Err(error)) => Err(reason(&error)),
        Err(reason) => Err(reason.to_owned()),
    }
}

fn reason(error: &HistoryError) -> String {
    anyhow::Chain::new(error).map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

fn ok(answer: &impl Serialize) -> Told {
    match serde_json::to_string(answer) {
        Ok(answer) => (StatusCode::OK, answer),
        Err(error) => refused(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
    }
}

fn refused(status: StatusCode, reason: &str) -> Told {
    (status, json!({"error": reason}).to_string())
}
