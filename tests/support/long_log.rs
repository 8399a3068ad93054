//! A log of many events, such as the agents really sent.

use std::path::Path;

use serde_json::Value;
use tma1::agent::Agent;
use tma1::clock::{self, Timestamp};
use tma1::store::{Database, Entry, EventLog, Retention};

/// How many events a session has.
pub const SESSION_EVENTS: usize = 100;

/// How far back they go, in milliseconds: as long as they are kept.
const TIME: i64 = 59 * 24 * 60 * 60 * 1_000;

/// How many events are queued before they are waited for.
const GROUP: usize = 200;

/// Writes `events` events to a new log at `path`, the last of them an hour ago, as evenly as it goes.
///
/// They are written by the daemon's own writer, with all that belongs to them.
pub fn write(path: &Path, events: usize) {
    let retention = Retention { bytes: u64::MAX, ..Retention::default() };
    let log = EventLog::start(Database::open_in_any_state(path).unwrap(), retention).unwrap();
    let fixtures = fixtures();
    let now = clock::now().as_unix_millis() - 3_600_000;
    let mut waiting = Vec::new();
    for index in 0..events {
        let ahead = i64::try_from(events - index).unwrap();
        let at = now - TIME / i64::try_from(events).unwrap() * ahead;
        waiting.push(log.append(entry(&fixtures, index, at)));
        if waiting.len() == GROUP {
            for written in waiting.drain(..) {
                written.blocking_recv().unwrap();
            }
        }
    }
    for written in waiting {
        written.blocking_recv().unwrap();
    }
}

fn entry(fixtures: &[(Agent, Value)], index: usize, at: i64) -> Entry {
    let session = index / SESSION_EVENTS;
    let (agent, event) = &fixtures[index % fixtures.len()];
    let mut event = event.clone();
    event["session_id"] = format!("{session:08}-4b5a-4000-8000-000000000000").into();
    event["cwd"] = format!("/home/dev/project-{}", session % 20).into();
    if let Some(id) = event.get_mut("tool_use_id") {
        *id = format!("call-{}", index / fixtures.len()).into();
    }
    Entry {
        at: Timestamp::from_unix_millis(at),
        agent: *agent,
        project_root: Some(format!("/home/dev/project-{}", session % 20)),
        observed: None,
        said: Vec::new(),
        payload: event.to_string(),
    }
}

/// The recorded events of both agents, in the order of their names.
fn fixtures() -> Vec<(Agent, Value)> {
    let mut found = Vec::new();
    for agent in Agent::ALL {
        let folder =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(agent.name());
        let mut files: Vec<_> =
            fs_err::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
        files.sort();
        for file in files.iter().filter(|file| file.extension().is_some_and(|it| it == "json")) {
            let event: Value = serde_json::from_slice(&fs_err::read(file).unwrap()).unwrap();
            if event["hook_event_name"].is_string() && event["session_id"].is_string() {
                found.push((agent, event));
            }
        }
    }
    found
}
