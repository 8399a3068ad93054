//! `POST /api/builds`: what commands do that `tma1 build` runs.

use tokio::task::spawn_blocking;

use crate::agent::{Command, Purpose, Redaction, SessionKey, beginning};
use crate::build::{Event, Message, tells_error};
use crate::clock::{self, Timestamp};
use crate::daemon::hooks::Hooks;
use crate::store::BuildEntry;
use crate::world::{Observation, WrappedBuild, WrappedEnd};

/// The largest message that is taken, in bytes.
pub(super) const MAX_MESSAGE_BYTES: usize = 512 * 1024;

/// How much of each text is kept, in bytes.
const MAX_ID: usize = 64;
const MAX_NAME: usize = 64;
const MAX_COMMAND: usize = 4 * 1024;
const MAX_PATH: usize = 4 * 1024;
const MAX_LINE: usize = 1024;

/// How many lines of a message are kept, and how much of them the log has.
const MAX_LINES: usize = 200;
const MAX_LOGGED: usize = 8 * 1024;

/// What a message cut down and without secrets says.
struct Told {
    event: Event,
    build: WrappedBuild,
    watch: bool,
    lines: Vec<String>,
}

impl Hooks {
    /// Takes a message in.
    pub(super) async fn take_build(&self, message: Message) {
        let directory = message.project.as_deref().unwrap_or(&message.cwd);
        let (projects, directory) = (self.projects(), cut(directory, MAX_PATH));
        let Ok(root) = spawn_blocking(move || projects.root_of(&directory)).await else { return };
        let redaction = self.redaction();
        let redact = move || {
            let told = Told::new(&message, redaction.as_deref());
            (message, told)
        };
        let Ok((message, told)) = spawn_blocking(redact).await else { return };
        let now = clock::now();
        // As with events: the log has them in the order in which they were folded.
        let mut world = self.world();
        if let Some(observation) = told.observation(&root) {
            world.observe(&observation, now);
        }
        if !world.is_build_of_call(&root, &told.build.id)
            && let Some(entry) = told.entry(&message, &root, now)
        {
            drop(self.log().append_build(entry));
        }
    }
}

impl Told {
    fn new(message: &Message, redaction: Option<&Redaction>) -> Self {
        let redacted = |text: &str, bytes| {
            let text = redaction.map_or(text.into(), |redaction| redaction.text(text));
            cut(&text, bytes)
        };
        // Secrets may have several lines, such as a key.
        let lines = message.lines.iter().take(MAX_LINES).map(|line| cut(line, MAX_LINE));
        let lines = redacted(&lines.collect::<Vec<_>>().join("\n"), MAX_LINES * MAX_LINE);
        let session = |id: &str| cut(id, MAX_ID);
        let build = WrappedBuild {
            id: cut(&message.build_id, MAX_ID),
            command: redacted(&message.command, MAX_COMMAND),
            cwd: cut(&message.cwd, MAX_PATH),
            session: (message.caller.as_ref())
                .map(|it| SessionKey { agent: it.agent, id: session(&it.session) }),
        };
        let lines = lines.lines().map(str::to_owned).collect();
        Self { event: message.event, build, watch: message.watch, lines }
    }

    fn end(&self) -> Option<WrappedEnd> {
        match self.event {
            Event::Start | Event::Lines => None,
            Event::Green => Some(WrappedEnd::Green),
            Event::Red => Some(WrappedEnd::Red),
            Event::Exited(0) if self.watch => Some(WrappedEnd::Quit),
            Event::Exited(code) => Some(WrappedEnd::Exited(code.into())),
            Event::Killed(signal) => Some(WrappedEnd::Killed(signal.into())),
        }
    }

    fn observation(&self, root: &str) -> Option<Observation> {
        let (root, build) = (root.to_owned(), self.build.clone());
        match (self.event, self.end()) {
            (Event::Start, _) => Some(Observation::BuildBegan { root, build }),
            (_, Some(end)) => {
                Some(Observation::BuildTold { root, build, end, said: self.lines.clone() })
            }
            (_, None) => None,
        }
    }

    /// Lines are logged only if something in them tells of an error.
    fn entry(&self, message: &Message, root: &str, at: Timestamp) -> Option<BuildEntry> {
        let command = Command::of_build(&self.build.command, &self.build.cwd);
        let (event, exit_code, signal) = match (self.event, self.end()) {
            (Event::Start, _) => ("start", None, None),
            (_, Some(WrappedEnd::Green)) => ("passed", None, None),
            (_, Some(WrappedEnd::Red)) => ("failed", None, None),
            (_, Some(WrappedEnd::Quit)) => ("interrupted", Some(0), None),
            (_, Some(end @ WrappedEnd::Exited(code))) => (end.name(&command), Some(code), None),
            (_, Some(end @ WrappedEnd::Killed(signal))) => (end.name(&command), None, Some(signal)),
            (_, None) if self.lines.iter().any(|line| tells_error(line)) => ("lines", None, None),
            (_, None) => return None,
        };
        let by_purpose = if command.purpose == Purpose::Test { "test" } else { "build" };
        let said = cut(&self.lines.join("\n"), MAX_LOGGED);
        Some(BuildEntry {
            at,
            project_root: root.to_owned(),
            session_id: self.build.session.as_ref().map_or_else(String::new, |key| key.id.clone()),
            build_id: self.build.id.clone(),
            event: event.to_owned(),
            tag: cut(message.tag.as_deref().unwrap_or(by_purpose), MAX_NAME),
            command: self.build.command.clone(),
            cwd: self.build.cwd.clone(),
            exit_code,
            signal,
            duration_ms: i64::try_from(message.duration_ms).unwrap_or(i64::MAX),
            lines: i64::try_from(message.lines_seen).unwrap_or(i64::MAX),
            said: Some(said).filter(|said| !said.is_empty()),
        })
    }
}

/// What the log tells of a build, for the world.
pub(super) fn observed(entry: BuildEntry) -> Observation {
    let BuildEntry { project_root: root, build_id: id, command, cwd, exit_code, signal, .. } =
        entry;
    let build = WrappedBuild { id, command, cwd, session: None };
    let end = match (entry.event.as_str(), exit_code, signal) {
        ("start", ..) => return Observation::BuildBegan { root, build },
        ("interrupted", Some(0), _) => WrappedEnd::Quit,
        (_, Some(code), _) => WrappedEnd::Exited(code),
        (_, _, Some(signal)) => WrappedEnd::Killed(signal),
        ("passed", ..) => WrappedEnd::Green,
        _ => WrappedEnd::Red,
    };
    let said = entry.said.unwrap_or_default().lines().map(str::to_owned).collect();
    Observation::BuildTold { root, build, end, said }
}

fn cut(text: &str, bytes: usize) -> String {
    beginning(text, bytes).to_owned()
}
