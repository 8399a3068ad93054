//! A scripted Messages API on 127.0.0.1 that remembers every request.
//!
//! A request that offers tools belongs to the conversation and is answered by the next turn of the
//! script. One that offers none is the agent's own side question and gets a fixed text.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::fmt::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// Numbers messages and tool uses; a conversation may span several mocks.
static NEXT_ID: AtomicUsize = AtomicUsize::new(1);

/// One answer of the model.
#[derive(Debug, Default)]
pub struct Turn {
    content: Vec<Value>,
    output_tokens: Option<u64>,
    error: Option<(StatusCode, &'static str)>,
    delay: Duration,
}

impl Turn {
    /// A turn that says something.
    pub fn text(text: &str) -> Self {
        Self { content: vec![json!({"type": "text", "text": text})], ..Self::default() }
    }

    /// A refusal, such as 529 `overloaded_error`.
    pub fn error(status: u16, kind: &'static str) -> Self {
        Self { error: Some((StatusCode::from_u16(status).unwrap(), kind)), ..Self::default() }
    }

    /// The same turn, which calls a tool at its end.
    pub fn tool(mut self, name: &str, input: Value) -> Self {
        let mut call = json!({"type": "tool_use", "id": next_id("toolu"), "name": name});
        call["input"] = input;
        self.content.push(call);
        self
    }

    /// The same turn, at this price.
    pub fn output_tokens(mut self, tokens: u64) -> Self {
        self.output_tokens = Some(tokens);
        self
    }

    /// The same turn, after a while.
    pub fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    fn stop_reason(&self) -> &'static str {
        if self.content.iter().any(|block| block["type"] == "tool_use") {
            "tool_use"
        } else {
            "end_turn"
        }
    }

    /// The whole message, as a request that does not stream gets it.
    fn message(&self, request: &Value) -> Value {
        json!({
            "id": next_id("msg"),
            "type": "message",
            "role": "assistant",
            "model": request["model"],
            "content": self.content,
            "stop_reason": self.stop_reason(),
            "stop_sequence": null,
            "usage": {
                "input_tokens": 100,
                "cache_creation_input_tokens": 20,
                "cache_read_input_tokens": 30,
                "output_tokens": self.output_tokens.unwrap_or(40),
            },
        })
    }
}

/// A request that reached the mock; its headers, which hold the key, are not kept.
#[derive(Debug, Clone)]
pub struct Recorded {
    pub path: String,
    /// JSON, or null.
    pub body: Value,
}

impl Recorded {
    /// Whether this request is a step of the conversation, not a side question.
    pub fn is_conversation(&self) -> bool {
        self.path == "/v1/messages" && offers_tools(&self.body)
    }
}

#[derive(Debug, Default)]
struct State {
    turns: VecDeque<Turn>,
    requests: Vec<Recorded>,
}

/// The server; it ends when this is dropped.
#[derive(Debug)]
pub struct MockAnthropic {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl MockAnthropic {
    /// Serves `script` on a free port.
    pub fn start(script: impl IntoIterator<Item = Turn>) -> Self {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(Mutex::new(State {
            turns: script.into_iter().collect(),
            requests: Vec::new(),
        }));
        let (stop, stopped) = oneshot::channel();
        let served = Arc::clone(&state);
        let thread = std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                tokio::select! {
                    () = serve(TcpListener::from_std(listener).unwrap(), served) => {}
                    _ = stopped => {}
                }
            });
        });
        Self { address, state, stop: Some(stop), thread: Some(thread) }
    }

    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Everything that was asked so far, in order.
    pub fn requests(&self) -> Vec<Recorded> {
        self.state.lock().unwrap().requests.clone()
    }

    /// The bodies of the requests that took a turn of the script, in order.
    pub fn conversation(&self) -> Vec<Value> {
        let requests = self.requests().into_iter();
        requests.filter(Recorded::is_conversation).map(|request| request.body).collect()
    }
}

impl Drop for MockAnthropic {
    fn drop(&mut self) {
        drop(self.stop.take());
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(std::thread::panicking() || matches!(ended, Some(Ok(()))), "the mock panicked");
    }
}

async fn serve(listener: TcpListener, state: Arc<Mutex<State>>) {
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let state = Arc::clone(&state);
        tokio::spawn(async move {
            let service = service_fn(|request| answer(request, &state));
            // A client that goes away, for example after an interrupt, is no failure.
            drop(http1::Builder::new().serve_connection(TokioIo::new(stream), service).await);
        });
    }
}

async fn answer(
    request: Request<Incoming>,
    state: &Mutex<State>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let bytes = body.collect().await.unwrap().to_bytes();
    let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
    let path = head.uri.path().to_owned();
    let turn = record(state, Recorded { path, body: body.clone() });
    Ok(match (head.method, head.uri.path()) {
        (Method::POST, "/v1/messages") => {
            tokio::time::sleep(turn.delay).await;
            message_response(&turn, &body)
        }
        (Method::POST, "/v1/messages/count_tokens") => {
            json_response(StatusCode::OK, &json!({"input_tokens": bytes.len().div_ceil(4)}))
        }
        (Method::POST | Method::HEAD, _) => json_response(StatusCode::OK, &json!({})),
        _ => json_response(StatusCode::NOT_FOUND, &json!({})),
    })
}

