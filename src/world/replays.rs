//! The same events give the same words, whoever delivers them, and however.

use std::path::Path;

use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::agent::{Answer, Payload, Report, StartSource, Status, ToolCall};
use crate::world::scene::{ROOT, edit, mismatched_types, path, prompt_event, read, run};

const SESSIONS: [(Agent, &str); 3] =
    [(Agent::ClaudeCode, "aaaaaaaa"), (Agent::ClaudeCode, "bbbbbbbb"), (Agent::Codex, "cccccccc")];
const FILES: [&str; 4] = ["src/cart.rs", "src/shop.rs", "README.md", "/etc/hosts"];
const COMMANDS: [&str; 3] = ["cargo test", "make", "ls"];

/// What reaches the world, and when.
#[derive(Debug, Clone)]
struct Arrival {
    what: What,
    at: Timestamp,
}

#[derive(Debug, Clone)]
enum What {
    Event(Box<HookEvent>),
    Observation(Observation),
}

/// One thing that happens in a session.
#[derive(Debug, Clone)]
enum Step {
    /// Calls that the model makes at once.
    Calls(Vec<Call>),
    Prompt {
        by_machine: bool,
    },
    Stop,
    Broken,
    Compact,
    Start,
    Rejected(usize),
    Change(usize),
    Format(usize),
    Usage(u64),
}

#[derive(Debug, Clone)]
struct Call {
    action: ToolAction,
    status: Status,
    failed_tests: Vec<String>,
    by_subagent: bool,
    /// Whether its result is delivered.
    returns: bool,
}

fn call(actions: impl Strategy<Value = ToolAction>) -> impl Strategy<Value = Call> {
    let status = prop_oneof![
        3 => Just(Status::Succeeded),
        3 => Just(Status::Failed { exit_code: Some(101), interrupted: false }),
        1 => Just(Status::Failed { exit_code: None, interrupted: true }),
        1 => Just(Status::Unknown),
    ];
    let tests = prop::sample::subsequence(vec!["adds".to_owned(), "sums".to_owned()], 0..=2);
    let rare = || prop::bool::weighted(0.1);
    (actions, status, tests, rare(), rare()).prop_map(
        |(action, status, failed_tests, by_subagent, is_lost)| Call {
            action,
            status,
            failed_tests,
            by_subagent,
            returns: !is_lost,
        },
    )
}

fn any_file(of: fn(&str) -> ToolAction) -> impl Strategy<Value = ToolAction> {
    prop::sample::select(FILES.as_slice()).prop_map(of)
}

fn steps() -> impl Strategy<Value = Vec<(usize, Step, u64)>> {
    let file = || 0..FILES.len();
    let command = || prop::sample::select(COMMANDS.as_slice()).prop_map(run);
    // Of calls at once, only one edits or builds: of two, the order tells.
    let readers = || prop::collection::vec(call(any_file(read)), 0..3);
    let calls = (call(prop_oneof![any_file(read), any_file(edit), command()]), readers()).prop_map(
        |(first, mut others)| {
            others.push(first);
            let mut files = Vec::new();
            others.retain(|call| match &call.action {
                ToolAction::Read { paths } | ToolAction::Edit { written: paths, .. } => {
                    let is_new = !files.contains(paths);
                    files.push(paths.clone());
                    is_new
                }
                _ => true,
            });
            Step::Calls(others)
        },
    );
    let step = prop_oneof![
        12 => calls,
        3 => any::<bool>().prop_map(|by_machine| Step::Prompt { by_machine }),
        3 => Just(Step::Stop),
        1 => Just(Step::Broken),
        1 => Just(Step::Compact),
        1 => Just(Step::Start),
        1 => file().prop_map(Step::Rejected),
        3 => file().prop_map(Step::Change),
        1 => file().prop_map(Step::Format),
        1 => (0..200_000_u64).prop_map(Step::Usage),
    ];
    prop::collection::vec((0..SESSIONS.len(), step, 0..600_u64), 1..60)
}

/// What of the steps arrives, and in groups: what is in one comes at the same time, in any order.
fn arrivals(steps: &[(usize, Step, u64)]) -> Vec<Vec<Arrival>> {
    let mut groups = Vec::new();
    let mut at = Timestamp::from_unix_millis(1_800_000_000_000);
    for (number, (session, step, seconds)) in steps.iter().enumerate() {
        at = Timestamp::from_unix_millis(
            at.as_unix_millis() + 1 + i64::try_from(*seconds).unwrap() * 1000,
        );
        for group in groups_of(number, *session, step) {
            groups.push(group.into_iter().map(|what| Arrival { what, at }).collect());
            at = Timestamp::from_unix_millis(at.as_unix_millis() + 1);
        }
    }
    groups
}

