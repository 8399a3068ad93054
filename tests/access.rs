//! Who may ask the daemon what: the caller's user, its token, its `Host` and `Origin`, and the endpoint.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use tma1::clock;

use crate::support::daemon::Daemon;
use crate::support::home::TestHome;
use crate::support::npm::skip;
use crate::support::process::Run;
use crate::support::user::{as_nobody, can_be_nobody, give_away};

const LIMIT: Duration = Duration::from_secs(30);

/// Each endpoint, with the method that it takes and the status for whoever may ask. The last one ends
/// the daemon.
const ENDPOINTS: [(&str, &str, u16); 15] = [
    ("GET", "/health", 200),
    ("POST", "/api/hooks", 200),
    ("POST", "/api/builds", 400),
    ("GET", "/api/session-state?agent=claude-code&session=none", 404),
    ("GET", "/api/project-state?cwd=/", 404),
    ("GET", "/api/status", 200),
    ("GET", "/api/context?cwd=/none", 200),
    ("GET", "/api/sessions", 200),
    ("GET", "/api/sessions/none", 404),
    ("GET", "/api/search?text=go", 200),
    ("GET", "/api/search?no=such", 400),
    ("GET", "/api/anomalies", 200),
    ("POST", "/api/anomalies", 405),
    ("GET", "/none", 404),
    ("POST", "/api/stop", 200),
];

/// What a caller shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown {
    Nothing,
    Token,
    WrongToken,
}

/// Whose program calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Caller {
    Own,
    Other,
}

const HEADERS: [(&[&str], bool); 9] = [
    (&[], true),
    (&["Host: localhost"], true),
    (&["Host: [::1]:1"], true),
    (&["Sec-Fetch-Site: none"], true),
    (&["Host: evil.example"], false),
    (&["Host: 127.0.0.1.evil.example"], false),
    (&["Origin: http://localhost"], false),
    (&["Origin: null"], false),
    (&["Sec-Fetch-Site: same-origin"], false),
];

/// What the daemon is to answer.
fn expected(caller: Caller, shown: Shown, allowed: bool, endpoint: (&str, &str, u16)) -> u16 {
    let (_, target, answered) = endpoint;
    match (allowed, target, shown, caller) {
        (false, ..) => 403,
        (_, "/health", ..) | (_, _, Shown::Token, _) | (_, _, Shown::Nothing, Caller::Own) => {
            answered
        }
        (_, _, Shown::WrongToken, _) => 401,
        (_, _, Shown::Nothing, Caller::Other) => 403,
    }
}

/// The status of each of `requests`, each the arguments of `curl`.
fn statuses(home: &TestHome, caller: Caller, requests: &[Vec<String>]) -> Vec<u16> {
    let mut curl = home.command("curl");
    curl.args(["-q", "-s", "--noproxy", "*"]);
    for (number, request) in requests.iter().enumerate() {
        if number > 0 {
            curl.arg("--next");
        }
        curl.args(["-s", "-o", "/dev/null", "-w", "%{http_code}\n"]).args(request);
    }
    curl.current_dir("/");
    let mut curl = match caller {
        Caller::Own => curl,
        Caller::Other => as_nobody(&curl),
    };
    let said = Run::of(&mut curl, LIMIT).succeeded().stdout;
    said.lines().map(|line| line.parse().unwrap()).collect()
}

fn prompt(session: &str) -> String {
    let event = json!({
        "hook_event_name": "UserPromptSubmit", "session_id": session, "cwd": "/shop",
    });
    event.to_string()
}

