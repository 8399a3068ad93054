//! The native client of the daemon: one connection, one buffer, one write, no proxy, no runtime.
//!
//! A whole round trip takes about a millisecond, so the client speaks the few lines of HTTP/1.1
//! that the daemon answers with, rather than starting a general client.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::agent::Agent;
use crate::clock;

/// The response header by which a client knows that it is the daemon that answered, and not a
/// stranger on the same port, whose words must not reach a model.
pub const PROTOCOL_HEADER: &str = "tma1-protocol";

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
    round_trip(port, &request, deadline)
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
}

/// Asks the daemon how it is.
pub fn health(port: u16, deadline: Instant) -> io::Result<Health> {
    let request =
        format!("GET /health HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n");
    let body = round_trip(port, request.as_bytes(), deadline)?;
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

fn round_trip(port: u16, request: &[u8], deadline: Instant) -> io::Result<Vec<u8>> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let mut stream = TcpStream::connect_timeout(&address, time_left(deadline)?)?;
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(time_left(deadline)?))?;
    stream.write_all(request)?;
    let response = read_to_end(&mut stream, deadline)?;
    body_of(&response).map(<[u8]>::to_vec)
}

/// A socket timeout of zero would mean none, so no time left is an error.
fn time_left(deadline: Instant) -> io::Result<Duration> {
    let left = remaining(deadline);
    if left.is_zero() { Err(ErrorKind::TimedOut.into()) } else { Ok(left) }
}

/// Reads until the daemon closes the connection, which it does after one response. The timeout is
/// set before each read, so that a peer that sends a byte at a time can't stretch the deadline.
fn read_to_end(stream: &mut TcpStream, deadline: Instant) -> io::Result<Vec<u8>> {
    let mut response = Vec::new();
    let mut chunk = [0; 16 * 1024];
    loop {
        stream.set_read_timeout(Some(time_left(deadline)?))?;
        let read = match stream.read(&mut chunk) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            read => read?,
        };
        if read == 0 {
            return Ok(response);
        }
        response.extend_from_slice(chunk.get(..read).unwrap_or_default());
        if response.len() > MAX_RESPONSE_BYTES {
            return Err(invalid("the answer is too large"));
        }
    }
}

/// The body of a response that is ours, successful and whole.
fn body_of(response: &[u8]) -> io::Result<&[u8]> {
    let mut headers = [httparse::EMPTY_HEADER; 16];
    let mut head = httparse::Response::new(&mut headers);
    let httparse::Status::Complete(body_start) =
        head.parse(response).map_err(|_| invalid("the answer is not HTTP"))?
    else {
        return Err(ErrorKind::UnexpectedEof.into());
    };
    let header =
        |name: &str| head.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
    if header(PROTOCOL_HEADER).is_none_or(|header| header.value != PROTOCOL_VERSION.as_bytes()) {
        return Err(invalid("the answer is not from a tma1 daemon of this protocol version"));
    }
    if head.code != Some(200) {
        return Err(invalid("the daemon refused the request"));
    }
    let length = header("content-length")
        .and_then(|header| std::str::from_utf8(header.value).ok()?.parse::<usize>().ok());
    let body = response.get(body_start..).unwrap_or_default();
    if length != Some(body.len()) {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    Ok(body)
}

fn invalid(reason: &'static str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(response: &str) -> Option<&[u8]> {
        body_of(response.as_bytes()).ok()
    }

    #[test]
    fn a_whole_answer_of_the_daemon_is_taken() {
        let response = "HTTP/1.1 200 OK\r\nTma1-Protocol: 1\r\nContent-Length: 2\r\n\r\nhi";
        assert_eq!(body(response), Some(&b"hi"[..]));
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
        ] {
            assert_eq!(body(response), None, "{response}");
        }
    }
}
