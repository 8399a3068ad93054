//! A client of `tma1 mcp-serve` that sees every line.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use serde_json::{Value, json};

/// The longest wait for an answer, and for the end.
const PATIENCE: Duration = Duration::from_secs(10);

/// A running `tma1 mcp-serve`.
pub struct McpServer {
    child: Child,
    stdin: Option<ChildStdin>,
    frames: Receiver<Value>,
    next_id: u64,
}

impl McpServer {
    /// Starts `command`. A line on its standard output that is not JSON-RPC is a panic, at the next
    /// answer.
    pub fn start(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, frames) = mpsc::channel();
        std::thread::spawn(move || {
            for line in stdout.lines() {
                let line = line.unwrap();
                let frame: Value = serde_json::from_str(&line).unwrap_or(Value::String(line));
                if sender.send(frame).is_err() {
                    return;
                }
            }
        });
        Self { child, stdin, frames, next_id: 0 }
    }

    /// The same, opened with a protocol version; also returns what the server says of itself.
    pub fn open(command: Command, version: &str) -> (Self, Value) {
        let mut server = Self::start(command);
        let answer = server.request("initialize", initialize(version));
        server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
        let about = answer["result"].clone();
        assert!(about.is_object(), "{answer}");
        (server, about)
    }

    /// Sends a line.
    pub fn send(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        writeln!(stdin, "{line}").unwrap();
    }

    /// Sends a request and returns the frame that answers it, which must be the next one.
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        self.next_id += 1;
        let id = self.next_id;
        let mut request = json!({"jsonrpc": "2.0", "id": id, "method": method});
        request["params"] = params;
        self.send(&request.to_string());
        let answer = self.frame().unwrap_or_else(|| panic!("no answer to {request}"));
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Calls a tool and returns whether it failed, and the text of its one content.
    pub fn call(&mut self, tool: &str, arguments: &Value, meta: &Value) -> (bool, String) {
        let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
        let answer = self.request("tools/call", params);
        let result = &answer["result"];
        assert_eq!(result["structuredContent"], Value::Null, "{answer}");
        assert_eq!(result["content"].as_array().map(Vec::len), Some(1), "{answer}");
        assert_eq!(result["content"][0]["type"], "text", "{answer}");
        let text = result["content"][0]["text"].as_str().unwrap().to_owned();
        (result["isError"] == true, text)
    }

    /// How much memory the server holds.
    #[cfg(target_os = "linux")]
    pub fn resident_kibibytes(&self) -> u64 {
        let status = format!("/proc/{}/status", self.child.id());
        let status = fs_err::read_to_string(status).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }

    /// The next frame; none after the last one.
    pub fn frame(&self) -> Option<Value> {
        match self.frames.recv_timeout(PATIENCE) {
            Ok(frame) => {
                assert_eq!(frame["jsonrpc"], "2.0", "no frame: {frame}");
                Some(frame)
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => None,
            Err(mpsc::RecvTimeoutError::Timeout) => panic!("the server says nothing"),
        }
    }

    /// Ends the input and returns the frames that still come, and the exit status.
    pub fn end(mut self) -> (Vec<Value>, Option<i32>) {
        drop(self.stdin.take());
        let frames = std::iter::from_fn(|| self.frame()).collect();
        (frames, self.child.wait().unwrap().code())
    }
}

impl Drop for McpServer {
    fn drop(&mut self) {
        // It has ended already unless a test failed.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The parameters of `initialize`.
pub fn initialize(version: &str) -> Value {
    json!({
        "protocolVersion": version,
        "capabilities": {"roots": {"listChanged": true}, "elicitation": {}},
        "clientInfo": {"name": "tests", "version": "0"},
    })
}
