//! Codex's review of hooks, asked about and recorded through Codex itself.
//!
//! Codex runs a hook only after its user has trusted it, and trust is bound to a hash of what the
//! hook is. That hash comes from Codex and goes back to Codex: we compute none and write none into
//! its files, so that nothing is trusted that Codex has not read.
//!
//! `codex app-server` speaks JSON lines on its standard input and output. To start it makes Codex
//! create its home, if there is none, and its databases there.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::clock;
use crate::config::Environment;
use crate::platform;

/// The longest wait for one answer. The first takes a second where Codex has its databases to make.
const PATIENCE: Duration = Duration::from_secs(15);

/// How long the app-server may take to end after its standard input was closed.
const GRACE: Duration = Duration::from_secs(1);

/// How many lines may wait for us to read them.
const MAX_UNREAD: usize = 64;

/// Why Codex could not be asked.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// No program of that name.
    #[error("there is no `codex` on the PATH")]
    NotFound,
    /// The program can't be run.
    #[error("{} can't be started", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The app-server ended instead of answering.
    #[error("Codex ended when it was asked for `{method}`{}", after_colon(said))]
    Ended {
        /// What was asked.
        method: &'static str,
        /// The last line that it wrote to standard error, or nothing.
        said: String,
    },
    /// The app-server does not know the question.
    #[error("this version of Codex does not know `{0}`")]
    TooOld(&'static str),
    /// No answer in time.
    #[error("Codex did not answer `{0}` in time")]
    TimedOut(&'static str),
    /// The app-server answered with an error.
    #[error("Codex refused `{method}`{}", after_colon(reason))]
    Refused {
        /// What was asked.
        method: &'static str,
        /// Its reason.
        reason: String,
    },
    /// The answer is not in the shape that we know.
    #[error("Codex answered `{method}` in a way that is not understood")]
    NotUnderstood {
        /// What was asked.
        method: &'static str,
        /// What is wrong with the answer.
        source: serde_json::Error,
    },
}

impl TrustError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::NotFound => "install Codex, or put its folder on the PATH",
            Self::TooOld(_) => "update Codex, or review the hooks in it with `/hooks`",
            Self::Start { .. }
            | Self::Ended { .. }
            | Self::TimedOut(_)
            | Self::Refused { .. }
            | Self::NotUnderstood { .. } => {
                "start `codex` to see whether it works, and review the hooks in it with `/hooks`"
            }
        }
        .to_owned()
    }
}

fn after_colon(words: &str) -> String {
    if words.is_empty() { String::new() } else { format!(": {words}") }
}

/// What Codex makes of its hooks, as seen from one directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// The directory.
    pub cwd: PathBuf,
    /// Every hook that Codex has read, trusted or not.
    pub hooks: Vec<ListedHook>,
    /// What Codex could not read, in its own words: a file that is not here has none of its hooks
    /// listed.
    pub warnings: Vec<String>,
}

impl Listing {
    /// The hooks that run exactly `command`.
    pub fn running<'a>(&'a self, command: &'a str) -> impl Iterator<Item = &'a ListedHook> {
        self.hooks.iter().filter(move |hook| hook.command.as_deref() == Some(command))
    }
}

/// One hook, as Codex has read it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListedHook {
    /// What Codex knows it by: its file, event and position.
    pub key: String,
    /// The file that it was read from.
    pub source_path: PathBuf,
    /// Its event, as Codex spells it here, such as `sessionStart`.
    pub event_name: String,
    /// What it runs; none for a hook that is not a command.
    pub command: Option<String>,
    /// The hash of what it is now.
    pub current_hash: String,
    /// Whether it was reviewed.
    pub trust_status: TrustStatus,
    /// Off if the user has disabled it; it does not run then, trusted or not.
    pub enabled: bool,
}

/// Whether a hook was reviewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TrustStatus {
    /// Never.
    Untrusted,
    /// It is what it was when the user trusted it.
    Trusted,
    /// It has changed since.
    Modified,
    /// The administrator of the machine answers for it.
    Managed,
    /// Something that a later Codex says.
    #[serde(other)]
    Unknown,
}

impl TrustStatus {
    /// Whether a review would make the hook run.
    pub const fn awaits_review(self) -> bool {
        matches!(self, Self::Untrusted | Self::Modified)
    }
}

/// The program `codex` on the PATH.
pub fn find_codex(environment: &Environment) -> Result<PathBuf, TrustError> {
    let name = format!("codex{}", std::env::consts::EXE_SUFFIX);
    let folders = environment.get("PATH").map(std::env::split_paths);
    folders
        .into_iter()
        .flatten()
        // A relative folder means another program in each working directory.
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(&name))
        .find(|program| program.is_file() && platform::is_executable(program))
        .ok_or(TrustError::NotFound)
}

