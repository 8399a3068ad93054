//! `tma1 hook`: one whole answer or nothing, in time, and never a failure.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::Stdio;
use std::thread::JoinHandle;
use std::time::Duration;

use crate::support::daemon::Daemon;
use crate::support::home::TestHome;
use crate::support::process::Run;

const PROMPT: &str =
    r#"{"hook_event_name":"UserPromptSubmit","session_id":"0f1e2d3c","cwd":"/home/dev/shop"}"#;

fn hook(home: &TestHome, input: &str) -> Run {
    home.tma1_fed(&["hook", "--port", &home.port().to_string()], input)
}

#[track_caller]
fn assert_silent(run: &Run) {
    assert_eq!(run.status, Some(0), "{run:#?}");
    assert_eq!(run.stdout, "", "{run:#?}");
    assert_eq!(run.stderr, "", "{run:#?}");
}

#[test]
fn the_answer_of_the_daemon_is_printed_as_it_is() {
    let home = TestHome::new();
    let daemon = Daemon::start(&home);
    let run = hook(&home, PROMPT).succeeded();
    assert_eq!(run.stdout, daemon.post_event(PROMPT.as_bytes(), "").1);
    assert!(run.stdout.starts_with("<tma1-context>\nproject: shop\n"), "{}", run.stdout);
}

#[test]
fn codex_gets_its_own_envelope() {
    let home = TestHome::new();
    let _daemon = Daemon::start(&home);
    let port = home.port().to_string();
    let run = home.tma1_fed(&["hook", "--agent", "codex", "--port", &port], PROMPT).succeeded();
    let answer: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let output = &answer["hookSpecificOutput"];
    assert_eq!(output["hookEventName"], "UserPromptSubmit");
    assert!(output["additionalContext"].as_str().unwrap().contains("session: 0f1e2d3c\n"));
}

#[test]
fn a_large_event_passes_and_an_over_large_one_is_dropped() {
    let home = TestHome::new();
    let _daemon = Daemon::start(&home);
    let padded =
        |bytes: usize| format!(r#"{}"pad":"{}"}}"#, PROMPT.replace('}', ","), "x".repeat(bytes));
    assert!(hook(&home, &padded(4 << 20)).succeeded().stdout.starts_with("<tma1-context>"));
    assert_silent(&hook(&home, &padded(tma1::daemon::MAX_EVENT_BYTES)));
}

#[test]
fn without_a_daemon_nothing_is_said() {
    let home = TestHome::new();
    assert_silent(&hook(&home, PROMPT));
    assert_silent(&hook(&home, ""));
}

#[test]
fn a_stranger_on_the_port_has_no_voice() {
    for answer in [
        "",
        "SSH-2.0-OpenSSH_9.2\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nhostile",
        "HTTP/1.1 200 OK\r\nTma1-Protocol: 1\r\nContent-Length: 700\r\n\r\ncut off",
        "HTTP/1.1 200 OK\r\nTma1-Protocol: 1\r\nContent-Length: 7\r\n\
         Transfer-Encoding: chunked\r\n\r\nchunked",
    ] {
        let home = TestHome::new();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, home.port())).unwrap();
        let stranger = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            drop(stream.read(&mut [0; 4096]));
            stream.write_all(answer.as_bytes()).unwrap();
        });
        assert_silent(&hook(&home, PROMPT));
        stranger.join().unwrap();
    }
}

#[test]
fn a_daemon_that_accepts_and_says_nothing_is_given_up() {
    let home = TestHome::new();
    let _silent = TcpListener::bind((Ipv4Addr::LOCALHOST, home.port())).unwrap();
    assert_silent(&hook(&home, PROMPT));
}

#[test]
fn a_standard_input_that_stays_open_is_given_up() {
    let home = TestHome::new();
    let _daemon = Daemon::start(&home);
    let mut command = home.tma1_command(&["hook", "--port", &home.port().to_string()]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(PROMPT.as_bytes()).unwrap();
    // `wait_with_output` would close it.
    let status = child.wait().unwrap();
    assert!(status.success());
    let mut said = String::new();
    child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(said, "");
    drop(stdin);
}

/// Serves one connection on the port of `home` in a thread.
fn serve_once<T: Send + 'static>(
    home: &TestHome,
    serve: impl FnOnce(TcpStream) -> T + Send + 'static,
) -> JoinHandle<T> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, home.port())).unwrap();
    std::thread::spawn(move || serve(listener.accept().unwrap().0))
}

#[test]
fn a_whole_answer_is_taken_at_once_although_the_connection_stays_open() {
    let home = TestHome::new();
    let server = serve_once(&home, |mut stream| {
        drop(stream.read(&mut [0; 4096]));
        let answer = "HTTP/1.1 200 OK\r\nTma1-Protocol: 1\r\nContent-Length: 5\r\n\r\nwhole";
        stream.write_all(answer.as_bytes()).unwrap();
        stream
    });
    assert_eq!(hook(&home, PROMPT).succeeded().stdout, "whole");
    drop(server.join().unwrap());
}

#[test]
fn a_daemon_that_takes_a_large_event_bit_by_bit_is_given_up() {
    let home = TestHome::new();
    let server = serve_once(&home, |mut stream| {
        let mut taken = 0;
        while let Ok(read @ 1..) = stream.read(&mut [0; 16 * 1024]) {
            taken += read;
            std::thread::sleep(Duration::from_millis(10));
        }
        taken
    });
    let event = "x".repeat(12 << 20);
    assert_silent(&hook(&home, &event));
    // At this pace the whole event would take eight seconds.
    assert!(server.join().unwrap() < event.len());
}

#[cfg(unix)]
#[test]
fn a_standard_output_that_fails_or_blocks_is_no_failure() {
    let home = TestHome::new();
    let _daemon = Daemon::start(&home);
    let hook_saying_to = |stdout: Stdio| {
        let mut command = home.tma1_command(&["hook", "--port", &home.port().to_string()]);
        let mut child = command.stdin(Stdio::piped()).stdout(stdout).spawn().unwrap();
        drop(command);
        child.stdin.take().unwrap().write_all(PROMPT.as_bytes()).unwrap();
        child.wait().unwrap()
    };
    let (reader, broken) = std::io::pipe().unwrap();
    drop(reader);
    assert!(hook_saying_to(broken.into()).success());

    let (_reader, mut full) = std::io::pipe().unwrap();
    let filled = full.try_clone().unwrap();
    // It blocks once the pipe is full.
    std::thread::spawn(move || drop(full.write_all(&vec![0; 1 << 20])));
    std::thread::sleep(Duration::from_millis(100));
    assert!(hook_saying_to(filled.into()).success());
}
