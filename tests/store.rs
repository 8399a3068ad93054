//! The event log: what was answered is in it once, whatever happens to the daemon, the disk, the file
//! or the clock, and no agent notices.

use std::hash::{BuildHasher, RandomState};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rusqlite::Connection;
use serde_json::{Value, json};
use tma1::clock;

use crate::support::daemon::Daemon;
#[cfg(unix)]
use crate::support::disk::SmallDisk;
use crate::support::home::TestHome;
use crate::support::http;
use crate::support::long_log;
#[cfg(unix)]
use crate::support::npm::skip;
use crate::support::{say, scale};

fn event(name: &str, session: &str, more: &Value) -> Vec<u8> {
    let mut event =
        json!({"session_id": session, "cwd": "/home/dev/shop", "hook_event_name": name});
    for (field, value) in more.as_object().unwrap() {
        event[field] = value.clone();
    }
    event.to_string().into_bytes()
}

fn call(session: &str, id: &str) -> Vec<u8> {
    event("PreToolUse", session, &json!({"tool_name": "Bash", "tool_use_id": id}))
}

fn prompt(session: &str) -> Vec<u8> {
    event("UserPromptSubmit", session, &json!({"prompt": "go"}))
}

fn database(home: &TestHome) -> PathBuf {
    home.home().join(".tma1/data/tma1.db")
}

fn number(home: &TestHome, query: &str) -> i64 {
    let log = Connection::open(database(home)).unwrap();
    log.query_row(query, [], |row| row.get(0)).unwrap()
}

fn status(home: &TestHome) -> Value {
    let headers = format!("Authorization: Bearer {}\r\n", home.token());
    let (_, body) = http::request_as(home.port(), "GET", "/api/status", &headers, b"").unwrap();
    serde_json::from_str(&body).unwrap()
}

/// Somewhere between nothing and `most`.
fn any_part_of(most: Duration) -> Duration {
    let nanoseconds = u64::try_from(most.as_nanos()).unwrap();
    Duration::from_nanos(RandomState::new().hash_one(0) % nanoseconds)
}

/// Posts calls until the daemon is gone; the ids of those that were answered, and of those that were
/// answered because the disk took too long.
fn post_until(
    home: &TestHome,
    round: usize,
    poster: usize,
    ended: &AtomicBool,
) -> (Vec<String>, Vec<String>) {
    let (mut logged, mut late) = (Vec::new(), Vec::new());
    for index in 0.. {
        let id = format!("{round}-{poster}-{index}");
        let body = call("s", &id);
        match http::is_logged(home.port(), &body) {
            Ok(true) => logged.push(id),
            Ok(false) => late.push(id),
            Err(_) if ended.load(Ordering::Relaxed) => break,
            Err(_) => {}
        }
    }
    (logged, late)
}

#[test]
fn whatever_was_answered_before_a_kill_is_in_the_log_once() {
    let home = TestHome::new();
    let (mut answered, mut late) = (Vec::new(), Vec::new());
    for round in 0..5 * scale() {
        let daemon = Daemon::start(&home);
        let ended = AtomicBool::new(false);
        let (home, is_ended) = (&home, &ended);
        std::thread::scope(|scope| {
            let posters: Vec<_> = (0..4)
                .map(|poster| scope.spawn(move || post_until(home, round, poster, is_ended)))
                .collect();
            std::thread::sleep(any_part_of(Duration::from_millis(150)));
            daemon.kill();
            ended.store(true, Ordering::Relaxed);
            for poster in posters {
                let (logged, others) = poster.join().unwrap();
                answered.extend(logged);
                late.extend(others);
            }
        });
    }
    let log = Connection::open(database(&home)).unwrap();
    let sound: String = log.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(sound, "ok");
    let mut of_call = log
        .prepare(
            "SELECT count(*) FROM tma1_hook_events WHERE session_id = 's' AND tool_use_id = ?1",
        )
        .unwrap();
    for id in &answered {
        let times: i64 = of_call.query_row([id], |row| row.get(0)).unwrap();
        assert_eq!(times, 1, "{id}");
    }
    for id in &late {
        let times: i64 = of_call.query_row([id], |row| row.get(0)).unwrap();
        assert!(times <= 1, "{id}");
    }
    say(&format!("{} answers in the log, {} came before it", answered.len(), late.len()));
    let logged = number(&home, "SELECT count(*) FROM tma1_hook_events");
    assert_eq!(number(&home, "SELECT tool_calls FROM tma1_sessions"), logged);
    assert!(answered.len() > late.len(), "{} and {}", answered.len(), late.len());
    // The same as a daemon says that was not killed and took the same events.
    let (_, block) = Daemon::start(&home).post_event(&prompt("s"), "");
    let spared = TestHome::new();
    let daemon = Daemon::start(&spared);
    let mut payloads =
        log.prepare("SELECT payload FROM tma1_hook_events ORDER BY id LIMIT ?1").unwrap();
    let payloads = payloads.query_map([logged], |row| row.get::<_, String>(0)).unwrap();
    for payload in payloads {
        daemon.post_event(payload.unwrap().as_bytes(), "");
    }
    let spared = daemon.post_event(&prompt("s"), "").1;
    assert_eq!(without_duration(&block), without_duration(&spared));
}

