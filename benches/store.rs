//! What a log of a million events costs:
//!
//! ```sh
//! cargo bench --bench store
//! ```
//!
//! How many bytes an event takes, how long the daemon takes until it answers, and how long a hook
//! waits: with the long log beside an empty one, and while half of it is forgotten. It should answer
//! within 500 ms of its start, as fast as with nothing in the log, and forgetting should delay no answer
//! by more than 5 ms.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a benchmark fails by panicking"
)]

#[expect(dead_code, reason = "the tests use the rest")]
#[path = "../tests/support/mod.rs"]
mod support;

use std::time::Duration;

use rusqlite::Connection;
use tma1::clock;

use support::daemon::Daemon;
use support::home::TestHome;
use support::{long_log, scale};

const EVENTS: usize = 1_000_000;
const ROUNDS: usize = 2_000;
const STARTS: usize = 5;

#[expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]
fn main() {
    // Without the flag this is a test run, which has no use for it.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let events = EVENTS * scale();
    let (short, long) = (TestHome::new(), TestHome::new());
    let database = long.home().join(".tma1/data/tma1.db");
    fs_err::create_dir_all(database.parent().unwrap()).unwrap();
    let begun = clock::monotonic();
    long_log::write(&database, events);
    let took = begun.elapsed();
    let bytes = fs_err::metadata(&database).unwrap().len();
    println!("{events} events: {} bytes each", bytes / events as u64);
    println!("written in {took:.1?}, {:.1?} each", took / u32::try_from(events).unwrap());

    for (name, home) in [("an empty log", &short), ("the long log", &long)] {
        let starts = (0..STARTS).map(|_| {
            let begun = clock::monotonic();
            let daemon = Daemon::start(home);
            let took = begun.elapsed();
            daemon.stop();
            took
        });
        println!("ready with {name}: {:.1?} at most", starts.max().unwrap());
    }

    let empty = times(&Daemon::start(&short), ROUNDS);
    print("an empty log", &empty);
    let daemon = Daemon::start(&long);
    // The first look of the upkeep is not what is measured.
    std::thread::sleep(Duration::from_secs(1));
    let full = times(&daemon, ROUNDS);
    print("the long log", &full);
    for percent in [50, 99] {
        let ratio = at(&full, percent).as_secs_f64() / at(&empty, percent).as_secs_f64();
        println!("p{percent} with the long log: {ratio:.2} times that with an empty one");
    }
    daemon.stop();

    let mut command = long.tma1_command(&["serve"]);
    command.env("TMA1_DATA_TTL", "30d");
    let begun = clock::monotonic();
    let daemon = Daemon::start_command(&long, command);
    let mut forgetting = Vec::new();
    let reader = Connection::open(&database).unwrap();
    let cutoff = clock::now().as_unix_millis() - 30 * 24 * 3_600 * 1_000;
    let is_left = "SELECT EXISTS (SELECT 1 FROM tma1_hook_events WHERE ts < ?1)";
    while reader.query_row(is_left, [cutoff], |row| row.get(0)).unwrap() {
        forgetting.extend(times(&daemon, 100));
    }
    forgetting.sort();
    println!("half of it forgotten in {:.1?}", begun.elapsed());
    print("meanwhile", &forgetting);
    for percent in [50, 99] {
        let delay = at(&forgetting, percent).saturating_sub(at(&full, percent));
        println!("p{percent} while forgetting: {delay:.1?} longer");
    }
    daemon.stop();
    let after = fs_err::metadata(&database).unwrap().len();
    println!("the file has {} % of its size then", after * 100 / bytes);
}

/// How long answers take, sorted.
fn times(daemon: &Daemon, rounds: usize) -> Vec<Duration> {
    let mut times: Vec<_> = (0..rounds)
        .map(|round| {
            let event = format!(
                r#"{{"hook_event_name":"PreToolUse","session_id":"bench","cwd":"/",
                    "tool_name":"Bash","tool_use_id":"{round}","tool_input":{{"command":"ls"}}}}"#
            );
            let begun = clock::monotonic();
            assert_eq!(daemon.post_event(event.as_bytes(), "").0, 200);
            begun.elapsed()
        })
        .collect();
    times.sort();
    times
}

fn at(times: &[Duration], percent: usize) -> Duration {
    times[(times.len() * percent / 100).min(times.len() - 1)]
}

#[expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]
fn print(name: &str, times: &[Duration]) {
    let [p50, p99, max] = [50, 99, 100].map(|percent| at(times, percent));
    println!("an answer with {name}: p50 {p50:.1?}, p99 {p99:.1?}, at most {max:.1?}");
}
