//! The daemon as a process: how it starts, ends and survives, and whom it answers.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};

use serde_json::{Value, json};

use crate::support::daemon::Daemon;
use crate::support::home::TestHome;
use crate::support::http;
use crate::support::scale;
use crate::support::snapshot::assert_snapshot;

fn event(name: &str, more: &Value) -> Vec<u8> {
    let mut event = json!({"session_id": "0f1e2d3c-4b5a", "cwd": "/home/dev/shop"});
    event["hook_event_name"] = name.into();
    for (field, value) in more.as_object().unwrap() {
        event[field] = value.clone();
    }
    event.to_string().into_bytes()
}

fn call(id: &str) -> Vec<u8> {
    event("PreToolUse", &json!({"tool_name": "Bash", "tool_use_id": id}))
}

fn prompt() -> Vec<u8> {
    event("UserPromptSubmit", &json!({"prompt": "go"}))
}

#[cfg(unix)]
#[test]
fn it_says_what_it_is_and_ends_when_asked() {
    for signal in ["TERM", "INT"] {
        let home = TestHome::new();
        let daemon = Daemon::start(&home);
        let health = daemon.health();
        assert_eq!(health["status"], "ok");
        assert_eq!(health["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(health["protocol"], "1");
        assert_eq!(health["pid"], daemon.pid());
        assert_eq!(health["events_lost"], 0);
        assert_eq!(daemon.stop_by(signal).code(), Some(0), "{signal}");
    }
}

#[cfg(unix)]
#[test]
fn a_request_that_has_begun_is_answered_before_the_end() {
    let home = TestHome::new();
    let daemon = Daemon::start(&home);
    let body = prompt();
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, home.port())).unwrap();
    write!(
        stream,
        "POST /api/hooks HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n",
        body.len()
    )
    .unwrap();
    // The daemon has read the head once another connection, made later, is answered.
    daemon.health();
    let ended = std::thread::spawn(move || daemon.stop());
    while http::request(home.port(), "GET", "/health", b"").is_ok() {
        std::thread::yield_now();
    }
    stream.write_all(&body).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.ends_with("</tma1-context>"), "{answer}");
    assert_eq!(ended.join().unwrap().code(), Some(0));
}

#[test]
fn a_port_that_is_taken_is_a_clear_error() {
    let home = TestHome::new();
    let _stranger = TcpListener::bind((Ipv4Addr::LOCALHOST, home.port())).unwrap();
    let run = home.tma1(&["serve"]);
    assert_eq!(run.status, Some(1));
    assert_eq!(run.stdout, "");
    assert_snapshot("serve-port-taken", &home.anonymous(&run.stderr), &[]);
}

#[test]
fn a_second_daemon_is_refused_and_told_of_the_first() {
    let home = TestHome::new();
    let daemon = Daemon::start(&home);
    let run = home.tma1(&["serve"]);
    assert_eq!(run.status, Some(1));
    let pid = daemon.pid().to_string();
    let filters: [(&str, &str); 2] = [(&pid, "[PID]"), (&home.port().to_string(), "[PORT]")];
    assert_snapshot("serve-already-running", &home.anonymous(&run.stderr), &filters);
}

#[test]
fn another_users_daemon_on_the_port_is_named() {
    let home = TestHome::new();
    let daemon = Daemon::start(&home);
    let other = TestHome::new();
    let port = home.port().to_string();
    let run = other.tma1(&["serve", "--port", &port]);
    assert_eq!(run.status, Some(1));
    let taken = format!(
        "port {port} on 127.0.0.1 is taken by another tma1 daemon (process {}, version {})",
        daemon.pid(),
        env!("CARGO_PKG_VERSION")
    );
    assert!(run.stderr.contains(&taken), "{}", run.stderr);
}

#[test]
fn what_was_answered_is_known_after_a_kill() {
    let home = TestHome::new();
    let rounds = 3 * scale();
    for round in 0..rounds {
        let daemon = Daemon::start(&home);
        for number in 0..10 {
            assert_eq!(daemon.post_event(&call(&format!("{round}-{number}")), "").0, 200);
        }
        daemon.kill();
    }
    let (_, block) = Daemon::start(&home).post_event(&prompt(), "");
    let line = format!("tool_calls: {}\n", 10 * rounds);
    assert!(block.contains(&line), "{block}");
    assert!(block.contains("project: shop\n"), "{block}");
}

