//! Tells who changed a file that an agent has seen: its session, or somebody else.
//!
//! A file is looked at when an event makes it matter: before and after a call that could change it,
//! and when a turn begins or ends. What changes while a command of an agent runs is the command's
//! doing, and so is what changes right after an edit: an agent's own formatter runs then.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::time::Duration;

use crate::agent::{EventKind, HookEvent, SessionKey, Status, ToolAction, ToolResult};
use crate::clock::Timestamp;
use crate::platform::Version;
use crate::sensor::commands::Commands;
use crate::world::Observation;

/// How many files are known. Beyond it the one that was used for longest ago is forgotten.
const MAX_FILES: usize = 2048;

/// How many files are looked at in one go; on a local disk that takes less than a millisecond.
const MAX_LOOKED_AT: usize = 256;

/// How long after an edit a change of the same file is put down to it: to the formatter that the
/// agent's other hooks run.
const AFTERMATH: Duration = Duration::from_secs(2);

/// What we write ourselves, if we are told to.
pub const OWN_FILE: &str = ".tma1-context.md";

/// The files that agents have seen, as they were then.
#[derive(Debug, Default)]
pub struct Views {
    files: HashMap<String, Known>,
    commands: Commands,
    uses: u64,
}

#[derive(Debug)]
struct Known {
    version: Option<Version>,
    /// Who changed it last, of the agents, and when.
    changed_by: Option<(SessionKey, Timestamp)>,
    /// The number of its last use.
    used: u64,
}

impl Views {
    /// What an event gives reason to look at, and what is seen there. `version` looks at a file.
    pub fn take(
        &mut self,
        event: &HookEvent,
        root: &str,
        at: Timestamp,
        version: &impl Fn(&str) -> Option<Version>,
    ) -> Vec<Observation> {
        self.commands.before(event);
        let seen = self.look_for(event, root, at, version);
        self.commands.after(event, root, at);
        seen
    }

    fn look_for(
        &mut self,
        event: &HookEvent,
        root: &str,
        at: Timestamp,
        version: &impl Fn(&str) -> Option<Version>,
    ) -> Vec<Observation> {
        match &event.kind {
            EventKind::PreToolUse(call) => match &call.action {
                ToolAction::Read { paths } => self.look(paths.iter(), root, at, version),
                ToolAction::Edit { written, removed } => {
                    self.look(written.iter().chain(removed), root, at, version)
                }
                ToolAction::Run(_) => self.look_around(root, at, version),
                ToolAction::Search | ToolAction::Other => Vec::new(),
            },
            EventKind::PostToolUse(result) => self.take_result(event, result, root, at, version),
            EventKind::RejectedCalls(results) => {
                let seen = results.iter().map(|result| match &result.call.action {
                    ToolAction::Edit { written, removed } => {
                        self.look(written.iter().chain(removed), root, at, version)
                    }
                    _ => Vec::new(),
                });
                seen.flatten().collect()
            }
            EventKind::SessionStart(_)
            | EventKind::UserPromptSubmit { .. }
            | EventKind::Stop { .. }
            | EventKind::TurnBroken
            | EventKind::PreCompact => self.look_around(root, at, version),
            EventKind::SessionEnd | EventKind::Other => Vec::new(),
        }
    }

    fn take_result(
        &mut self,
        event: &HookEvent,
        result: &ToolResult,
        root: &str,
        at: Timestamp,
        version: &impl Fn(&str) -> Option<Version>,
    ) -> Vec<Observation> {
        // What no event says, went well as a rule.
        let is_done = !matches!(result.status, Status::Failed { .. });
        match &result.call.action {
            ToolAction::Read { paths } => {
                let seen = self.look(paths.iter(), root, at, version);
                // A subagent's reader is not the session.
                if is_done && event.subagent.is_none() {
                    for path in paths {
                        self.know(path, version(path), None);
                    }
                }
                seen
            }
            ToolAction::Edit { written, removed } => {
                if is_done {
                    for path in written.iter().chain(removed) {
                        self.know(path, version(path), Some((event.session.clone(), at)));
                    }
                }
                Vec::new()
            }
            ToolAction::Run(_) => self.look_around(root, at, version),
            ToolAction::Search | ToolAction::Other => Vec::new(),
        }
    }

