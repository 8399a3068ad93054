//! Which request goes where.

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::time::{Duration, Instant};

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderName, HeaderValue, WWW_AUTHENTICATE};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};
use serde_json::json;
use tokio::sync::Notify;

use crate::agent::{Agent, Envelope};
use crate::clock;
use crate::daemon::MAX_EVENT_BYTES;
use crate::daemon::access::{self, Refusal};
use crate::daemon::agent_api;
use crate::daemon::builds::MAX_MESSAGE_BYTES;
use crate::daemon::client::{Health, LOGGED_HEADER, PROTOCOL_HEADER, PROTOCOL_VERSION, Status};
use crate::daemon::history::History;
use crate::daemon::hooks::{Answered, Hooks, Unusable};
use crate::daemon::state::{self, Question};
use crate::daemon::token::Token;
use crate::export::Exporter;
use crate::paths::Paths;
use crate::platform::{self, SocketOwner};
use crate::sensor::transcripts::Folders;

/// How long a request may take to arrive. The hook that sends it has given up long before.
const BODY_TIMEOUT: Duration = Duration::from_secs(2);

type HttpResponse = Response<Full<Bytes>>;

/// What requests are answered from.
#[derive(Debug)]
pub(super) struct Routes {
    /// The export, if there is one. It ends first.
    pub export: Option<Exporter>,
    pub hooks: Hooks,
    pub history: History,
    /// Where the agents keep their sessions.
    pub folders: Folders,
    pub token: Token,
    /// Where they come in, on 127.0.0.1.
    pub port: u16,
    /// Told when a request asks the daemon to end.
    pub stop: Notify,
    /// Where the daemon looks.
    pub paths: Paths,
    /// On the monotonic clock.
    pub started: Instant,
}

impl Routes {
    /// Answers a request of the program at the other end, `caller`.
    pub(super) async fn respond(
        &self,
        request: Request<Incoming>,
        caller: SocketAddr,
    ) -> HttpResponse {
        let (head, body) = request.into_parts();
        let mut response = match access::check(&head, &self.token, || self.owner(caller)) {
            Err(refusal) => refused(refusal),
            Ok(()) => self.route(&head, body).await,
        };
        response.headers_mut().insert(
            HeaderName::from_static(PROTOCOL_HEADER),
            HeaderValue::from_static(PROTOCOL_VERSION),
        );
        response
    }

    async fn route(&self, head: &Parts, body: Incoming) -> HttpResponse {
        let hooks = &self.hooks;
        match (head.uri.path(), &head.method) {
            ("/health", &Method::GET) => health(hooks),
            ("/api/hooks", &Method::POST) => {
                let Answered { reply, is_logged } =
                    event(hooks, head.uri.query().unwrap_or_default(), body).await;
                let mut response = content(StatusCode::OK, reply.content_type(), reply.into_body());
                if is_logged {
                    response.headers_mut().insert(LOGGED_HEADER, HeaderValue::from_static("yes"));
                }
                response
            }
            ("/api/builds", &Method::POST) => build(hooks, body).await,
            ("/api/session-state", &Method::GET) => {
                session_state(hooks, head.uri.query().unwrap_or_default())
            }
            ("/api/context", &Method::GET) => context(hooks, head.uri.query().unwrap_or_default()),
            ("/api/project-state", &Method::GET) => {
                project_state(hooks, head.uri.query().unwrap_or_default()).await
            }
            ("/api/status", &Method::GET) => self.status().await,
            ("/api/stop", &Method::POST) => {
                self.stop.notify_one();
                content(StatusCode::OK, "application/json", json!({"stopping": true}).to_string())
            }
            ("/api/builds" | "/api/hooks" | "/api/stop", _) => not_allowed("POST"),
            (path, &Method::GET) if agent_api::has(path) => {
                let query = head.uri.query().unwrap_or_default();
                let (status, told) =
                    agent_api::answer(hooks, &self.history, &self.folders, path, query).await;
                content(status, "application/json", told)
            }
            (path, &Method::GET) if History::has(path) => {
                let query = head.uri.query().unwrap_or_default();
                let (status, told) = self.history.answer(path, query).await;
                content(status, "application/json", told)
            }
            (
                "/health" | "/api/context" | "/api/session-state" | "/api/project-state"
                | "/api/status",
                _,
            ) => not_allowed("GET"),
            (path, _) if History::has(path) || agent_api::has(path) => not_allowed("GET"),
            _ => failure(StatusCode::NOT_FOUND, "there is nothing here"),
        }
    }

    /// How the daemon is and what became of the hooks.
    async fn status(&self) -> HttpResponse {
        let status = Status {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            port: self.port,
            uptime_s: (clock::monotonic() - self.started).as_secs(),
            sessions: self.hooks.sessions(),
            events_lost: self.hooks.lost(),
            log_problem: self.hooks.log_problem(),
            injection: Some(self.hooks.injects()),
            claude_config: Some(self.paths.claude_config.to_string_lossy().into_owned()),
            codex_home: Some(self.paths.codex_home.to_string_lossy().into_owned()),
            memory_bytes: platform::resident_memory(),
            export: self.export.as_ref().map(Exporter::report),
            hooks: json!(self.hooks.counters().report()),
            store: self.history.overview().await,
        };
        content(StatusCode::OK, "application/json", json!(status).to_string())
    }

    /// Whose the program at the other end of a connection is.
    fn owner(&self, caller: SocketAddr) -> SocketOwner {
        match caller {
            SocketAddr::V4(caller) => {
                platform::socket_owner(caller, SocketAddrV4::new(Ipv4Addr::LOCALHOST, self.port))
            }
            SocketAddr::V6(_) => SocketOwner::Untold,
        }
    }
}

