//! What an edit of a huge `.claude.json` takes:
//!
//! ```sh
//! cargo bench --bench large_json
//! ```
//!
//! Adds a server to a file of 40 MB and removes it again, both with the proof that nothing else
//! changed. Prints how many times as long as a mere check of the JSON this takes, and how many times
//! the size of the file the process holds at most, its input included.

#![expect(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::fmt::Write;
use std::time::Duration;

use serde::de::IgnoredAny;
use tma1::clock;
use tma1::setup::edit::literal::Literal;
use tma1::setup::edit::member::MemberEntry;

const SIZE: usize = 40_000_000;
const ROUNDS: usize = 5;

#[expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]
fn main() {
    // Without the flag this is a test run, which has no use for it.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let server = MemberEntry {
        parent: "mcpServers",
        name: "tma1",
        members: vec![("command", "tma1".into()), ("args", Literal::texts(["mcp-serve"]))],
    };
    let before = prompts();
    let check = median(|| {
        serde_json::from_str::<IgnoredAny>(&before).unwrap();
    });
    let installed = server.install_into(before.as_bytes()).unwrap();
    let install = median(|| {
        server.install_into(before.as_bytes()).unwrap();
    });
    let remove = median(|| {
        let trace = Some(&installed.trace);
        let removed = server.remove_from(&installed.bytes, trace).unwrap();
        assert_eq!(removed.bytes, before.as_bytes());
    });
    println!("file      {:6.1} MB", megabytes(before.len()));
    println!("check     {check:9.1?}");
    for (what, time) in [("install", install), ("remove", remove)] {
        println!("{what:9} {time:9.1?}  {:.1} checks", time.as_secs_f64() / check.as_secs_f64());
    }
    if let Some(peak) = peak_memory() {
        let ratio = megabytes(peak) / megabytes(before.len());
        println!("memory    {:6.1} MB  {ratio:.1} files", megabytes(peak));
    }
}

/// A file as Claude Code writes it, with the prompts of many projects.
fn prompts() -> String {
    let mut text = "{\n  \"numStartups\": 7,\n  \"projects\": {".to_owned();
    let mut project = 0;
    while text.len() < SIZE {
        let separator = if project == 0 { "" } else { "," };
        write!(text, "{separator}\n    \"/home/dev/{project}\": {{\n      \"history\": [").unwrap();
        for prompt in 0..100 {
            let separator = if prompt == 0 { "" } else { "," };
            write!(
                text,
                "{separator}\n        {{\n          \"display\": \"Prompt {prompt}: {}\",\n          \
                 \"pastedContents\": {{}}\n        }}",
                "do \\\"this\\\"\\n, then 项目. ".repeat(prompt % 20)
            )
            .unwrap();
        }
        text.push_str("\n      ],\n      \"mcpServers\": {},\n      \"lastCost\": 1.50\n    }");
        project += 1;
    }
    text.push_str("\n  }\n}\n");
    text
}

fn median(mut run: impl FnMut()) -> Duration {
    let mut times: Vec<_> = (0..ROUNDS)
        .map(|_| {
            let started = clock::monotonic();
            run();
            clock::monotonic() - started
        })
        .collect();
    times.sort();
    times.get(ROUNDS / 2).copied().unwrap()
}

#[expect(clippy::cast_precision_loss, reason = "it is printed with one digit")]
fn megabytes(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}

/// The most memory that this process has held, where the system tells.
fn peak_memory() -> Option<usize> {
    let status = fs_err::read_to_string("/proc/self/status").ok()?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: usize = peak.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