fn groups_of(number: usize, session: usize, step: &Step) -> Vec<Vec<What>> {
    let (agent, id) = SESSIONS[session];
    let session = SessionKey { agent, id: id.to_owned() };
    let event = |name: &str, kind| HookEvent {
        session: session.clone(),
        name: name.to_owned(),
        cwd: ROOT.to_owned(),
        subagent: None,
        turn: None,
        transcript: None,
        kind,
    };
    let one = |name, kind| vec![vec![What::Event(Box::new(event(name, kind)))]];
    let seen = |observation| vec![vec![What::Observation(observation)]];
    match step {
        Step::Calls(calls) => {
            let [mut begun, mut ended] = [Vec::new(), Vec::new()];
            for (index, call) in calls.iter().enumerate() {
                let made = tool_call(number, index, call);
                let subagent = call.by_subagent.then(|| "helper".to_owned());
                let pre = EventKind::PreToolUse(made.clone());
                let pre = HookEvent { subagent: subagent.clone(), ..event("PreToolUse", pre) };
                begun.push(What::Event(Box::new(pre)));
                let report =
                    Report { failed_tests: call.failed_tests.clone(), ..mismatched_types() };
                let result = ToolResult { call: made, status: call.status, report };
                let post = EventKind::PostToolUse(result);
                if call.returns {
                    let post = HookEvent { subagent, ..event("PostToolUse", post) };
                    ended.push(What::Event(Box::new(post)));
                }
            }
            vec![begun, ended]
        }
        Step::Prompt { by_machine } => {
            one("UserPromptSubmit", EventKind::UserPromptSubmit { by_machine: *by_machine })
        }
        Step::Stop => one("Stop", EventKind::Stop { stop_hook_active: false }),
        Step::Broken => one("StopFailure", EventKind::TurnBroken),
        Step::Compact => one("PreCompact", EventKind::PreCompact)
            .into_iter()
            .chain(one("SessionStart", EventKind::SessionStart(StartSource::Compact)))
            .collect(),
        Step::Start => one("SessionStart", EventKind::SessionStart(StartSource::Startup)),
        Step::Rejected(file) => {
            let call = Call {
                action: edit(FILES[*file]),
                status: Status::Failed { exit_code: None, interrupted: false },
                failed_tests: Vec::new(),
                by_subagent: false,
                returns: true,
            };
            let result = ToolResult {
                call: tool_call(number, 0, &call),
                status: call.status,
                report: Report::default(),
            };
            one("PostToolBatch", EventKind::RejectedCalls(vec![result]))
        }
        Step::Change(file) => {
            seen(Observation::ExternalChange { path: path(FILES[*file]), removed: false })
        }
        Step::Format(file) => seen(Observation::OwnChange {
            session: session.clone(),
            path: path(FILES[*file]),
            removed: false,
        }),
        Step::Usage(used) => seen(Observation::Usage {
            session: session.clone(),
            usage: Usage {
                input: *used,
                output: *used,
                window_used: Some(*used),
                window_size: Some(200_000),
            },
        }),
    }
}

fn tool_call(number: usize, index: usize, call: &Call) -> ToolCall {
    let name = match call.action {
        ToolAction::Read { .. } => "Read",
        ToolAction::Edit { .. } => "Edit",
        _ => "Bash",
    };
    ToolCall {
        id: Some(format!("call {number} {index}")),
        name: name.to_owned(),
        action: call.action.clone(),
        subject: None,
    }
}

/// A recorded event of each kind, of both agents, as if they were of the same few sessions.
fn recorded() -> Vec<Arrival> {
    let mut arrivals = Vec::new();
    let mut at = Timestamp::from_unix_millis(1_800_000_000_000);
    for (agent, folder) in [(Agent::ClaudeCode, "claude-code"), (Agent::Codex, "codex")] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(folder);
        let mut files: Vec<_> =
            fs_err::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
        files.sort();
        for file in files {
            let payload = Payload::read(&fs_err::read(&file).unwrap()).unwrap();
            // The rest are requests to an MCP server.
            if let Ok(event) = HookEvent::from_payload(agent, &payload) {
                at = Timestamp::from_unix_millis(at.as_unix_millis() + 7_000);
                arrivals.push(Arrival { what: What::Event(Box::new(event)), at });
            }
        }
    }
    assert!(arrivals.len() > 100, "{}", arrivals.len());
    arrivals
}

fn take(world: &mut World, arrival: &Arrival) {
    match &arrival.what {
        What::Event(event) => world.apply(event, ROOT, arrival.at),
        What::Observation(observation) => world.observe(observation, arrival.at),
    }
}

fn take_all(world: &mut World, arrivals: &[Arrival]) {
    for arrival in arrivals {
        take(world, arrival);
    }
}

/// Every answer, in the order of the arrivals.
fn answers(world: &mut World, arrivals: &[Arrival]) -> Vec<String> {
    (arrivals.iter())
        .filter_map(|arrival| {
            take(world, arrival);
            match &arrival.what {
                What::Event(event) => Some(format!("{:?}", world.answer(event, arrival.at))),
                What::Observation(_) => None,
            }
        })
        .collect()
}

