//! Readers beside a daemon that writes.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use tma1::clock;

use super::story::{self, CLAUDE, tell};
use crate::support::daemon::Daemon;
use crate::support::home::TestHome;
use crate::support::scale;

#[test]
fn all_who_look_at_once_are_answered() {
    let home = story::told();
    let _daemon = Daemon::start(&home);
    let looks = || {
        for _ in 0..5 {
            let found = story::json(&home, &["search", "open_file", "--json"]);
            assert_eq!(found.as_array().unwrap().len(), 2);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(looks);
        }
    });
}

#[test]
fn no_reader_meets_a_lock_and_no_event_is_lost() {
    let home = TestHome::new();
    let daemon = Daemon::start(&home);
    let end = clock::monotonic() + Duration::from_secs(2) * u32::try_from(scale()).unwrap();
    let is_over = AtomicBool::new(false);
    let told = AtomicUsize::new(0);
    tell(&home, &daemon, CLAUDE, "UserPromptSubmit", &json!({"prompt": "needle 0"}));
    told.fetch_add(1, Ordering::Relaxed);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    let number = told.fetch_add(1, Ordering::Relaxed);
                    let prompt = json!({"prompt": format!("needle {number}")});
                    tell(&home, &daemon, CLAUDE, "UserPromptSubmit", &prompt);
                }
            });
        }
        let mut seen = 0;
        while clock::monotonic() < end {
            let count = "SELECT (SELECT count(*) FROM tma1_hook_events) AS events,
                             (SELECT count(*) FROM tma1_messages) AS messages,
                             (SELECT events FROM tma1_sessions) AS counted";
            let row = story::json(&home, &["query", "--json", count])[0].clone();
            // One transaction has the event and its rows.
            assert_eq!(row["events"], row["messages"]);
            assert_eq!(row["events"], row["counted"]);
            let events = row["events"].as_u64().unwrap();
            assert!(events >= seen, "{events} after {seen}");
            seen = events;
            assert_eq!(
                story::json(&home, &["search", "needle", "--json", "--limit", "1"])[0]["kind"],
                "prompt"
            );
            story::tma1(&home, &["export", "--table", "sessions"]).succeeded();
        }
        is_over.store(true, Ordering::Relaxed);
    });
    assert_eq!(daemon.health()["events_lost"], 0);
    assert_eq!(daemon.stop().code(), Some(0));
    let count =
        "SELECT count(*) AS n, count(DISTINCT payload ->> 'prompt') AS m FROM tma1_hook_events";
    let row = story::json(&home, &["query", "--json", count])[0].clone();
    let told = told.load(Ordering::Relaxed);
    assert_eq!(row, json!({"n": told, "m": told}));
}
