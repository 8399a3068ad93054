//! A scripted Responses API on 127.0.0.1 that remembers every request.

use std::time::Duration;

use hyper::{Method, StatusCode};
use serde_json::{Value, json};

use super::mock_server::{Api, MockServer, Recorded, Reply, next_id};

/// The server; it ends when this is dropped.
pub type MockOpenai = MockServer<Responses>;

/// The Responses API.
#[derive(Debug)]
pub enum Responses {}

/// One answer of the model.
#[derive(Debug, Default)]
pub struct Turn {
    output: Vec<Value>,
    input_tokens: Option<u64>,
    error: Option<(StatusCode, &'static str)>,
    delay: Duration,
}

impl Turn {
    /// A turn that says something.
    pub fn text(text: &str) -> Self {
        let content = json!([{"type": "output_text", "text": text, "annotations": []}]);
        Self::default()
            .item(json!({"type": "message", "role": "assistant", "content": content}), "msg")
    }

    /// A refusal, such as 429 `rate_limit_exceeded`.
    pub fn error(status: u16, code: &'static str) -> Self {
        Self { error: Some((StatusCode::from_u16(status).unwrap(), code)), ..Self::default() }
    }

    /// The same turn, which runs a command in the shell.
    pub fn shell(self, command: &str) -> Self {
        self.function(json!({"name": "exec_command"}), &json!({"cmd": command}))
    }

    /// The same turn, which applies a patch.
    pub fn apply_patch(self, patch: &str) -> Self {
        let call = json!({"type": "custom_tool_call", "name": "apply_patch", "input": patch});
        self.call(call, "ctc")
    }

    /// The same turn, which calls a tool of an MCP server.
    pub fn mcp(self, server: &str, tool: &str, arguments: &Value) -> Self {
        self.function(json!({"name": tool, "namespace": format!("mcp__{server}")}), arguments)
    }

    /// The same turn, which looks for tools that it was not told of: those of MCP servers.
    pub fn tool_search(self, query: &str) -> Self {
        let arguments = json!({"query": query});
        let call =
            json!({"type": "tool_search_call", "execution": "client", "arguments": arguments});
        self.call(call, "tsc")
    }

    /// The same turn, in answer to a request of this size.
    pub fn input_tokens(mut self, tokens: u64) -> Self {
        self.input_tokens = Some(tokens);
        self
    }

    /// The same turn, after a while.
    pub fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    fn function(self, mut call: Value, arguments: &Value) -> Self {
        call["type"] = json!("function_call");
        call["arguments"] = json!(arguments.to_string());
        self.call(call, "fc")
    }

    fn call(self, mut call: Value, kind: &str) -> Self {
        call["call_id"] = json!(next_id("call"));
        self.item(call, kind)
    }

    fn item(mut self, mut item: Value, kind: &str) -> Self {
        item["id"] = json!(next_id(kind));
        item["status"] = json!("completed");
        self.output.push(item);
        self
    }

    /// The response as the server-sent events that build it up.
    fn events(&self, request: &Value) -> Vec<Value> {
        let mut response = json!({
            "id": next_id("resp"),
            "object": "response",
            "created_at": 0,
            "status": "in_progress",
            "model": request["model"],
            "output": [],
        });
        let mut events = vec![json!({"type": "response.created", "response": response})];
        for (index, item) in self.output.iter().enumerate() {
            events.extend(["added", "done"].map(|step| {
                let kind = format!("response.output_item.{step}");
                json!({"type": kind, "output_index": index, "item": item})
            }));
        }
        response["status"] = json!("completed");
        response["output"] = json!(self.output);
        let input_tokens = self.input_tokens.unwrap_or(100);
        response["usage"] = json!({
            "input_tokens": input_tokens,
            "input_tokens_details": {"cached_tokens": 30},
            "output_tokens": 40,
            "output_tokens_details": {"reasoning_tokens": 10},
            "total_tokens": input_tokens + 40,
        });
        events.push(json!({"type": "response.completed", "response": response}));
        events
    }
}

impl Api for Responses {
    type Turn = Turn;

    fn is_step(request: &Recorded) -> bool {
        request.method == Method::POST && request.path == "/v1/responses"
    }

    fn answer(request: &Recorded, turn: Option<Turn>) -> Reply {
        if !Self::is_step(request) {
            return Reply::json(StatusCode::NOT_FOUND, &json!({}));
        }
        let turn = turn.unwrap_or_else(|| Turn::error(400, "script_exhausted"));
        let reply = match turn.error {
            Some((status, code)) => {
                let error = json!({"type": code, "code": code, "message": "scripted"});
                Reply::json(status, &json!({"error": error}))
            }
            None => Reply::stream(&turn.events(&request.body)),
        };
        reply.after(turn.delay)
    }
}

#[test]
fn the_mock_answers_as_scripted_and_remembers_what_it_was_asked() {
    let delay = Duration::from_millis(50);
    let mock = MockOpenai::start([
        Turn::error(429, "rate_limit_exceeded"),
        Turn::text("Looking.").shell("true").apply_patch("*** Begin Patch").after(delay),
    ]);
    let body = json!({"model": "m", "input": []});
    let step = || mock.ask("POST", "/v1/responses", &body);

    let (status, refusal) = step();
    assert_eq!((status, refusal.contains("rate_limit_exceeded")), (429, true), "{refusal}");
    let asked = tma1::clock::monotonic();
    let (status, stream) = step();
    assert!(tma1::clock::monotonic() - asked >= delay);
    assert_eq!(status, 200);
    let end = stream.rsplit_once("event: response.completed\ndata: ").unwrap().1;
    let end: Value = serde_json::from_str(end).unwrap();
    let [message, shell, patch] = end["response"]["output"].as_array().unwrap().as_slice() else {
        panic!("{end:#}");
    };
    assert_eq!(message["content"][0]["text"], "Looking.");
    assert_eq!(shell["arguments"], r#"{"cmd":"true"}"#);
    assert_eq!(patch["input"], "*** Begin Patch");
    assert_ne!(shell["call_id"], patch["call_id"]);
    assert_eq!(step().0, 400, "the script is at its end");
    assert_eq!(mock.ask("GET", "/v1/models", &Value::Null).0, 404);

    assert_eq!(mock.requests().len(), 4);
    assert_eq!(mock.conversation(), [&body, &body, &body].map(Clone::clone));
}
