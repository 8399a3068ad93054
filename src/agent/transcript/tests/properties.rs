//! What holds for all files: however they are cut, repeated, interleaved or littered, the counts are
//! the same.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::claude_code::answer;
use super::codex::{count, meta};
use super::{MAIN, session, tokens};
use crate::agent::Agent;
use crate::agent::transcript::{Requests, Tokens, Transcript};

/// A line that is no record that counts.
fn litter() -> impl Strategy<Value = Vec<u8>> {
    let known = [
        "",
        "{",
        "}",
        "null",
        "[]",
        "{}{}",
        r#"{"type":"assistant","message":{"id":"msg_1","usage":{"input_tokens":9"#,
        r#"{"type":"assistant","message":"[trimmed]"}"#,
        r#"{"type":"brand-new","message":{"id":"msg_1","usage":{"input_tokens":9}}}"#,
        r#"{"type":"event_msg","payload":{"type":"token_count","info":null}}"#,
        r#"{"type":"event_msg","payload":7}"#,
        r#"{"type":"user","type":"user"}"#,
    ];
    prop_oneof![
        prop::sample::select(known.map(|line| line.as_bytes().to_vec()).to_vec()),
        prop::collection::vec(any::<u8>().prop_filter("a line", |byte| *byte != b'\n'), 0..40),
    ]
}

/// How a line ends and begins.
fn frame(record: &Value, kind: usize) -> Vec<u8> {
    match kind {
        0 => format!("\u{feff}{record}\n").into_bytes(),
        1 => format!("{record}\r\n").into_bytes(),
        2 => format!("{record}{record}\n").into_bytes(),
        3 => [format!("{record}").as_bytes(), b"\0\n"].concat(),
        4 => [b"\0\0", format!("{record}\n").as_bytes()].concat(),
        _ => format!("{record}\n").into_bytes(),
    }
}

/// A file of these records with litter between them.
fn file(records: &[(Value, usize, Option<Vec<u8>>)]) -> Vec<u8> {
    let mut file = Vec::new();
    for (record, kind, litter) in records {
        file.extend(frame(record, *kind));
        if let Some(litter) = litter {
            file.extend(litter);
            file.push(b'\n');
        }
    }
    file
}

/// The file read in pieces that end at `cuts`.
fn read(agent: Agent, file: &[u8], cuts: &[prop::sample::Index]) -> Transcript {
    let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(file.len() + 1)).collect();
    cuts.sort_unstable();
    cuts.push(file.len());
    let mut requests = Requests::default();
    let mut transcript = Transcript::new(&session(agent, "t"), MAIN);
    let mut from = 0;
    for cut in cuts {
        transcript.feed(&file[from..cut], &mut requests);
        from = cut;
    }
    transcript
}

fn cuts() -> impl Strategy<Value = Vec<prop::sample::Index>> {
    prop::collection::vec(any::<prop::sample::Index>(), 0..20)
}

/// Lines of answers in any order, ten requests among them, with litter.
fn answers() -> impl Strategy<Value = Vec<(Value, usize, Option<Vec<u8>>)>> {
    let line = (0..10_u64, 0..1000_u64, 0..9_usize, prop::option::of(litter())).prop_map(
        |(id, output, kind, litter)| (answer(&id.to_string(), id * 7, output), kind, litter),
    );
    prop::collection::vec(line, 0..40)
}

/// Each request once, with the largest output of its lines.
fn sum_of(answers: &[(Value, usize, Option<Vec<u8>>)]) -> Tokens {
    let mut largest = [None::<(u64, u64)>; 10];
    for (record, ..) in answers {
        let message = &record["message"];
        let id: usize = message["id"].as_str().unwrap()["msg_".len()..].parse().unwrap();
        let number = |field: &str| message["usage"][field].as_u64().unwrap();
        let output = largest[id].map_or(0, |(_, output)| output).max(number("output_tokens"));
        largest[id] = Some((number("input_tokens"), output));
    }
    let sum = |of: fn((u64, u64)) -> u64| largest.iter().flatten().copied().map(of).sum();
    tokens(sum(|(input, _)| input), sum(|(_, output)| output))
}