#[test]
fn with_injection_disabled_events_are_recorded_and_nothing_is_said() {
    let home = TestHome::new();
    let mut command = home.tma1_command(&["serve"]);
    command.env("TMA1_DISABLE_INJECTION", "1");
    let silent = Daemon::start_command(&home, command);
    for query in ["", "?source=codex&envelope=codex"] {
        for event in [call("1"), prompt(), event("SessionStart", &json!({}))] {
            assert_eq!(silent.post_event(&event, query), (200, String::new()));
        }
    }
    drop(silent);
    let (_, block) = Daemon::start(&home).post_event(&prompt(), "");
    assert!(block.contains("tool_calls: 1\n"), "{block}");
}

#[test]
fn a_probe_is_answered_in_the_envelope_and_leaves_no_trace() {
    let home = TestHome::new();
    let mut command = home.tma1_command(&["serve"]);
    command.env("TMA1_DISABLE_INJECTION", "1");
    let daemon = Daemon::start_command(&home, command);
    let probe = event("UserPromptSubmit", &json!({"tma1_probe": "a1"}));
    assert_eq!(daemon.post_event(&probe, ""), (200, "tma1_probe a1".to_owned()));
    let (_, body) = daemon.post_event(&probe, "?source=codex&envelope=codex");
    let answer: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(answer["hookSpecificOutput"]["additionalContext"], "tma1_probe a1");
    let token = fs_err::read_to_string(home.home().join(".tma1/token")).unwrap();
    let headers = format!("Authorization: Bearer {}\r\n", token.trim());
    let (_, status) = http::request_as(home.port(), "GET", "/api/status", &headers, b"").unwrap();
    let status: Value = serde_json::from_str(&status).unwrap();
    assert_eq!((&status["sessions"], &status["hooks"]), (&json!(0), &json!({})));
    assert_eq!(status["claude_config"], home.home().join(".claude").to_str().unwrap());
    assert_eq!(status["codex_home"], home.home().join(".codex").to_str().unwrap());
    assert_eq!(status["injection"], false);
    drop(daemon);
    let log = rusqlite::Connection::open(home.home().join(".tma1/data/tma1.db")).unwrap();
    let count = "SELECT count(*) FROM tma1_hook_events";
    assert_eq!(log.query_row(count, [], |row| row.get::<_, i64>(0)), Ok(0));
}

#[test]
fn what_is_no_event_is_answered_with_nothing() {
    let home = TestHome::new();
    let daemon = Daemon::start(&home);
    for body in [&b""[..], b"{", b"[]", b"{}", b"\xff\xfe", b"\0"] {
        assert_eq!(daemon.post_event(body, ""), (200, String::new()));
    }
    assert_eq!(daemon.post_event(&prompt(), "?source=emacs"), (200, String::new()));
    let (_, block) = daemon.post_event(&prompt(), "");
    assert!(block.starts_with("<tma1-context>\n"), "{block}");
}

#[test]
fn an_event_that_is_too_large_is_answered_before_it_is_sent() {
    let home = TestHome::new();
    let _daemon = Daemon::start(&home);
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, home.port())).unwrap();
    let length = tma1::daemon::MAX_EVENT_BYTES + 1;
    let head =
        "POST /api/hooks HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length:";
    write!(stream, "{head} {length}\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("\r\n\r\n"), "{answer}");
}

#[test]
fn what_is_not_there_is_an_error() {
    let home = TestHome::new();
    let _daemon = Daemon::start(&home);
    let token = format!("Authorization: Bearer {}\r\n", home.token());
    for (method, target, status) in [
        ("GET", "/", 404),
        ("GET", "/api/hooks/x", 404),
        ("GET", "/api/hooks", 405),
        ("GET", "/api/stop", 405),
        ("POST", "/health", 405),
    ] {
        let (answered, _) = http::request_as(home.port(), method, target, &token, b"").unwrap();
        assert_eq!(answered, status, "{method} {target}");
    }
}