/// Remembers the request and returns the turn that answers it.
fn record(state: &Mutex<State>, request: Recorded) -> Turn {
    let mut state = state.lock().unwrap();
    let turn = if request.is_conversation() {
        state.turns.pop_front().unwrap_or_else(|| Turn::error(400, "script_exhausted"))
    } else {
        Turn::text("ok")
    };
    state.requests.push(request);
    turn
}

fn offers_tools(body: &Value) -> bool {
    body["tools"].as_array().is_some_and(|tools| !tools.is_empty())
}

fn message_response(turn: &Turn, request: &Value) -> Response<Full<Bytes>> {
    if let Some((status, kind)) = turn.error {
        let error = json!({"type": kind, "message": "scripted"});
        return json_response(status, &json!({"type": "error", "error": error}));
    }
    let message = turn.message(request);
    if request["stream"] == true {
        response(StatusCode::OK, "text/event-stream", stream_of(&message))
    } else {
        json_response(StatusCode::OK, &message)
    }
}

/// The message as the server-sent events that build it up.
fn stream_of(message: &Value) -> String {
    let mut start = message.clone();
    start["content"] = json!([]);
    start["stop_reason"] = Value::Null;
    start["usage"]["output_tokens"] = json!(1);
    let mut events = vec![json!({"type": "message_start", "message": start})];
    for (index, block) in message["content"].as_array().unwrap().iter().enumerate() {
        let mut block = block.clone();
        let delta = if block["type"] == "text" {
            json!({"type": "text_delta", "text": std::mem::replace(&mut block["text"], json!(""))})
        } else {
            let input = std::mem::replace(&mut block["input"], json!({}));
            json!({"type": "input_json_delta", "partial_json": input.to_string()})
        };
        events.extend([
            json!({"type": "content_block_start", "index": index, "content_block": block}),
            json!({"type": "content_block_delta", "index": index, "delta": delta}),
            json!({"type": "content_block_stop", "index": index}),
        ]);
    }
    events.push(json!({
        "type": "message_delta",
        "delta": {"stop_reason": message["stop_reason"], "stop_sequence": null},
        "usage": message["usage"],
    }));
    events.push(json!({"type": "message_stop"}));
    let mut stream = String::new();
    for event in events {
        let name = event["type"].as_str().unwrap();
        write!(stream, "event: {name}\ndata: {event}\n\n").unwrap();
    }
    stream
}

fn json_response(status: StatusCode, body: &Value) -> Response<Full<Bytes>> {
    response(status, "application/json", body.to_string())
}

fn response(status: StatusCode, content_type: &str, body: String) -> Response<Full<Bytes>> {
    Response::builder()
        .status(status)
        .header(hyper::header::CONTENT_TYPE, content_type)
        .body(Full::from(body))
        .unwrap()
}

fn next_id(kind: &str) -> String {
    format!("{kind}_mock{:06}", NEXT_ID.fetch_add(1, Ordering::Relaxed))
}

#[test]
fn the_mock_answers_as_scripted_and_remembers_what_it_was_asked() {
    use crate::support::http;

    let delay = Duration::from_millis(50);
    let mock = MockAnthropic::start([
        Turn::error(529, "overloaded_error"),
        Turn::text("Looking.")
            .tool("Bash", json!({"command": "true"}))
            .output_tokens(7)
            .after(delay),
        Turn::text("Done."),
    ]);
    let post = |target: &str, body: &Value| {
        let body = body.to_string();
        http::request(mock.address.port(), "POST", target, body.as_bytes()).unwrap()
    };
    let side = json!({"model": "m"});
    let step = json!({"model": "m", "tools": [{"name": "Bash"}]});
    let streamed = json!({"model": "m", "tools": [{"name": "Bash"}], "stream": true});

    let (status, body) = post("/v1/messages", &side);
    assert_eq!((status, body.contains(r#""text":"ok""#)), (200, true), "{body}");
    assert_eq!(post("/v1/messages", &step).0, 529);
    let asked = tma1::clock::monotonic();
    let message: Value = serde_json::from_str(&post("/v1/messages?beta=true", &step).1).unwrap();
    assert!(tma1::clock::monotonic() - asked >= delay);
    assert_eq!(message["content"][1]["input"]["command"], "true");
    assert_eq!(message["stop_reason"], "tool_use");
    assert_eq!(message["usage"]["output_tokens"], 7);
    let (_, stream) = post("/v1/messages", &streamed);
    assert!(stream.contains(r#""delta":{"text":"Done.","type":"text_delta"}"#), "{stream}");
    assert!(stream.ends_with("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"));
    assert_eq!(post("/v1/messages", &step).0, 400, "the script is at its end");
    assert_eq!(post("/v1/messages/count_tokens", &side), (200, r#"{"input_tokens":4}"#.to_owned()));
    assert_eq!(post("/api/event_logging/batch", &side).0, 200);
    assert_eq!(http::request(mock.address.port(), "GET", "/", b"").unwrap().0, 404);

    assert_eq!(mock.requests().len(), 8);
    assert_eq!(mock.conversation(), [&step, &step, &streamed, &step].map(Clone::clone));
}
