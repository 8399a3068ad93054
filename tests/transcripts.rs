//! Transcripts, read as the daemon reads them.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde_json::Value;
use tma1::agent::{Agent, SessionKey};
use tma1::paths::Paths;
use tma1::sensor::transcripts::Transcripts;
use tma1::world::{Observation, Usage};

use crate::support::scale;
use crate::support::transcript::write_transcript;

/// Every request once, as the largest of its lines: whole lines, one map of all of them.
fn count(path: &Path) -> (u64, u64) {
    let mut requests: HashMap<String, (u64, u64)> = HashMap::new();
    for line in BufReader::new(fs_err::File::open(path).unwrap()).lines() {
        let record: Value = serde_json::from_str(&line.unwrap()).unwrap();
        if record["type"] == "assistant" {
            let usage = &record["message"]["usage"];
            let number = |field: &str| usage[field].as_u64().unwrap();
            let most = requests.entry(record["requestId"].to_string()).or_default();
            most.0 = most.0.max(number("input_tokens"));
            most.1 = most.1.max(number("output_tokens"));
        }
    }
    requests.values().fold((0, 0), |sum, request| (sum.0 + request.0, sum.1 + request.1))
}

/// `TMA1_TEST_SCALE=100` reads 200 MB.
#[test]
fn a_long_transcript_that_is_read_in_steps_is_counted_exactly() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".claude/projects/p");
    fs_err::create_dir_all(&folder).unwrap();
    let path = folder.join("s.jsonl");
    write_transcript(&path, 2_000_000 * scale());
    let paths = Paths::resolve(&[("HOME", home.path())].into_iter().collect()).unwrap();
    let session = SessionKey { agent: Agent::ClaudeCode, id: "s".to_owned() };
    let mut transcripts = Transcripts::new(&paths);
    let mut usage = Usage::default();
    let mut steps = 0;
    loop {
        let reading = transcripts.read_on(&session, path.to_str().unwrap(), 1_000_000);
        steps += 1;
        for observation in reading.observations {
            if let Observation::Usage { usage: now, .. } = observation {
                assert!(now.input >= usage.input && now.output >= usage.output);
                usage = now;
            }
        }
        if !reading.more {
            break;
        }
    }
    assert!(steps >= scale(), "{steps}");
    assert_eq!((usage.input, usage.output), count(&path));
    assert_eq!(usage.window_size, Some(1_000_000));
}
