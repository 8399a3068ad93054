//! What it takes to read a long transcript:
//!
//! ```sh
//! cargo bench --bench transcript
//! ```
//!
//! Reads a transcript of 200 MB in steps of 1 MiB, as the daemon does. Prints how many times as long
//! this takes as only to cut the file into lines, the longest step, and by how much the memory of the
//! process has grown at most.

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

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::Duration;

use tma1::agent::{Agent, SessionKey};
use tma1::clock;
use tma1::paths::Paths;
use tma1::sensor::transcripts::Transcripts;

use support::transcript::write_transcript;

const SIZE: usize = 200_000_000;
const STEP: usize = 1024 * 1024;

#[expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]
fn main() {
    // Without the flag this is a test run, which has no use for it.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".claude/projects/p");
    fs_err::create_dir_all(&folder).unwrap();
    let path = folder.join("s.jsonl");
    write_transcript(&path, SIZE);

    let lines = time(|| cut_into_lines(&path));
    // From here on the peak is ours, where the system lets us forget the one before.
    drop(fs_err::write("/proc/self/clear_refs", "5"));
    let before = peak_memory();
    let mut steps = Vec::new();
    let whole = time(|| read_in_steps(home.path(), &path, &mut steps));
    let after = peak_memory();

    println!("lines only    {lines:9.1?}");
    let ratio = whole.as_secs_f64() / lines.as_secs_f64();
    println!("transcript    {whole:9.1?}  {ratio:.1} times that");
    let longest = steps.iter().max().copied().unwrap_or_default();
    println!("longest step  {longest:9.1?}  of {}", steps.len());
    if let Some((before, after)) = before.zip(after) {
        println!("memory        {:6} kB more than {before} kB", after - before);
    }
}

fn cut_into_lines(path: &Path) {
    let mut reader = BufReader::with_capacity(64 * 1024, fs_err::File::open(path).unwrap());
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line).unwrap() > 0 {
        std::hint::black_box(&line);
        line.clear();
    }
}

fn read_in_steps(home: &Path, path: &Path, steps: &mut Vec<Duration>) {
    let paths = Paths::resolve(&[("HOME", home)].into_iter().collect()).unwrap();
    let session = SessionKey { agent: Agent::ClaudeCode, id: "s".to_owned() };
    let mut transcripts = Transcripts::new(&paths);
    let mut more = true;
    while more {
        steps.push(time(|| {
            more = transcripts.read_on(&session, path.to_str().unwrap(), STEP).more;
        }));
    }
}

fn time(work: impl FnOnce()) -> Duration {
    let started = clock::monotonic();
    work();
    clock::monotonic() - started
}

/// The most memory that this process has held, in kilobytes, where the system tells.
fn peak_memory() -> Option<u64> {
    let status = fs_err::read_to_string("/proc/self/status").ok()?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    peak.trim().strip_suffix(" kB")?.trim().parse().ok()
}
