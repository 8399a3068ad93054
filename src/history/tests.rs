use std::time::Duration;

use serde_json::{Value, json};

use super::fixture::{ROOT, Store, local};
use super::*;
use crate::agent::Agent;

/// The ids of the sessions that are listed for `query`, page by page.
fn ids(store: &Store, query: &SessionsQuery) -> Vec<String> {
    let (reader, mut ids, mut before) = (store.reader(), Vec::new(), query.before);
    loop {
        let page = sessions(&reader, &SessionsQuery { before, ..query.clone() }, &local()).unwrap();
        ids.extend(page.items.into_iter().map(|session| session.session_id));
        before = page.next;
        if before.is_none() {
            return ids;
        }
    }
}

#[test]
fn sessions_are_listed_latest_first_in_pages_and_narrowed() {
    let store = Store::new();
    for number in 0..10 {
        // Two and two did something last in the same millisecond.
        let agent = if number % 3 == 0 { "codex" } else { "claude-code" };
        let root = if number < 5 { ROOT } else { "/home/dev/shop/vendor/lib" };
        store.session(agent, &number.to_string(), root, 0, number / 2);
    }
    store.session("emacs", "unknown", ROOT, 0, 99);
    let all = SessionsQuery::default();
    let latest_first = ["9", "8", "7", "6", "5", "4", "3", "2", "1", "0"];
    assert_eq!(ids(&store, &all), latest_first);
    for limit in [1, 3, 10, 11] {
        assert_eq!(ids(&store, &SessionsQuery { limit: Some(limit), ..all.clone() }), latest_first);
    }
    let codex = SessionsQuery { agent: Some(Agent::Codex), ..all.clone() };
    assert_eq!(ids(&store, &codex), ["9", "6", "3", "0"]);
    let since = Some(Since::At(crate::clock::Timestamp::from_unix_millis(4)));
    assert_eq!(ids(&store, &SessionsQuery { since, ..all.clone() }), ["9", "8"]);
    for (project, count) in
        [(ROOT, 10), ("lib", 5), ("/home/dev/shop/vendor", 5), ("x", 0), ("", 10)]
    {
        let project = SessionsQuery { project: Some(project.to_owned()), ..all.clone() };
        assert_eq!(ids(&store, &project).len(), count, "{project:?}");
    }
}

#[test]
fn a_unique_prefix_names_a_session() {
    let store = Store::new();
    store.session("claude-code", "abc", ROOT, 0, 1);
    store.session("claude-code", "abcd-1", ROOT, 0, 2);
    store.session("codex", "abcd-2", ROOT, 0, 3);
    store.session("claude-code", "both", ROOT, 0, 4);
    store.session("codex", "both", ROOT, 0, 5);
    let (reader, local) = (store.reader(), local());
    let named = |prefix: &str, agent| {
        let query = TimelineQuery { session: prefix.to_owned(), agent, ..TimelineQuery::default() };
        timeline(&reader, &query, &local).map(|told| told.session.session_id)
    };
    assert_eq!(named("abcd-2", None).unwrap(), "abcd-2");
    assert_eq!(named("abc", None).unwrap(), "abc");
    assert_eq!(named("abcd", Some(Agent::Codex)).unwrap(), "abcd-2");
    assert_eq!(named("bo", Some(Agent::Codex)).unwrap(), "both");
    let error = named("abcd", None).unwrap_err().to_string();
    assert_eq!(
        error,
        "`abcd` is the beginning of more than one session: abcd-2 of codex, abcd-1 of claude-code"
    );
    assert!(matches!(named("both", None), Err(HistoryError::Ambiguous { .. })));
    for unknown in ["x", "abcd-3", "ABC", "%", "\u{10ffff}"] {
        assert!(matches!(named(unknown, None), Err(HistoryError::NoSession(_))), "{unknown}");
    }
}

