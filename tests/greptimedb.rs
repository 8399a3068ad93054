//! The export to a GreptimeDB: whatever either side goes through, both have the same rows in the end.

mod recorded;
mod server;
mod sql;

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use proptest::prelude::*;
use rusqlite::Connection;
use serde_json::{Value as Json, json};
use tma1::clock::{self, Timestamp};
use tma1::export::{Next, Password, Shipper, TABLES, Target, Value};

use crate::support::daemon::Daemon;
use crate::support::home::TestHome;
use crate::support::scale;
use recorded::exchanges;
use server::{Behaviour, Server};
use sql::{Literal, Statement, parse};

/// The longest that the two sides may differ.
const PATIENCE: Duration = Duration::from_secs(60);

/// The longest wait for an answer in a test of slow ones.
const SHORT: Duration = Duration::from_millis(300);

/// `tma1 serve` that exports to `server`.
fn exporting(home: &TestHome, server: &Server) -> Command {
    let mut command = home.tma1_command(&["serve"]);
    command.env("TMA1_GREPTIMEDB_URL", server.url());
    command
}

/// A prompt and a command that fails, the rows of which are in two tables.
fn post(daemon: &Daemon, session: &str, number: usize) {
    let prompt = json!({
        "hook_event_name": "UserPromptSubmit", "session_id": session, "cwd": "/nowhere",
        "prompt": format!("it's prompt {number} \\ \"quoted\" 🦀"),
    });
    let failure = json!({
        "hook_event_name": "PostToolUseFailure", "session_id": session, "cwd": "/nowhere",
        "tool_name": "Bash", "tool_use_id": format!("t{number}"),
        "tool_input": {"command": "cargo test"}, "error": "Exit code 101\nerror: it's broken",
    });
    for event in [prompt, failure] {
        assert_eq!(daemon.post_event(event.to_string().as_bytes(), "").0, 200);
    }
}

fn database(home: &TestHome) -> PathBuf {
    home.home().join(".tma1/data/tma1.db")
}

/// The rows of each table of the log.
fn logged(path: &PathBuf) -> Vec<(&'static str, usize)> {
    let log = Connection::open(path).unwrap();
    let count = |name| {
        let sql = format!("SELECT count(*) FROM {name}");
        let rows: isize = log.query_row(&sql, [], |row| row.get(0)).unwrap();
        rows.unsigned_abs()
    };
    TABLES.iter().map(|table| (table.name, count(table.name))).collect()
}

fn stored(server: &Server) -> Vec<(&'static str, usize)> {
    TABLES.iter().map(|table| (table.name, server.count(table.name))).collect()
}

