//! Transcripts of Claude Code of any size.

use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};

/// Writes a transcript of at least `size` bytes to `path`, with what real ones have: most of it the
/// results of tools, some of a megabyte; several lines an answer, the early ones of some with a
/// placeholder for its output; answers of subagents between them; copies of lines; compactions.
pub fn write_transcript(path: &Path, size: usize) {
    let mut file = std::io::BufWriter::new(fs_err::File::create(path).unwrap());
    let mut written = 0;
    let mut numbers = Numbers(1);
    let mut line = |record: &Value| {
        let line = format!("{record}\n");
        file.write_all(line.as_bytes()).unwrap();
        line.len()
    };
    for request in 0_usize.. {
        if written >= size {
            break;
        }
        let length = if request % 97 == 96 { 1_800_000 } else { numbers.below(12_000) };
        written += line(&tool_result(length));
        let (output, blocks) = (1 + numbers.below(4000), 1 + numbers.below(4));
        let input = numbers.below(9000);
        for block in 0..=blocks {
            let output = if request % 3 == 0 && block < blocks { 1 } else { output };
            let answer = answer(request, input, output, request % 7 == 6);
            written += line(&answer);
            if request % 11 == 10 {
                written += line(&answer);
            }
        }
        if request % 400 == 399 {
            written += line(&json!({"type": "system", "subtype": "compact_boundary"}));
        }
    }
    file.flush().unwrap();
}

fn tool_result(length: usize) -> Value {
    let text = "let total = 項目.iter().sum();\n".repeat(length / 34 + 1);
    json!({
        "type": "user", "isSidechain": false, "sessionId": "s", "cwd": "/home/dev/project",
        "message": {"role": "user", "content": [{"type": "tool_result", "content": text}]},
        "toolUseResult": {"stdout": text, "stderr": "", "interrupted": false},
    })
}

fn answer(request: usize, input: usize, output: usize, is_sidechain: bool) -> Value {
    json!({
        "type": "assistant", "isSidechain": is_sidechain, "sessionId": "s",
        "requestId": format!("req_{request}"), "version": "2.1.332",
        "message": {
            "id": format!("msg_{request}"), "role": "assistant", "model": "claude-opus-5-5",
            "content": [{"type": "text", "text": "I will look at the \"tests\".\n".repeat(20)}],
            "usage": {
                "input_tokens": input, "output_tokens": output, "service_tier": "standard",
                "cache_creation_input_tokens": 10, "cache_read_input_tokens": 5000,
            },
        },
    })
}

/// The same numbers in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }
}
