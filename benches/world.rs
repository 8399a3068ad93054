//! What the world takes for an event, in a session that has gone on for long:
//!
//! ```sh
//! cargo bench --bench world
//! ```
//!
//! Folds a session of 10,000 calls over 5,000 files, with builds that fail, a file changed from outside
//! every twenty calls and a prompt every ten, beside 500 other sessions of the same project. Prints how
//! long an event takes to be folded in and answered, by kind, and how many times as long as the same
//! in a world in which nothing else has happened.

#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::json;
use tma1::agent::{
    Agent, EventKind, HookEvent, Report, SessionKey, StartSource, Status, ToolAction, ToolCall,
    ToolResult,
};
use tma1::clock::{self, Timestamp};
use tma1::world::{Observation, World};

const ROOT: &str = "/home/dev/shop";
const CALLS: usize = 10_000;
const FILES: usize = 5_000;
const OTHERS: usize = 500;

/// What 99 % of the answers to events must stay below.
const BUDGET: Duration = Duration::from_millis(1);

/// The times that events took, by the name of the event.
type Times = BTreeMap<String, Vec<Duration>>;

#[expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]
fn main() {
    // Without the flag this is a test run, which has no use for it.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let baseline = measure_empty();
    let times = measure_long();
    println!("{:18} {:>7} {:>10} {:>10} {:>10}", "event", "count", "p50", "p99", "max");
    for (name, times) in &times {
        print_line(name, times);
    }
    let all: Vec<_> = times.values().flatten().copied().collect();
    print_line("all", &all);
    let prompts = &times["UserPromptSubmit"];
    let ratio = percentile(prompts, 99).as_secs_f64() / percentile(&baseline, 50).as_secs_f64();
    println!("a prompt in an empty world takes {:.1?}", percentile(&baseline, 50));
    println!("p99 of a prompt in the long session: {ratio:.1} times as long");
    let slow = times.values().any(|times| percentile(times, 99) >= BUDGET);
    assert!(!slow, "more than 1 % of the answers take {BUDGET:?} or longer");
}

#[expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]
fn print_line(name: &str, times: &[Duration]) {
    let [p50, p99, max] = [50, 99, 100].map(|percent| percentile(times, percent));
    println!("{name:18} {:7} {p50:>10.1?} {p99:>10.1?} {max:>10.1?}", times.len());
}

/// How long a prompt takes in a world in which nothing has happened.
fn measure_empty() -> Vec<Duration> {
    let mut times = Times::new();
    for _ in 0..1_000 {
        let mut tale = Tale::default();
        tale.take(&prompt("s"), &mut times);
    }
    times.into_values().flatten().collect()
}

fn measure_long() -> Times {
    let mut tale = Tale::default();
    let mut times = Times::new();
    for other in 0..OTHERS {
        let session = format!("other {other}");
        for file in 0..20 {
            tale.call(&session, read(other * 20 + file), &mut Times::new());
        }
    }
    for number in 0..CALLS {
        let action = match number % 4 {
            0 => edit(number),
            1 => build(number),
            _ => read(number),
        };
        tale.call("s", action, &mut times);
        if number % 20 == 0 {
            let started = clock::monotonic();
            tale.world.observe(
                &Observation::ExternalChange { path: path(number), removed: false },
                tale.at(),
            );
            times.entry("a change".to_owned()).or_default().push(clock::monotonic() - started);
        }
        if number % 10 == 0 {
            tale.take(&prompt("s"), &mut times);
            let stop = EventKind::Stop { stop_hook_active: false };
            tale.take(&event("s", "Stop", stop), &mut times);
        }
        if number % 100 == 0 {
            tale.take(&event("s", "PreCompact", EventKind::PreCompact), &mut times);
            let start = EventKind::SessionStart(StartSource::Startup);
            tale.take(
                &event(&format!("new {}", number / 1_000), "SessionStart", start),
                &mut times,
            );
        }
    }
    times
}

#[derive(Default)]
struct Tale {
    world: World,
    events: i64,
}

impl Tale {
    fn at(&self) -> Timestamp {
        Timestamp::from_unix_millis(1_800_000_000_000 + self.events * 100)
    }

    fn take(&mut self, event: &HookEvent, times: &mut Times) {
        self.events += 1;
        let at = self.at();
        let started = clock::monotonic();
        self.world.apply(event, ROOT, at);
        let answer = self.world.answer(event, at);
        let time = clock::monotonic() - started;
        drop(answer);
        times.entry(event.name.clone()).or_default().push(time);
    }

    fn call(&mut self, session: &str, action: ToolAction, times: &mut Times) {
        let name = match action {
            ToolAction::Read { .. } => "Read",
            ToolAction::Edit { .. } => "Edit",
            _ => "Bash",
        };
        let id = Some(self.events.to_string());
        let call = ToolCall { id, name: name.to_owned(), action, subject: None };
        self.take(&event(session, "PreToolUse", EventKind::PreToolUse(call.clone())), times);
        let status = match name {
            "Bash" => Status::Failed { exit_code: Some(101), interrupted: false },
            _ => Status::Succeeded,
        };
        let failed_tests = (0..16).map(|test| format!("module::tests::case_{test}")).collect();
        let report = Report {
            error: Some("error[E0308]: mismatched types".to_owned()),
            place: Some(("src/module.rs".to_owned(), 12)),
            failed_tests,
        };
        let result = ToolResult { call, status, report };
        self.take(&event(session, "PostToolUse", EventKind::PostToolUse(result)), times);
    }
}

fn event(session: &str, name: &str, kind: EventKind) -> HookEvent {
    HookEvent {
        session: SessionKey { agent: Agent::ClaudeCode, id: session.to_owned() },
        name: name.to_owned(),
        cwd: ROOT.to_owned(),
        subagent: None,
        turn: None,
        transcript: None,
        kind,
    }
}

fn prompt(session: &str) -> HookEvent {
    event(session, "UserPromptSubmit", EventKind::UserPromptSubmit { by_machine: false })
}

fn path(number: usize) -> String {
    format!("{ROOT}/src/directory_{}/module_{}.rs", number % 50, number % FILES)
}

fn read(number: usize) -> ToolAction {
    ToolAction::Read { paths: vec![path(number)] }
}

fn edit(number: usize) -> ToolAction {
    ToolAction::Edit { written: vec![path(number)], removed: Vec::new() }
}

fn build(number: usize) -> ToolAction {
    let command = format!("cargo test -p part-{}", number / 4 % 20);
    ToolAction::of_call(Agent::ClaudeCode, "Bash", &json!({"command": command}), ROOT)
}

fn percentile(times: &[Duration], percent: usize) -> Duration {
    let mut times = times.to_vec();
    times.sort();
    let index = (times.len() * percent / 100).min(times.len() - 1);
    times.get(index).copied().unwrap()
}
