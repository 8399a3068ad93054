//! What an edit of a huge `.claude.json` takes:
//!
//! ```sh
//! cargo bench --bench large_json
//! ```
//!
//! Adds a server to a file of 40 MB and removes it again, both with the proof that nothing else
//! changed. Prints how many times as long as a mere check of the JSON this takes, and how many times
//! the size of the file the process holds at most, its input included. Then the same for the whole
//! `tma1 install` and `tma1 uninstall`, with their reads, writes and waits.

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

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use serde::de::IgnoredAny;
use tma1::clock;
use tma1::setup::edit::literal::Literal;
use tma1::setup::edit::member::MemberEntry;

use support::home::TestHome;
use support::process::Run;

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
    print_memory(peak_memory(), before.len());
    let home = TestHome::new();
    fs_err::write(home.home().join(".claude.json"), &before).unwrap();
    for verb in ["install", "uninstall"] {
        let started = clock::monotonic();
        let peak = run_measured(&home, verb);
        let time = clock::monotonic() - started;
        let checks = time.as_secs_f64() / check.as_secs_f64();
        println!("tma1 {verb:9} {time:6.1?}  {checks:.1} checks");
        print_memory(peak, before.len());
    }
    assert_eq!(fs_err::read_to_string(home.home().join(".claude.json")).unwrap(), before);
}

#[expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]
fn print_memory(peak: Option<usize>, file: usize) {
    if let Some(peak) = peak {
        let ratio = megabytes(peak) / megabytes(file);
        println!("memory    {:6.1} MB  {ratio:.1} files", megabytes(peak));
    }
}

/// Runs `tma1` and returns the most memory that it held, where there is a `time` that tells.
fn run_measured(home: &TestHome, verb: &str) -> Option<usize> {
    const TIME: &str = "/usr/bin/time";
    let arguments = [verb, "--adapter", "claude-code"];
    if !cfg!(target_os = "linux") || !Path::new(TIME).exists() {
        home.tma1(&arguments).succeeded();
        return None;
    }
    let mut command = home.command(TIME);
    command.args(["-f", "%M"]).arg(home.binary()).args(arguments);
    let run = Run::of(&mut command, Duration::from_secs(60)).succeeded();
    let kilobytes: usize = run.stderr.trim().parse().ok()?;
    Some(kilobytes * 1024)
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