#[test]
fn what_it_knows_is_for_programs_of_its_user() {
    let home = TestHome::new();
    let daemon = Daemon::start(&home);
    for event in [call("1"), call("2"), prompt()] {
        daemon.post_event(&event, "");
    }
    let token = fs_err::read_to_string(home.home().join(".tma1/token")).unwrap();
    let ask = |method: &str, target: &str, token: &str| {
        let authorization = format!("Authorization: Bearer {token}\r\n");
        let target = format!("/api/session-state{target}");
        let (status, body) =
            http::request_as(home.port(), method, &target, &authorization, b"").unwrap();
        (status, serde_json::from_str::<Value>(&body).unwrap())
    };
    let asked = "?agent=claude-code&session=0f1e2d3c-4b5a&action_limit=1";
    let (status, state) = ask("GET", asked, token.trim());
    assert_eq!(status, 200, "{state}");
    assert_eq!((&state["project"], &state["tool_calls"]), (&json!("shop"), &json!(2)));
    assert_eq!(state["recent_actions"].as_array().unwrap().len(), 1);
    let (_, latest) = ask("GET", "?cwd=/home/dev/shop", token.trim());
    assert_eq!(latest["session"], "0f1e2d3c-4b5a");
    for (method, target, shown, status) in [
        ("GET", asked, "", 401),
        ("GET", asked, &token.trim().replace(['1', '2'], "3"), 401),
        ("GET", "", token.trim(), 400),
        ("GET", "?agent=emacs&session=x", token.trim(), 400),
        ("GET", "?agent=codex&session=0f1e2d3c-4b5a", token.trim(), 404),
        ("GET", "?cwd=/home/dev/else", token.trim(), 404),
        ("POST", asked, token.trim(), 405),
    ] {
        let (answered, body) = ask(method, target, shown);
        assert_eq!(answered, status, "{method} {target}: {body}");
        assert!(body["error"].is_string(), "{body}");
    }
}

#[test]
fn an_agent_that_went_on_in_a_new_session_is_found_by_its_old_one() {
    let home = TestHome::new();
    let daemon = Daemon::start(&home);
    let told = |name: &str, session: &str| {
        daemon.post_event(&event(name, &json!({"session_id": session})), "");
    };
    told("UserPromptSubmit", "1-old");
    let token = fs_err::read_to_string(home.home().join(".tma1/token")).unwrap();
    let authorization = format!("Authorization: Bearer {}\r\n", token.trim());
    let asked = "/api/session-state?agent=claude-code&session=1-old&cwd=/home/dev/shop";
    let answered = || {
        let (_, body) = http::request_as(home.port(), "GET", asked, &authorization, b"").unwrap();
        serde_json::from_str::<Value>(&body).unwrap()["session"].clone()
    };
    told("UserPromptSubmit", "2-beside");
    assert_eq!(answered(), "1-old");
    told("SessionEnd", "1-old");
    told("SessionStart", "3-new");
    assert_eq!(answered(), "3-new");
}

#[test]
fn a_web_page_is_refused_before_anything_is_recorded() {
    let home = TestHome::new();
    let daemon = Daemon::start(&home);
    for header in ["Host: evil.example", "Host: localhost\r\nOrigin: http://evil.example"] {
        let body = call("1");
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, home.port())).unwrap();
        write!(
            stream,
            "POST /api/hooks HTTP/1.1\r\n{header}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
            body.len()
        )
        .unwrap();
        stream.write_all(&body).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 403 "), "{header}: {answer}");
    }
    let (_, block) = daemon.post_event(&prompt(), "");
    assert!(block.contains("tool_calls: 0\n"), "{block}");
}

#[test]
fn a_daemon_that_has_the_data_is_named_and_not_the_one_that_has_the_port() {
    let home = TestHome::new();
    let holder = Daemon::start(&home);
    let elsewhere = TestHome::new();
    let _other = Daemon::start(&elsewhere);
    let mut command = home.tma1_command(&["serve"]);
    let output = command.env("TMA1_PORT", elsewhere.port().to_string()).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    let named = format!("(process {}, port {})\n", holder.pid(), home.port());
    assert!(stderr.contains(&named), "{stderr}");
    assert!(stderr.contains("`tma1 restart` replaces it"), "{stderr}");
}