/// A running `codex app-server`; it is ended when this is dropped.
#[derive(Debug)]
pub struct AppServer {
    // Dropped in this order: the process is asked to end before it is made to.
    conversation: Conversation<ChildStdin>,
    _process: Process,
}

impl AppServer {
    /// Starts the app-server of `codex` in `environment` and introduces us.
    pub fn start(codex: &Path, environment: &Environment) -> Result<Self, TrustError> {
        let mut command = Command::new(codex);
        command
            // Else Codex asks GitHub for plugins, which we have no use for.
            .args(["-c", "features.plugins=false", "app-server"])
            .env_clear()
            .envs(environment.variables());
        let start = |source| TrustError::Start { program: codex.to_owned(), source };
        let (process, streams) = Process::spawn(command).map_err(start)?;
        let conversation = Conversation::open(streams, PATIENCE);
        let mut server = Self { conversation, _process: process };
        server.conversation.introduce()?;
        Ok(server)
    }

    /// The hooks that Codex finds in its home and, if `cwd` is in a project, in that project.
    pub fn hooks(&mut self, cwd: &Path) -> Result<Listing, TrustError> {
        self.conversation.hooks(cwd)
    }

    /// Has Codex record that the user trusts what runs exactly `command`: the hooks of `listing`
    /// that await a review and still are what they were then, and no others. Returns how many these
    /// are.
    ///
    /// Only for a user who has seen the listing and said so.
    pub fn trust(&mut self, listing: &Listing, command: &str) -> Result<usize, TrustError> {
        self.conversation.trust(listing, command)
    }
}

/// The three ends of a program's standard streams that are ours.
struct Streams<I, O, E> {
    input: I,
    output: O,
    error: E,
}

/// A child with a process group of its own: what npm installs as `codex` is a script, and the
/// program is its child.
#[derive(Debug)]
struct Process(Child);

