//! Which request goes where.

use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};
use serde_json::json;

use crate::agent::{Agent, Envelope, Reply};
use crate::daemon::MAX_EVENT_BYTES;
use crate::daemon::access;
use crate::daemon::client::{Health, PROTOCOL_HEADER, PROTOCOL_VERSION};
use crate::daemon::hooks::{Hooks, Unusable};

/// How long a request may take to arrive. The hook that sends it has given up long before.
const BODY_TIMEOUT: Duration = Duration::from_secs(2);

type HttpResponse = Response<Full<Bytes>>;

/// Answers a request.
pub(super) async fn respond(hooks: &Hooks, request: Request<Incoming>) -> HttpResponse {
    let (head, body) = request.into_parts();
    let mut response = match access::check(&head) {
        Err(refusal) => failure(StatusCode::FORBIDDEN, &refusal.to_string()),
        Ok(()) => route(hooks, &head, body).await,
    };
    response.headers_mut().insert(
        HeaderName::from_static(PROTOCOL_HEADER),
        HeaderValue::from_static(PROTOCOL_VERSION),
    );
    response
}

async fn route(hooks: &Hooks, head: &Parts, body: Incoming) -> HttpResponse {
    match (head.uri.path(), &head.method) {
        ("/health", &Method::GET) => health(hooks),
        ("/health", _) => not_allowed("GET"),
        ("/api/hooks", &Method::POST) => {
            let reply = event(hooks, head.uri.query().unwrap_or_default(), body).await;
            content(StatusCode::OK, reply.content_type(), reply.into_body())
        }
        ("/api/hooks", _) => not_allowed("POST"),
        _ => failure(StatusCode::NOT_FOUND, "there is nothing here"),
    }
}

fn health(hooks: &Hooks) -> HttpResponse {
    let health = Health {
        status: "ok".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        protocol: PROTOCOL_VERSION.to_owned(),
        pid: std::process::id(),
        events_lost: hooks.lost(),
    };
    content(StatusCode::OK, "application/json", json!(health).to_string())
}

/// A hook always gets 200: to its agent a failure of ours must look like nothing to say.
async fn event(hooks: &Hooks, query: &str, body: Incoming) -> Reply {
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
    let parameter = |name: &str| {
        query.split('&').filter_map(|pair| pair.split_once('=')).find(|pair| pair.0 == name)
    };
    let agent = |name: &str| match parameter(name) {
        Some((_, value)) => Agent::from_name(value),
        None => Some(Agent::ClaudeCode),
    };
    let source = agent("source")?;
    let envelope = if parameter("envelope").is_some() { agent("envelope")? } else { source };
    Some((source, envelope.into()))
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
            ("envelope=codex", Some((Agent::ClaudeCode, Envelope::Codex))),
            ("source=emacs", None),
            ("envelope=", None),
        ] {
            assert_eq!(source(query), expected, "{query}");
        }
    }
}
