//! The daemon that is simply there: started, ended, replaced, and started by hooks; and what can be in
//! its way. Each case ends in a working daemon or one clear message, and hooks stay quiet and fast.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use fs_err::File;
use serde_json::{Value, json};
use tma1::clock;

use crate::install::{INSTALL, script};
use crate::support::daemon::Daemon;
use crate::support::disk::SmallDisk;
use crate::support::home::TestHome;
use crate::support::http;
use crate::support::mcp::McpServer;
use crate::support::npm::skip;
use crate::support::other_version::OtherVersion;
use crate::support::process::{Run, signal};

const LIMIT: Duration = Duration::from_secs(30);
const PATIENCE: Duration = Duration::from_secs(10);
const EVENT: &str = r#"{"hook_event_name":"UserPromptSubmit","session_id":"s","cwd":"/shop"}"#;

/// A home in which the daemon may be started unasked.
fn installed() -> TestHome {
    let home = TestHome::new();
    home.tma1(&INSTALL).succeeded();
    home
}

fn may_autostart(mut command: Command) -> Command {
    command.env_remove("TMA1_NO_AUTOSTART");
    command
}

/// The hook script, as an agent starts it.
fn hook_command(home: &TestHome) -> Command {
    may_autostart(home.command(script(home)))
}

/// Runs the hook script, which has to be quiet and fast, and returns its answer.
#[track_caller]
fn hook(home: &TestHome, command: &mut Command) -> String {
    let started = clock::monotonic();
    let run = Run::fed(command, EVENT.into(), LIMIT).succeeded();
    let took = started.elapsed();
    assert_eq!(run.stderr, "", "{}", home.root().display());
    assert!(took < Duration::from_secs(2), "{took:?}");
    run.stdout
}

#[track_caller]
fn silent_hook(home: &TestHome) {
    assert_eq!(hook(home, &mut hook_command(home)), "");
}