#[cfg(unix)]
#[test]
fn a_pipe_in_place_of_a_file_is_refused() {
    for name in ["daemon.lock", "tma1.db"] {
        let home = TestHome::new();
        let data = home.home().join(".tma1/data");
        fs_err::create_dir_all(&data).unwrap();
        let made = std::process::Command::new("mkfifo").arg(data.join(name)).status().unwrap();
        assert!(made.success());
        let run = home.tma1(&["serve"]);
        assert_eq!(run.status, Some(1), "{run:#?}");
        assert!(run.stderr.contains(&format!("{name}` is not a file")), "{}", run.stderr);
    }
}

#[cfg(unix)]
#[test]
fn what_it_keeps_is_private_to_the_user() {
    use std::os::unix::fs::PermissionsExt;

    let home = TestHome::new();
    let root = home.home().join(".tma1");
    Daemon::start(&home).stop();
    for directory in [root.clone(), root.join("data")] {
        let mode = fs_err::metadata(&directory).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "{}", directory.display());
    }
    // As another program may have left it.
    for path in ["data", "data/tma1.db"] {
        fs_err::set_permissions(root.join(path), PermissionsExt::from_mode(0o755)).unwrap();
    }
    let daemon = Daemon::start(&home);
    daemon.post_event(&prompt(), "");
    let mode = fs_err::metadata(root.join("data")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    let files = fs_err::read_dir(root.join("data")).unwrap().map(|file| file.unwrap().path());
    for file in files.chain([root.join("token")]) {
        let mode = fs_err::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{}", file.display());
    }
}