fn health(hooks: &Hooks) -> HttpResponse {
    let health = Health {
        status: "ok".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        protocol: PROTOCOL_VERSION.to_owned(),
        pid: std::process::id(),
        events_lost: hooks.lost(),
        log_problem: hooks.log_problem(),
    };
    content(StatusCode::OK, "application/json", json!(health).to_string())
}

fn session_state(hooks: &Hooks, query: &str) -> HttpResponse {
    let question = match Question::parse(query) {
        Ok(question) => question,
        Err(error) => return failure(StatusCode::BAD_REQUEST, &error.to_string()),
    };
    match hooks.session_state(&question).map(|state| serde_json::to_string(&state)) {
        Some(Ok(state)) => content(StatusCode::OK, "application/json", state),
        Some(Err(error)) => failure(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
        None => failure(StatusCode::NOT_FOUND, "no event of this session has been seen"),
    }
}

/// What the agent would be told now.
fn context(hooks: &Hooks, query: &str) -> HttpResponse {
    match Question::parse(query) {
        Ok(question) => {
            content(StatusCode::OK, "application/json", json!(hooks.context(&question)).to_string())
        }
        Err(error) => failure(StatusCode::BAD_REQUEST, &error.to_string()),
    }
}

async fn project_state(hooks: &Hooks, query: &str) -> HttpResponse {
    let directory = match state::directory(query) {
        Ok(directory) => directory,
        Err(error) => return failure(StatusCode::BAD_REQUEST, &error.to_string()),
    };
    match hooks.project_state(&directory).await.map(|state| serde_json::to_string(&state)) {
        Some(Ok(state)) => content(StatusCode::OK, "application/json", state),
        Some(Err(error)) => failure(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
        None => failure(StatusCode::NOT_FOUND, "there is no project that could be looked at"),
    }
}

/// Takes what `tma1 build` tells.
async fn build(hooks: &Hooks, body: Incoming) -> HttpResponse {
    let body = Limited::new(body, MAX_MESSAGE_BYTES).collect();
    let Ok(Ok(body)) = tokio::time::timeout(BODY_TIMEOUT, body).await else {
        return failure(StatusCode::BAD_REQUEST, "the body is too large, or did not arrive");
    };
    match serde_json::from_slice(&body.to_bytes()) {
        Ok(message) => {
            hooks.take_build(message).await;
            content(StatusCode::OK, "application/json", json!({"taken": true}).to_string())
        }
        Err(error) => failure(StatusCode::BAD_REQUEST, &error.to_string()),
    }
}

/// A hook always gets 200: to its agent a failure of ours must look like nothing to say.
async fn event(hooks: &Hooks, query: &str, body: Incoming) -> Answered {
    let Some((agent, envelope)) = source(query) else {
        return hooks.reject(&Unusable::Source(query.to_owned()));
    };
    if body.size_hint().lower() > MAX_EVENT_BYTES as u64 {
        return hooks.reject(&Unusable::TooLarge);
    }
    let body = Limited::new(body, MAX_EVENT_BYTES).collect();
    match tokio::time::timeout(BODY_TIMEOUT, body).await {
        Ok(Ok(body)) => hooks.handle(agent, envelope, body.to_bytes()).await,
        Ok(Err(error)) => hooks.reject(&Unusable::Body(error)),
        Err(_) => hooks.reject(&Unusable::Slow),
    }
}

/// Whose event this is, and how the answer is to be shaped: `?source=codex&envelope=codex`. Without
/// them it is Claude Code.
fn source(query: &str) -> Option<(Agent, Envelope)> {
    let parameter =
        |name: &str| form_urlencoded::parse(query.as_bytes()).find(|(found, _)| found == name);
    let agent = |name: &str| match parameter(name) {
        Some((_, value)) => Agent::from_name(&value),
        None => Some(Agent::ClaudeCode),
    };
    let source = agent("source")?;
    let envelope = if parameter("envelope").is_some() { agent("envelope")? } else { source };
    Some((source, envelope.into()))
}

fn refused(refusal: Refusal) -> HttpResponse {
    let reason = refusal.to_string();
    if refusal != Refusal::Token {
        return failure(StatusCode::FORBIDDEN, &reason);
    }
    let mut response = failure(StatusCode::UNAUTHORIZED, &reason);
    response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    response
}

fn not_allowed(method: &'static str) -> HttpResponse {
    let mut response = failure(StatusCode::METHOD_NOT_ALLOWED, "this takes another method");
    response.headers_mut().insert(ALLOW, HeaderValue::from_static(method));
    response
}

fn failure(status: StatusCode, reason: &str) -> HttpResponse {
    content(status, "application/json", json!({"error": reason}).to_string())
}

fn content(status: StatusCode, content_type: &'static str, body: String) -> HttpResponse {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_query_names_the_agent_and_its_envelope() {
        let claude = Some((Agent::ClaudeCode, Envelope::ClaudeCode));
        let codex = Some((Agent::Codex, Envelope::Codex));
        for (query, expected) in [
            ("", claude),
            ("source=claude-code", claude),
            ("source=codex&envelope=codex", codex),
            ("envelope=codex&source=codex&x=y", codex),
            ("source=codex", codex),
            ("%73ource=code%78", codex),
            ("envelope=codex", Some((Agent::ClaudeCode, Envelope::Codex))),
            ("source=emacs", None),
            ("envelope=", None),
        ] {
            assert_eq!(source(query), expected, "{query}");
        }
    }
}