fn call(id: &str, command: &str) -> Value {
    json!({"tool_name": "Bash", "tool_use_id": id, "tool_input": {"command": command}})
}

/// A session with everything in it.
fn eventful() -> Store {
    let store = Store::new();
    store.session("claude-code", "s1", ROOT, 10, 100);
    store.event(10, "SessionStart", &json!({"source": "startup"}));
    store.event(20, "UserPromptSubmit", &json!({"prompt": "Fix the bug"}));
    store.anomaly(20, "stale_file_view", "high");
    store.event(30, "PreToolUse", &call("a", "cargo test"));
    store.event(31, "PreToolUse", &call("b", "sleep 9"));
    let mut failed = call("a", "cargo test");
    failed["error"] = "Exit code 101\nerror: no".into();
    store.event(70, "PostToolUseFailure", &failed);
    store.execute(&format!(
        "INSERT INTO tma1_external_changes (ts, project_root, path, change_type, source, file_count)
         VALUES (80, '{ROOT}', 'src/a.rs', 'changed', 'external', 1),
             (81, '{ROOT}', 'src/b.rs', 'changed', 'command', 1),
             (82, '/other', 'src/c.rs', 'changed', 'external', 1),
             (101, '{ROOT}', 'src/d.rs', 'changed', 'external', 1)"
    ));
    store.event(90, "Stop", &json!({"last_assistant_message": "It is fixed."}));
    store.event(100, "SessionEnd", &json!({"reason": "exit"}));
    store
}

#[test]
fn a_timeline_has_calls_with_their_outcome_and_what_lies_between() {
    let store = eventful();
    let (reader, local) = (store.reader(), local());
    let told = |limit, since| {
        let (mut moments, mut before) = (Vec::new(), None);
        loop {
            let query = TimelineQuery {
                session: "s1".to_owned(),
                limit: Some(limit),
                before,
                since,
                ..TimelineQuery::default()
            };
            let page = timeline(&reader, &query, &local).unwrap().timeline;
            moments.extend(page.items);
            before = page.next;
            if before.is_none() {
                moments.reverse();
                return moments;
            }
        }
    };
    let all = told(MAX_PAGE, None);
    let short: Vec<_> = all
        .iter()
        .map(|moment| {
            let kind = serde_json::to_value(moment.kind).unwrap();
            format!("{} {} {}", moment.ts, kind.as_str().unwrap(), moment.text)
        })
        .collect();
    assert_eq!(
        short,
        [
            "10 start startup",
            "20 anomaly It failed. Look again.",
            "20 prompt Fix the bug",
            "31 call sleep 9",
            "70 call cargo test",
            "80 external_change src/a.rs",
            "90 answer It is fixed.",
            "100 end exit",
        ]
    );
    let test = &all[4];
    assert_eq!(test.outcome, Some(Outcome::Failed));
    assert_eq!((test.exit_code, test.duration_ms), (Some(101), Some(40)));
    assert_eq!(all[3].outcome, None);
    for limit in 1..8 {
        assert_eq!(told(limit, None), all, "{limit}");
    }
    let since = Since::At(crate::clock::Timestamp::from_unix_millis(80));
    assert_eq!(told(3, Some(since)), all[5..]);
}

