//! The native client of the daemon: one connection, one buffer, one write, no proxy, no runtime.
//!
//! A whole round trip takes about a millisecond, so the client speaks the few lines of HTTP/1.1
//! that the daemon answers with, rather than starting a general client.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpStream};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::agent::{Agent, SessionKey};
use crate::clock;
use crate::daemon::lifecycle::Presence;
use crate::daemon::token::Token;
use crate::export::Report;
use crate::history::Overview;
use crate::paths::Paths;
use crate::platform::{self, SocketOwner};

/// The response header by which a client knows that it is the daemon that answered, and not a
/// stranger on the same port, whose words must not reach a model.
pub const PROTOCOL_HEADER: &str = "tma1-protocol";

/// The response header by which the answer to a hook says `yes` if the event is in the log, where it
/// survives whatever happens to the daemon. An answer without it was given so that the agent need not
/// wait any longer for the disk.
pub const LOGGED_HEADER: &str = "tma1-logged";

/// The version of the protocol between client and daemon.
pub const PROTOCOL_VERSION: &str = "1";

/// How long a daemon may take to say how it is.
const HANDSHAKE: Duration = Duration::from_secs(1);

/// The largest answer that is taken, in bytes; an injected block stays far below.
const MAX_RESPONSE_BYTES: usize = 1024 * 1024;

/// Posts a hook event and returns the body of the answer.
///
/// An error means that nothing may be injected: the daemon is away, too slow, not ours, or its
/// answer is not whole.
pub fn post_event(port: u16, agent: Agent, event: &[u8], deadline: Instant) -> io::Result<Vec<u8>> {
    let query = match agent {
        Agent::ClaudeCode => "",
        Agent::Codex => "?source=codex&envelope=codex",
    };
    let mut request = format!(
        "POST /api/hooks{query} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        event.len()
    )
    .into_bytes();
    request.extend_from_slice(event);
    round_trip(port, &request, deadline)?.successful()
}

/// What the daemon answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The HTTP status.
    pub status: u16,
    /// The body, whole.
    pub body: Vec<u8>,
}

impl Response {
    fn successful(self) -> io::Result<Vec<u8>> {
        if self.status == 200 {
            Ok(self.body)
        } else {
            Err(invalid("the daemon refused the request"))
        }
    }
}

/// What a program of the user asks, showing the token. Where the kernel tells the daemon whose program
/// asks, it needs none.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The HTTP method.
    pub method: &'a str,
    /// A path with a query.
    pub target: &'a str,
    /// The token of the data directory, if it has one.
    pub token: Option<&'a Token>,
    /// Where it can be seen whose the daemon is.
    pub paths: &'a Paths,
}

impl Question<'_> {
    /// Asks the daemon on `port`, unless it is another user's, who must not learn the token.
    pub fn ask(self, port: u16, deadline: Instant) -> io::Result<Response> {
        self.ask_with(b"", port, deadline)
    }

    /// The same with a body.
    pub fn ask_with(self, body: &[u8], port: u16, deadline: Instant) -> io::Result<Response> {
        let Self { method, target, token, paths } = self;
        let mut stream = connect(port, deadline)?;
        if !is_ours(port, paths)? {
            let reason = format!("what listens on port {port} is another user's");
            return Err(io::Error::new(ErrorKind::PermissionDenied, reason));
        }
        let authorization =
            token.map(|token| format!("Authorization: Bearer {}\r\n", token.as_str()));
        let request = format!(
            "{method} {target} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\
             {}Content-Length: {}\r\nConnection: close\r\n\r\n",
            authorization.unwrap_or_default(),
            body.len()
        );
        let request = [request.as_bytes(), body].concat();
        write_all(&mut stream, &request, deadline)?;
        read_response(&mut stream, deadline)
    }
}

/// Whether what listens on `port` is a program of this user, or else our daemon as far as we can see.
fn is_ours(port: u16, paths: &Paths) -> io::Result<bool> {
    match platform::listener_owner(SocketAddrV4::new(Ipv4Addr::LOCALHOST, port)) {
        SocketOwner::Untold => Ok(matches!(
            Presence::of(paths, port)?,
            Presence::Running { port: its_port, .. } if its_port == port
        )),
        owner => Ok(owner.is_trusted()),
    }
}

