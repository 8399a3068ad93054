//! What can be wrong with the log of events and who can read it.

use std::os::unix::fs::PermissionsExt;

use super::Mended::{Command, Hand};
use super::{DATABASE, Fault, TOKEN, fault};
use crate::doctor::scene::Scene;

const STORE_FAIL: &[(&str, &str)] = &[("failure", "store")];
const PRIVATE: &[(&str, &str)] = &[("warning", "private")];

fn sql(scene: &Scene, statement: &str) {
    let log = rusqlite::Connection::open(scene.path(DATABASE)).unwrap();
    log.execute_batch(statement).unwrap();
}

/// Moves the log out of the way, as is suggested.
fn begin_anew(scene: &mut Scene) {
    let commands = format!(
        "tma1 stop && mkdir ~/aside && mv {DATABASE} ~/aside && rm -f {DATABASE}-* && tma1 start"
    );
    scene.shell(&commands).succeeded();
}

/// Has the daemon move the damaged log aside, as is suggested; it says so until it is started again.
fn replace_log(scene: &mut Scene) {
    scene.shell("tma1 restart").succeeded();
    let told = scene.faults();
    assert_eq!(told.names(), [("warning".to_owned(), "events".to_owned())], "{told:#?}");
    scene.shell("tma1 restart").succeeded();
}

pub const STORE: &[Fault] = &[
    fault(
        "a log that is no database",
        STORE_FAIL,
        |s| {
            sql(s, "PRAGMA wal_checkpoint(TRUNCATE)");
            s.write(DATABASE, "x".repeat(8192));
        },
        Hand(replace_log),
    ),
    fault(
        "a log of a later version",
        STORE_FAIL,
        |s| sql(s, "PRAGMA user_version = 99"),
        Hand(|s| sql(s, "PRAGMA user_version = 3")),
    ),
    fault("a log that was removed", STORE_FAIL, |s| s.remove(DATABASE), Command),
    fault(
        "a log with a damaged page",
        STORE_FAIL,
        |s| {
            sql(s, "PRAGMA wal_checkpoint(TRUNCATE)");
            let mut bytes = fs_err::read(s.path(DATABASE)).unwrap();
            bytes[4096..8192].fill(7);
            s.write(DATABASE, bytes);
        },
        Hand(begin_anew),
    ),
    fault(
        "events of tomorrow",
        &[("warning", "events-time")],
        |s| {
            sql(
                s,
                "INSERT INTO tma1_hook_events (ts, agent_source, session_id, event_type, payload)
                    VALUES (9999999999999, 'claude-code', 's', 'Stop', '{}')",
            );
        },
        Hand(|s| sql(s, "DELETE FROM tma1_hook_events")),
    ),
    fault(
        "a log that others can read",
        PRIVATE,
        |s| fs_err::set_permissions(s.path(DATABASE), PermissionsExt::from_mode(0o644)).unwrap(),
        Command,
    ),
    fault(
        "a token that others can read",
        PRIVATE,
        |s| fs_err::set_permissions(s.path(TOKEN), PermissionsExt::from_mode(0o640)).unwrap(),
        Command,
    ),
];