fn wait_until(mut condition: impl FnMut() -> bool) -> bool {
    let deadline = clock::monotonic() + PATIENCE;
    while clock::monotonic() < deadline {
        if condition() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    false
}

fn health(home: &TestHome) -> Option<Value> {
    match http::request(home.port(), "GET", "/health", b"") {
        Ok((200, body)) => serde_json::from_str(&body).ok(),
        _ => None,
    }
}

fn pid(home: &TestHome) -> Option<u32> {
    health(home)?["pid"].as_u64()?.try_into().ok()
}

/// The process of the daemon, once it answers.
#[track_caller]
fn pid_in_time(home: &TestHome) -> u32 {
    assert!(wait_until(|| health(home).is_some()), "{}", log(home));
    pid(home).unwrap()
}

fn log(home: &TestHome) -> String {
    fs_err::read_to_string(home.home().join(".tma1/logs/daemon.log")).unwrap_or_default()
}

fn status(home: &TestHome) -> Value {
    serde_json::from_str(&home.tma1(&["status", "--json"]).stdout).unwrap()
}

/// Takes back that somebody has just tried.
fn forget_attempt(home: &TestHome) {
    fs_err::remove_file(home.home().join(".tma1/autostart")).unwrap();
}

#[test]
fn it_is_started_watched_restarted_and_ended() {
    let home = TestHome::new();
    let port = home.port();
    let run = home.tma1(&["stop"]).succeeded();
    assert_eq!(run.stdout, "The daemon is not running.\n");
    assert!(!home.home().join(".tma1").exists());
    assert_eq!(home.tma1(&["logs"]).status, Some(1));

    let run = home.tma1(&["start"]).succeeded();
    let first = pid(&home).unwrap();
    assert_eq!(run.stdout, format!("The daemon was started (process {first}, port {port}).\n"));
    let run = home.tma1(&["start"]).succeeded();
    assert_eq!(run.stdout, format!("The daemon runs already (process {first}, port {port}).\n"));

    home.tma1_fed(&["hook", "--port", &port.to_string()], EVENT).succeeded();
    let told = status(&home);
    assert_eq!(
        (&told["running"], &told["pid"], &told["port"]),
        (&json!(true), &json!(first), &json!(port))
    );
    assert_eq!((&told["sessions"], &told["events_lost"]), (&json!(1), &json!(0)));
    assert_eq!(told["version"], env!("CARGO_PKG_VERSION"));
    assert!(told["memory_bytes"].as_u64().unwrap() > 1 << 20, "{told}");
    assert_eq!(told["log_bytes"], log(&home).len());
    let said = home.tma1(&["status"]).succeeded().stdout;
    assert!(said.starts_with(&format!("The daemon runs.\nprocess: {first}\n")), "{said}");
    assert!(said.contains("\nsessions: 1\nevents lost: 0\n"), "{said}");

    home.tma1(&["restart"]).succeeded();
    let second = pid(&home).unwrap();
    assert_ne!(first, second);
    let run = home.tma1(&["stop"]).succeeded();
    assert_eq!(run.stdout, format!("The daemon (process {second}) has ended.\n"));
    assert!(health(&home).is_none());
    let run = home.tma1(&["status"]);
    assert_eq!(run.status, Some(1));
    assert!(
        run.stdout.contains("is not running") && run.stdout.contains("was stopped"),
        "{run:#?}"
    );
    let told = status(&home);
    assert_eq!((&told["running"], &told["store"]["events"]), (&json!(false), &json!(1)));

    let logged = home.tma1(&["logs"]).succeeded().stdout;
    assert_eq!(logged.matches("is listening on").count(), 2, "{logged}");
    assert_eq!(logged.matches("has ended").count(), 2, "{logged}");
    let last = home.tma1(&["logs", "-n", "1"]).succeeded().stdout;
    assert!(logged.ends_with(&last) && last.lines().count() == 1, "{last}");
}

#[test]
fn what_it_leaves_is_private_and_goes_with_a_purge() {
    let home = installed();
    home.tma1(&["start"]).succeeded();
    silent_after_start(&home);
    home.tma1(&["stop"]).succeeded();
    let root = home.home().join(".tma1");
    for (name, mode) in [("logs", 0o700), ("logs/daemon.log", 0o600), ("stopped", 0o600)] {
        let found = fs_err::metadata(root.join(name)).unwrap().permissions().mode();
        assert_eq!(found & 0o777, mode, "{name}");
    }
    let uninstall = ["uninstall", "--adapter", "claude-code", "--purge-data", "--yes"];
    home.tma1(&uninstall).succeeded();
    assert!(!root.exists(), "{:?}", crate::support::tree::tree(&root));
}

/// A hook that is answered.
fn silent_after_start(home: &TestHome) {
    assert!(hook(home, &mut hook_command(home)).starts_with("<tma1-context>"));
}

#[test]
fn it_is_apart_from_whoever_started_it() {
    let home = TestHome::new();
    let mut shell = home.command("bash");
    // A pipe under a number of its own, which whoever reads it waits for.
    shell.args(["-c", r#""$0" start 9>&1"#]).arg(home.binary()).env("SECRET_KEY", "mine");
    shell.current_dir(home.project());
    Run::of(&mut shell, LIMIT).succeeded();
    let pid = pid(&home).unwrap();
    let process = |name: &str| std::path::PathBuf::from(format!("/proc/{pid}/{name}"));
    let stat = fs_err::read_to_string(process("stat")).unwrap();
    let fields: Vec<_> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
    let own = pid.to_string();
    // Its group, its session, and no terminal.
    assert_eq!(fields[2..5], [own.as_str(), own.as_str(), "0"], "{stat}");
    assert_eq!(fs_err::read_link(process("cwd")).unwrap(), std::path::Path::new("/"));
    let environment = fs_err::read(process("environ")).unwrap();
    assert!(!String::from_utf8_lossy(&environment).contains("SECRET_KEY"));
    let data = home.home().join(".tma1");
    for entry in fs_err::read_dir(process("fd")).unwrap() {
        let path = entry.unwrap().path();
        let Ok(open) = fs_err::read_link(&path) else { continue };
        let is_own = open.starts_with(&data)
            || open == std::path::Path::new("/dev/null")
            || ["socket:", "anon_inode:"]
                .iter()
                .any(|kind| open.to_string_lossy().starts_with(kind));
        assert!(is_own, "{} is {}", path.display(), open.display());
    }
    home.tma1(&["stop"]).succeeded();
}

#[test]
fn a_burst_of_hooks_starts_one_daemon() {
    let home = installed();
    let start = |_| {
        let mut command = hook_command(&home);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(EVENT.as_bytes()).unwrap();
        child
    };
    let burst: Vec<Child> = (0..50).map(start).collect();
    for child in burst {
        // It waits for everyone who holds the output, as an agent does.
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        // Late ones may be answered.
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(said.is_empty() || said.ends_with("</tma1-context>"), "{said}");
    }
    let pid = pid_in_time(&home);
    assert_eq!(log(&home).matches("is listening on").count(), 1, "{}", log(&home));
    assert!(!log(&home).contains("error"), "{}", log(&home));
    assert_eq!(log(&home).lines().count(), 1, "{}", log(&home));
    silent_after_start(&home);
    assert_eq!(status(&home)["pid"], pid);
    home.tma1(&["stop"]).succeeded();
}

#[test]
fn hooks_start_no_daemon_where_nobody_wants_one() {
    let home = installed();
    let none_started = |why: &str| {
        std::thread::sleep(Duration::from_millis(300));
        assert!(health(&home).is_none() && log(&home).is_empty(), "{why}: {}", log(&home));
    };
    for value in ["1", "true"] {
        hook(&home, hook_command(&home).env("TMA1_NO_AUTOSTART", value));
    }
    none_started("switched off");
    home.tma1(&["stop"]).succeeded();
    silent_hook(&home);
    none_started("stopped");
    fs_err::remove_file(home.home().join(".tma1/stopped")).unwrap();
    let receipts = home.home().join(".tma1/receipts");
    fs_err::rename(&receipts, home.root().join("receipts")).unwrap();
    silent_hook(&home);
    drop(McpServer::open(may_autostart(home.tma1_command(&["mcp-serve"])), "2025-11-25"));
    none_started("not installed");
    // The same hook starts it once nothing of this is so.
    fs_err::rename(home.root().join("receipts"), &receipts).unwrap();
    silent_hook(&home);
    pid_in_time(&home);
    home.tma1(&["stop"]).succeeded();
    forget_attempt(&home);
    silent_hook(&home);
    std::thread::sleep(Duration::from_millis(300));
    assert!(health(&home).is_none());
    home.tma1(&["start"]).succeeded();
    silent_after_start(&home);
    home.tma1(&["stop"]).succeeded();
}

#[test]
fn a_daemon_that_can_not_start_is_not_tried_with_each_hook() {
    let home = installed();
    let data = home.home().join(".tma1/data");
    fs_err::write(&data, "no folder").unwrap();
    for _ in 0..10 {
        silent_hook(&home);
    }
    assert!(wait_until(|| log(&home).contains("error:")), "{}", log(&home));
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(log(&home).matches("error:").count(), 1, "{}", log(&home));
    let run = home.tma1(&["start"]);
    assert_eq!(run.status, Some(1));
    assert!(run.stderr.starts_with("error: ") && run.stderr.contains(".tma1/data"), "{run:#?}");
    // Once it can, the next attempt does it, also after the clock was set back.
    fs_err::remove_file(&data).unwrap();
    let future = clock::now().as_unix_millis() + 3_600_000;
    fs_err::write(home.home().join(".tma1/autostart"), future.to_string()).unwrap();
    silent_hook(&home);
    pid_in_time(&home);
    home.tma1(&["stop"]).succeeded();
}

#[test]
fn an_agent_that_asks_starts_it_and_is_answered() {
    let home = installed();
    let command = may_autostart(home.tma1_command(&["mcp-serve"]));
    let mut server = McpServer::open(command, "2025-11-25").0;
    let (failed, text) = server.call("get_session_state", &json!({}), &json!({}));
    assert!(failed && text.contains("not seen this session"), "{text}");
    let first = pid(&home).unwrap();
    // What was killed is started again, though not twice in a minute.
    signal("KILL", first);
    assert!(wait_until(|| health(&home).is_none()));
    forget_attempt(&home);
    let (_, text) = server.call("get_session_state", &json!({}), &json!({}));
    assert!(text.contains("not seen this session"), "{text}");
    assert_ne!(pid(&home).unwrap(), first);
    assert!(!std::path::Path::new(&format!("/proc/{first}")).exists(), "it was not waited for");
    assert_eq!(server.end(), (vec![], Some(0)));
    assert!(health(&home).is_some(), "it outlives the agent");
    home.tma1(&["stop"]).succeeded();
}

#[test]
fn a_daemon_of_another_version_makes_room() {
    for version in ["0.0.1", "99.0.0"] {
        let home = TestHome::new();
        let old = OtherVersion::start(&home, version, true, None);
        let run = home.tma1(&["start"]).succeeded();
        let in_place = format!("The daemon was started in the place of version {version} (");
        assert!(run.stdout.starts_with(&in_place), "{run:#?}");
        assert!(old.end());
        assert_eq!(health(&home).unwrap()["version"], env!("CARGO_PKG_VERSION"));
        home.tma1(&["stop"]).succeeded();
    }
}

#[test]
fn an_agent_that_starts_replaces_an_older_daemon_and_no_later_one() {
    for (version, replaced) in [("0.0.1", true), ("99.0.0", false), ("strange", false)] {
        let home = installed();
        let other = OtherVersion::start(&home, version, true, None);
        let command = may_autostart(home.tma1_command(&["mcp-serve"]));
        let server = McpServer::open(command, "2025-11-25").0;
        let own = || health(&home).is_some_and(|it| it["version"] == env!("CARGO_PKG_VERSION"));
        if replaced {
            assert!(wait_until(own), "{}", log(&home));
        } else {
            assert!(wait_until(|| !other.was_asked_nothing()));
            std::thread::sleep(Duration::from_millis(300));
            assert!(!other.was_asked_to_stop(), "{version}");
        }
        assert_eq!(other.end(), replaced);
        drop(server);
        home.tma1(&["stop"]).succeeded();
    }
}

/// What is in the way of a daemon, and what it takes to keep it there.
type Obstacle = fn(&TestHome) -> Option<Box<dyn std::any::Any>>;

/// How `tma1 start` ends.
enum End {
    Works,
    Says(&'static [&'static str]),
}

fn lock_file(home: &TestHome, text: &str) -> File {
    let data = home.home().join(".tma1/data");
    fs_err::create_dir_all(&data).unwrap();
    fs_err::write(data.join("daemon.lock"), text).unwrap();
    File::open(data.join("daemon.lock")).unwrap()
}

/// A process that has nothing to do with us; it is there as long as this.
struct Bystander(Child);

impl Drop for Bystander {
    fn drop(&mut self) {
        assert!(self.0.try_wait().unwrap().is_none(), "somebody has ended it");
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

fn bystander() -> Bystander {
    Bystander(Command::new("sleep").arg("600").spawn().unwrap())
}

const OBSTACLES: [(&str, Obstacle, End); 11] = [
    ("nothing", |_| Some(Box::new(())), End::Works),
    (
        "a stranger on the port",
        |home| Some(Box::new(TcpListener::bind((Ipv4Addr::LOCALHOST, home.port())).unwrap())),
        End::Says(&["did not start", "is taken by another program", "TMA1_PORT"]),
    ),
    (
        "the daemon of another data directory on the port",
        |home| {
            let other = TestHome::new();
            let mut serve = other.tma1_command(&["serve"]);
            serve.env("TMA1_PORT", home.port().to_string());
            Some(Box::new((Daemon::start_command(home, serve), other)))
        },
        End::Says(&["did not start", "is taken by another tma1 daemon (process", "TMA1_PORT"]),
    ),
    (
        "the lock of a process that is gone",
        |home| Some(Box::new(lock_file(home, "4194304 9"))),
        End::Works,
    ),
    (
        "the lock of a process whose number another one has by now",
        |home| {
            let bystander = bystander();
            lock_file(home, &format!("{} {}", bystander.0.id(), home.port()));
            Some(Box::new(bystander))
        },
        End::Works,
    ),
    ("a lock that is torn", |home| Some(Box::new(lock_file(home, "\u{0}\u{0}x"))), End::Works),
    (
        "a daemon that holds the data and does not answer",
        |home| {
            let bystander = bystander();
            let lock = lock_file(home, &format!("{} {}", bystander.0.id(), home.port()));
            lock.try_lock().unwrap();
            Some(Box::new((lock, bystander)))
        },
        End::Says(&["has the data directory and does not answer", "(process ", "end it"]),
    ),
    (
        "a daemon of another version that does not end",
        |home| Some(Box::new(OtherVersion::start(home, "0.0.1", false, None))),
        End::Says(&["refused to end, with status 404"]),
    ),
    (
        "a clock that was set back since the last daemon",
        |home| {
            let daemon = Daemon::start(home);
            daemon.post_event(EVENT.as_bytes(), "");
            daemon.stop();
            let log = home.home().join(".tma1/data/tma1.db");
            let log = rusqlite::Connection::open(log).unwrap();
            log.execute("UPDATE tma1_hook_events SET ts = ts + 864000000", ()).unwrap();
            let note = home.home().join(".tma1/autostart");
            fs_err::write(&note, "").unwrap();
            let written = fs_err::metadata(&note).unwrap().modified().unwrap();
            let tomorrow = written + Duration::from_secs(86_400);
            fs_err::OpenOptions::new()
                .write(true)
                .open(&note)
                .unwrap()
                .file()
                .set_modified(tomorrow)
                .unwrap();
            Some(Box::new(()))
        },
        End::Works,
    ),
    (
        "a log of events that is none",
        |home| {
            drop(lock_file(home, ""));
            fs_err::write(home.home().join(".tma1/data/tma1.db"), "no database".repeat(999))
                .unwrap();
            Some(Box::new(()))
        },
        End::Works,
    ),
    (
        "a disk that can not be written to",
        |home| {
            let root = home.home().join(".tma1");
            let copy = home.root().join("copy");
            fs_err::rename(&root, &copy).unwrap();
            fs_err::create_dir(&root).unwrap();
            let disk = SmallDisk::mount_of(&root, "1m")?;
            let copied = Command::new("cp").arg("-a").arg(copy.join(".")).arg(&root).status();
            assert!(copied.unwrap().success());
            disk.make_read_only();
            Some(Box::new(disk))
        },
        End::Says(&["Read-only file system"]),
    ),
];

#[test]
fn whatever_is_in_the_way_it_works_or_says_why_and_hooks_do_not_mind() {
    for (name, obstacle, end) in OBSTACLES {
        let home = installed();
        let Some(kept) = obstacle(&home) else {
            skip("only root may mount a disk that can't be written to");
            continue;
        };
        // In whatever state, and whether or not this one starts the daemon.
        for _ in 0..2 {
            let said = hook(&home, &mut hook_command(&home));
            let is_ours = said.is_empty() || said.starts_with("<tma1-context>");
            assert!(is_ours, "{name}: {said}");
        }
        let run = home.tma1(&["start"]);
        match end {
            End::Works => {
                assert_eq!(run.status, Some(0), "{name}: {run:#?}");
                assert_eq!(run.stderr, "", "{name}");
                silent_after_start(&home);
                let ended = home.tma1(&["stop"]).succeeded();
                assert!(ended.stdout.ends_with("has ended.\n"), "{name}: {ended:#?}");
            }
            End::Says(words) => {
                assert_eq!(run.status, Some(1), "{name}: {run:#?}");
                for word in words {
                    assert!(run.stderr.contains(word), "{name}: {run:#?}");
                }
                assert_eq!(run.stdout, "", "{name}");
                hook(&home, &mut hook_command(&home));
            }
        }
        drop(kept);
    }
}

#[test]
fn killed_at_any_moment_of_its_start_it_starts_the_next_time() {
    let home = installed();
    for delay in (0..60).step_by(6) {
        let mut command = home.tma1_command(&["serve", "--detached"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        std::thread::sleep(Duration::from_millis(delay));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(hook(&home, hook_command(&home).env("TMA1_NO_AUTOSTART", "1")), "");
        home.tma1(&["start"]).succeeded();
        silent_after_start(&home);
        home.tma1(&["stop"]).succeeded();
    }
}

#[test]
fn a_request_in_flight_is_answered_when_another_daemon_takes_over() {
    let home = TestHome::new();
    home.tma1(&["start"]).succeeded();
    let mut stream = std::net::TcpStream::connect((Ipv4Addr::LOCALHOST, home.port())).unwrap();
    let length = EVENT.len();
    write!(
        stream,
        "POST /api/hooks HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n"
    )
    .unwrap();
    // The daemon has read the head once another connection, made later, is answered.
    let first = pid(&home).unwrap();
    let restart = home.tma1_command(&["restart"]);
    let restarted = std::thread::spawn(move || Run::of(&mut { restart }, LIMIT));
    assert!(wait_until(|| pid(&home) != Some(first)));
    stream.write_all(EVENT.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.ends_with("</tma1-context>"), "{answer}");
    restarted.join().unwrap().succeeded();
    // It was logged too.
    assert_eq!(status(&home)["sessions"], 1);
    home.tma1(&["stop"]).succeeded();
}

#[test]
fn its_log_is_bounded_and_can_be_followed_meanwhile() {
    const MEBIBYTE: usize = 1024 * 1024;
    let home = TestHome::new();
    let logs = home.home().join(".tma1/logs");
    fs_err::create_dir_all(&logs).unwrap();
    // Close to what it may hold, so that little is to be said.
    let full = format!("{}\n", "x".repeat(5 * MEBIBYTE - 2_000));
    fs_err::write(logs.join("daemon.log"), &full).unwrap();
    let mut start = home.tma1_command(&["start"]);
    Run::of(start.env("TMA1_LOG", "debug"), LIMIT).succeeded();
    let mut follow = home.tma1_command(&["logs", "-f", "-n", "0"]);
    let mut process = follow.stdout(Stdio::piped()).spawn().unwrap();
    let mut output = process.stdout.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        output.read_to_string(&mut text).unwrap();
        text
    });
    std::thread::sleep(Duration::from_millis(400));
    let complaints = |number| {
        for _ in 0..number {
            let mut stream =
                std::net::TcpStream::connect((Ipv4Addr::LOCALHOST, home.port())).unwrap();
            stream.write_all(b"not HTTP\r\n\r\n").unwrap();
            drop(stream.read_to_end(&mut Vec::new()));
        }
    };
    complaints(100);
    assert!(wait_until(|| log(&home).len() < MEBIBYTE), "it makes no room");
    complaints(10);
    home.tma1(&["stop"]).succeeded();
    let older = fs_err::metadata(logs.join("daemon.log.1")).unwrap().len();
    assert!(older <= 5 * MEBIBYTE as u64, "{older}");
    std::thread::sleep(Duration::from_millis(600));
    process.kill().unwrap();
    process.wait().unwrap();
    let followed = reader.join().unwrap();
    assert_eq!(followed.matches("a connection broke off").count(), 110);
    assert!(followed.ends_with("the daemon has ended\n"), "{followed}");
    assert_eq!(fs_err::read_dir(&logs).unwrap().count(), 3, "the two and the marker");
}
