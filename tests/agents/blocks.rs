//! What the model is told by us.

use serde_json::Value;

/// The context blocks in the messages of a request, in the order in which the model reads them.
pub fn context_blocks(messages: &Value) -> Vec<String> {
    let mut blocks = Vec::new();
    collect(messages, &mut blocks);
    blocks
}

fn collect(value: &Value, blocks: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            // The tag on a line of its own: a text may also be about the block.
            let after_tags = text.split("<tma1-context>\n").skip(1);
            blocks.extend(
                after_tags
                    .filter_map(|rest| rest.split_once("</tma1-context>"))
                    .map(|(block, _)| block.to_owned()),
            );
        }
        Value::Array(values) => values.iter().for_each(|value| collect(value, blocks)),
        Value::Object(fields) => fields.values().for_each(|value| collect(value, blocks)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Requires that the last block of `messages` has these lines.
#[track_caller]
pub fn assert_last_block(messages: &Value, expected: &[&str]) {
    let blocks = context_blocks(messages);
    let block = blocks.last().unwrap_or_else(|| panic!("no block: {messages:#}"));
    for line in expected {
        assert!(block.lines().any(|found| found == *line), "no {line:?} in\n{block}");
    }
}

#[test]
fn the_blocks_of_a_request_are_found_in_order_and_talk_of_them_is_not_one() {
    use serde_json::json;

    let messages = json!([
        {"role": "user", "content": "read the `<tma1-context>` block"},
        {"role": "user", "content": [{"type": "text", "text":
            "a <tma1-context>\nproject: a\n</tma1-context> b <tma1-context>\nproject: b\n</tma1-context>"}]},
        {"role": "system", "content": "<tma1-context>\nproject: c\n</tma1-context>"},
    ]);
    assert_eq!(context_blocks(&messages), ["project: a\n", "project: b\n", "project: c\n"]);
}