#[test]
fn the_table() {
    let home = TestHome::new();
    let daemon = Daemon::start(&home);
    let token = home.token();
    let mut callers = vec![Caller::Own];
    if can_be_nobody() {
        callers.push(Caller::Other);
    } else {
        skip("only root can call as another user");
    }
    let mut rows = Vec::new();
    // What ends the daemon comes last, and of that what does not.
    for endpoint in ENDPOINTS {
        for shown in [Shown::Nothing, Shown::Token, Shown::WrongToken] {
            for (headers, allowed) in HEADERS {
                rows.push((endpoint, shown, headers, allowed));
            }
        }
    }
    let ends = |row: &(_, Shown, _, bool), caller| {
        let ((_, target, _), shown, _, allowed): ((&str, &str, u16), _, _, _) = *row;
        target == "/api/stop" && expected(caller, shown, allowed, ("", target, 200)) == 200
    };
    for caller in &callers {
        let rows: Vec<_> = rows.iter().filter(|row| !ends(row, *caller)).collect();
        let requests: Vec<Vec<String>> = rows
            .iter()
            .map(|((method, target, _), shown, headers, _)| {
                let mut arguments = vec!["-X".to_owned(), (*method).to_owned()];
                let mut header = |text: &str| arguments.extend(["-H".to_owned(), text.to_owned()]);
                match shown {
                    Shown::Nothing => {}
                    Shown::Token => header(&format!("Authorization: Bearer {token}")),
                    Shown::WrongToken => {
                        header(&format!("Authorization: Bearer {}", "0".repeat(64)));
                    }
                }
                headers.iter().for_each(|text| header(text));
                if *method == "POST" {
                    arguments.extend(["-d".to_owned(), prompt("table")]);
                }
                arguments.push(format!("http://127.0.0.1:{}{target}", home.port()));
                arguments
            })
            .collect();
        let answered = statuses(&home, *caller, &requests);
        assert_eq!(answered.len(), rows.len());
        for (row, status) in rows.iter().zip(answered) {
            let (endpoint, shown, headers, allowed) = **row;
            let expected = expected(*caller, shown, allowed, endpoint);
            assert_eq!(status, expected, "{caller:?} {endpoint:?} {shown:?} {headers:?}");
        }
    }
    assert_eq!(daemon.health()["status"], "ok");
    // One that is allowed is enough, for whoever it is.
    let last = callers.last().copied().unwrap();
    let url = format!("http://127.0.0.1:{}/api/stop", home.port());
    let bearer = format!("Authorization: Bearer {token}");
    let stop = ["-X", "POST", "-H", bearer.as_str(), url.as_str()].map(str::to_owned).to_vec();
    assert_eq!(statuses(&home, last, &[stop]), [200]);
    assert_eq!(daemon.ended().code(), Some(0));
}

fn known_sessions(home: &TestHome) -> Value {
    let run = home.tma1(&["status", "--json"]).succeeded();
    serde_json::from_str::<Value>(&run.stdout).unwrap()["sessions"].clone()
}

#[test]
fn an_event_of_another_user_gets_nothing_in_and_nothing_out() {
    if !can_be_nobody() {
        skip("only root can call as another user");
        return;
    }
    let home = TestHome::new();
    let daemon = Daemon::start(&home);
    daemon.post_event(prompt("own").as_bytes(), "");
    let stranger = TestHome::new();
    give_away(&stranger);
    let hook = stranger.tma1_command(&["hook", "--port", &home.port().to_string()]);
    let run = Run::fed(&mut as_nobody(&hook), prompt("theirs").into(), LIMIT).succeeded();
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("", ""));
    // Nor one that is gone before anybody can look whose it is.
    let script = format!(
        r"exec 3<>/dev/tcp/127.0.0.1/{}; printf 'POST /api/hooks HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n%s' '{}' >&3",
        home.port(),
        prompt("gone").len(),
        prompt("gone"),
    );
    for _ in 0..20 {
        let mut bash = home.command("bash");
        bash.args(["-c", &script]).current_dir("/");
        Run::of(&mut as_nobody(&bash), LIMIT).succeeded();
    }
    assert_eq!(known_sessions(&home), 1);
    // Root's programs are answered in a daemon of another user.
    let port = stranger.port();
    let mut serve = as_nobody(&stranger.tma1_command(&["serve"]));
    serve.env("TMA1_PORT", port.to_string());
    let theirs = Daemon::start_command(&stranger, serve);
    let (status, block) = theirs.post_event(prompt("root").as_bytes(), "");
    assert!(status == 200 && block.starts_with("<tma1-context>"), "{status} {block}");
    assert_eq!(theirs.stop().code(), Some(0));
}

/// Listens on the port of `home` for `limit` and returns what it was sent, as another user.
fn thief(home: &TestHome) -> Command {
    let answer = r"HTTP/1.1 401 Unauthorized\r\ntma1-protocol: 1\r\nContent-Length: 2\r\n\r\n{}";
    let perl = format!(
        r#"use IO::Socket::INET; $SIG{{ALRM}} = sub {{ exit }}; alarm 20;
        my $l = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => {}, Listen => 5, ReuseAddr => 1) or die;
        $| = 1; print "listening\n";
        while (my $c = $l->accept) {{ my $got = ''; sysread $c, $got, 65536; print $got; print $c "{answer}"; close $c; }}"#,
        home.port()
    );
    let mut command = home.command("perl");
    command.args(["-e", &perl]).current_dir("/");
    as_nobody(&command)
}

