use serde_json::{Value, json};

use super::{MAIN, codex, lines, session, tokens, with};
use crate::agent::Agent;
use crate::agent::transcript::{Requests, Transcript, Window};

pub(super) fn meta(id: &str, more: &Value) -> Value {
    with(
        json!({"timestamp": "2026-01-15T10:00:00.000Z", "type": "session_meta",
        "payload": {"id": id, "cwd": "/"}}),
        &json!({"payload": more}),
    )
}

/// A token count of Codex, `millis` after the first line.
pub(super) fn count(millis: u64, total: (u64, u64), last: (u64, u64)) -> Value {
    let usage = |(input, output)| json!({"input_tokens": input, "output_tokens": output, "total_tokens": input + output});
    json!({
        "timestamp": format!("2026-01-15T10:00:{:02}.{:03}Z", millis / 1000, millis % 1000),
        "type": "event_msg",
        "payload": {"type": "token_count", "rate_limits": null, "info": {
            "total_token_usage": usage(total), "last_token_usage": usage(last),
            "model_context_window": 1000,
        }},
    })
}

#[test]
fn a_thread_of_codex_counts_what_it_used_itself() {
    let no_info = json!({"type": "event_msg", "payload": {"type": "token_count", "info": null}});
    for (what, records, total) in [
        (
            "the last count is the sum",
            vec![meta("t", &json!({})), count(1, (5, 1), (5, 1)), count(2, (9, 3), (4, 2))],
            tokens(9, 3),
        ),
        (
            "said twice",
            vec![meta("t", &json!({})), count(1, (5, 1), (5, 1)), count(2, (5, 1), (2, 0))],
            tokens(5, 1),
        ),
        (
            "a line was lost",
            vec![meta("t", &json!({})), count(1, (50, 10), (5, 1)), count(2, (90, 30), (4, 2))],
            tokens(90, 30),
        ),
        (
            "the count begins anew",
            vec![
                meta("t", &json!({})),
                count(1, (50, 10), (50, 10)),
                count(2, (0, 0), (0, 0)),
                count(3, (5, 1), (5, 1)),
            ],
            tokens(55, 11),
        ),
        (
            "the count begins anew, unsaid",
            vec![
                meta("t", &json!({})),
                count(1, (50, 10), (50, 10)),
                count(2, (9, 2), (4, 1)),
                count(3, (12, 3), (3, 1)),
            ],
            tokens(57, 12),
        ),
        ("limits only", vec![meta("t", &json!({})), no_info], tokens(0, 0)),
        ("no first line", vec![count(1, (5, 1), (5, 1))], tokens(5, 1)),
        (
            "its own first line again",
            vec![meta("t", &json!({})), meta("t", &json!({})), count(1, (5, 1), (5, 1))],
            tokens(5, 1),
        ),
    ] {
        assert_eq!(codex(&lines(&records)).tokens(), total, "{what}");
    }
}

#[test]
fn a_fork_does_not_count_what_its_parent_has_used() {
    let fork = || meta("t", &json!({"forked_from_id": "p"}));
    let parent = || meta("p", &json!({}));
    let settings = json!({"timestamp": "2026-01-15T10:00:00.000Z", "type": "event_msg",
        "payload": {"type": "thread_settings_applied", "thread_id": "t"}});
    for (what, records, total) in [
        (
            "a fork that starts from the count of its parent",
            vec![fork(), count(900, (105, 11), (5, 1)), count(999, (109, 13), (4, 2))],
            tokens(9, 3),
        ),
        (
            "a fork that starts with the lines of its parent",
            vec![
                fork(),
                parent(),
                count(1, (50, 5), (50, 5)),
                count(2, (100, 10), (50, 5)),
                count(900, (105, 11), (5, 1)),
                count(1800, (109, 13), (4, 2)),
            ],
            tokens(9, 3),
        ),
        (
            "the same of a version that does not say whose fork it is",
            vec![
                meta("t", &json!({})),
                parent(),
                count(1, (100, 10), (50, 5)),
                count(900, (105, 11), (5, 1)),
            ],
            tokens(5, 1),
        ),
        (
            "a fork whose first line says that its own follow",
            vec![
                fork(),
                parent(),
                count(0, (100, 10), (50, 5)),
                settings.clone(),
                count(1, (105, 11), (5, 1)),
            ],
            tokens(5, 1),
        ),
        (
            "a fork that says the count of its parent again",
            vec![
                fork(),
                parent(),
                count(1, (100, 10), (50, 5)),
                settings,
                count(2, (100, 10), (50, 5)),
                count(3, (105, 11), (5, 1)),
            ],
            tokens(5, 1),
        ),
        (
            "a subagent with the lines of its parent and a count of its own",
            vec![
                meta("t", &json!({"forked_from_id": "p", "subagent_history_start_ordinal": 3})),
                parent(),
                with(count(1, (5, 1), (5, 1)), &json!({"ordinal": 2})),
                with(count(2, (50, 10), (50, 10)), &json!({"ordinal": 3})),
            ],
            tokens(50, 10),
        ),
    ] {
        assert_eq!(codex(&lines(&records)).tokens(), total, "{what}");
    }
}

