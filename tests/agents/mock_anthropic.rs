//! A scripted Messages API on 127.0.0.1 that remembers every request.
//!
//! A request that offers tools belongs to the conversation and is answered by the next turn of the
//! script. One that offers none is the agent's own side question and gets a fixed text.

use std::time::Duration;

use hyper::{Method, StatusCode};
use serde_json::{Value, json};

use super::mock_server::{Api, MockServer, Recorded, Reply, next_id};

/// The server; it ends when this is dropped.
pub type MockAnthropic = MockServer<Messages>;

/// The Messages API.
#[derive(Debug)]
pub enum Messages {}

/// One answer of the model.
#[derive(Debug, Default)]
pub struct Turn {
    content: Vec<Value>,
    output_tokens: Option<u64>,
    error: Option<(StatusCode, &'static str)>,
    delay: Duration,
}

impl Turn {
    /// A turn that says something.
    pub fn text(text: &str) -> Self {
        Self { content: vec![json!({"type": "text", "text": text})], ..Self::default() }
    }

    /// A refusal, such as 529 `overloaded_error`.
    pub fn error(status: u16, kind: &'static str) -> Self {
        Self { error: Some((StatusCode::from_u16(status).unwrap(), kind)), ..Self::default() }
    }

    /// The same turn, which calls a tool at its end.
    pub fn tool(mut self, name: &str, input: Value) -> Self {
        let mut call = json!({"type": "tool_use", "id": next_id("toolu"), "name": name});
        call["input"] = input;
        self.content.push(call);
        self
    }

    /// The same turn, at this price.
    pub fn output_tokens(mut self, tokens: u64) -> Self {
        self.output_tokens = Some(tokens);
        self
    }

    /// The same turn, after a while.
    pub fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    fn stop_reason(&self) -> &'static str {
        if self.content.iter().any(|block| block["type"] == "tool_use") {
            "tool_use"
        } else {
            "end_turn"
        }
    }

    /// The whole message, as a request that does not stream gets it.
    fn message(&self, request: &Value) -> Value {
        json!({
            "id": next_id("msg"),
            "type": "message",
            "role": "assistant",
            "model": request["model"],
            "content": self.content,
            "stop_reason": self.stop_reason(),
            "stop_sequence": null,
            "usage": {
                "input_tokens": 100,
                "cache_creation_input_tokens": 20,
                "cache_read_input_tokens": 30,
                "output_tokens": self.output_tokens.unwrap_or(40),
            },
        })
    }
}

impl Api for Messages {
    type Turn = Turn;

    fn is_step(request: &Recorded) -> bool {
        request.path == "/v1/messages" && offers_tools(&request.body)
    }

    fn answer(request: &Recorded, turn: Option<Turn>) -> Reply {
        let body = &request.body;
        match (&request.method, request.path.as_str()) {
            (&Method::POST, "/v1/messages") => {
                let turn = if Self::is_step(request) {
                    turn.unwrap_or_else(|| Turn::error(400, "script_exhausted"))
                } else {
                    Turn::text("ok")
                };
                message_reply(&turn, body).after(turn.delay)
            }
            (&Method::POST, "/v1/messages/count_tokens") => {
                let tokens = body.to_string().len().div_ceil(4);
                Reply::json(StatusCode::OK, &json!({"input_tokens": tokens}))
            }
            (&Method::POST | &Method::HEAD, _) => Reply::json(StatusCode::OK, &json!({})),
            _ => Reply::json(StatusCode::NOT_FOUND, &json!({})),
        }
    }
}

fn offers_tools(body: &Value) -> bool {
    body["tools"].as_array().is_some_and(|tools| !tools.is_empty())
}

fn message_reply(turn: &Turn, request: &Value) -> Reply {
    if let Some((status, kind)) = turn.error {
        let error = json!({"type": kind, "message": "scripted"});
        return Reply::json(status, &json!({"type": "error", "error": error}));
    }
    let message = turn.message(request);
    if request["stream"] == true {
        Reply::stream(&events_of(&message))
    } else {
        Reply::json(StatusCode::OK, &message)
    }
}

/// The message as the server-sent events that build it up.
fn events_of(message: &Value) -> Vec<Value> {
    let mut start = message.clone();
    start["content"] = json!([]);
    start["stop_reason"] = Value::Null;
    start["usage"]["output_tokens"] = json!(1);
    let mut events = vec![json!({"type": "message_start", "message": start})];
    for (index, block) in message["content"].as_array().unwrap().iter().enumerate() {
        let mut block = block.clone();
        let delta = if block["type"] == "text" {
            json!({"type": "text_delta", "text": std::mem::replace(&mut block["text"], json!(""))})
        } else {
            let input = std::mem::replace(&mut block["input"], json!({}));
            json!({"type": "input_json_delta", "partial_json": input.to_string()})
        };
        events.extend([
            json!({"type": "content_block_start", "index": index, "content_block": block}),
            json!({"type": "content_block_delta", "index": index, "delta": delta}),
            json!({"type": "content_block_stop", "index": index}),
        ]);
    }
    events.push(json!({
        "type": "message_delta",
        "delta": {"stop_reason": message["stop_reason"], "stop_sequence": null},
        "usage": message["usage"],
    }));
    events.push(json!({"type": "message_stop"}));
    events
}

#[test]
fn the_mock_answers_as_scripted_and_remembers_what_it_was_asked() {
    let delay = Duration::from_millis(50);
    let mock = MockAnthropic::start([
        Turn::error(529, "overloaded_error"),
        Turn::text("Looking.")
            .tool("Bash", json!({"command": "true"}))
            .output_tokens(7)
            .after(delay),
        Turn::text("Done."),
    ]);
    let post = |target: &str, body: &Value| mock.ask("POST", target, body);
    let side = json!({"model": "m"});
    let step = json!({"model": "m", "tools": [{"name": "Bash"}]});
    let streamed = json!({"model": "m", "tools": [{"name": "Bash"}], "stream": true});

    let (status, body) = post("/v1/messages", &side);
    assert_eq!((status, body.contains(r#""text":"ok""#)), (200, true), "{body}");
    assert_eq!(post("/v1/messages", &step).0, 529);
    let asked = tma1::clock::monotonic();
    let message: Value = serde_json::from_str(&post("/v1/messages?beta=true", &step).1).unwrap();
    assert!(tma1::clock::monotonic() - asked >= delay);
    assert_eq!(message["content"][1]["input"]["command"], "true");
    assert_eq!(message["stop_reason"], "tool_use");
    assert_eq!(message["usage"]["output_tokens"], 7);
    let (_, stream) = post("/v1/messages", &streamed);
    assert!(stream.contains(r#""delta":{"text":"Done.","type":"text_delta"}"#), "{stream}");
    assert!(stream.ends_with("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"));
    assert_eq!(post("/v1/messages", &step).0, 400, "the script is at its end");
    assert_eq!(post("/v1/messages/count_tokens", &side), (200, r#"{"input_tokens":4}"#.to_owned()));
    assert_eq!(post("/api/event_logging/batch", &side).0, 200);
    assert_eq!(mock.ask("GET", "/", &side).0, 404);

    assert_eq!(mock.requests().len(), 8);
    assert_eq!(mock.conversation(), [&step, &step, &streamed, &step].map(Clone::clone));
}