#[track_caller]
fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = clock::monotonic() + PATIENCE;
    while !condition() {
        assert!(clock::monotonic() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Waits until both sides have the same number of rows, which are some.
#[track_caller]
fn wait_until_equal(home: &TestHome, server: &Server) {
    let path = database(home);
    wait_until("the server has not all rows", || logged(&path) == stored(server));
    assert!(server.count("tma1_hook_events") > 0 && server.count("tma1_build_events") > 0);
}

/// What the daemon tells of its export.
fn export(home: &TestHome) -> Json {
    let run = home.tma1(&["status", "--json"]).succeeded();
    let status: Json = serde_json::from_str(&run.stdout).unwrap();
    status["export"].clone()
}

#[test]
fn rows_arrive_and_status_says_so() {
    let (home, server) = (TestHome::new(), Server::start());
    let daemon = Daemon::start_command(&home, exporting(&home, &server));
    for number in 0..20 * scale() {
        post(&daemon, "s1", number);
    }
    wait_until_equal(&home, &server);
    let messages = server.column("tma1_messages", "content");
    let first = Literal::Text("it's prompt 0 \\ \"quoted\" 🦀".to_owned());
    assert_eq!(messages[0], first);
    let lines = server.column("tma1_build_events", "lines");
    assert_eq!(lines[0], Literal::Text("Exit code 101\nerror: it's broken".to_owned()));
    let success = server.column("tma1_hook_events", "tool_success");
    assert!(success.contains(&Literal::Boolean(false)) && success.contains(&Literal::Null));
    wait_until("the status is behind", || export(&home)["rows_behind"] == 0);
    let export = export(&home);
    assert_eq!((&export["url"], &export["error"]), (&json!(server.url()), &Json::Null));
    assert_eq!(server.ttl("tma1_messages"), "60d");
    assert!(daemon.stop().success());
}

#[test]
fn a_server_that_is_away_is_waited_for_and_hooks_are_answered() {
    let (home, server) = (TestHome::new(), Server::start());
    server.behave(|it| it.is_down = true);
    let daemon = Daemon::start_command(&home, exporting(&home, &server));
    post(&daemon, "s1", 0);
    wait_until("the status has no error", || export(&home)["error"].is_string());
    let said = home.tma1(&["status"]).succeeded().stdout;
    assert!(said.contains("\nexport error: the connection broke"), "{said}");
    server.behave(|it| it.is_down = false);
    post(&daemon, "s1", 1);
    wait_until_equal(&home, &server);
    server.behave(|it| it.is_down = true);
    post(&daemon, "s1", 2);
    wait_until("the status has no error", || export(&home)["error"].is_string());
    server.behave(|it| it.is_down = false);
    wait_until_equal(&home, &server);
    wait_until("the error stays", || export(&home)["error"].is_null());
    assert!(daemon.stop().success());
}

#[test]
fn killed_amid_the_export_it_goes_on_and_neither_loses_nor_doubles_a_row() {
    let (home, server) = (TestHome::new(), Server::start());
    for round in 0..3 * scale() {
        server.behave(|it| it.delay = Duration::from_millis(200));
        let daemon = Daemon::start_command(&home, exporting(&home, &server));
        let before = server.inserts();
        for number in 0..30 {
            post(&daemon, &format!("s{round}"), number);
        }
        // The rows of this statement are stored, and its answer comes when nobody waits any more.
        wait_until("nothing is sent", || server.inserts() > before);
        daemon.kill();
    }
    server.behave(|it| it.delay = Duration::ZERO);
    let daemon = Daemon::start_command(&home, exporting(&home, &server));
    wait_until_equal(&home, &server);
    let mut ids = server.column("tma1_hook_events", "event_id");
    ids.sort_by_key(|id| format!("{id:?}"));
    ids.dedup();
    assert_eq!(ids.len(), server.count("tma1_hook_events"));
    assert!(daemon.stop().success());
}

#[test]
fn a_statement_on_its_way_does_not_hold_up_the_end() {
    let (home, server) = (TestHome::new(), Server::start());
    server.behave(|it| it.delay = Duration::from_secs(25));
    let daemon = Daemon::start_command(&home, exporting(&home, &server));
    post(&daemon, "s1", 0);
    wait_until("nothing is sent", || server.inserts() > 0);
    // Sooner than the answer, by far: the harness does not wait as long as that.
    assert!(daemon.stop().success());
}

#[test]
fn a_wrong_password_is_shown_and_never_itself() {
    let (home, server) = (TestHome::new(), Server::start());
    server.behave(|it| it.users = vec![("tma1:right".to_owned(), true)]);
    let mut command = exporting(&home, &server);
    command.env("TMA1_GREPTIMEDB_USER", "tma1").env("TMA1_GREPTIMEDB_PASSWORD", "hunter2");
    command.env("TMA1_LOG", "trace");
    let daemon = Daemon::start_command(&home, command);
    post(&daemon, "s1", 0);
    wait_until("the status has no error", || export(&home)["error"].is_string());
    let said = home.tma1(&["status"]).succeeded().stdout;
    let error = "export error: Username and password does not match, username: tma1 (7002)";
    assert!(said.contains(error), "{said}");
    let asked = server.statements().len();
    post(&daemon, "s1", 1);
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(server.statements().len(), asked, "it was tried again at once");
    let (status, body) = crate::support::http::request_as(
        home.port(),
        "GET",
        "/api/status",
        &format!("Authorization: Bearer {}\r\n", home.token()),
        b"",
    )
    .unwrap();
    assert_eq!(status, 200);
    assert!(daemon.stop().success());
    let log = fs_err::read_to_string(home.tmp().join("daemon.log")).unwrap();
    assert!(log.contains("the export is held up"), "{log}");
    for text in [said, body, log] {
        assert!(!text.contains("hunter2") && !text.contains("aHVudGVyMg"), "{text}");
    }
}

#[test]
fn a_user_who_may_only_write_goes_without_a_look_at_the_columns() {
    let (home, server) = (TestHome::new(), Server::start());
    server.behave(|it| it.users = vec![("writer:p:w".to_owned(), false)]);
    let mut command = exporting(&home, &server);
    command.env("TMA1_GREPTIMEDB_USER", "writer").env("TMA1_GREPTIMEDB_PASSWORD", "p:w");
    let daemon = Daemon::start_command(&home, command);
    post(&daemon, "s1", 0);
    wait_until_equal(&home, &server);
    assert!(daemon.stop().success());
}

#[test]
fn two_machines_share_a_database() {
    let (one, two, server) = (TestHome::new(), TestHome::new(), Server::start());
    let first = Daemon::start_command(&one, exporting(&one, &server));
    let second = Daemon::start_command(&two, exporting(&two, &server));
    for number in 0..10 {
        post(&first, "a", number);
        post(&second, "b", number);
    }
    let sum = || {
        let (one, two) = (logged(&database(&one)), logged(&database(&two)));
        let sum = one.iter().zip(two).map(|((name, one), (_, two))| (*name, one + two));
        sum.collect::<Vec<_>>()
    };
    wait_until("the server has not all rows", || sum() == stored(&server));
    assert!(first.stop().success() && second.stop().success());
}

#[test]
fn a_new_log_is_exported_beside_what_is_left_of_the_old_one() {
    let (home, server) = (TestHome::new(), Server::start());
    let daemon = Daemon::start_command(&home, exporting(&home, &server));
    post(&daemon, "s1", 0);
    wait_until_equal(&home, &server);
    assert!(daemon.stop().success());
    let old = stored(&server);
    fs_err::remove_file(database(&home)).unwrap();
    let daemon = Daemon::start_command(&home, exporting(&home, &server));
    post(&daemon, "s1", 0);
    let all = || {
        let new = logged(&database(&home)).into_iter();
        new.zip(&old).map(|((name, new), (_, old))| (name, new + old)).collect::<Vec<_>>()
    };
    wait_until("the server has not all rows", || all() == stored(&server));
    assert!(server.count("tma1_hook_events") > old[0].1);
    assert!(daemon.stop().success());
}

#[test]
fn a_setting_that_can_not_be_used_is_an_error_with_its_name() {
    let home = TestHome::new();
    for (name, value) in [
        ("TMA1_GREPTIMEDB_URL", "localhost:4000"),
        ("TMA1_GREPTIMEDB_URL", "http://me:hunter2@h"),
        ("TMA1_GREPTIMEDB_TTL", "60"),
        ("TMA1_GREPTIMEDB_DATABASE", "a b"),
        ("TMA1_GREPTIMEDB_USER", "me"),
    ] {
        let mut command = home.tma1_command(&["serve"]);
        command.env("TMA1_GREPTIMEDB_URL", "http://127.0.0.1:1").env(name, value);
        let output = command.output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && said.contains("TMA1_GREPTIMEDB_"), "{said}");
        assert!(!said.contains("hunter2"), "{said}");
    }
}

/// A log that a daemon has written, and the export of it in this process, whose clock we set.
struct Scene {
    home: TestHome,
    server: Server,
    shipper: Shipper,
    now: Timestamp,
}

impl Scene {
    /// A log with the rows of so many events of one session.
    fn new(events: usize) -> Self {
        Self::with(events, |_| {})
    }

    fn with(events: usize, change: impl FnOnce(&mut Target)) -> Self {
        let (home, server) = (TestHome::new(), Server::with(Behaviour::default()));
        let daemon = Daemon::start(&home);
        for number in 0..events / 2 {
            post(&daemon, "s1", number);
        }
        assert!(daemon.stop().success());
        let mut target = Target {
            url: server.url(),
            database: "tma1".to_owned(),
            user: None,
            ttl: Some(Duration::from_secs(86_400)),
        };
        change(&mut target);
        let shipper = Shipper::new(target, database(&home), "laptop".to_owned(), SHORT);
        Self { home, server, shipper, now: clock::now() }
    }

    /// Goes on until all is sent, through the pauses, and says how many there were.
    fn run(&mut self) -> usize {
        let mut pauses = 0;
        for _ in 0..1000 {
            match self.shipper.step(self.now, 128) {
                Next::Now => {}
                Next::After(pause) => {
                    self.now = self.now.plus(pause);
                    pauses += 1;
                }
                Next::Idle => return pauses,
            }
        }
        panic!("it comes to no end: {:?}", self.shipper.report());
    }

    /// Gives the log more rows, older by `age`.
    fn log(&self, rows: i64, age: Duration) {
        let log = Connection::open(database(&self.home)).unwrap();
        for _ in 0..rows {
            let row = "INSERT INTO tma1_project_state (ts, project_root) VALUES (?1, '/p')";
            log.execute(row, [self.now.minus(age).as_unix_millis()]).unwrap();
        }
    }

    #[track_caller]
    fn is_equal(&self) {
        assert_eq!(logged(&database(&self.home)), stored(&self.server));
        assert_eq!(self.shipper.report().rows_behind, 0);
    }
}

#[test]
fn an_answer_that_comes_too_late_or_never_doubles_no_row() {
    let mut scene = Scene::new(20);
    scene.server.behave(|it| it.delay = 2 * SHORT);
    for _ in 0..12 {
        if let Next::After(pause) = scene.shipper.step(scene.now, 0) {
            scene.now = scene.now.plus(pause);
        }
    }
    let report = scene.shipper.report();
    assert_eq!(report.error.as_deref(), Some("the server did not answer in time"));
    assert_eq!(report.rows_sent, 0);
    scene.server.behave(|it| (it.delay, it.cut_answers) = (Duration::ZERO, 3));
    assert_eq!(scene.run(), 3);
    scene.is_equal();
    assert_eq!(scene.shipper.report().error, None);
}

#[test]
fn one_bad_row_is_set_aside_and_all_others_arrive() {
    let mut scene = Scene::new(60);
    scene.server.behave(|it| it.bad_text = Some("prompt 17 ".to_owned()));
    assert_eq!(scene.run(), 0);
    let report = scene.shipper.report();
    // As an event, and as a message.
    assert_eq!((report.rows_set_aside, report.rows_behind), (2, 0));
    assert!(report.set_aside.unwrap().ends_with("it is bad (2000)"));
    assert_eq!(scene.server.count("tma1_hook_events"), 59);
    assert!(scene.server.inserts() < 40, "{}", scene.server.inserts());
}

#[test]
fn where_no_row_of_a_table_is_taken_none_is_given_up() {
    let mut scene = Scene::new(60);
    let answer = r#"{"code":2000,"error":"Invalid SQL syntax"}"#.to_owned();
    scene.server.behave(|it| it.failure = Some((400, answer)));
    scene.run();
    let report = scene.shipper.report();
    assert_eq!((report.rows_set_aside, report.rows_sent), (0, 0));
    assert!(report.error.unwrap().contains("takes no row"));
    scene.server.behave(|it| it.failure = None);
    scene.now = scene.now.plus(Duration::from_secs(3600));
    scene.run();
    scene.is_equal();
}

#[test]
fn a_fault_of_the_server_passes() {
    for (status, code) in [(503, 1007), (401, 4007), (500, 1003), (504, 1008), (429, 6001)] {
        let mut scene = Scene::new(6);
        let answer = json!({"code": code, "error": "it passes"}).to_string();
        scene.server.behave(|it| it.failure = Some((status, answer)));
        let steps = (0..3).map(|_| scene.shipper.step(scene.now, 0)).collect::<Vec<_>>();
        assert!(matches!(steps[2], Next::After(_)), "{status} {code}: {steps:?}");
        scene.server.behave(|it| it.failure = None);
        scene.run();
        scene.is_equal();
        assert_eq!(scene.shipper.report().rows_set_aside, 0);
    }
}

#[test]
fn what_is_too_large_goes_in_parts() {
    let mut scene = Scene::new(60);
    scene.server.behave(|it| it.body_limit = Some(8_000));
    scene.run();
    scene.is_equal();
}

#[test]
fn what_the_tables_would_not_keep_is_not_sent() {
    let mut scene = Scene::new(2);
    scene.log(7, Duration::from_secs(2 * 86_400));
    scene.log(3, Duration::from_secs(3600));
    scene.run();
    let report = scene.shipper.report();
    assert_eq!((report.rows_expired, report.rows_behind), (7, 0));
    assert_eq!(scene.server.count("tma1_project_state"), 3);
    assert_eq!(scene.server.ttl("tma1_project_state"), "1d");
}

#[test]
fn what_the_log_forgets_before_it_is_sent_is_counted() {
    let mut scene = Scene::new(2);
    scene.log(10, Duration::ZERO);
    scene.run();
    scene.log(10, Duration::ZERO);
    let log = Connection::open(database(&scene.home)).unwrap();
    log.execute("DELETE FROM tma1_project_state WHERE id <= 14", ()).unwrap();
    scene.run();
    let report = scene.shipper.report();
    assert_eq!((report.rows_missing, report.rows_behind), (4, 0));
    assert_eq!(scene.server.count("tma1_project_state"), 16);
}

#[test]
fn an_older_table_gets_the_columns_that_it_lacks() {
    let mut scene = Scene::new(4);
    scene.run();
    for table in ["tma1_hook_events", "tma1_messages"] {
        scene.server.drop_column(table, "tool_name");
    }
    scene.log(1, Duration::ZERO);
    // A program that starts looks; one that runs is told by the server.
    let target = Target {
        url: scene.server.url(),
        database: "tma1".to_owned(),
        user: Some(("a".to_owned(), Password::new("b".to_owned()))),
        ttl: None,
    };
    let mut other = Shipper::new(target, database(&scene.home), "laptop".to_owned(), SHORT);
    while other.step(scene.now, 0) != Next::Idle {}
    assert!(scene.server.has_column("tma1_messages", "tool_name"));
    scene.server.drop_column("tma1_project_state", "branch");
    scene.log(1, Duration::ZERO);
    scene.run();
    assert!(scene.server.has_column("tma1_project_state", "branch"));
    scene.is_equal();
}

#[test]
fn tables_that_are_gone_are_made_again() {
    let mut scene = Scene::new(4);
    scene.run();
    scene.server.drop_tables();
    scene.log(1, Duration::ZERO);
    assert_eq!(scene.run(), 0);
    assert_eq!(scene.server.count("tma1_project_state"), 1);
}

#[test]
fn a_table_that_doubles_rows_is_left_alone() {
    let mut scene = Scene::new(4);
    scene.run();
    scene.server.set_append_mode("tma1_project_state");
    let target =
        Target { url: scene.server.url(), database: "tma1".to_owned(), user: None, ttl: None };
    let mut other = Shipper::new(target, database(&scene.home), "x".to_owned(), SHORT);
    scene.log(1, Duration::ZERO);
    while other.step(scene.now, 0) != Next::Idle {}
    assert!(other.report().error.unwrap().contains("append_mode"));
    assert_eq!((other.report().rows_behind, scene.server.count("tma1_project_state")), (1, 0));
}

/// The literal that `value` becomes, as the server reads it.
fn read_back(value: &Value) -> Literal {
    match parse(&format!("INSERT INTO \"t\" (\"a\", \"b\") VALUES ({value}, 1), (NULL, {value})")) {
        Ok(Statement::Insert { rows, .. }) => {
            assert_eq!(rows[0][0], rows[1][1]);
            rows[0][0].clone()
        }
        other => panic!("{other:?}"),
    }
}

proptest! {
    #[test]
    fn any_value_survives_the_way_to_the_server(text in any::<String>(), number: i64, flag: bool) {
        let quoted = format!("'{text}''\\'--\0");
        for text in [text, quoted] {
            prop_assert_eq!(read_back(&Value::Text(text.clone())), Literal::Text(text));
        }
        prop_assert_eq!(read_back(&Value::Integer(number)), Literal::Integer(number));
        prop_assert_eq!(read_back(&Value::Boolean(flag)), Literal::Boolean(flag));
        prop_assert_eq!(read_back(&Value::Null), Literal::Null);
    }
}

/// The reader of the tests takes what a real server took, and nothing that it refused.
#[test]
fn recorded_statements_are_read_as_the_server_read_them() {
    let mut seen = 0;
    for exchange in exchanges() {
        let Some(sql) = exchange.sql.as_deref().filter(|sql| sql.starts_with("INSERT INTO \""))
        else {
            continue;
        };
        seen += 1;
        let body = exchange.body();
        match parse(sql) {
            Ok(_) => assert!(!body.contains("Invalid SQL") && !body.contains("Overflow"), "{sql}"),
            Err(refusal) => assert_ne!(exchange.status, 200, "{sql}: {refusal}"),
        }
    }
    assert!(seen > 10);
}

/// Whatever a real server has ever refused with, in the middle of an export: no row is lost by it.
#[test]
fn no_refusal_that_was_recorded_loses_a_row() {
    let mut scene = Scene::new(12);
    scene.run();
    let mut seen = 0;
    for refusal in exchanges().into_iter().filter(|it| it.verdict != "Done") {
        seen += 1;
        scene.log(5, Duration::ZERO);
        scene.server.behave(|it| it.failure = Some((refusal.status, refusal.body())));
        for _ in 0..16 {
            if let Next::After(pause) = scene.shipper.step(scene.now, 4) {
                scene.now = scene.now.plus(pause);
            }
        }
        let report = scene.shipper.report();
        assert!(report.error.is_some() && report.rows_behind == 5, "{}", refusal.name);
        scene.server.behave(|it| it.failure = None);
        // Some of them heal when something else arrives, the others when they are tried again.
        scene.log(seen % 2, Duration::ZERO);
        scene.now = scene.now.plus(Duration::from_secs(3600));
        scene.run();
        assert_eq!(scene.shipper.report().rows_set_aside, 0, "{}", refusal.name);
        scene.is_equal();
    }
    assert!(seen > 20);
}