    /// Notes how a file is now, as an agent has seen it or made it.
    fn know(&mut self, path: &str, version: Option<Version>, by: Option<(SessionKey, Timestamp)>) {
        if !path.starts_with('/') && !path.contains(':') || path.ends_with(OWN_FILE) {
            return;
        }
        self.uses += 1;
        let used = self.uses;
        if let Some(known) = self.files.get_mut(path) {
            known.version = version;
            known.changed_by = by.or(known.changed_by.take());
            known.used = used;
            return;
        }
        if self.files.len() >= MAX_FILES {
            let oldest = self.files.iter().min_by_key(|(_, known)| known.used);
            if let Some(oldest) = oldest.map(|(path, _)| path.clone()) {
                self.files.remove(&oldest);
            }
        }
        self.files.insert(path.to_owned(), Known { version, changed_by: by, used });
    }

    /// Looks at the known files of the project that were used last.
    fn look_around(
        &mut self,
        root: &str,
        at: Timestamp,
        version: &impl Fn(&str) -> Option<Version>,
    ) -> Vec<Observation> {
        let mut known: Vec<_> =
            self.files.iter().filter(|(path, _)| is_below(path, root)).collect();
        // No two were used at once, so the order does not depend on the map.
        known.sort_unstable_by_key(|(_, known)| Reverse(known.used));
        let paths: Vec<_> =
            known.into_iter().take(MAX_LOOKED_AT).map(|(path, _)| path.clone()).collect();
        self.look(paths.iter(), root, at, version)
    }

    /// Looks at those of `paths` that are known.
    fn look<'p>(
        &mut self,
        paths: impl Iterator<Item = &'p String>,
        root: &str,
        at: Timestamp,
        version: &impl Fn(&str) -> Option<Version>,
    ) -> Vec<Observation> {
        let running = self.commands.runner_in(root, at);
        let mut seen = Vec::new();
        for path in paths {
            let Some(known) = self.files.get_mut(path) else { continue };
            let now = version(path);
            if now == known.version {
                continue;
            }
            known.version = now;
            let changed_at = now.map_or(at, |now| Timestamp::from_system(now.modified()));
            let edited = known.changed_by.as_ref().filter(|(_, edited_at)| {
                changed_at.since(*edited_at) <= AFTERMATH && changed_at >= *edited_at
            });
            let session = running.as_ref().or(edited.map(|(session, _)| session)).cloned();
            let path = path.clone();
            seen.push(match session {
                Some(session) => {
                    known.changed_by = Some((session.clone(), changed_at));
                    Observation::OwnChange { session, path }
                }
                None => Observation::ExternalChange { path },
            });
        }
        seen
    }
}