/// What the daemon tells a program of its user: its answer to `GET /api/status`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// The version of the program.
    pub version: String,
    /// The daemon's process.
    pub pid: u32,
    /// Where it listens, on 127.0.0.1.
    pub port: u16,
    /// For how many seconds it has been running.
    pub uptime_s: u64,
    /// How many sessions are in memory.
    pub sessions: usize,
    /// How many events it answered and could not log.
    pub events_lost: u64,
    /// What is wrong with the event log; nothing if all is well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_problem: Option<String>,
    /// Whether it says anything to agents; an older daemon does not tell.
    pub injection: Option<bool>,
    /// The configuration directory of Claude Code, as it sees it; an older daemon does not tell.
    pub claude_config: Option<String>,
    /// The home of Codex, as it sees it; an older daemon does not tell.
    pub codex_home: Option<String>,
    /// How much memory it has, in bytes, where the system says so.
    pub memory_bytes: Option<u64>,
    /// How the export is, if there is one.
    #[serde(default)]
    pub export: Option<Report>,
    /// What became of the hooks, by event.
    #[serde(default)]
    pub hooks: Value,
    /// How much the store holds; none if it could not be told in time.
    #[serde(default)]
    pub store: Option<Overview>,
}

/// What an agent would be told now: the answer to `GET /api/context`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextAnswer {
    /// The session that would be told; none if none is known.
    pub session: Option<SessionKey>,
    /// The block.
    pub context: Option<String>,
}

/// How a daemon is: its answer to `GET /health`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Health {
    /// `ok`; a daemon that is not can't answer.
    pub status: String,
    /// The version of the program.
    pub version: String,
    /// The version of the protocol between client and daemon.
    pub protocol: String,
    /// The daemon's process.
    pub pid: u32,
    /// How many events it answered and could not log; older daemons don't say.
    #[serde(default)]
    pub events_lost: u64,
    /// What is wrong with the event log; nothing if all is well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_problem: Option<String>,
}

/// Asks the daemon how it is.
pub fn health(port: u16, deadline: Instant) -> io::Result<Health> {
    let request =
        format!("GET /health HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n");
    let body = round_trip(port, request.as_bytes(), deadline)?.successful()?;
    Ok(serde_json::from_slice(&body)?)
}

/// The daemon that listens on `port`, if it is one.
pub fn holder(port: u16) -> Option<Health> {
    health(port, clock::monotonic() + HANDSHAKE).ok()
}

/// The time left before `deadline`.
pub fn remaining(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(clock::monotonic())
}

fn round_trip(port: u16, request: &[u8], deadline: Instant) -> io::Result<Response> {
    let mut stream = connect(port, deadline)?;
    write_all(&mut stream, request, deadline)?;
    read_response(&mut stream, deadline)
}

fn connect(port: u16, deadline: Instant) -> io::Result<TcpStream> {
    let address = SocketAddrV4::new(Ipv4Addr::LOCALHOST, port).into();
    let stream = TcpStream::connect_timeout(&address, time_left(deadline)?)?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// A socket timeout of zero would mean none, so no time left is an error.
fn time_left(deadline: Instant) -> io::Result<Duration> {
    let left = remaining(deadline);
    if left.is_zero() { Err(ErrorKind::TimedOut.into()) } else { Ok(left) }
}

/// Writes everything. The timeout is set before each write, so that a peer that takes a byte at a
/// time can't stretch the deadline.
fn write_all(stream: &mut TcpStream, mut request: &[u8], deadline: Instant) -> io::Result<()> {
    while !request.is_empty() {
        stream.set_write_timeout(Some(time_left(deadline)?))?;
        match stream.write(request) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            written => request = request.get(written?..).unwrap_or_default(),
        }
    }
    Ok(())
}