#[test]
fn the_token_is_not_shown_to_another_users_program() {
    if !can_be_nobody() || Command::new("perl").arg("-v").output().is_err() {
        skip("only root can listen as another user, and here with perl");
        return;
    }
    let home = TestHome::new();
    Daemon::start(&home).stop();
    let token = home.token();
    let mut thief = thief(&home);
    thief.stdout(std::process::Stdio::piped());
    let mut thief = thief.spawn().unwrap();
    let mut said = thief.stdout.take().unwrap();
    let mut start = [0; 10];
    said.read_exact(&mut start).unwrap();
    let mut server =
        crate::support::mcp::McpServer::open(home.tma1_command(&["mcp-serve"]), "2025-11-25").0;
    let (failed, text) = server.call("get_session_state", &json!({}), &json!({}));
    assert!(failed && text.contains("is another user's"), "{text}");
    for verb in ["status", "stop", "start"] {
        home.tma1(&[verb]);
    }
    thief.kill().unwrap();
    thief.wait().unwrap();
    let mut rest = String::new();
    said.read_to_string(&mut rest).unwrap();
    assert!(!rest.contains(&token), "{rest}");
}

#[test]
fn limits_hold_for_slow_and_greedy_clients() {
    let home = TestHome::new();
    let daemon = Daemon::start(&home);
    let exchange = |sent: &[u8], then_closes: bool| -> String {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, home.port())).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        // It may be refused before all is sent.
        drop(stream.write_all(sent));
        if then_closes {
            drop(stream.shutdown(Shutdown::Write));
        }
        let mut answer = Vec::new();
        drop(stream.read_to_end(&mut answer));
        String::from_utf8(answer).unwrap()
    };
    let head = "POST /api/hooks HTTP/1.1\r\nHost: localhost\r\n";
    let long = format!("{head}X: {}\r\n\r\n", "x".repeat(1 << 20));
    let many = format!("{head}{}\r\n", "X: y\r\n".repeat(1_000));
    let body = prompt("limits");
    for (name, sent, closes, status) in [
        ("a head that does not end", head.to_owned(), false, ""),
        ("a head that is cut off", head.to_owned(), true, ""),
        ("a head that is too long", long, false, "431"),
        ("too many headers", many, false, "431"),
        ("no HTTP", "EHLO localhost\r\n\r\n".to_owned(), false, "400"),
        (
            "two lengths",
            format!("{head}Content-Length: 1\r\nContent-Length: 2\r\n\r\nx"),
            false,
            "400",
        ),
        ("a body that does not come", format!("{head}Content-Length: 9\r\n\r\n"), false, "200"),
        ("a body that is cut off", format!("{head}Content-Length: 9\r\n\r\nx"), true, "200"),
        (
            "a body that is too large",
            format!("{head}Content-Length: 99999999\r\n\r\n"),
            false,
            "200",
        ),
        ("chunks", format!("{head}Transfer-Encoding: chunked\r\n\r\nffffffff\r\n"), true, "200"),
    ] {
        let started = clock::monotonic();
        let answer = exchange(sent.as_bytes(), closes);
        assert!(started.elapsed() < Duration::from_secs(6), "{name}");
        let answered = answer.split(' ').nth(1).unwrap_or_default();
        assert_eq!(answered, status, "{name}: {answer}");
        assert!(!answer.contains("tma1-context"), "{name}: {answer}");
    }
    let (_, block) = daemon.post_event(body.as_bytes(), "");
    assert!(block.starts_with("<tma1-context>"), "{block}");
    assert_eq!(known_sessions(&home), 1);
}

#[test]
fn a_port_of_another_program_of_ours_is_told_from_the_daemon() {
    let home = TestHome::new();
    let _stranger = TcpListener::bind((Ipv4Addr::LOCALHOST, home.port())).unwrap();
    let run = home.tma1(&["status"]);
    assert_eq!(run.status, Some(1));
    assert!(run.stdout.starts_with("The daemon is not running;"), "{run:#?}");
}