fn is_below(path: &str, root: &str) -> bool {
    !root.is_empty()
        && path.strip_prefix(root.trim_end_matches('/')).is_some_and(|rest| rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use serde_json::{Value, json};

    use super::*;
    use crate::agent::Agent;

    /// A project on the disk, with a clock of its own.
    struct Scene {
        views: Views,
        folder: tempfile::TempDir,
        now: Timestamp,
        calls: u64,
    }

    impl Scene {
        fn new() -> Self {
            let now = Timestamp::from_unix_millis(1_800_000_000_000);
            let folder = tempfile::tempdir().unwrap();
            let scene = Self { views: Views::default(), folder, now, calls: 0 };
            for name in ["a.rs", "b.rs"] {
                scene.write(name, "before");
            }
            scene
        }

        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }

        fn root(&self) -> String {
            self.folder.path().to_str().unwrap().to_owned()
        }

        /// Somebody writes a file now.
        fn write(&self, name: &str, text: &str) {
            fs_err::write(self.path(name), text).unwrap();
            let modified = std::time::SystemTime::UNIX_EPOCH
                + Duration::from_millis(self.now.as_unix_millis().cast_unsigned());
            let file = fs_err::OpenOptions::new().write(true).open(self.path(name)).unwrap();
            file.file().set_modified(modified).unwrap();
        }

        fn pass(&mut self, seconds: i64) {
            self.now = Timestamp::from_unix_millis(self.now.as_unix_millis() + seconds * 1000);
        }

        /// What is seen at an event, as `own` or `external` with the name of the file.
        fn tell(&mut self, session: &str, name: &str, more: &Value) -> Vec<String> {
            let mut payload = more.as_object().unwrap().clone();
            payload.insert("hook_event_name".to_owned(), name.into());
            payload.insert("session_id".to_owned(), session.into());
            payload.insert("cwd".to_owned(), self.root().into());
            let event = HookEvent::from_payload(Agent::ClaudeCode, &payload.into()).unwrap();
            let version = |path: &str| Version::behind(Path::new(path));
            let seen = self.views.take(&event, &self.root(), self.now, &version);
            let name = |path: &str| path.rsplit('/').next().unwrap().to_owned();
            seen.iter()
                .map(|observation| match observation {
                    Observation::ExternalChange { path } => format!("external {}", name(path)),
                    Observation::OwnChange { session, path } => {
                        format!("{} {}", session.id, name(path))
                    }
                    other => panic!("{other:?}"),
                })
                .collect()
        }

        fn prompt(&mut self, session: &str) -> Vec<String> {
            self.tell(session, "UserPromptSubmit", &json!({"prompt": "go"}))
        }

        fn call(&mut self, tool: &str, input: &Value) -> Value {
            self.calls += 1;
            json!({"tool_name": tool, "tool_use_id": self.calls.to_string(), "tool_input": input})
        }

        fn on_file(&mut self, tool: &str, name: &str) -> Value {
            let path = self.path(name);
            self.call(tool, &json!({"file_path": path}))
        }

        fn bash(&mut self, command: &str) -> Value {
            self.call("Bash", &json!({"command": command}))
        }

        fn read(&mut self, session: &str, name: &str) {
            let call = self.on_file("Read", name);
            self.tell(session, "PreToolUse", &call);
            self.tell(session, "PostToolUse", &call);
        }

        /// The agent's own tool writes the file.
        fn edit(&mut self, session: &str, name: &str, text: &str) -> Vec<String> {
            let call = self.on_file("Edit", name);
            let before = self.tell(session, "PreToolUse", &call);
            self.write(name, text);
            [before, self.tell(session, "PostToolUse", &call)].concat()
        }
    }

    const NOTHING: [&str; 0] = [];

    #[test]
    fn a_file_that_was_read_and_then_changed_was_changed_from_outside_once() {
        let mut scene = Scene::new();
        scene.read("s", "a.rs");
        assert_eq!(scene.prompt("s"), NOTHING);
        scene.pass(60);
        scene.write("a.rs", "after");
        // Nobody has seen that one.
        scene.write("b.rs", "after");
        assert_eq!(scene.prompt("s"), ["external a.rs"]);
        assert_eq!(scene.prompt("s"), NOTHING);
        fs_err::remove_file(scene.path("a.rs")).unwrap();
        assert_eq!(scene.prompt("s"), ["external a.rs"]);
    }

    #[test]
    fn it_is_noticed_when_the_agent_is_about_to_use_the_file() {
        for tool in ["Edit", "Read"] {
            let mut scene = Scene::new();
            scene.read("s", "a.rs");
            scene.pass(60);
            scene.write("a.rs", "after");
            let call = scene.on_file(tool, "a.rs");
            assert_eq!(scene.tell("s", "PreToolUse", &call), ["external a.rs"], "{tool}");
        }
        let mut scene = Scene::new();
        scene.read("s", "a.rs");
        scene.pass(60);
        scene.write("a.rs", "after");
        let mut call = scene.on_file("Edit", "a.rs");
        call["tool_response"] = "<tool_use_error>File has been modified</tool_use_error>".into();
        let batch = json!({"tool_calls": [call]});
        assert_eq!(scene.tell("s", "PostToolBatch", &batch), ["external a.rs"]);
    }

    #[test]
    fn an_edit_of_an_agent_is_nobody_elses_change() {
        let mut scene = Scene::new();
        scene.read("s", "a.rs");
        scene.pass(60);
        assert_eq!(scene.edit("s", "a.rs", "one"), NOTHING);
        assert_eq!(scene.prompt("s"), NOTHING);
        // Nor is that of another session, which its own events tell of.
        scene.pass(60);
        assert_eq!(scene.edit("t", "a.rs", "other"), NOTHING);
        assert_eq!(scene.prompt("s"), NOTHING);
    }

    #[test]
    fn what_a_formatter_does_right_after_an_edit_is_the_sessions_doing() {
        let mut scene = Scene::new();
        scene.edit("s", "a.rs", "one");
        scene.pass(1);
        scene.write("a.rs", "formatted");
        scene.pass(30);
        assert_eq!(scene.prompt("s"), ["s a.rs"]);
        scene.write("a.rs", "much later");
        assert_eq!(scene.prompt("s"), ["external a.rs"]);
    }

    #[test]
    fn what_changes_while_a_command_runs_is_the_commands_doing() {
        let mut scene = Scene::new();
        scene.read("s", "a.rs");
        scene.pass(60);
        scene.write("a.rs", "somebody");
        let call = scene.bash("cargo fmt");
        assert_eq!(scene.tell("s", "PreToolUse", &call), ["external a.rs"]);
        scene.pass(10);
        scene.write("a.rs", "formatted");
        assert_eq!(scene.tell("s", "PostToolUse", &call), ["s a.rs"]);
        scene.pass(60);
        scene.write("a.rs", "somebody again");
        assert_eq!(scene.prompt("s"), ["external a.rs"]);
    }

    #[test]
    fn a_command_in_the_background_runs_on_for_a_while() {
        let mut scene = Scene::new();
        scene.read("s", "a.rs");
        let mut call = scene.bash("npm run watch");
        scene.tell("s", "PreToolUse", &call);
        call["tool_response"] = json!({"stdout": "", "stderr": "", "backgroundTaskId": "b1"});
        scene.tell("s", "PostToolUse", &call);
        scene.pass(30);
        scene.write("a.rs", "built");
        assert_eq!(scene.prompt("s"), ["s a.rs"]);
        scene.pass(60);
        scene.write("a.rs", "somebody");
        assert_eq!(scene.prompt("s"), ["external a.rs"]);
    }

    #[test]
    fn a_command_of_which_no_result_came_is_over_when_its_turn_is() {
        let prompt = ("UserPromptSubmit", json!({"prompt": "go", "prompt_id": "2"}));
        let queued = ("UserPromptSubmit", json!({"prompt": "go", "prompt_id": "1"}));
        let by_machine = ("UserPromptSubmit", json!({"prompt": "<task-notification>done"}));
        let compacted = ("SessionStart", json!({"source": "compact"}));
        let resumed = ("SessionStart", json!({"source": "resume"}));
        let batch = ("PostToolBatch", json!({"tool_calls": []}));
        let of_subagent = ("PostToolBatch", json!({"tool_calls": [], "agent_id": "sub"}));
        for ((name, more), is_over) in [
            (prompt, true),
            (("Stop", json!({})), true),
            (("Interrupt", json!({})), true),
            (("StopFailure", json!({})), true),
            (batch, true),
            (resumed, true),
            (queued, false),
            (by_machine, false),
            (compacted, false),
            (of_subagent, false),
            (("Notification", json!({})), false),
        ] {
            let mut scene = Scene::new();
            scene.read("s", "a.rs");
            let mut call = scene.bash("cargo fmt");
            call["prompt_id"] = "1".into();
            scene.tell("s", "PreToolUse", &call);
            scene.pass(30);
            let told = scene.tell("s", name, &more);
            assert_eq!(told, NOTHING, "{name}");
            scene.write("a.rs", "after");
            let expected = if is_over { "external a.rs" } else { "s a.rs" };
            // Of whichever session: the file is looked at for all.
            assert_eq!(scene.prompt("t"), [expected], "{name} {more}");
        }
    }

    #[test]
    fn what_changes_while_tests_run_is_somebody_elses_doing() {
        for (command, expected) in [("cargo test", "external a.rs"), ("cargo fmt", "s a.rs")] {
            let mut scene = Scene::new();
            scene.read("s", "a.rs");
            let call = scene.bash(command);
            scene.tell("s", "PreToolUse", &call);
            scene.pass(10);
            scene.write("a.rs", "after");
            assert_eq!(scene.tell("s", "PostToolUse", &call), [expected], "{command}");
        }
    }

    #[test]
    fn a_command_whose_status_is_another_ones_is_no_background_one() {
        let mut scene = Scene::new();
        scene.read("s", "a.rs");
        let call = scene.bash("make all; true");
        scene.tell("s", "PreToolUse", &call);
        scene.tell("s", "PostToolUse", &call);
        scene.pass(1);
        scene.write("a.rs", "after");
        assert_eq!(scene.prompt("s"), ["external a.rs"]);
    }

    #[test]
    fn what_failed_or_was_a_subagents_shows_the_session_no_file() {
        let mut scene = Scene::new();
        let mut call = scene.on_file("Read", "a.rs");
        call["error"] = "no such file".into();
        scene.tell("s", "PostToolUseFailure", &call);
        let mut call = scene.on_file("Read", "b.rs");
        call["agent_id"] = "sub".into();
        scene.tell("s", "PostToolUse", &call);
        scene.pass(60);
        scene.write("a.rs", "after");
        scene.write("b.rs", "after");
        assert_eq!(scene.prompt("s"), NOTHING);
    }

    #[test]
    fn our_own_file_is_never_seen() {
        let mut scene = Scene::new();
        scene.write(OWN_FILE, "block");
        scene.read("s", OWN_FILE);
        scene.pass(60);
        scene.write(OWN_FILE, "another block");
        assert_eq!(scene.prompt("s"), NOTHING);
    }

    #[test]
    fn the_files_that_are_known_are_bounded() {
        let mut scene = Scene::new();
        for number in 0..MAX_FILES + 10 {
            scene.read("s", &format!("{number}.rs"));
        }
        assert_eq!(scene.views.files.len(), MAX_FILES);
    }
}
