//! One HTTP request to a server on 127.0.0.1, without the client that is under test.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

/// The longest wait for a byte of an answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Sends one request and returns the status and the body of the answer.
pub fn request(port: u16, method: &str, target: &str, body: &[u8]) -> io::Result<(u16, String)> {
    request_as(port, method, target, "", body)
}

/// The same with further header lines, each with its line end.
pub fn request_as(
    port: u16,
    method: &str,
    target: &str,
    headers: &str,
    body: &[u8],
) -> io::Result<(u16, String)> {
    exchange(port, method, target, headers, body).map(|(status, _, body)| (status, body))
}

/// Posts a hook event, and tells whether the daemon says that it is in the log.
pub fn is_logged(port: u16, event: &[u8]) -> io::Result<bool> {
    let (status, head, _) = exchange(port, "POST", "/api/hooks", "", event)?;
    Ok(status == 200 && head.contains("\r\ntma1-logged: yes"))
}

fn exchange(
    port: u16,
    method: &str,
    target: &str,
    headers: &str,
    body: &[u8],
) -> io::Result<(u16, String, String)> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    write!(
        stream,
        "{method} {target} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n{headers}\r\n",
        body.len()
    )?;
    stream.write_all(body)?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    parse(&answer).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, answer))
}

fn parse(answer: &str) -> Option<(u16, String, String)> {
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some((status, head.to_owned(), body.to_owned()))
}
