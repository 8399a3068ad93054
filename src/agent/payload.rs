//! What a hook sends: JSON, repaired where agents break it and cut where it is over-long.
//!
//! The log keeps a payload as it is after the cut, and an event is read from nothing else, so that
//! the log tells the same world again.

use std::fmt;

use serde_json::{Map, Value};

use crate::agent::{EventError, Redaction, patch};

/// The longest string that is kept whole, in bytes. Payloads are unbounded: a `Write` carries a
/// file's content twice, a `Read` of an image all of its bytes.
const MAX_STRING_BYTES: usize = 64 * 1024;

/// Room for the note about what was cut; with it, a cut string is not over-long any more.
const NOTE_BYTES: usize = 32;

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// The payload of one hook event, with no over-long string in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Payload(Map<String, Value>);

impl Payload {
    /// Reads what the log kept, or what a hook sent where nothing of it is to be redacted.
    pub fn read(json: &[u8]) -> Result<Self, EventError> {
        Ok(members(json)?.into())
    }

    /// Reads what a hook sent, without the secrets in it. They go before anything is cut: a part of
    /// one is not known any more.
    pub fn read_redacted(json: &[u8], redaction: &Redaction) -> Result<Self, EventError> {
        let mut fields = members(json)?;
        redaction.fields(&mut fields);
        Ok(fields.into())
    }

    /// Every field.
    pub(crate) const fn fields(&self) -> &Map<String, Value> {
        &self.0
    }

    /// A field as it is; none if it is absent.
    pub fn get(&self, field: &str) -> Option<&Value> {
        self.0.get(field)
    }

    /// A field that is text; empty if it is absent or something else.
    pub fn text(&self, field: &str) -> &str {
        self.get(field).and_then(Value::as_str).unwrap_or_default()
    }
}

impl From<Map<String, Value>> for Payload {
    fn from(mut fields: Map<String, Value>) -> Self {
        fields.values_mut().for_each(cut);
        Self(fields)
    }
}

/// As JSON.
impl fmt::Display for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(&self.0).map_err(|_| fmt::Error)?)
    }
}

fn members(json: &[u8]) -> Result<Map<String, Value>, EventError> {
    let json = json.strip_prefix(BYTE_ORDER_MARK).unwrap_or(json);
    let value = serde_json::from_slice(json)
        .or_else(|error| serde_json::from_str(&repaired(json)).map_err(|_| error))?;
    match value {
        Value::Object(fields) => Ok(fields),
        _ => Err(EventError::NotAnObject),
    }
}

fn cut(value: &mut Value) {
    match value {
        Value::String(text) if text.len() > MAX_STRING_BYTES => *text = shortened(text),
        Value::Array(items) => items.iter_mut().for_each(cut),
        Value::Object(fields) => fields.values_mut().for_each(cut),
        _ => {}
    }
}

/// The beginning and the end of an over-long text, where tools sum up, or what a patch says of its
/// files, with a note of how much is missing.
fn shortened(text: &str) -> String {
    const ROOM: usize = MAX_STRING_BYTES - NOTE_BYTES;
    let outline = patch::outline(text);
    let (start, end) = match &outline {
        Some(outline) => (beginning(outline, ROOM), ""),
        None => (beginning(text, ROOM / 2), ending(text, ROOM / 2)),
    };
    format!("{start}[{} bytes cut]{end}", text.len() - start.len() - end.len())
}

/// As much of the end of `text` as fits into `bytes` without breaking a character.
fn ending(text: &str, bytes: usize) -> &str {
    let start = text.len().saturating_sub(bytes);
    let start = (start..=text.len()).find(|index| text.is_char_boundary(*index));
    start.and_then(|start| text.get(start..)).unwrap_or_default()
}

/// As much of `text` as fits into `bytes` without breaking a character.
pub(crate) fn beginning(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rfind(|index| text.is_char_boundary(*index));
    end.and_then(|end| text.get(..end)).unwrap_or_default()
}