/// The rest of a block; a log that is played again takes less time than it took.
fn without_duration(block: &str) -> Vec<&str> {
    block.lines().filter(|line| !line.starts_with("duration: ")).collect()
}

/// A log of a daemon that was killed, with calls of one session.
fn recorded(calls: usize) -> TestHome {
    let home = TestHome::new();
    let daemon = Daemon::start(&home);
    for index in 0..calls {
        daemon.post_event(&call("s", &index.to_string()), "");
    }
    daemon.stop();
    home
}

/// What happens to the bytes of a log.
type Damage = fn(&mut Vec<u8>);

#[test]
fn a_damaged_log_is_moved_aside_and_agents_notice_nothing() {
    let damages: [(&str, Damage); 4] = [
        ("truncated", |bytes| bytes.truncate(bytes.len() / 2)),
        ("emptied of its header", |bytes| bytes[..100].fill(0)),
        ("zeroed", |bytes| bytes.fill(0)),
        ("flipped", |bytes| {
            for byte in bytes.iter_mut().skip(4096).step_by(97) {
                *byte ^= 0x10;
            }
        }),
    ];
    for (name, damage) in damages {
        let home = recorded(40);
        let path = database(&home);
        let mut bytes = fs_err::read(&path).unwrap();
        damage(&mut bytes);
        fs_err::write(&path, bytes).unwrap();
        let daemon = Daemon::start(&home);
        let (code, block) = daemon.post_event(&prompt("s"), "");
        assert_eq!(code, 200, "{name}");
        assert!(block.starts_with("<tma1-context>\n"), "{name}: {block}");
        let port = home.port().to_string();
        let sent = String::from_utf8(prompt("s")).unwrap();
        let run = home.tma1_fed(&["hook", "--port", &port], &sent).succeeded();
        assert!(run.stdout.starts_with("<tma1-context>\n"), "{name}: {run:?}");
        let problem = status(&home)["log_problem"].as_str().unwrap_or_default().to_owned();
        assert!(problem.contains("was moved to"), "{name}: {problem}");
        let said = home.tma1(&["status"]).succeeded().stdout;
        assert!(said.contains("problem: the event log was damaged"), "{name}: {said}");
        daemon.stop();
        let names = fs_err::read_dir(path.parent().unwrap()).unwrap();
        let names = names.map(|file| file.unwrap().file_name().into_string().unwrap());
        assert!(names.into_iter().any(|file| file.starts_with("tma1.db.damaged-")), "{name}");
        let log = Connection::open(&path).unwrap();
        let sound: String = log.query_row("PRAGMA quick_check", [], |row| row.get(0)).unwrap();
        assert_eq!(sound, "ok", "{name}");
    }
}

