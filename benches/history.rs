//! What the store takes to answer when it holds much:
//!
//! ```sh
//! cargo bench --bench history
//! ```
//!
//! Fills a store with a million messages of 20,000 sessions. Prints how long it takes to open it and to
//! answer a question, and how many times as long as the same in a store with a thousandth of that;
//! beside it how long SQLite takes to look through the texts without an index.

#![expect(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, params};
use tma1::agent::Agent;
use tma1::clock::{self, Local};
use tma1::history::{HitKind, Reader, SearchQuery, SessionsQuery, search, sessions};
use tma1::store::{Database, facets, segmented};

const MESSAGES: usize = 1_000_000;
const A_SESSION: usize = 50;
const SMALL: usize = MESSAGES / 1_000;
const ROUNDS: usize = 50;

/// What every answer must stay below.
const BUDGET: Duration = Duration::from_millis(100);

const KINDS: [&str; 4] = ["prompt", "response", "tool_use", "tool_error"];

/// What messages are made of; each has some of it, in turn.
const TEXTS: [&str; 8] = [
    "error[E0308]: mismatched types in src/store/writer.rs, expected `usize`, found `i64`",
    "cargo test -p shop-core --all-features store::writer::tests -- --nocapture",
    "请修复登录错误，然后运行测试",
    "The function open_file returns an error when the file is locked by another process",
    "grep -rn snake_case_name src/ | head -20",
    "npm run build failed: Cannot find module './components/Button'",
    "I have changed the signature of a.b::c and updated every caller in the workspace",
    "テストが失敗しました: assertion failed at tests/main.rs:42",
];