/// The same JSON with replacement characters for what is no text.
///
/// An agent that cuts a string where UTF-16 has half a character sends that half, as an escape or in
/// bytes; the event is worth more than the character.
fn repaired(json: &[u8]) -> String {
    let text = String::from_utf8_lossy(json);
    let mut repaired = String::with_capacity(text.len());
    let mut rest = &*text;
    while let Some((before, escape)) = rest.split_once('\\') {
        repaired.push_str(before);
        repaired.push('\\');
        let second = escape.get(5..).and_then(|after| after.strip_prefix('\\')).and_then(code_unit);
        let (kept, taken) = match (code_unit(escape), second) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => (escape.get(..11), 11),
            (Some(0xd800..=0xdfff), _) => (Some("ufffd"), 5),
            // Also the second of two backslashes, which begins no escape.
            _ => {
                let length = escape.chars().next().map_or(0, char::len_utf8);
                (escape.get(..length), length)
            }
        };
        repaired.push_str(kept.unwrap_or_default());
        rest = escape.get(taken..).unwrap_or_default();
    }
    repaired.push_str(rest);
    repaired
}

/// The code unit of an escape such as `u00e9`.
fn code_unit(escape: &str) -> Option<u16> {
    u16::from_str_radix(escape.strip_prefix('u')?.get(..4)?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::{Agent, HookEvent};
    use proptest::prelude::*;
    use serde_json::json;

    fn payload(value: &Value) -> Payload {
        Payload::read(value.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn only_over_long_strings_are_cut_and_never_inside_a_character() {
        let exact = "x".repeat(MAX_STRING_BYTES);
        let half = "x".repeat((MAX_STRING_BYTES - NOTE_BYTES) / 2 - 1);
        let long = format!("{half}€{}€{half}", "x".repeat(NOTE_BYTES));
        let expected = format!("{half}[{} bytes cut]{half}", NOTE_BYTES + 6);
        assert_eq!(
            payload(&json!({"a": [exact, {"b": long}], "n": 1.5, "z": null})).0["a"],
            json!([exact, {"b": expected}])
        );
    }

    #[test]
    fn a_long_patch_keeps_the_lines_that_name_its_files() {
        let content = "+line\n".repeat(20_000);
        let patch = format!(
            "*** Begin Patch\n*** Add File: a\n{content}*** Add File: b\n{content}*** End Patch\n"
        );
        let sent = payload(&json!({"command": patch}));
        let start = "*** Begin Patch\n*** Add File: a\n*** Add File: b\n*** End Patch\n[";
        assert!(sent.text("command").starts_with(start));
        let sent = payload(&json!({"command": format!("apply_patch <<'E'\n{patch}E\n")}));
        assert!(sent.text("command").starts_with(&format!("apply_patch <<'E'\n{start}")));
    }

    #[test]
    fn broken_text_is_replaced_and_not_refused() {
        for (sent, read) in [
            (&br#"{"a":"\ud83d"}"#[..], "\u{fffd}"),
            (br#"{"a":"\ude00x"}"#, "\u{fffd}x"),
            (br#"{"a":"\ud83d\n"}"#, "\u{fffd}\n"),
            (br#"{"a":"\ud83d\ud83d\ude00"}"#, "\u{fffd}\u{1f600}"),
            (br#"{"a":"\\ud83d\ud83d"}"#, "\\ud83d\u{fffd}"),
            (b"{\"a\":\"\xf0\x9f\x98\"}", "\u{fffd}"),
            (b"\xef\xbb\xbf{\"a\":\"b\"}", "b"),
        ] {
            let sent_text = String::from_utf8_lossy(sent);
            assert_eq!(Payload::read(sent).unwrap().text("a"), read, "{sent_text}");
        }
        for sent in [&b"\xff\xfe"[..], br#"{"a":"\u12"}"#, br#"{"a":"\"#, br#"{"a":"\ud8"}"#] {
            assert!(Payload::read(sent).is_err());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn what_the_log_kept_reads_as_the_same_event(
            files in prop::collection::vec("(/|[a-z]{1,9}/)?[a-zé]{1,9}", 0..6),
            lines in 0..20_000_usize,
            begin in prop::sample::select(vec!["*** Begin Patch\n", ""]),
            cwd in "(/[a-z.]{0,5}){0,3}",
        ) {
            let content = "+é\n".repeat(lines);
            let files: Vec<_> =
                files.iter().map(|file| format!("*** Add File: {file}\n{content}")).collect();
            let patch = format!("{begin}{}", files.concat());
            let sent = payload(&json!({
                "hook_event_name": "PostToolUse", "session_id": "s", "cwd": cwd,
                "tool_name": "apply_patch", "tool_input": {"command": patch},
            }));
            let kept = Payload::read(sent.to_string().as_bytes()).unwrap();
            prop_assert_eq!(&kept, &sent);
            let event = |payload| HookEvent::from_payload(Agent::Codex, payload).unwrap();
            prop_assert_eq!(event(&kept), event(&sent));
        }
    }
}