#[test]
fn anomalies_are_listed_latest_first_and_narrowed() {
    let store = Store::new();
    store.session("claude-code", "s1", ROOT, 0, 3);
    for (ts, kind) in [(1, "test_stuck"), (2, "stale_file_view"), (3, "test_stuck")] {
        store.anomaly(ts, kind, "medium");
    }
    let reader = store.reader();
    let told = |query: &AnomaliesQuery| {
        let page = anomalies(&reader, query, &local()).unwrap();
        let times: Vec<_> = page.items.iter().map(|emit| emit.ts).collect();
        (times, page.next.is_some())
    };
    let all = AnomaliesQuery::default();
    assert_eq!(told(&all), (vec![3, 2, 1], false));
    assert_eq!(told(&AnomaliesQuery { limit: Some(2), ..all.clone() }), (vec![3, 2], true));
    let before = Some(Cursor { ts: 2, id: 2 });
    assert_eq!(told(&AnomaliesQuery { before, ..all.clone() }), (vec![1], false));
    let kind = Some("test_stuck".to_owned());
    assert_eq!(told(&AnomaliesQuery { kind, ..all.clone() }), (vec![3, 1], false));
    let agent = Some(Agent::Codex);
    assert_eq!(told(&AnomaliesQuery { agent, ..all.clone() }), (vec![], false));
    let project = Some("shop".to_owned());
    assert_eq!(told(&AnomaliesQuery { project, ..all.clone() }), (vec![3, 2, 1], false));
    let session = Some("s2".to_owned());
    assert_eq!(told(&AnomaliesQuery { session, ..all.clone() }), (vec![], false));
}

#[test]
fn what_is_searched_for_is_found_latest_first_in_pages_and_narrowed() {
    let store = Store::new();
    store.session("claude-code", "s1", ROOT, 0, 9);
    store.session("codex", "s2", "/home/dev/site", 0, 9);
    store.message(1, "prompt", "请修复登录错误 in snake_case");
    store.message(2, "tool_use", "cargo test -p a::b -- src/main.rs");
    store.message(3, "tool_error", "error[E0308]: mismatched \"types\"");
    store.message(4, "response", "Both are fixed: mismatched types.");
    store.message_in("codex", "s2", "/home/dev/site", 5, "response", "types again");
    let reader = store.reader();
    let found = |query: &SearchQuery| {
        let page = search(&reader, query, &local()).unwrap();
        (page.items.iter().map(|hit| hit.ts).collect::<Vec<_>>(), page.next)
    };
    let query = |text: &str| SearchQuery { text: text.to_owned(), ..SearchQuery::default() };
    for (text, times) in [
        ("types", &[5, 4, 3][..]),
        ("mism", &[4, 3]),
        ("\"types\"", &[5, 4, 3]),
        ("types mismatched", &[4, 3]),
        ("mismatched NOT types", &[]),
        ("登录", &[1]),
        ("录登", &[]),
        ("snake_case", &[1]),
        ("a::b", &[2]),
        ("src/main.rs", &[2]),
        ("src/ma", &[2]),
        ("E0308", &[3]),
        ("content:types", &[]),
        ("kindtooluse", &[]),
        ("facets : kindtooluse", &[]),
        ("", &[]),
        ("\"", &[]),
    ] {
        assert_eq!(found(&query(text)), (times.to_vec(), None), "{text}");
    }
    let types = query("types");
    let two = SearchQuery { limit: Some(2), ..types.clone() };
    let (times, next) = found(&two);
    assert_eq!(times, [5, 4]);
    assert_eq!(found(&SearchQuery { before: next, ..two }), (vec![3], None));
    let agent = Some(Agent::Codex);
    assert_eq!(found(&SearchQuery { agent, ..types.clone() }).0, [5]);
    let project = Some("shop".to_owned());
    assert_eq!(found(&SearchQuery { project, ..types.clone() }).0, [4, 3]);
    let kind = Some(HitKind::Error);
    assert_eq!(found(&SearchQuery { kind, ..types.clone() }).0, [3]);
    let since = Some(Since::At(crate::clock::Timestamp::from_unix_millis(4)));
    assert_eq!(found(&SearchQuery { since, ..types.clone() }).0, [5, 4]);
    let since = Some(Since::At(crate::clock::Timestamp::from_unix_millis(90_000_000)));
    assert_eq!(found(&SearchQuery { since, ..types }).0, [0; 0]);
}