#[test]
fn settings_that_can_not_be_used_are_named() {
    let home = TestHome::new();
    for (variable, value, message) in [
        ("TMA1_PORT", "http", r#"TMA1_PORT is "http", which is not a port number from 1 to 65535"#),
        ("TMA1_DATA_DIR", "data", r#"TMA1_DATA_DIR is "data", which is not an absolute path"#),
        ("TMA1_LOG", "[", r#"TMA1_LOG is "[", which is not a log filter"#),
    ] {
        let output = home.tma1_command(&["serve"]).env(variable, value).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        assert!(stderr.starts_with(&format!("error: {message}\n")), "{stderr}");
        assert!(stderr.contains("\nhint: set "), "{stderr}");
    }
}

/// Keeps the daemon from writing until it is dropped.
fn locked_log(home: &TestHome) -> rusqlite::Connection {
    let connection = rusqlite::Connection::open(home.home().join(".tma1/data/tma1.db")).unwrap();
    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    connection
}

#[test]
fn a_reader_of_its_messages_that_is_gone_does_no_harm() {
    let home = TestHome::new();
    let (reader, writer) = io::pipe().unwrap();
    let daemon = Daemon::start_saying_to(&home, home.tma1_command(&["serve"]), writer);
    drop(reader);
    let locked = locked_log(&home);
    assert_eq!(daemon.post_event(b"no event", ""), (200, String::new()));
    assert_eq!(daemon.post_event(&call("1"), ""), (200, String::new()));
    drop(locked);
    assert_eq!(daemon.post_event(&call("2"), ""), (200, String::new()));
    daemon.stop();
    let (_, block) = Daemon::start(&home).post_event(&prompt(), "");
    assert!(block.contains("tool_calls: 2\n"), "{block}");
}

#[test]
fn a_reader_of_its_messages_that_does_not_read_does_no_harm() {
    let home = TestHome::new();
    let (_reader, writer) = io::pipe().unwrap();
    let mut command = home.tma1_command(&["serve"]);
    command.env("TMA1_LOG", "debug");
    let daemon = Daemon::start_saying_to(&home, command, writer);
    // Each is worth a message, and a pipe holds 64 KiB.
    for _ in 0..1_000 {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, home.port())).unwrap();
        stream.write_all(b"not HTTP\r\n\r\n").unwrap();
        drop(stream.read_to_end(&mut Vec::new()));
    }
    let (_, block) = daemon.post_event(&prompt(), "");
    assert!(block.starts_with("<tma1-context>\n"), "{block}");
    daemon.stop();
}

#[test]
fn after_a_restart_the_answers_are_the_same_whatever_the_log_cut() {
    let home = TestHome::new();
    let project = home.project().join("api");
    fs_err::create_dir(&project).unwrap();
    let codex = |name: &str, patch: &str| {
        json!({
            "hook_event_name": name, "session_id": "s", "cwd": project,
            "tool_name": "apply_patch", "tool_input": {"command": patch},
        })
        .to_string()
        .into_bytes()
    };
    let content = "+line\n".repeat(20_000);
    let patch = format!("*** Begin Patch\n*** Add File: a\n{content}*** Add File: b\n+1\n");
    let query = "?source=codex&envelope=codex";
    let ask = |daemon: &Daemon| daemon.post_event(&codex("UserPromptSubmit", ""), query).1;
    let daemon = Daemon::start(&home);
    daemon.post_event(&codex("PostToolUse", &patch), query);
    let before = ask(&daemon);
    assert!(before.contains(r"project: api\n") && before.contains(r"recent_files: b, a\n"));
    daemon.kill();
    // The directory is part of another project from now on.
    fs_err::create_dir(home.project().join(".git")).unwrap();
    assert_eq!(ask(&Daemon::start(&home)), before);
}

#[test]
fn an_event_with_half_a_character_is_an_event() {
    let home = TestHome::new();
    let daemon = Daemon::start(&home);
    let event = String::from_utf8(call("1")).unwrap().replace('}', r#","cut":"\ud83d"}"#);
    daemon.post_event(event.as_bytes(), "");
    let (_, block) = daemon.post_event(&prompt(), "");
    assert!(block.contains("tool_calls: 1\n"), "{block}");
}

#[test]
fn fields_without_bounds_do_no_harm() {
    let home = TestHome::new();
    let daemon = Daemon::start(&home);
    let long = |unit: &str| unit.repeat(1 << 20);
    let patch = json!({"command": "*** Add File: a\n".repeat(20_000)});
    for field in [
        json!({"session_id": long("s")}),
        json!({"cwd": long("/a")}),
        json!({"tool_name": long("t")}),
        json!({"tool_use_id": long("i")}),
        json!({"tool_name": "apply_patch", "cwd": long("/a"), "tool_input": patch}),
        json!({"tool_input": vec![0; 1 << 20]}),
    ] {
        for name in ["PreToolUse", "PostToolUse", "Stop"] {
            let (status, _) = daemon.post_event(&event(name, &field), "?source=codex");
            assert_eq!(status, 200);
        }
    }
    let (_, block) = daemon.post_event(&prompt(), "");
    assert!(block.starts_with("<tma1-context>\n"), "{block}");
}

#[cfg(unix)]
#[test]
fn a_log_that_stays_locked_does_not_keep_it_from_ending() {
    let home = TestHome::new();
    let daemon = Daemon::start(&home);
    let _locked = locked_log(&home);
    assert_eq!(daemon.post_event(&call("1"), "").0, 200);
    assert_eq!(daemon.stop().code(), Some(0));
}

/// Connections that have sent `bytes` and wait.
fn waiting_connections(home: &TestHome, number: usize, bytes: &[u8]) -> Vec<TcpStream> {
    let connect = || {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, home.port())).unwrap();
        stream.write_all(bytes).unwrap();
        stream
    };
    std::iter::repeat_with(connect).take(number).collect()
}

#[test]
fn connections_that_nobody_uses_keep_no_hook_waiting() {
    let home = TestHome::new();
    let _daemon = Daemon::start(&home);
    let port = home.port().to_string();
    let event = String::from_utf8(prompt()).unwrap();
    let request = b"GET /health HTTP/1.1\r\nHost: localhost\r\n";
    let whole = [&request[..], b"\r\n"].concat();
    for bytes in [&b""[..], request, &whole, &whole.repeat(100)] {
        let _waiting = waiting_connections(&home, 300, bytes);
        let run = home.tma1_fed(&["hook", "--port", &port], &event).succeeded();
        assert!(run.stdout.starts_with("<tma1-context>\n"), "{run:#?}");
    }
}

#[test]
fn a_connection_is_for_one_request() {
    let home = TestHome::new();
    let _daemon = Daemon::start(&home);
    let request = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(2);
    let mut stream = waiting_connections(&home, 1, &request).remove(0);
    let mut answer = Vec::new();
    // What is left unread may break the connection off.
    drop(stream.read_to_end(&mut answer));
    let answer = String::from_utf8(answer).unwrap();
    assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{answer}");
    assert!(answer.contains("connection: close\r\n"), "{answer}");
}