impl Process {
    fn spawn(
        mut command: Command,
    ) -> std::io::Result<(Self, Streams<ChildStdin, impl Read + Send, impl Read + Send>)> {
        platform::lead_group(&mut command);
        let child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let mut process = Self(child);
        let child = &mut process.0;
        match (child.stdin.take(), child.stdout.take(), child.stderr.take()) {
            (Some(input), Some(output), Some(error)) => {
                Ok((process, Streams { input, output, error }))
            }
            _ => Err(std::io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn has_ended(&mut self) -> bool {
        !matches!(self.0.try_wait(), Ok(None))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let deadline = clock::monotonic() + GRACE;
        while !self.has_ended() && clock::monotonic() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
        if !self.has_ended() {
            platform::kill_group(&mut self.0);
            drop(self.0.wait());
        }
    }
}

/// A line of the other side.
enum Heard {
    /// On standard output: a message of the protocol.
    Message(Vec<u8>),
    /// On standard error.
    Remark(Vec<u8>),
}

/// Requests and their answers.
#[derive(Debug)]
struct Conversation<W> {
    requests: W,
    heard: Receiver<Heard>,
    /// The last line on standard error, for when the other side ends.
    last_remark: String,
    last_id: u64,
    patience: Duration,
}

impl<W: Write> Conversation<W> {
    /// Listens in threads, so that neither side can hold the other up.
    fn open<O, E>(streams: Streams<W, O, E>, patience: Duration) -> Self
    where
        O: Read + Send + 'static,
        E: Read + Send + 'static,
    {
        let (sender, heard) = sync_channel(MAX_UNREAD);
        let remarks = sender.clone();
        std::thread::spawn(move || relay(streams.output, Heard::Message, &sender));
        std::thread::spawn(move || relay(streams.error, Heard::Remark, &remarks));
        let last_remark = String::new();
        Self { requests: streams.input, heard, last_remark, last_id: 0, patience }
    }

    fn introduce(&mut self) -> Result<(), TrustError> {
        let us = json!({"name": "tma1", "title": "tma1", "version": env!("CARGO_PKG_VERSION")});
        self.ask("initialize", &json!({"clientInfo": us}))?;
        self.send(&json!({"method": "initialized"}));
        Ok(())
    }

    fn hooks(&mut self, cwd: &Path) -> Result<Listing, TrustError> {
        let method = "hooks/list";
        let answer = self.ask(method, &json!({"cwds": [cwd.to_string_lossy()]}))?;
        let answer: HooksAnswer = serde_json::from_value(answer)
            .map_err(|source| TrustError::NotUnderstood { method, source })?;
        let mut listing = Listing { cwd: cwd.to_owned(), hooks: Vec::new(), warnings: Vec::new() };
        for directory in answer.data {
            listing.hooks.extend(directory.hooks);
            listing.warnings.extend(directory.warnings);
            listing.warnings.extend(directory.errors.into_iter().map(|error| error.message));
        }
        Ok(listing)
    }

    fn trust(&mut self, listing: &Listing, command: &str) -> Result<usize, TrustError> {
        // A hook is known by its position: after a change of the file it may be somebody else's,
        // whose trust would be lost.
        let now = self.hooks(&listing.cwd)?;
        let trusted: Map<String, Value> = now
            .running(command)
            .filter(|hook| hook.trust_status.awaits_review() && listing.hooks.contains(hook))
            .map(|hook| (hook.key.clone(), json!({"trusted_hash": hook.current_hash})))
            .collect();
        let count = trusted.len();
        if count > 0 {
            // `upsert` keeps what else is there, also of the same hook: that it is disabled, say.
            let edit =
                json!({"keyPath": "hooks.state", "value": trusted, "mergeStrategy": "upsert"});
            self.ask("config/batchWrite", &json!({"edits": [edit]}))?;
        }
        Ok(count)
    }

    /// Sends a request and waits for its answer; everything else that is heard is let pass.
    fn ask(&mut self, method: &'static str, params: &Value) -> Result<Value, TrustError> {
        self.last_id += 1;
        self.send(&json!({"id": self.last_id, "method": method, "params": params}));
        let deadline = clock::monotonic() + self.patience;
        loop {
            let left = deadline.saturating_duration_since(clock::monotonic());
            if left.is_zero() {
                return Err(TrustError::TimedOut(method));
            }
            match self.heard.recv_timeout(left) {
                Ok(Heard::Message(line)) => {
                    if let Some(answer) = answer_to(self.last_id, &line) {
                        return answer.map_err(|error| error.about(method));
                    }
                }
                Ok(Heard::Remark(line)) => {
                    let line = String::from_utf8_lossy(&line);
                    self.last_remark = console::strip_ansi_codes(line.trim()).into_owned();
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(TrustError::Ended { method, said: self.last_remark.clone() });
                }
            }
        }
    }

    /// A message is far smaller than the buffer of a pipe, so this does not wait. That nobody reads
    /// it any more shows when there is no answer.
    fn send(&mut self, message: &Value) {
        drop(self.requests.write_all(format!("{message}\n").as_bytes()));
        drop(self.requests.flush());
    }
}

fn relay(from: impl Read, kind: fn(Vec<u8>) -> Heard, to: &SyncSender<Heard>) {
    for line in BufReader::new(from).split(b'\n').map_while(Result::ok) {
        if to.send(kind(line)).is_err() {
            break;
        }
    }
}

/// What a message says if it is the answer to the request `id`. A message with a method is a
/// request or a notification of the other side, which counts its own ids.
fn answer_to(id: u64, message: &[u8]) -> Option<Result<Value, AnswerError>> {
    let message: Message = serde_json::from_slice(message).ok()?;
    if message.method.is_some() || message.id != Some(id) {
        return None;
    }
    Some(message.error.map_or(Ok(message.result), Err))
}

#[derive(Deserialize)]
struct Message {
    id: Option<u64>,
    method: Option<String>,
    #[serde(default)]
    result: Value,
    error: Option<AnswerError>,
}

#[derive(Deserialize)]
struct AnswerError {
    #[serde(default)]
    code: i64,
    #[serde(default)]
    message: String,
}

impl AnswerError {
    const METHOD_NOT_FOUND: i64 = -32601;

    fn about(self, method: &'static str) -> TrustError {
        // Codex reads a request into a list of all methods, and that is how it says so.
        let unknown = format!("unknown variant `{method}`");
        if self.code == Self::METHOD_NOT_FOUND || self.message.contains(&unknown) {
            TrustError::TooOld(method)
        } else {
            TrustError::Refused { method, reason: self.message.trim().to_owned() }
        }
    }
}

#[derive(Deserialize)]
struct HooksAnswer {
    data: Vec<HooksOfDirectory>,
}

#[derive(Deserialize)]
struct HooksOfDirectory {
    hooks: Vec<ListedHook>,
    #[serde(default)]
    warnings: Vec<String>,
    #[serde(default)]
    errors: Vec<HooksError>,
}

#[derive(Deserialize)]
struct HooksError {
    message: String,
}

#[cfg(test)]
mod tests {
    use std::io::{PipeWriter, empty, pipe, repeat, sink};
    use std::thread::JoinHandle;

    use super::*;

    /// An app-server in a thread, which answers each message with what `answer` makes of it, and
    /// at its end says what it was asked.
    fn app_server(
        answer: impl Fn(&Value) -> String + Send + 'static,
    ) -> (Conversation<PipeWriter>, JoinHandle<Vec<Value>>) {
        let (requests, input) = pipe().unwrap();
        let (output, mut answers) = pipe().unwrap();
        let server = std::thread::spawn(move || {
            let mut seen = Vec::new();
            for line in BufReader::new(requests).lines() {
                let message: Value = serde_json::from_str(&line.unwrap()).unwrap();
                answers.write_all(answer(&message).as_bytes()).unwrap();
                seen.push(message);
            }
            seen
        });
        let streams = Streams { input, output, error: empty() };
        (Conversation::open(streams, Duration::from_secs(5)), server)
    }

    fn error_of(answer: &'static str) -> TrustError {
        let (mut conversation, server) = app_server(move |_| format!("{answer}\n"));
        let error = conversation.hooks(Path::new("/")).unwrap_err();
        drop(conversation);
        server.join().unwrap();
        error
    }

    fn hook(position: usize, command: Option<&str>, trust: &str) -> Value {
        json!({
            "key": format!("/c/hooks.json:stop:{position}:0"), "sourcePath": "/c/hooks.json",
            "eventName": "stop", "command": command, "currentHash": format!("sha256:{position}"),
            "trustStatus": trust, "enabled": true, "aNewField": [],
        })
    }

    #[test]
    fn hooks_are_listed_past_everything_else_that_is_said() {
        let (mut conversation, server) = app_server(|message| {
            let id = &message["id"];
            let data = json!([{
                "cwd": "/work", "hooks": [hook(0, Some("ours"), "modified"), hook(1, None, "new")],
                "warnings": ["odd"], "errors": [{"path": "/c", "message": "broken"}],
            }]);
            let answer = match message["method"].as_str().unwrap() {
                "initialize" => json!({"id": id, "result": {}}),
                "initialized" => json!({"method": "configWarning", "params": {}}),
                _ => json!({"jsonrpc": "2.0", "id": id, "result": {"data": data, "x": 1}}),
            };
            let other_request = json!({"id": id, "method": "approve", "params": {}});
            format!("no JSON\n[]\n{other_request}\n{{\"id\":\"x\"}}\n{{\"id\":99}}\n{answer}\n")
        });
        conversation.introduce().unwrap();
        let listing = conversation.hooks(Path::new("/work")).unwrap();
        drop(conversation);

        assert_eq!(listing.warnings, ["odd", "broken"]);
        let [ours] = listing.running("ours").collect::<Vec<_>>()[..] else { panic!("{listing:?}") };
        assert_eq!(ours.source_path, Path::new("/c/hooks.json"));
        assert_eq!((ours.trust_status, ours.enabled), (TrustStatus::Modified, true));
        assert_eq!(listing.hooks[1].trust_status, TrustStatus::Unknown);
        let seen = server.join().unwrap();
        assert_eq!(seen[0]["params"]["clientInfo"]["name"], "tma1");
        assert_eq!(seen[2]["params"], json!({"cwds": ["/work"]}));
    }

    #[test]
    fn what_awaits_a_review_and_runs_our_command_is_trusted_and_nothing_else() {
        let hooks = json!([
            hook(0, Some("ours"), "untrusted"),
            hook(1, Some("theirs"), "untrusted"),
            hook(2, Some("ours "), "untrusted"),
            hook(3, None, "untrusted"),
            hook(4, Some("ours"), "trusted"),
            hook(5, Some("ours"), "modified"),
            hook(6, Some("ours"), "managed"),
            hook(7, Some("ours"), "untrusted"),
        ]);
        let seen = serde_json::from_value(hooks.clone()).unwrap();
        let listing = Listing { cwd: "/work".into(), hooks: seen, warnings: Vec::new() };
        let (mut conversation, server) = app_server(move |message| {
            let mut hooks = hooks.clone();
            hooks[7]["currentHash"] = json!("sha256:another");
            let result = json!({"data": [{"hooks": hooks}]});
            format!("{}\n", json!({"id": message["id"], "result": result}))
        });
        assert_eq!(conversation.trust(&listing, "ours").unwrap(), 2);
        assert_eq!(conversation.trust(&listing, "absent").unwrap(), 0);
        drop(conversation);

        let value = json!({
            "/c/hooks.json:stop:0:0": {"trusted_hash": "sha256:0"},
            "/c/hooks.json:stop:5:0": {"trusted_hash": "sha256:5"},
        });
        let edit = json!({"keyPath": "hooks.state", "value": value, "mergeStrategy": "upsert"});
        let request = json!({"id": 2, "method": "config/batchWrite", "params": {"edits": [edit]}});
        let writes = server.join().unwrap().into_iter().filter(|it| it["method"] != "hooks/list");
        assert_eq!(writes.collect::<Vec<_>>(), [request]);
    }

    #[test]
    fn an_error_says_what_was_asked_and_why_it_failed() {
        let codex = r#"{"error":{"code":-32600,"message":"Invalid request: unknown variant `hooks/list`, expected"},"id":1}"#;
        let standard = r#"{"error":{"code":-32601,"message":"no"},"id":1}"#;
        for answer in [codex, standard] {
            assert!(matches!(error_of(answer), TrustError::TooOld("hooks/list")), "{answer}");
        }
        let refusal = error_of(r#"{"error":{"code":-32600,"message":"not now\n"},"id":1}"#);
        assert_eq!(refusal.to_string(), "Codex refused `hooks/list`: not now");
        for answer in [r#"{"id":1}"#, r#"{"id":1,"result":{"data":[{"hooks":[{"key":1}]}]}}"#] {
            assert!(matches!(error_of(answer), TrustError::NotUnderstood { .. }), "{answer}");
        }
    }

    #[test]
    fn who_says_nothing_to_the_point_is_given_up() {
        let (silence, _open) = pipe().unwrap();
        let sources: [Box<dyn Read + Send>; 2] = [Box::new(silence), Box::new(repeat(b'\n'))];
        for output in sources {
            let streams = Streams { input: sink(), output, error: empty() };
            let mut conversation = Conversation::open(streams, Duration::from_millis(50));
            let error = conversation.introduce().unwrap_err();
            assert!(matches!(error, TrustError::TimedOut("initialize")), "{error}");
        }
    }

    #[test]
    fn who_ends_is_quoted() {
        let streams = Streams {
            input: sink(),
            output: empty(),
            error: &b"first\n\x1b[31merror:\x1b[0m no such subcommand\n"[..],
        };
        let error = Conversation::open(streams, Duration::from_secs(5)).introduce().unwrap_err();
        let expected = "Codex ended when it was asked for `initialize`: error: no such subcommand";
        assert_eq!(error.to_string(), expected);
    }

    #[cfg(unix)]
    mod processes {
        use std::os::unix::fs::PermissionsExt;

        use super::*;
        use crate::setup::cases::Home;

        #[test]
        fn codex_is_the_first_program_of_that_name_on_the_path() {
            let home = Home::new();
            for (folder, mode) in [("plain", 0o644), ("first", 0o755), ("second", 0o755)] {
                home.write(&format!("{folder}/codex"), "#!/bin/sh\n");
                let permissions = PermissionsExt::from_mode(mode);
                fs_err::set_permissions(home.path(&format!("{folder}/codex")), permissions)
                    .unwrap();
            }
            fs_err::create_dir_all(home.path("folder/codex")).unwrap();
            let folders = ["folder", "plain", "first", "second"].map(|folder| home.path(folder));
            let path = std::env::join_paths([PathBuf::new()].iter().chain(&folders)).unwrap();
            let environment = Environment::from_iter([("PATH", path)]);
            assert_eq!(find_codex(&environment).unwrap(), home.path("first/codex"));
            let error = find_codex(&Environment::default()).unwrap_err();
            assert_eq!(error.to_string(), "there is no `codex` on the PATH");
        }

        #[test]
        fn a_program_that_hangs_is_killed_with_its_children() {
            let mut command = Command::new("/bin/sh");
            command.args(["-c", "sleep 1000 & wait"]);
            let (process, Streams { input, mut output, error: _error }) =
                Process::spawn(command).unwrap();
            drop(input);
            drop(process);
            // It ends when nobody is left who could write.
            assert_eq!(output.read_to_end(&mut Vec::new()).unwrap(), 0);
        }

        #[test]
        fn a_program_that_is_not_codex_is_refused() {
            let environment = Environment::from_iter([("PATH", "/usr/bin:/bin")]);
            let error = AppServer::start(Path::new("/bin/false"), &environment).unwrap_err();
            assert!(matches!(error, TrustError::Ended { .. }), "{error}");
            let error = AppServer::start(Path::new("/nonexistent"), &environment).unwrap_err();
            assert_eq!(error.to_string(), "/nonexistent can't be started");
        }
    }
}