#[test]
fn a_folder_of_many_projects_can_be_searched() {
    let store = Store::new();
    for number in 0..600 {
        let root = format!("/many/{number:03}");
        store.session("codex", &root, &root, 0, 9);
        store.message_in("codex", &root, &root, number, "prompt", "hello");
    }
    let query = SearchQuery {
        text: "hello".to_owned(),
        project: Some("/many".to_owned()),
        ..SearchQuery::default()
    };
    let page = search(&store.reader(), &query, &local()).unwrap();
    assert_eq!((page.items.len(), page.items[0].ts), (MAX_PAGE, 499));
}

/// What a statement says: its rows, as JSON, or why there are none.
fn asked(store: &Store, sql: &str) -> Result<Vec<Vec<Value>>, QueryError> {
    let mut reader = store.reader();
    query(&mut reader, sql, |rows| {
        let mut all = Vec::new();
        while let Some(row) = rows.read()? {
            all.push(row.into_iter().map(Cell::into_json).collect());
        }
        Ok(all)
    })?
}

#[test]
fn a_statement_reads() {
    let store = eventful();
    store.message(1, "prompt", "hello");
    for (sql, expected) in [
        ("SELECT count(*) FROM tma1_hook_events", json!([[7]])),
        ("SELECT 1, 1.5, 'é', x'00ff', NULL, 9e999;", json!([[1, 1.5, "é", "00ff", null, null]])),
        (
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<3) SELECT i FROM n",
            json!([[1], [2], [3]]),
        ),
        ("SELECT rowid FROM tma1_messages_fts WHERE tma1_messages_fts MATCH 'hello'", json!([[1]])),
        (
            "SELECT name FROM pragma_table_info('tma1_log') -- and no more",
            json!([["name"], ["value"]]),
        ),
        ("EXPLAIN QUERY PLAN SELECT 1", json!([[1, 0, 0, "SCAN CONSTANT ROW"]])),
    ] {
        let rows = asked(&store, sql).unwrap_or_else(|error| panic!("{sql}: {error:?}"));
        if !sql.starts_with("EXPLAIN") {
            assert_eq!(json!(rows), expected, "{sql}");
        }
    }
}

#[test]
fn a_statement_does_nothing_else() {
    let store = eventful();
    let before = fs_err::read(store.path()).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let file = elsewhere.path().join("x.db");
    let file = file.to_str().unwrap();
    for sql in [
        "DELETE FROM tma1_hook_events",
        "INSERT INTO tma1_log VALUES ('x', 1)",
        "UPDATE tma1_log SET value = 1",
        "REPLACE INTO tma1_log VALUES ('id', 1)",
        "DROP TABLE tma1_log",
        "CREATE TABLE x (y)",
        "CREATE TEMP TABLE x (y)",
        "CREATE TEMP VIEW x AS SELECT 1",
        "ALTER TABLE tma1_log RENAME TO x",
        "VACUUM",
        &format!("VACUUM INTO '{file}'"),
        &format!("ATTACH '{file}' AS x"),
        "DETACH main",
        "REINDEX",
        "ANALYZE",
        "BEGIN IMMEDIATE",
        "SAVEPOINT x",
        "PRAGMA query_only = 0",
        "PRAGMA journal_mode = DELETE",
        "PRAGMA user_version = 9",
        "PRAGMA writable_schema = 1",
        "PRAGMA wal_checkpoint(TRUNCATE)",
        "PRAGMA optimize",
        "SELECT * FROM pragma_optimize",
        "SELECT load_extension('x')",
        "INSERT INTO tma1_messages_fts (tma1_messages_fts) VALUES ('rebuild')",
        "WITH x AS (SELECT 1) DELETE FROM tma1_log",
        "SELECT 1; DELETE FROM tma1_log",
        "SELECT 1; SELECT 2",
        "",
        "-- nothing",
        "SELEKT",
        "SELECT * FROM nowhere",
    ] {
        let asked = asked(&store, sql);
        assert!(
            matches!(asked, Err(QueryError::NotReading | QueryError::Statement(_))),
            "{sql}: {asked:?}"
        );
    }
    assert_eq!(fs_err::read(store.path()).unwrap(), before);
    assert!(!std::path::Path::new(file).exists());
}

