//! What `tma1 build` costs a command that writes much:
//!
//! ```sh
//! cargo bench --bench build
//! ```
//!
//! A command writes 500 MB of lines to a file through a pipe, bare and under `tma1 build`, in turn, with a
//! daemon that reads along. Prints medians and the ratio of the throughputs, and what a command that does
//! nothing takes.

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

use std::process::Command;
use std::time::Duration;

use tma1::clock;

use support::daemon::Daemon;
use support::home::TestHome;

const ROUNDS: usize = 7;
const WRITE: &str = "yes 'warning: a line of some length, as builds write it' | head -c 500000000";

#[expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]
fn main() {
    // Without the flag this is a test run, which has no use for it.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let home = TestHome::new();
    let _daemon = Daemon::start(&home);
    let tma1 = home.binary().display().to_string();
    let wrapped =
        |script: &str| format!("{tma1} build -- sh -c {}", shlex::try_quote(script).unwrap());
    for (name, script, sink) in [
        ("500 MB to a file", WRITE, "> out"),
        ("500 MB through a pipe to a file", WRITE, "| cat > out"),
        ("nothing", ":", ""),
    ] {
        let lines = [
            format!("sh -c {} {sink}", shlex::try_quote(script).unwrap()),
            format!("{} {sink}", wrapped(script)),
        ];
        let mut times = [Vec::new(), Vec::new()];
        for _ in 0..ROUNDS {
            for (line, times) in lines.iter().zip(&mut times) {
                times.push(time(home.command("sh").args(["-c", line])));
            }
        }
        let [bare, ours] = times.map(median);
        let ratio = bare.as_secs_f64() / ours.as_secs_f64();
        println!("{name}: bare {bare:.1?}, wrapped {ours:.1?}, throughput {ratio:.2}");
    }
}

fn time(command: &mut Command) -> Duration {
    let begun = clock::monotonic();
    assert!(command.status().unwrap().success());
    begun.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap()
}
