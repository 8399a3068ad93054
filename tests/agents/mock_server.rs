//! What the scripted models share: an HTTP server on 127.0.0.1 that answers turn by turn and
//! remembers every request.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::fmt::{self, Write};
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
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// Numbers what the models say; a conversation may span several mocks.
static NEXT_ID: AtomicUsize = AtomicUsize::new(1);

/// How a model is spoken to.
pub trait Api: 'static {
    /// One answer of the model.
    type Turn: fmt::Debug + Send + 'static;

    /// Whether a request is a step of the conversation, which takes the next turn of the script.
    fn is_step(request: &Recorded) -> bool;

    /// The answer to a request; there is a turn for a step unless the script is at its end.
    fn answer(request: &Recorded, turn: Option<Self::Turn>) -> Reply;
}

/// A request that reached the mock; its headers, which hold the key, are not kept.
#[derive(Debug, Clone)]
pub struct Recorded {
    pub method: Method,
    pub path: String,
    /// JSON, or null.
    pub body: Value,
}

/// An answer on the wire.
#[derive(Debug)]
pub struct Reply {
    status: StatusCode,
    content_type: &'static str,
    body: String,
    delay: Duration,
}

impl Reply {
    pub fn json(status: StatusCode, body: &Value) -> Self {
        Self::new(status, "application/json", body.to_string())
    }

    /// Server-sent events, each of which has its name as its type.
    pub fn stream(events: &[Value]) -> Self {
        let mut stream = String::new();
        for event in events {
            let name = event["type"].as_str().unwrap();
            write!(stream, "event: {name}\ndata: {event}\n\n").unwrap();
        }
        Self::new(StatusCode::OK, "text/event-stream", stream)
    }

    /// The same, after a while.
    pub fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    fn new(status: StatusCode, content_type: &'static str, body: String) -> Self {
        Self { status, content_type, body, delay: Duration::ZERO }
    }
}

#[derive(Debug)]
struct State<T> {
    turns: VecDeque<T>,
    requests: Vec<Recorded>,
}

/// The server; it ends when this is dropped.
#[derive(Debug)]
pub struct MockServer<A: Api> {
    address: SocketAddr,
    state: Arc<Mutex<State<A::Turn>>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl<A: Api> MockServer<A> {
    /// Serves `script` on a free port.
    pub fn start(script: impl IntoIterator<Item = A::Turn>) -> Self {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let turns = script.into_iter().collect();
        let state = Arc::new(Mutex::new(State { turns, requests: Vec::new() }));
        let (stop, stopped) = oneshot::channel();
        let served = Arc::clone(&state);
        let thread = std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                tokio::select! {
                    () = serve::<A>(TcpListener::from_std(listener).unwrap(), served) => {}
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

    /// The bodies of the steps of the conversation, in order.
    pub fn conversation(&self) -> Vec<Value> {
        self.requests().into_iter().filter(A::is_step).map(|request| request.body).collect()
    }

    /// Asks as an agent does, and returns the status and the body of the answer.
    #[cfg(test)]
    pub fn ask(&self, method: &str, target: &str, body: &Value) -> (u16, String) {
        let body = body.to_string();
        crate::support::http::request(self.address.port(), method, target, body.as_bytes()).unwrap()
    }
}

impl<A: Api> Drop for MockServer<A> {
    fn drop(&mut self) {
        drop(self.stop.take());
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(std::thread::panicking() || matches!(ended, Some(Ok(()))), "the mock panicked");
    }
}

async fn serve<A: Api>(listener: TcpListener, state: Arc<Mutex<State<A::Turn>>>) {
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let state = Arc::clone(&state);
        tokio::spawn(async move {
            let service = service_fn(|request| answer::<A>(request, &state));
            // A client that goes away, for example after an interrupt, is no failure.
            drop(http1::Builder::new().serve_connection(TokioIo::new(stream), service).await);
        });
    }
}

async fn answer<A: Api>(
    request: Request<Incoming>,
    state: &Mutex<State<A::Turn>>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let bytes = body.collect().await.unwrap().to_bytes();
    let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
    let request = Recorded { method: head.method, path: head.uri.path().to_owned(), body };
    let turn = record::<A>(state, &request);
    let reply = A::answer(&request, turn);
    tokio::time::sleep(reply.delay).await;
    Ok(Response::builder()
        .status(reply.status)
        .header(hyper::header::CONTENT_TYPE, reply.content_type)
        .body(Full::from(reply.body))
        .unwrap())
}

/// Remembers the request and takes the turn that answers it.
fn record<A: Api>(state: &Mutex<State<A::Turn>>, request: &Recorded) -> Option<A::Turn> {
    let mut state = state.lock().unwrap();
    state.requests.push(request.clone());
    if A::is_step(request) { state.turns.pop_front() } else { None }
}

/// An id that no other answer has.
pub fn next_id(kind: &str) -> String {
    format!("{kind}_mock{:06}", NEXT_ID.fetch_add(1, Ordering::Relaxed))
}