#[test]
fn a_statement_ends_when_its_time_is_over() {
    let store = Store::new();
    let mut reader = Reader::open(&store.path(), Some(Duration::ZERO)).unwrap().unwrap();
    let endless =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT count(*) FROM n";
    let rows = query(&mut reader, endless, |rows| rows.read().map(|row| row.is_some())).unwrap();
    assert!(matches!(rows, Err(QueryError::Store(HistoryError::TookTooLong))), "{rows:?}");
}

#[test]
fn a_statement_gets_no_memory_without_end() {
    let store = Store::new();
    let blob = "randomblob(60000000)";
    assert_eq!(asked(&store, &format!("SELECT length({blob})")).unwrap(), [[60_000_000]]);
    let error = asked(&store, &format!("SELECT {}", [blob; 6].join(", "))).unwrap_err();
    assert!(matches!(error, QueryError::Statement(_)), "{error:?}");
    let error = asked(&store, "SELECT zeroblob(100000000)").unwrap_err();
    assert!(matches!(error, QueryError::Statement(_)), "{error:?}");
}

#[test]
fn every_row_is_exported_once() {
    let store = Store::new();
    store.session("claude-code", "s1", ROOT, 0, 3);
    for ts in 0..1_200 {
        store.message(ts, "prompt", "hello");
    }
    let exported = |table, since: Option<i64>| {
        let (reader, mut rows) = (store.reader(), Vec::new());
        let since = since.map(crate::clock::Timestamp::from_unix_millis);
        export::<HistoryError>(&reader, table, since, |row| {
            rows.push(row.clone());
            Ok(())
        })
        .unwrap();
        rows
    };
    let messages = exported(ExportTable::Messages, None);
    let times: Vec<_> = messages.iter().map(|row| row["ts"].as_i64().unwrap()).collect();
    assert_eq!(times, (0..1_200).collect::<Vec<_>>());
    assert_eq!(messages[0]["table"], "tma1_messages");
    assert_eq!(messages[0]["content"], "hello");
    assert_eq!(exported(ExportTable::Messages, Some(1_000)).len(), 200);
    assert_eq!(exported(ExportTable::Sessions, Some(3))[0]["session_id"], "s1");
    assert_eq!(exported(ExportTable::Sessions, Some(4)).len(), 0);
    for table in ExportTable::ALL {
        drop(exported(table, None));
    }
}

#[test]
fn the_overview_looks_at_both_ends() {
    let store = Store::new();
    let told = overview(&store.reader()).unwrap();
    assert_eq!((told.events, told.oldest_ts, told.latest_ts), (0, None, None));
    let store = eventful();
    let told = overview(&store.reader()).unwrap();
    assert_eq!((told.events, told.sessions), (7, 1));
    assert_eq!((told.oldest_ts, told.latest_ts), (Some(10), Some(100)));
    assert!(told.bytes >= fs_err::metadata(store.path()).unwrap().len());
}

#[test]
fn what_is_not_there_or_of_another_version_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tma1.db");
    assert!(Reader::open(&path, None).unwrap().is_none());
    fs_err::write(&path, "").unwrap();
    assert!(Reader::open(&path, None).unwrap().is_none());
    fs_err::write(&path, "no database, but long enough to have a header".repeat(10)).unwrap();
    let error = Reader::open(&path, None).unwrap_err();
    assert!(error.to_string().contains("tma1.db"), "{error}");
    for (version, hint) in [(3, "tma1 restart"), (99, "newer")] {
        let store = Store::new();
        store.execute(&format!("PRAGMA user_version = {version}"));
        let error = Reader::open(&store.path(), None).unwrap_err();
        assert!(error.to_string().contains(&format!("schema {version}")), "{error}");
        assert!(error.hint().contains(hint), "{}", error.hint());
    }
}