/// All that can be known of the sessions, an hour after the last arrival.
fn outcome(world: &World, actions: usize, now: Timestamp) -> Vec<Value> {
    let mut keys: Vec<_> = world.sessions.keys().collect();
    keys.sort();
    (keys.into_iter())
        .map(|key| serde_json::to_value(world.session_state(key, actions, now)).unwrap())
        .collect()
}

/// What each session is told at its next prompt.
fn next_words(world: &mut World, now: Timestamp) -> Vec<String> {
    let mut keys: Vec<_> = world.sessions.keys().cloned().collect();
    keys.sort();
    (keys.into_iter())
        .map(|session| {
            let event = HookEvent { session, ..prompt_event("", false, None) };
            format!("{:?}", world.answer(&event, now))
        })
        .collect()
}

#[track_caller]
fn assert_replays(arrivals: &[Arrival], batch: usize) {
    let now = arrivals.last().unwrap().at;
    let (mut one, mut other) = (World::default(), World::default());
    assert_eq!(answers(&mut one, arrivals), answers(&mut other, arrivals));
    // As after a restart: nobody is answered. In batches, with a look after each.
    let (mut whole, mut batches) = (World::default(), World::default());
    take_all(&mut whole, arrivals);
    for batch in arrivals.chunks(batch) {
        take_all(&mut batches, batch);
        outcome(&batches, 10, now);
    }
    assert_eq!(outcome(&batches, 100, now), outcome(&whole, 100, now));
    // What was said does not change what is known.
    assert_eq!(outcome(&one, 100, now), outcome(&whole, 100, now));
    assert_eq!(next_words(&mut batches, now), next_words(&mut whole, now));
}

#[test]
fn recorded_events_give_the_same_words_in_every_batch_size() {
    let recorded = recorded();
    for batch in 1..recorded.len() {
        assert_replays(&recorded, batch);
    }
}

#[test]
fn recorded_events_that_are_delivered_twice_change_nothing() {
    let recorded = recorded();
    let twice: Vec<_> = recorded.iter().flat_map(|arrival| duplicated(arrival, true)).collect();
    let now = recorded.last().unwrap().at;
    let (mut once_world, mut twice_world) = (World::default(), World::default());
    take_all(&mut once_world, &recorded);
    take_all(&mut twice_world, &twice);
    assert_eq!(outcome(&twice_world, 100, now), outcome(&once_world, 100, now));
    assert_eq!(next_words(&mut twice_world, now), next_words(&mut once_world, now));
}

/// The arrival, twice if it belongs to a tool call.
fn duplicated(arrival: &Arrival, twice: bool) -> Vec<Arrival> {
    let is_call = match &arrival.what {
        What::Event(event) => match &event.kind {
            EventKind::PreToolUse(call) => call.id.is_some(),
            EventKind::PostToolUse(result) => result.call.id.is_some(),
            kind => matches!(kind, EventKind::RejectedCalls(_)),
        },
        What::Observation(_) => false,
    };
    vec![arrival.clone(); if is_call && twice { 2 } else { 1 }]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn the_same_events_give_the_same_words_in_every_batch_size(
        steps in steps(),
        batch in 1..40_usize,
    ) {
        assert_replays(&arrivals(&steps).concat(), batch);
    }

    #[test]
    fn an_event_that_is_delivered_twice_changes_nothing(
        steps in steps(),
        twice in prop::collection::vec(any::<bool>(), 64),
    ) {
        let once = arrivals(&steps).concat();
        let doubled: Vec<_> = (once.iter().zip(twice.iter().cycle()))
            .flat_map(|(arrival, twice)| duplicated(arrival, *twice))
            .collect();
        let now = once.last().unwrap().at;
        let (mut one, mut two) = (World::default(), World::default());
        let nothing = format!("{:?}", Answer::Nothing);
        let spoken = |mut answers: Vec<String>| {
            answers.retain(|answer| *answer != nothing);
            answers
        };
        prop_assert_eq!(spoken(answers(&mut two, &doubled)), spoken(answers(&mut one, &once)));
        prop_assert_eq!(outcome(&two, 100, now), outcome(&one, 100, now));
    }

    #[test]
    fn calls_at_once_may_be_reported_in_any_order(
        (groups, shuffled) in steps().prop_flat_map(|steps| {
            let groups = arrivals(&steps);
            let shuffled: Vec<_> =
                groups.iter().map(|group| Just(group.clone()).prop_shuffle()).collect();
            (Just(groups), shuffled)
        }),
    ) {
        let (groups, shuffled) = (groups.concat(), shuffled.concat());
        let now = groups.last().unwrap().at;
        let (mut one, mut other) = (World::default(), World::default());
        take_all(&mut one, &groups);
        take_all(&mut other, &shuffled);
        // The list of the last actions has them in the order of their beginnings.
        prop_assert_eq!(outcome(&other, 0, now), outcome(&one, 0, now));
        prop_assert_eq!(next_words(&mut other, now), next_words(&mut one, now));
    }
}