/// Reads until the answer is whole, whether or not the connection stays open, in the same way.
fn read_response(stream: &mut TcpStream, deadline: Instant) -> io::Result<Response> {
    let mut response = Vec::new();
    let mut chunk = [0; 16 * 1024];
    loop {
        stream.set_read_timeout(Some(time_left(deadline)?))?;
        let read = match stream.read(&mut chunk) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            read => read?,
        };
        if read == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        response.extend_from_slice(chunk.get(..read).unwrap_or_default());
        if let Some(response) = parse(&response)? {
            return Ok(response);
        }
        if response.len() > MAX_RESPONSE_BYTES {
            return Err(invalid("the answer is too large"));
        }
    }
}

/// Reads a response that is ours; none as long as it is not whole.
fn parse(response: &[u8]) -> io::Result<Option<Response>> {
    let mut headers = [httparse::EMPTY_HEADER; 16];
    let mut head = httparse::Response::new(&mut headers);
    let httparse::Status::Complete(body_start) =
        head.parse(response).map_err(|_| invalid("the answer is not HTTP"))?
    else {
        return Ok(None);
    };
    let values = |name: &str| -> Vec<&[u8]> {
        let named = |header: &&httparse::Header<'_>| header.name.eq_ignore_ascii_case(name);
        head.headers.iter().filter(named).map(|header| header.value).collect()
    };
    if values(PROTOCOL_HEADER) != [PROTOCOL_VERSION.as_bytes()] {
        return Err(invalid("the answer is not from a tma1 daemon of this protocol version"));
    }
    let length: Option<usize> = match *values("content-length") {
        [length] => std::str::from_utf8(length).ok().and_then(|length| length.parse().ok()),
        _ => None,
    };
    // The daemon knows the length of every answer; without it, none is known to be whole.
    let (Some(length), []) = (length, &*values("transfer-encoding")) else {
        return Err(invalid("the answer does not say how long it is"));
    };
    let status = head.code.unwrap_or_default();
    let body = response.get(body_start..).unwrap_or_default().get(..length);
    Ok(body.map(|body| Response { status, body: body.to_vec() }))
}

fn invalid(reason: &'static str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(response: &str) -> Option<Vec<u8>> {
        parse(response.as_bytes()).ok().flatten()?.successful().ok()
    }

    #[test]
    fn a_whole_answer_of_the_daemon_is_taken() {
        let response = "HTTP/1.1 200 OK\r\nTma1-Protocol: 1\r\nContent-Length: 2\r\n\r\nhi";
        assert_eq!(body(response), Some(b"hi".to_vec()));
    }

    #[test]
    fn anything_else_is_not() {
        for response in [
            "",
            "SSH-2.0-OpenSSH_9.2\r\n",
            // A stranger on our port.
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
            // Another protocol version.
            "HTTP/1.1 200 OK\r\nTma1-Protocol: 2\r\nContent-Length: 2\r\n\r\nhi",
            // Refused.
            "HTTP/1.1 403 Forbidden\r\nTma1-Protocol: 1\r\nContent-Length: 2\r\n\r\nhi",
            // Cut off: in the head, in the body.
            "HTTP/1.1 200 OK\r\nTma1-Protocol: 1\r\nContent-Le",
            "HTTP/1.1 200 OK\r\nTma1-Protocol: 1\r\nContent-Length: 3\r\n\r\nhi",
            // Length unknown, so not known to be whole.
            "HTTP/1.1 200 OK\r\nTma1-Protocol: 1\r\n\r\nhi",
            "HTTP/1.1 200 OK\r\nTma1-Protocol: 1\r\nContent-Length: x\r\n\r\nhi",
            "HTTP/1.1 200 OK\r\nTma1-Protocol: 1\r\nContent-Length: 2\r\n\
             Content-Length: 1\r\n\r\nhi",
            "HTTP/1.1 200 OK\r\nTma1-Protocol: 1\r\nContent-Length: 2\r\n\
             Transfer-Encoding: chunked\r\n\r\nhi",
        ] {
            assert_eq!(body(response), None, "{response}");
        }
    }
}
