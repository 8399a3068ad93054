//! What is asked for and not to be had.

use std::fmt::Write;

use super::story::{self, CLAUDE, told};
use crate::support::snapshot::assert_snapshot;

#[test]
fn a_refusal_says_why_and_what_to_do() {
    let home = told();
    let mut text = String::new();
    for command in [
        &["show", "0199c"][..],
        &["show", "x"],
        &["query", "DELETE FROM tma1_hook_events"],
        &["query", "ATTACH '/tmp/x.db' AS x"],
        &["query", "PRAGMA journal_mode = DELETE"],
        &["query", "SELEKT"],
        &["query", "SELECT 1; SELECT 2"],
        &[
            "query",
            "--timeout",
            "0",
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT count(*) FROM n",
        ],
        &["context"],
    ] {
        let run = story::tma1(&home, command);
        assert_eq!((run.status, run.stdout.as_str()), (Some(1), ""), "{command:?} {run:#?}");
        let line = shlex::try_join(command.to_vec()).unwrap();
        write!(text, "$ tma1 {line}\n{}", run.stderr).unwrap();
    }
    assert_snapshot("history-refusals", &home.anonymous(&text), &[]);
    let events = "SELECT count(*) AS n FROM tma1_hook_events";
    assert!(story::json(&home, &["query", "--json", events])[0]["n"].as_i64() > Some(0));
    story::tma1(&home, &["show", &CLAUDE[..CLAUDE.len() - 1], "--agent", "claude-code"])
        .succeeded();
}