proptest! {
    #[test]
    fn each_request_counts_once_however_the_file_is_read(answers in answers(), cuts in cuts()) {
        let file = file(&answers);
        let cut = read(Agent::ClaudeCode, &file, &cuts);
        prop_assert_eq!(cut.tokens(), sum_of(&answers));
        prop_assert_eq!(cut.window(), read(Agent::ClaudeCode, &file, &[]).window());
    }

    #[test]
    fn lines_that_come_again_change_nothing(
        answers in answers(),
        again in prop::collection::vec(any::<prop::sample::Index>(), 1..20),
    ) {
        prop_assume!(!answers.is_empty());
        let mut repeated = answers.clone();
        for index in again {
            repeated.insert(index.index(repeated.len()), index.get(&answers).clone());
        }
        let found = read(Agent::ClaudeCode, &file(&repeated), &[]);
        prop_assert_eq!(found.tokens(), sum_of(&answers));
    }

    #[test]
    fn a_line_counts_when_its_end_has_come(answers in answers(), end in any::<prop::sample::Index>()) {
        let file = file(&answers);
        let (begun, rest) = file.split_at(end.index(file.len() + 1));
        let mut requests = Requests::default();
        let mut transcript = Transcript::new(&session(Agent::ClaudeCode, "t"), MAIN);
        transcript.feed(begun, &mut requests);
        // As a reader does that forgets the half and comes back to it.
        let half = transcript.forget_half();
        let before = transcript.tokens();
        let all = sum_of(&answers);
        prop_assert!(before.input <= all.input && before.output <= all.output);
        transcript.feed(&begun[begun.len() - half..], &mut requests);
        prop_assert_eq!(transcript.tokens(), before);
        transcript.feed(rest, &mut requests);
        prop_assert_eq!(transcript.tokens(), all);
    }

    #[test]
    fn a_thread_counts_its_steps_however_the_file_is_read(
        parent in prop::option::of((1..1000_u64, 1..1000_u64)),
        copied in any::<bool>(),
        steps in prop::collection::vec(
            (1..1000_u64, 0..1000_u64, 0..9_usize, 1..4_usize, prop::option::of(litter())),
            0..20,
        ),
        cuts in cuts(),
    ) {
        let mut records = Vec::new();
        let fork = if parent.is_some() { json!({"forked_from_id": "p"}) } else { json!({}) };
        records.push((meta("t", &fork), 9, None));
        let mut total = parent.unwrap_or_default();
        if parent.is_some() && copied {
            records.push((meta("p", &json!({})), 9, None));
            records.push((count(1, total, total), 9, None));
        }
        let mut own = Tokens::default();
        for (step, (input, output, kind, times, litter)) in (1..).zip(&steps) {
            own = tokens(own.input + input, own.output + output);
            total = (total.0 + input, total.1 + output);
            for _ in 0..*times {
                let record = count(step * 1000, total, (*input, *output));
                records.push((record, *kind, litter.clone()));
            }
        }
        let file = file(&records);
        let thread = read(Agent::Codex, &file, &cuts);
        prop_assert_eq!(thread.tokens(), own);
        prop_assert_eq!(thread.window(), read(Agent::Codex, &file, &[]).window());
    }

    #[test]
    fn no_bytes_are_an_error(
        agent in prop::sample::select(vec![Agent::ClaudeCode, Agent::Codex]),
        lines in prop::collection::vec(litter(), 0..20),
        cuts in cuts(),
    ) {
        let transcript = read(agent, &lines.join(&b'\n'), &cuts);
        prop_assert_eq!((transcript.tokens(), transcript.window()), (Tokens::default(), None));
    }
}