#[test]
fn what_can_be_read_of_a_damaged_log_is_kept() {
    let home = recorded(40);
    let path = database(&home);
    // A page of an index is damaged, and no event.
    let log = Connection::open(&path).unwrap();
    let root: u32 = log
        .query_row(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'tma1_hook_events_by_session'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    drop(log);
    let mut bytes = fs_err::read(&path).unwrap();
    let page = usize::try_from(root - 1).unwrap() * 4096;
    bytes[page..page + 4096].fill(0xff);
    fs_err::write(&path, bytes).unwrap();
    let daemon = Daemon::start(&home);
    let (_, block) = daemon.post_event(&prompt("s"), "");
    assert!(block.contains("tool_calls: 40\n"), "{block}");
    daemon.stop();
    assert_eq!(number(&home, "SELECT count(*) FROM tma1_hook_events"), 41);
}

#[test]
fn a_session_that_is_resumed_after_days_starts_with_what_it_did() {
    let home = recorded(30);
    let log = Connection::open(database(&home)).unwrap();
    let days = 3 * 24 * 3_600 * 1_000;
    for change in [
        format!("UPDATE tma1_hook_events SET ts = ts - {days}"),
        format!(
            "UPDATE tma1_sessions SET first_ts = first_ts - {days}, last_ts = last_ts - {days}"
        ),
    ] {
        log.execute_batch(&change).unwrap();
    }
    drop(log);
    let daemon = Daemon::start(&home);
    assert_eq!(status(&home)["sessions"], 0);
    let resume = event("SessionStart", "s", &json!({"source": "resume"}));
    let (_, block) = daemon.post_event(&resume, "");
    assert!(block.contains("tool_calls: 30\n") && block.contains("duration: 3 d"), "{block}");
}

#[test]
fn of_a_session_too_long_to_be_read_again_the_totals_are_known() {
    let home = TestHome::new();
    fs_err::create_dir_all(database(&home).parent().unwrap()).unwrap();
    long_log::write(&database(&home), 1);
    let mut log = Connection::open(database(&home)).unwrap();
    let now = clock::now().as_unix_millis();
    let long_ago = now - 5 * 24 * 3_600 * 1_000;
    let write = log.transaction().unwrap();
    for index in 0..5_000 {
        let tool = if index % 5 == 0 { "Read" } else { "Bash" };
        let input = json!({"command": "true", "file_path": "/nowhere/a.rs"});
        let payload = json!({
            "hook_event_name": "PreToolUse", "session_id": "long", "cwd": "/nowhere",
            "tool_name": tool, "tool_use_id": index.to_string(), "tool_input": input,
        });
        let event = "INSERT INTO tma1_hook_events (ts, agent_source, session_id, event_type,
                tool_name, tool_use_id, cwd, payload, project_root)
            VALUES (?1, 'claude-code', 'long', 'PreToolUse', ?2, ?3, '/nowhere', ?4, '/nowhere')";
        let values = (long_ago + index, tool, index.to_string(), payload.to_string());
        write.execute(event, values).unwrap();
    }
    let session = "INSERT INTO tma1_sessions (agent_source, session_id, project_root, first_ts,
            last_ts, events, tool_calls, failures)
        VALUES ('claude-code', 'long', '/nowhere', ?1, ?1 + 5000, 5000, 5000, 7)";
    write.execute(session, [long_ago]).unwrap();
    write.commit().unwrap();
    drop(log);
    let daemon = Daemon::start(&home);
    let resume = event("SessionStart", "long", &json!({"source": "resume"}));
    let (_, block) = daemon.post_event(&resume, "");
    for line in ["duration: 5 d\n", "tool_calls: 5000", "Bash×4000, Read×1000\n"] {
        assert!(block.contains(line), "{line} is not in {block}");
    }
}

#[test]
fn a_clock_that_was_set_back_changes_no_order_and_no_age_is_negative() {
    let home = recorded(5);
    let log = Connection::open(database(&home)).unwrap();
    let years = 10_i64 * 365 * 24 * 3_600 * 1_000;
    for change in [
        format!("UPDATE tma1_hook_events SET ts = ts + {years}"),
        format!(
            "UPDATE tma1_sessions SET first_ts = first_ts + {years}, last_ts = last_ts + {years}"
        ),
    ] {
        log.execute_batch(&change).unwrap();
    }
    drop(log);
    let daemon = Daemon::start(&home);
    let (_, block) = daemon.post_event(&prompt("s"), "");
    assert!(block.contains("tool_calls: 5\n") && block.contains("duration: <1 min"), "{block}");
    daemon.stop();
    assert_eq!(number(&home, "SELECT count(*) FROM tma1_hook_events"), 6);
    let last =
        "SELECT event_type = 'UserPromptSubmit' FROM tma1_hook_events ORDER BY id DESC LIMIT 1";
    assert_eq!(number(&home, last), 1);
}

