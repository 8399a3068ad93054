use serde_json::{Value, json};

use super::{claude_code, lines, session, tokens, with};
use crate::agent::Agent;
use crate::agent::transcript::{Owner, Requests, Transcript, Window};

/// A line of an answer of the model, as Claude Code writes it.
pub(super) fn answer(id: &str, input: u64, output: u64) -> Value {
    json!({
        "type": "assistant", "isSidechain": false, "sessionId": "s", "requestId": format!("req_{id}"),
        "message": {
            "id": format!("msg_{id}"), "role": "assistant", "model": "claude-opus-5-5",
            "content": [{"type": "text", "text": "Ok."}],
            "usage": {
                "input_tokens": input, "output_tokens": output,
                "cache_creation_input_tokens": 10, "cache_read_input_tokens": 100,
            },
        },
    })
}

#[test]
fn each_request_to_claude_counts_once_with_its_largest_numbers() {
    let no_id = json!({"requestId": null});
    for (what, records, total) in [
        ("a line for each block", vec![answer("a", 3, 7), answer("a", 3, 7)], tokens(3, 7)),
        (
            "placeholders first",
            vec![answer("a", 3, 1), answer("a", 3, 1), answer("a", 3, 700)],
            tokens(3, 700),
        ),
        (
            "interleaved",
            vec![answer("a", 3, 1), answer("b", 5, 2), answer("a", 3, 7), answer("b", 5, 9)],
            tokens(8, 16),
        ),
        (
            "no request id",
            vec![with(answer("a", 3, 1), &no_id), with(answer("a", 3, 7), &no_id)],
            tokens(3, 7),
        ),
        (
            "one message id, two requests",
            vec![answer("a", 3, 1), with(answer("a", 3, 7), &json!({"requestId": "req_b"}))],
            tokens(6, 8),
        ),
        (
            "a message of the client itself",
            vec![with(answer("a", 3, 1), &json!({"message": {"model": "<synthetic>"}}))],
            tokens(0, 0),
        ),
        (
            "an error of the API",
            vec![with(answer("a", 3, 1), &json!({"isApiErrorMessage": true}))],
            tokens(0, 0),
        ),
        (
            "a copy of what another session was answered",
            vec![
                with(answer("a", 3, 1), &json!({"requestSessionId": "other"})),
                with(answer("b", 4, 2), &json!({"requestSessionId": "s"})),
            ],
            tokens(4, 2),
        ),
        (
            "a sidechain in the main file",
            vec![answer("a", 3, 1), with(answer("b", 4, 2), &json!({"isSidechain": true}))],
            tokens(7, 3),
        ),
        (
            "no usage, no ids, strange shapes",
            vec![
                with(answer("a", 1, 1), &json!({"message": {"usage": null}})),
                with(answer("b", 1, 1), &json!({"message": {"usage": {"output_tokens": -1}}})),
                with(answer("c", 1, 1), &json!({"message": {"usage": [1]}})),
                with(answer("d", 1, 1), &json!({"requestId": null, "message": {"id": null}})),
                with(answer("e", 1, 1), &json!({"message": "text"})),
                with(answer("f", 1, 1), &json!({"isSidechain": [], "message": {"model": {}}})),
            ],
            tokens(2, 1),
        ),
        (
            "other lines",
            vec![
                json!({"type": "user", "message": {"role": "user", "content": "hi"}}),
                json!({"type": "progress", "data": {"message": answer("a", 3, 1)}}),
                json!({"type": "summary", "summary": "x"}),
                json!({"type": 7}),
                json!({}),
            ],
            tokens(0, 0),
        ),
    ] {
        assert_eq!(claude_code(&lines(&records)).tokens(), total, "{what}");
    }
}

#[test]
fn the_window_of_claude_is_that_of_the_last_request_of_the_session_itself() {
    let side = json!({"isSidechain": true});
    let boundary = json!({"type": "system", "subtype": "compact_boundary"});
    let summary = json!({"type": "user", "isCompactSummary": true, "message": {"content": "S"}});
    let model = |model: &str, requested: Value| json!({"requestedModel": requested, "message": {"model": model}});
    let window = |used, size| Some(Window { used, size });
    let large = Some(1_000_000);
    for (what, records, expected) in [
        ("nothing yet", vec![], None),
        ("the last one", vec![answer("a", 1, 1), answer("b", 2, 3)], window(115, large)),
        ("its largest numbers", vec![answer("a", 2, 1), answer("a", 2, 5)], window(117, large)),
        (
            "a late line of the one before",
            vec![answer("a", 1, 1), answer("b", 2, 3), answer("a", 1, 90)],
            window(115, large),
        ),
        (
            "a subagent's",
            vec![answer("a", 1, 1), with(answer("b", 9, 9), &side)],
            window(112, large),
        ),
        ("compacted", vec![answer("a", 1, 1), boundary.clone()], None),
        ("compacted, by its summary", vec![answer("a", 1, 1), summary.clone()], None),
        (
            "compacted in a subagent",
            vec![answer("a", 1, 1), with(summary.clone(), &side)],
            window(112, large),
        ),
        (
            "old lines again after it",
            vec![answer("a", 1, 1), boundary.clone(), summary.clone(), answer("a", 1, 1)],
            None,
        ),
        (
            "the next request after it",
            vec![answer("a", 9, 9), boundary, summary, answer("b", 1, 1)],
            window(112, large),
        ),
        (
            "a copy of another session's",
            vec![with(answer("a", 1, 1), &json!({"requestSessionId": "other"}))],
            window(112, large),
        ),
        (
            "an error of the API",
            vec![answer("a", 1, 1), with(answer("b", 0, 0), &json!({"isApiErrorMessage": true}))],
            window(112, large),
        ),
        (
            "a small model",
            vec![with(answer("a", 1, 1), &model("claude-haiku-4-5", Value::Null))],
            window(112, Some(200_000)),
        ),
        (
            "a small model with a large window",
            vec![with(
                answer("a", 1, 1),
                &model("claude-sonnet-4-5", json!("claude-sonnet-4-5[1m]")),
            )],
            window(112, large),
        ),
        (
            "more than we believed to fit",
            vec![with(answer("a", 200_000, 1), &model("claude-haiku-4-5", Value::Null))],
            window(200_111, None),
        ),
        (
            "an unknown model",
            vec![with(answer("a", 1, 1), &model("glm-7", Value::Null))],
            window(112, None),
        ),
    ] {
        assert_eq!(claude_code(&lines(&records)).window(), expected, "{what}");
    }
}

#[test]
fn a_request_counts_for_the_session_that_had_it_first() {
    let original = lines(&[answer("a", 3, 7), answer("b", 4, 1)]);
    let copy = lines(&[answer("a", 3, 7), answer("b", 4, 9), answer("c", 5, 9)]);
    let mut requests = Requests::default();
    let mut first = Transcript::new(&session(Agent::ClaudeCode, "s"), Owner(1));
    let mut second = Transcript::new(&session(Agent::ClaudeCode, "r"), Owner(2));
    first.feed(&original, &mut requests);
    second.feed(&copy, &mut requests);
    assert_eq!((first.tokens(), second.tokens()), (tokens(7, 8), tokens(5, 9)));

    // The same file again, as it was replaced or cut.
    first.restart();
    first.feed(&original, &mut requests);
    assert_eq!(first.tokens(), tokens(7, 8));
    assert_eq!(first.window().unwrap().used, 115);
}
