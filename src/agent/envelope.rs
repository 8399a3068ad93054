//! The shapes in which the agents take an answer.
//!
//! Both agents are strict about the shape and silent about a mistake: an answer in the wrong one is
//! dropped, or shown to the user as a failed hook. The rules here are measured ones; `docs/agents.md`
//! has them.

use serde_json::json;

use crate::agent::Agent;

/// How Codex is told to go on.
pub const GO_ON: &str = r#"{"continue":true}"#;

/// What an event is answered with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Nothing to say.
    Nothing,
    /// Text for the model to read.
    Context(String),
    /// In answer to a Stop: why the turn must go on.
    Block(String),
}

/// The shape of an answer on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Envelope {
    /// Plain text where Claude Code hands it to the model, its JSON elsewhere.
    ClaudeCode,
    /// Codex's JSON everywhere.
    Codex,
}

/// An answer in its envelope: the body of the response, which the hook prints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// Nothing is printed.
    Empty,
    /// Plain text.
    Text(String),
    /// One JSON document.
    Json(String),
}

impl From<Agent> for Envelope {
    fn from(agent: Agent) -> Self {
        match agent {
            Agent::ClaudeCode => Self::ClaudeCode,
            Agent::Codex => Self::Codex,
        }
    }
}

impl Envelope {
    /// Puts the answer to the event `event` into its envelope.
    ///
    /// Context for an event whose output the agent does not hand to the model is left out: it would
    /// be an error there.
    pub fn seal(self, event: &str, answer: Answer) -> Reply {
        match (self, event, answer) {
            // Codex's own way of saying "go on", which it takes everywhere.
            (Self::Codex, "PreToolUse", _) => Reply::Json(GO_ON.to_owned()),
            (
                Self::ClaudeCode,
                "SessionStart" | "UserPromptSubmit" | "PreCompact",
                Answer::Context(text),
            ) => Reply::Text(text),
            (Self::ClaudeCode, "PostToolUse" | "PostToolUseFailure", Answer::Context(text))
            | (
                Self::Codex,
                "SessionStart" | "UserPromptSubmit" | "PostToolUse",
                Answer::Context(text),
            ) => Reply::Json(additional_context(event, &text)),
            // Without a reason both agents call it an error.
            (_, "Stop", Answer::Block(reason)) if !reason.trim().is_empty() => {
                Reply::Json(json!({"decision": "block", "reason": reason}).to_string())
            }
            _ => Reply::Empty,
        }
    }
}

fn additional_context(event: &str, text: &str) -> String {
    json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}).to_string()
}

impl Reply {
    /// The bytes of the body.
    pub fn into_body(self) -> String {
        match self {
            Self::Empty => String::new(),
            Self::Text(body) | Self::Json(body) => body,
        }
    }

    /// The media type of the body.
    pub const fn content_type(&self) -> &'static str {
        match self {
            Self::Empty | Self::Text(_) => "text/plain; charset=utf-8",
            Self::Json(_) => "application/json",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(envelope: Envelope, event: &str) -> String {
        envelope.seal(event, Answer::Context("words".to_owned())).into_body()
    }

    #[test]
    fn claude_code_reads_plain_text_where_it_hands_it_to_the_model() {
        for event in ["SessionStart", "UserPromptSubmit", "PreCompact"] {
            assert_eq!(body(Envelope::ClaudeCode, event), "words");
        }
        for event in ["PostToolUse", "PostToolUseFailure"] {
            let body: serde_json::Value =
                serde_json::from_str(&body(Envelope::ClaudeCode, event)).unwrap();
            assert_eq!(
                body,
                json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": "words"}})
            );
        }
    }

    #[test]
    fn codex_reads_json() {
        for event in ["SessionStart", "UserPromptSubmit", "PostToolUse"] {
            let body: serde_json::Value =
                serde_json::from_str(&body(Envelope::Codex, event)).unwrap();
            assert_eq!(
                body,
                json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": "words"}})
            );
        }
        assert_eq!(body(Envelope::Codex, "PreToolUse"), r#"{"continue":true}"#);
    }

    #[test]
    fn context_is_left_out_where_it_would_be_an_error_or_keep_the_agent_going() {
        for event in [
            "Stop",
            "SubagentStop",
            "StopFailure",
            "Interrupt",
            "SessionEnd",
            "PostCompact",
            "PostToolBatch",
            "Notification",
            "WorktreeCreate",
            "Unheard of",
        ] {
            assert_eq!(body(Envelope::ClaudeCode, event), "", "{event}");
            assert_eq!(body(Envelope::Codex, event), "", "{event}");
        }
        assert_eq!(body(Envelope::ClaudeCode, "PreToolUse"), "");
        assert_eq!(body(Envelope::Codex, "PreCompact"), "");
        assert_eq!(body(Envelope::Codex, "PostToolUseFailure"), "");
    }

    #[test]
    fn only_a_stop_is_blocked_and_only_with_a_reason() {
        for envelope in [Envelope::ClaudeCode, Envelope::Codex] {
            let seal = |event, reason: &str| envelope.seal(event, Answer::Block(reason.to_owned()));
            let Reply::Json(body) = seal("Stop", "Fix the \"build\".\n") else { panic!() };
            let body: serde_json::Value = serde_json::from_str(&body).unwrap();
            assert_eq!(body, json!({"decision": "block", "reason": "Fix the \"build\".\n"}));
            assert_eq!(seal("Stop", " \n"), Reply::Empty);
            for event in [
                "SubagentStop",
                "UserPromptSubmit",
                "SessionStart",
                "PostToolUse",
                "PreCompact",
                "SessionEnd",
            ] {
                assert_eq!(seal(event, "no"), Reply::Empty, "{event}");
            }
        }
        let block = Answer::Block("no".to_owned());
        assert_eq!(Envelope::ClaudeCode.seal("PreToolUse", block), Reply::Empty);
    }

    #[test]
    fn nothing_to_say_is_an_empty_body() {
        for envelope in [Envelope::ClaudeCode, Envelope::Codex] {
            assert_eq!(envelope.seal("UserPromptSubmit", Answer::Nothing), Reply::Empty);
        }
    }
}
