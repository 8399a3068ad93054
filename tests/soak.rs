//! Half an hour of heavy use, played as fast as the daemon takes it: what it holds stays what it was
//! once it has seen what it keeps.
//!
//! A user with four busy agents makes some 8 events a second. `TMA1_TEST_SCALE=10` plays the 14,400
//! events of half an hour of that; without it a tenth is played.

use std::io::Write;
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::support::daemon::Daemon;
use crate::support::home::TestHome;
use crate::support::{http, say, scale};

/// How many agents work side by side.
const AGENTS: usize = 4;

/// How many events each of them makes at scale 1.
const EVENTS: usize = 360;

/// What the daemon may gain in memory after the first third, in KiB: the world holds 512 sessions at
/// most, and what each holds is bounded too, so what is still being filled up fits into this.
const MORE_MEMORY: u64 = 24 * 1024;

/// What it may gain in descriptors: connections that are being answered when they are counted.
const MORE_DESCRIPTORS: usize = AGENTS + 4;

/// What it may gain in threads: helpers, up to their bound.
const MORE_THREADS: usize = 8;

/// What it may say, in bytes: a few lines a minute, whatever is sent to it.
const MESSAGES: u64 = 64 * 1024;

/// How much of the history is kept: little, so that it forgets events while others come.
const KEPT: &str = "16MiB";

/// What the history may take on the disk, in bytes: what is kept, and what four agents at full speed add
/// in the minute until it is looked again whether that is too much.
const HISTORY: u64 = (16 + 144) * 1024 * 1024;

/// What the daemon has.
#[derive(Debug, Clone, Copy)]
struct Sample {
    memory: u64,
    descriptors: usize,
    threads: usize,
}

impl Sample {
    fn of(pid: u32) -> Self {
        let process = Path::new("/proc").join(pid.to_string());
        let status = fs_err::read_to_string(process.join("status")).unwrap();
        let number = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            line.trim().trim_end_matches(" kB").parse::<u64>().unwrap()
        };
        Self {
            memory: number("VmRSS:"),
            descriptors: fs_err::read_dir(process.join("fd")).unwrap().count(),
            threads: usize::try_from(number("Threads:")).unwrap(),
        }
    }
}

/// One agent, which has one session after the other.
struct Worker {
    port: u16,
    project: PathBuf,
    transcripts: PathBuf,
    number: usize,
    sent: usize,
}

impl Worker {
    fn tell(&mut self, session: &str, name: &str, more: &Value) {
        let mut event = more.clone();
        event["hook_event_name"] = name.into();
        event["session_id"] = session.into();
        event["cwd"] = self.project.to_str().unwrap().into();
        event["transcript_path"] =
            self.transcripts.join(format!("{session}.jsonl")).to_str().unwrap().into();
        let is_codex = self.number % 2 == 1;
        let query = if is_codex { "?source=codex&envelope=codex" } else { "" };
        let target = format!("/api/hooks{query}");
        let (status, _) =
            http::request(self.port, "POST", &target, event.to_string().as_bytes()).unwrap();
        assert_eq!(status, 200);
        self.sent += 1;
    }

    fn call(&mut self, session: &str, id: usize, tool: &str, input: &Value, response: &Value) {
        let id = format!("{session}-{id}");
        let call = json!({"tool_name": tool, "tool_use_id": id, "tool_input": input});
        self.tell(session, "PreToolUse", &call);
        let mut result = call;
        result["tool_response"] = response.clone();
        self.tell(session, "PostToolUse", &result);
    }

    /// A session as people have them: prompts, reads, edits, builds that fail and pass, much output, an
    /// outside change. Two of three end; of the others nothing is heard any more.
    fn session(&mut self, number: usize) {
        let session = format!("{:04x}{number:04x}-soak", self.number);
        self.tell(&session, "SessionStart", &json!({"source": "startup"}));
        for turn in 0..3 {
            let file = self.project.join(format!("src-{}-{}.rs", self.number, number % 7));
            self.tell(&session, "UserPromptSubmit", &json!({"prompt": "go on ".repeat(turn + 1)}));
            self.write_transcript(&session, turn);
            let path = json!({"file_path": file});
            fs_err::write(&file, format!("fn f{turn}() {{}}")).unwrap();
            self.call(&session, turn * 9, "Read", &path, &json!({"type": "text"}));
            fs_err::write(&file, format!("fn g{turn}{number}() {{}} // edited")).unwrap();
            self.call(&session, turn * 9 + 1, "Edit", &path, &json!({"filePath": file}));
            let output =
                "line of a build\n".repeat(if number.is_multiple_of(9) { 9000 } else { 20 });
            let failed = format!("Exit code 101\n{output}error: test {number} failed");
            let command = json!({"command": format!("cargo test -p part{}", number % 5)});
            let call = json!({
                "tool_name": "Bash", "tool_use_id": format!("{session}-b{turn}"),
                "tool_input": command, "error": failed,
            });
            self.tell(&session, "PreToolUse", &call);
            self.tell(&session, "PostToolUseFailure", &call);
            self.call(&session, turn * 9 + 3, "Bash", &command, &json!({"stdout": output}));
            self.tell(&session, "Stop", &json!({"last_assistant_message": "done"}));
        }
        if !number.is_multiple_of(3) {
            self.tell(&session, "SessionEnd", &json!({"reason": "other"}));
        }
        self.look(number);
        self.misbehave(number);
    }