/// A question, by its name.
type Question = (&'static str, fn(&Reader, &Local) -> usize);

const QUESTIONS: [Question; 12] = [
    ("sessions", |reader, local| {
        sessions(reader, &SessionsQuery::default(), local).unwrap().items.len()
    }),
    ("sessions of a project", |reader, local| {
        let project = Some("project_7".to_owned());
        let query = SessionsQuery { project, ..SessionsQuery::default() };
        sessions(reader, &query, local).unwrap().items.len()
    }),
    ("sessions of an agent", |reader, local| {
        let query = SessionsQuery { agent: Some(Agent::Codex), ..SessionsQuery::default() };
        sessions(reader, &query, local).unwrap().items.len()
    }),
    ("search, in every 8th", |reader, local| find(reader, local, "mismatched types", |_| ())),
    ("search, beginning", |reader, local| find(reader, local, "mis", |_| ())),
    ("search, CJK", |reader, local| find(reader, local, "登录错误", |_| ())),
    ("search, once", |reader, local| find(reader, local, "needle_500", |_| ())),
    ("search, never", |reader, local| find(reader, local, "no_such_word", |_| ())),
    ("search, a project", |reader, local| {
        find(reader, local, "open_file", |query| query.project = Some("project_7".to_owned()))
    }),
    ("search, no such kind", |reader, local| {
        find(reader, local, "Button", |query| query.kind = Some(HitKind::Prompt))
    }),
    ("search, no such project", |reader, local| {
        find(reader, local, "needle", |query| query.project = Some("quiet".to_owned()))
    }),
    ("search, agent and kind", |reader, local| {
        find(reader, local, "file", |query| {
            query.agent = Some(Agent::Codex);
            query.kind = Some(HitKind::Error);
        })
    }),
];

#[expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]
fn main() {
    // Without the flag this is a test run, which has no use for it.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (large, small) = (folder.path().join("large.db"), folder.path().join("small.db"));
    fill(&large, MESSAGES);
    fill(&small, SMALL);
    let scan = scan(&large);
    println!("looking through {MESSAGES} texts without an index: {scan:.1?}");
    println!("{:24} {:>6} {:>10} {:>10} {:>7}", "question", "items", "p50", "max", "ratio");
    let mut is_slow = false;
    for (name, ask) in QUESTIONS {
        let (items, times) = measure(&large, ask);
        let (_, baseline) = measure(&small, ask);
        let (p50, max) = (percentile(&times, 50), percentile(&times, 100));
        let ratio = p50.as_secs_f64() / percentile(&baseline, 50).as_secs_f64();
        println!("{name:24} {items:6} {p50:>10.1?} {max:>10.1?} {ratio:>6.1}×");
        is_slow |= p50 >= BUDGET;
    }
    assert!(!is_slow, "an answer takes {BUDGET:?} or longer");
}

fn find(reader: &Reader, local: &Local, text: &str, narrow: fn(&mut SearchQuery)) -> usize {
    let mut query =
        SearchQuery { text: text.to_owned(), limit: Some(20), ..SearchQuery::default() };
    narrow(&mut query);
    search(reader, &query, local).unwrap().items.len()
}

/// How long it takes to open the store and to ask it.
fn measure(path: &Path, ask: fn(&Reader, &Local) -> usize) -> (usize, Vec<Duration>) {
    let local = clock::local();
    let mut items = 0;
    let times = (0..ROUNDS).map(|_| {
        let started = clock::monotonic();
        let reader = Reader::open(path, None).unwrap().unwrap();
        items = ask(&reader, &local);
        clock::monotonic() - started
    });
    let times = times.collect();
    (items, times)
}

fn scan(path: &Path) -> Duration {
    let database = Connection::open(path).unwrap();
    let started = clock::monotonic();
    let count = "SELECT count(*) FROM tma1_messages WHERE content LIKE '%no_such_word%'";
    let found: i64 = database.query_row(count, (), |row| row.get(0)).unwrap();
    assert_eq!(found, 0);
    clock::monotonic() - started
}

/// A store with so many messages, and sessions to them.
fn fill(path: &Path, messages: usize) {
    drop(Database::open(path).unwrap());
    let mut database = Connection::open(path).unwrap();
    let transaction = database.transaction().unwrap();
    let mut message = transaction
        .prepare(
            "INSERT INTO tma1_messages (ts, agent_source, session_id, project_root, message_type,
                 role, content) VALUES (?1, ?2, ?3, ?4, ?5, 'tool', ?6)",
        )
        .unwrap();
    let mut index = transaction
        .prepare("INSERT INTO tma1_messages_fts (rowid, content, facets) VALUES (?1, ?2, ?3)")
        .unwrap();
    let mut session = transaction
        .prepare(
            "INSERT INTO tma1_sessions (agent_source, session_id, project_root, title, first_ts,
                 last_ts) VALUES (?1, ?2, ?3, 'Fix the build', ?4, ?4 + 50)",
        )
        .unwrap();
    for (number, (text, kind)) in
        TEXTS.iter().cycle().zip(KINDS.iter().cycle()).take(messages).enumerate()
    {
        let owner = number / A_SESSION;
        let ts = i64::try_from(number).unwrap();
        let id = format!("session-{owner:07}");
        let agent = if owner.is_multiple_of(3) { "codex" } else { "claude-code" };
        let root = format!("/home/dev/project_{}", owner % 100);
        if number == 0 {
            session.execute(params!["codex", "quiet", "/home/dev/quiet", ts]).unwrap();
        }
        if number.is_multiple_of(A_SESSION) {
            session.execute(params![agent, id, root, ts]).unwrap();
        }
        // The same kind would always have the same text.
        let kind = if number % 16 < 8 { kind } else { "tool_error" };
        let text = format!("{text}; {number} needle_{number}");
        message.execute(params![ts, agent, id, root, kind, text]).unwrap();
        let facets = facets(agent, kind, Some(&root));
        let id = transaction.last_insert_rowid();
        index.execute(params![id, segmented(&text), facets]).unwrap();
    }
    drop((message, index, session));
    transaction.commit().unwrap();
}

fn percentile(times: &[Duration], percent: usize) -> Duration {
    let mut times = times.to_vec();
    times.sort();
    let index = (times.len() * percent / 100).min(times.len() - 1);
    times.get(index).copied().unwrap()
}