#[test]
fn the_window_of_codex_is_that_of_the_last_request() {
    let compacted = json!({"type": "compacted", "payload": {"message": "S"}});
    let first = || count(1, (500, 10), (500, 10));
    let window = |used| Some(Window { used, size: Some(1000) });
    let no_size = with(first(), &json!({"payload": {"info": {"model_context_window": null}}}));
    for (what, records, expected) in [
        ("nothing yet", vec![], None),
        ("the last one", vec![first(), count(2, (900, 15), (400, 5))], window(405)),
        ("an estimate", vec![first(), count(2, (500, 10), (300, 0))], window(510)),
        ("compacted", vec![first(), compacted.clone()], None),
        (
            "an estimate after it",
            vec![first(), compacted.clone(), count(2, (500, 10), (300, 0))],
            None,
        ),
        (
            "the next request after it",
            vec![first(), compacted, count(2, (600, 15), (100, 5))],
            window(105),
        ),
        ("no size", vec![no_size], Some(Window { used: 510, size: None })),
        (
            "a copy of the parent's",
            vec![meta("t", &json!({"forked_from_id": "p"})), meta("p", &json!({})), first()],
            None,
        ),
    ] {
        assert_eq!(codex(&lines(&records)).window(), expected, "{what}");
    }
}

#[test]
fn a_rollout_tells_how_commands_ended() {
    let item = |id: &str, code: Value| {
        json!({"type": "event_msg", "payload": {"type": "item_completed", "item":
            {"type": "CommandExecution", "id": id, "exit_code": code, "aggregated_output": "x"}}})
    };
    let output = |id: &str, text: &str| json!({"type": "function_call_output", "call_id": id, "output": text});
    let line = |payload: Value| json!({"type": "response_item", "payload": payload});
    let end = json!({"type": "event_msg",
        "payload": {"type": "exec_command_end", "call_id": "c", "exit_code": 2, "stdout": ""}});
    let old = r#"{"output":"x","metadata":{"exit_code":4}}"#;
    let exited = "Process exited with code 3\nOutput:\n";
    for (what, records, expected) in [
        ("an item", vec![item("c", json!(1))], vec![("c", 1)]),
        ("declined", vec![item("c", Value::Null)], vec![]),
        ("an event", vec![end], vec![("c", 2)]),
        ("what the model is told", vec![line(output("c", exited))], vec![("c", 3)]),
        ("the same without an envelope", vec![output("c", old)], vec![("c", 4)]),
        (
            "both",
            vec![item("c", json!(3)), line(output("c", exited)), line(output("d", exited))],
            vec![("c", 3)],
        ),
        ("an over-long id", vec![item(&"c".repeat(129), json!(1))], vec![]),
        (
            "a copy of the parent's lines",
            vec![
                meta("t", &json!({"forked_from_id": "p"})),
                meta("p", &json!({})),
                with(item("c", json!(1)), &json!({"timestamp": "2026-01-15T10:00:00.000Z"})),
                with(item("d", json!(2)), &json!({"timestamp": "2026-01-15T10:00:01.000Z"})),
            ],
            vec![("d", 2)],
        ),
    ] {
        let mut transcript = codex(&lines(&records));
        let ended = transcript.take_ended();
        let found: Vec<_> = ended.iter().map(|end| (end.call_id.as_str(), end.exit_code)).collect();
        assert_eq!(found, expected, "{what}");
        assert_eq!(transcript.take_ended(), []);
    }
}

#[test]
fn a_rollout_that_begins_anew_takes_nothing_back() {
    let mut requests = Requests::default();
    let mut transcript = Transcript::new(&session(Agent::Codex, "t"), MAIN);
    transcript
        .feed(&lines(&[count(1, (50, 10), (50, 10)), count(2, (90, 15), (40, 5))]), &mut requests);
    transcript.restart();
    assert_eq!((transcript.tokens(), transcript.window()), (tokens(90, 15), None));
    transcript.feed(&lines(&[count(1, (50, 10), (50, 10))]), &mut requests);
    assert_eq!(transcript.tokens(), tokens(90, 15));
    transcript.feed(&lines(&[count(3, (95, 16), (45, 6))]), &mut requests);
    assert_eq!(transcript.tokens(), tokens(95, 16));
}

#[test]
fn a_subagent_of_codex_is_known_by_its_id() {
    let is_of_subagent = |records: &[Value]| codex(&lines(records)).is_of_subagent();
    assert!(!is_of_subagent(&[]));
    assert!(!is_of_subagent(&[meta("t", &json!({}))]));
    assert!(is_of_subagent(&[meta("child", &json!({"session_id": "t"}))]));
}