    /// What a user and an agent ask meanwhile, each of which reads the history.
    fn look(&self, number: usize) {
        let question =
            ["/api/status", "/api/sessions", "/api/search?text=failed", "/api/anomalies"];
        let question = question[number % question.len()];
        let (status, answer) = http::request(self.port, "GET", question, b"").unwrap();
        assert_eq!(status, 200, "{question}: {answer}");
    }

    fn write_transcript(&self, session: &str, turn: usize) {
        let path = self.transcripts.join(format!("{session}.jsonl"));
        let mut file = fs_err::OpenOptions::new().create(true).append(true).open(path).unwrap();
        let line = json!({
            "type": "assistant", "isSidechain": false, "sessionId": session, "requestId": turn.to_string(),
            "message": {"id": turn.to_string(), "role": "assistant", "content": "x".repeat(2000),
                        "usage": {"input_tokens": 10, "output_tokens": 5}},
        });
        writeln!(file, "{line}").unwrap();
    }

    /// What else comes to a port: garbage, half a request, questions without a right to an answer.
    fn misbehave(&self, number: usize) {
        let ask =
            |method, target, body: &[u8]| drop(http::request(self.port, method, target, body));
        match number % 4 {
            0 => ask("POST", "/api/hooks", b"no event"),
            1 => ask("GET", "/api/nothing", b""),
            2 => ask("POST", "/api/hooks?source=emacs", b"{}"),
            _ => {
                let mut slow = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).unwrap();
                slow.write_all(b"POST /api/hooks HTTP/1.1\r\nContent-Length: 99\r\n\r\n{").unwrap();
            }
        }
    }
}

#[test]
fn half_an_hour_of_heavy_use_leaves_it_as_it_was() {
    let home = TestHome::new();
    let transcripts = home.home().join(".claude/projects/soak");
    fs_err::create_dir_all(&transcripts).unwrap();
    assert!(
        Command::new("git").arg("init").arg("-q").arg(home.project()).status().unwrap().success()
    );
    let mut serve = home.tma1_command(&["serve"]);
    serve.env("TMA1_DATA_MAX", KEPT);
    let daemon = Daemon::start_command(&home, serve);
    let events = EVENTS * scale();
    let samples: Vec<Vec<Sample>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..AGENTS)
            .map(|number| {
                let (port, project) = (home.port(), home.project());
                let transcripts = transcripts.clone();
                let mut worker = Worker { port, project, transcripts, number, sent: 0 };
                let pid = daemon.pid();
                scope.spawn(move || {
                    let mut samples = Vec::new();
                    for session in 0.. {
                        worker.session(session);
                        samples.push(Sample::of(pid));
                        if worker.sent >= events {
                            return samples;
                        }
                    }
                    samples
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    });
    let highest = |range: fn(usize) -> std::ops::Range<usize>| {
        let part = samples.iter().flat_map(|samples| &samples[range(samples.len())]);
        part.fold(Sample { memory: 0, descriptors: 0, threads: 0 }, |highest, sample| Sample {
            memory: highest.memory.max(sample.memory),
            descriptors: highest.descriptors.max(sample.descriptors),
            threads: highest.threads.max(sample.threads),
        })
    };
    let before = highest(|length| 0..length.div_ceil(3));
    let after = highest(|length| length - length.div_ceil(3)..length);
    let said = fs_err::metadata(home.tmp().join("daemon.log")).unwrap().len();
    let history = ["tma1.db", "tma1.db-wal"].map(|name| {
        fs_err::metadata(home.home().join(".tma1/data").join(name)).map_or(0, |file| file.len())
    });
    let history: u64 = history.iter().sum();
    let report = format!(
        "{} events: {before:?}, in the end {after:?}; {said} bytes of messages, {history} of history",
        events * AGENTS
    );
    assert!(after.memory <= before.memory + MORE_MEMORY, "{report}");
    assert!(after.descriptors <= before.descriptors + MORE_DESCRIPTORS, "{report}");
    assert!(after.threads <= before.threads + MORE_THREADS, "{report}");
    assert!(said <= MESSAGES, "{report}");
    assert!(history <= HISTORY, "{report}");
    assert_eq!(daemon.health()["events_lost"], 0, "{report}");
    say(&report);
}
