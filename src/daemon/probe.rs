//! A question whether the way of an event works, asked on that very way.
//!
//! What runs the hook of an agent as the agent does sends an event with a field of its own in it. Its
//! mark comes back in the envelope of the agent, and nothing else happens: no session begins, nothing is
//! logged, nothing is counted, and that injection is off does not matter.

use serde::Deserialize;

use crate::agent::Answer;

/// The field that makes an event a probe. No agent sends it.
pub const PROBE_FIELD: &str = "tma1_probe";

/// A larger event is none, so that large ones are not read twice.
const MAX_BYTES: usize = 4 * 1024;

/// The longest mark that is given back, in bytes.
const MAX_MARK_BYTES: usize = 64;

/// An event that is to be answered and forgotten.
#[derive(Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Probe {
    #[serde(rename = "tma1_probe")]
    mark: String,
    /// The event as which it came.
    #[serde(rename = "hook_event_name", default)]
    pub event: String,
}

impl Probe {
    /// The probe that `body` is, if it is one.
    pub(super) fn read(body: &[u8]) -> Option<Self> {
        if body.len() > MAX_BYTES {
            return None;
        }
        let probe: Self = serde_json::from_slice(body).ok()?;
        // It goes to whoever reads the answer, so it is no place for words.
        let is_mark = !probe.mark.is_empty()
            && probe.mark.len() <= MAX_MARK_BYTES
            && probe.mark.bytes().all(|byte| byte.is_ascii_alphanumeric());
        is_mark.then_some(probe)
    }

    /// The mark, for the envelope.
    pub(super) fn answer(&self) -> Answer {
        Answer::Context(format!("{PROBE_FIELD} {}", self.mark))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_small_event_with_a_mark_is_a_probe() {
        let probe = |body: &str| Probe::read(body.as_bytes());
        let found = probe(r#"{"hook_event_name":"Stop","tma1_probe":"a1"}"#).unwrap();
        assert_eq!(found.event, "Stop");
        assert_eq!(found.answer(), Answer::Context("tma1_probe a1".to_owned()));
        let large = format!(r#"{{"tma1_probe":"a1","x":"{}"}}"#, "x".repeat(MAX_BYTES));
        let long = format!(r#"{{"tma1_probe":"{}"}}"#, "x".repeat(MAX_MARK_BYTES + 1));
        for body in [
            "",
            "[]",
            r#"{"hook_event_name":"Stop"}"#,
            r#"{"tma1_probe":""}"#,
            r#"{"tma1_probe":1}"#,
            r#"{"tma1_probe":"</tma1-context>"}"#,
            r#"{"tool_input":{"tma1_probe":"a1"}}"#,
            &large,
            &long,
        ] {
            assert_eq!(probe(body), None, "{body}");
        }
    }

    #[test]
    fn the_field_has_one_name() {
        let probe = format!(r#"{{"{PROBE_FIELD}":"a1"}}"#);
        assert!(Probe::read(probe.as_bytes()).is_some());
    }
}