#[cfg(unix)]
#[test]
fn on_a_disk_that_is_read_only_the_daemon_remembers_while_it_runs() {
    let home = recorded(7);
    let data = database(&home).parent().unwrap().to_owned();
    let log = fs_err::read(database(&home)).unwrap();
    let Some(disk) = SmallDisk::mount_of(&data, "4m") else {
        skip("only root can mount a disk of its own");
        return;
    };
    fs_err::write(database(&home), log).unwrap();
    disk.make_read_only();
    let daemon = Daemon::start(&home);
    daemon.post_event(&call("s", "more"), "");
    let (_, block) = daemon.post_event(&prompt("s"), "");
    assert!(block.contains("tool_calls: 8\n"), "{block}");
    let problem = status(&home)["log_problem"].as_str().unwrap_or_default().to_owned();
    assert!(problem.contains("can't be written"), "{problem}");
    assert_eq!(daemon.stop().code(), Some(0));
}

#[cfg(unix)]
#[test]
fn on_a_full_disk_events_wait_and_are_written_when_there_is_room() {
    let home = TestHome::new();
    let data = database(&home).parent().unwrap().to_owned();
    fs_err::create_dir_all(&data).unwrap();
    let Some(_disk) = SmallDisk::mount_of(&data, "4m") else {
        skip("only root can mount a disk of its own");
        return;
    };
    let daemon = Daemon::start(&home);
    daemon.post_event(&call("s", "first"), "");
    let filler = data.join("filler");
    let mut bytes = 4 << 20;
    while bytes > 512 {
        let mut file = fs_err::OpenOptions::new().create(true).append(true).open(&filler).unwrap();
        if std::io::Write::write_all(&mut file, &vec![1; bytes]).is_err() {
            bytes /= 2;
        }
    }
    let large = json!({"tool_name": "Bash", "tool_input": {"note": "x".repeat(30_000)}});
    let started = clock::monotonic();
    for index in 0..50 {
        let mut event = large.clone();
        event["tool_use_id"] = index.to_string().into();
        assert_eq!(daemon.post_event(&self::event("PreToolUse", "s", &event), "").0, 200);
    }
    // One of them has waited; had each, this were more.
    let took = clock::monotonic() - started;
    let said = fs_err::read_to_string(home.tmp().join("daemon.log")).unwrap();
    assert!(took < Duration::from_secs(6), "{took:?}: {said}");
    let problem = status(&home)["log_problem"].as_str().unwrap_or_default().to_owned();
    assert!(problem.contains("can't be written now"), "{problem}");
    fs_err::remove_file(&filler).unwrap();
    let deadline = clock::monotonic() + Duration::from_secs(10);
    while !status(&home)["log_problem"].is_null() && clock::monotonic() < deadline {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(status(&home)["events_lost"], 0);
    daemon.stop();
    assert_eq!(number(&home, "SELECT count(*) FROM tma1_hook_events"), 51);
}

#[test]
fn what_is_too_old_goes_in_small_steps_and_the_file_shrinks() {
    let home = TestHome::new();
    fs_err::create_dir_all(database(&home).parent().unwrap()).unwrap();
    let events = 6_000 * scale();
    long_log::write(&database(&home), events);
    let before = fs_err::metadata(database(&home)).unwrap().len();
    let mut command = home.tma1_command(&["serve"]);
    command.env("TMA1_DATA_TTL", "20d");
    let daemon = Daemon::start_command(&home, command);
    let cutoff = clock::now().as_unix_millis() - 20 * 24 * 3_600 * 1_000;
    let old = format!(
        "SELECT (SELECT count(*) FROM tma1_hook_events WHERE ts < {cutoff})
             + (SELECT count(*) FROM tma1_sessions WHERE last_ts < {cutoff})"
    );
    let limit = clock::monotonic() + Duration::from_secs(60);
    while number(&home, &old) > 0 && clock::monotonic() < limit {
        assert_eq!(daemon.post_event(&call("s", "now"), "").0, 200);
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(number(&home, &old), 0);
    daemon.stop();
    // What is left is what is young, and not one event less.
    let left = number(&home, "SELECT count(*) FROM tma1_hook_events WHERE session_id <> 's'");
    let expected = i64::try_from(events).unwrap() * 20 / 59;
    assert!((left - expected).abs() < 20, "{left} and not {expected}");
    let words =
        "SELECT count(*) FROM tma1_messages_fts WHERE rowid NOT IN (SELECT id FROM tma1_messages)";
    assert_eq!(number(&home, words), 0);
    let after = fs_err::metadata(database(&home)).unwrap().len();
    assert!(after * 4 < before * 3, "{before} bytes, and {after} afterwards");
}
