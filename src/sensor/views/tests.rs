use std::path::PathBuf;

use serde_json::{Value, json};

use super::*;
use crate::agent::Agent;
use crate::world::OWN_FILE;

/// A project on the disk, with a clock of its own.
struct Scene {
    views: Views,
    log: Vec<Logged>,
    folder: tempfile::TempDir,
    now: Timestamp,
    calls: u64,
}

/// What the log keeps of an event, and of what was known by then.
type Logged = (HookEvent, Timestamp, String);

impl Scene {
    fn new() -> Self {
        let now = Timestamp::from_unix_millis(1_800_000_000_000);
        let folder = tempfile::tempdir().unwrap();
        let scene = Self { views: Views::default(), log: Vec::new(), folder, now, calls: 0 };
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
        self.tell_as(Agent::ClaudeCode, session, name, more)
    }

    fn tell_as(&mut self, agent: Agent, session: &str, name: &str, more: &Value) -> Vec<String> {
        let mut payload = more.as_object().unwrap().clone();
        payload.insert("hook_event_name".to_owned(), name.into());
        payload.insert("session_id".to_owned(), session.into());
        payload.insert("cwd".to_owned(), self.root().into());
        let event = HookEvent::from_payload(agent, &payload.into()).unwrap();
        let seen = self.views.take(&event, &self.root(), self.now);
        while self.views.has_unread() {
            self.views.read_on();
        }
        let news = serde_json::to_string(&self.views.take_news()).unwrap();
        self.log.push((event, self.now, news));
        let name = |path: &str| path.rsplit('/').next().unwrap().to_owned();
        seen.iter()
            .map(|observation| match observation {
                Observation::ExternalChange { path, removed: false } => {
                    format!("external {}", name(path))
                }
                Observation::ExternalChange { path, removed: true } => {
                    format!("deleted {}", name(path))
                }
                Observation::OwnChange { session, path, .. } => {
                    format!("{} {}", session.id, name(path))
                }
                Observation::Edited { session, written, removed, .. } => {
                    let paths: Vec<_> =
                        written.iter().chain(removed).map(|path| name(path)).collect();
                    format!("{} edited {}", session.id, paths.join(" "))
                }
                other => panic!("{other:?}"),
            })
            .collect()
    }

    /// The daemon ends, and begins anew with what is in the log.
    fn restart(&mut self) {
        self.views = Views::default();
        for (event, at, news) in &self.log {
            let known: Vec<KnownFile> = serde_json::from_str(news).unwrap();
            self.views.replay(event, &self.root(), *at, known);
        }
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
    assert_eq!(scene.prompt("s"), ["deleted a.rs"]);
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
fn what_an_agents_other_hooks_do_after_an_edit_is_the_sessions_doing() {
    let batch = ("PostToolBatch", json!({"tool_calls": []}));
    let prompt = ("UserPromptSubmit", json!({"prompt": "go"}));
    for ((name, more), expected) in [
        (batch, "s a.rs"),
        (("Stop", json!({})), "s a.rs"),
        (("Notification", json!({})), ""),
        // The user interrupted the session, and went on by hand.
        (prompt, "external a.rs"),
    ] {
        let mut scene = Scene::new();
        scene.edit("s", "a.rs", "one");
        scene.pass(9);
        scene.write("a.rs", "formatted");
        assert_eq!(scene.tell("s", name, &more).concat(), expected, "{name}");
    }
    // Whoever sees it first.
    let mut scene = Scene::new();
    scene.edit("s", "a.rs", "one");
    scene.pass(9);
    scene.write("a.rs", "formatted");
    assert_eq!(scene.prompt("t"), ["s a.rs"]);
    // Only until the next step.
    scene.tell("s", "Stop", &json!({}));
    scene.pass(9);
    scene.write("a.rs", "by hand");
    assert_eq!(scene.edit("s", "a.rs", "two"), ["external a.rs"]);
}

#[test]
fn an_edit_of_which_no_result_comes_is_known_by_its_file() {
    let patch = |file: &str| {
        format!("apply_patch <<'EOF'\n*** Begin Patch\n{file}\n+x\n*** End Patch\nEOF")
    };
    let update = patch("*** Update File: a.rs");
    let tell_codex =
        |scene: &mut Scene, name: &str, more: &Value| scene.tell_as(Agent::Codex, "s", name, more);
    let stop = json!({"turn_id": "1"});
    // The next step tells, whichever it is.
    for next in ["PreToolUse", "Stop", "Interrupt"] {
        let mut scene = Scene::new();
        scene.read("s", "a.rs");
        let call = scene.bash(&update);
        assert_eq!(tell_codex(&mut scene, "PreToolUse", &call), NOTHING);
        scene.pass(1);
        scene.write("a.rs", "patched");
        let more = if next == "PreToolUse" { scene.bash("ls") } else { stop.clone() };
        assert_eq!(tell_codex(&mut scene, next, &more), ["s edited a.rs"], "{next}");
        assert_eq!(scene.prompt("s"), NOTHING);
    }
    // Of two at once.
    let mut scene = Scene::new();
    let call = scene.bash(&patch("*** Add File: new.rs"));
    tell_codex(&mut scene, "PreToolUse", &call);
    let other = scene.bash("ls");
    assert_eq!(tell_codex(&mut scene, "PreToolUse", &other), NOTHING);
    scene.write("new.rs", "patched");
    assert_eq!(tell_codex(&mut scene, "PostToolUse", &other), ["s edited new.rs"]);
    assert_eq!(scene.prompt("s"), NOTHING);
    // It was declined, or has failed, and the user went on by hand.
    for next in [Some("Stop"), None] {
        let mut scene = Scene::new();
        scene.read("s", "a.rs");
        let call = scene.bash(&update);
        tell_codex(&mut scene, "PreToolUse", &call);
        scene.pass(9);
        if let Some(next) = next {
            assert_eq!(tell_codex(&mut scene, next, &stop), NOTHING);
        }
        scene.write("a.rs", "by hand");
        let prompt = json!({"prompt": "go", "turn_id": "2"});
        let seen = tell_codex(&mut scene, "UserPromptSubmit", &prompt);
        assert_eq!(seen, ["external a.rs"], "{next:?}");
    }
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
fn a_file_that_holds_what_it_held_was_not_changed() {
    let mut scene = Scene::new();
    scene.write("large.bin", &"x".repeat(1024 * 1024 + 1));
    for name in ["a.rs", "b.rs", "large.bin"] {
        scene.read("s", name);
    }
    scene.pass(60);
    // It was touched; saved as it was, by way of another file; touched, and is not read.
    scene.write("a.rs", "before");
    scene.write("new", "before");
    fs_err::rename(scene.path("new"), scene.path("b.rs")).unwrap();
    scene.write("large.bin", &"x".repeat(1024 * 1024 + 1));
    assert_eq!(scene.prompt("s"), ["external large.bin"]);
    scene.pass(60);
    scene.write("a.rs", "BEFORE");
    assert_eq!(scene.prompt("s"), ["external a.rs"]);
    // Back again: that is a change too.
    scene.pass(60);
    scene.write("a.rs", "before");
    assert_eq!(scene.prompt("s"), ["external a.rs"]);
}

#[cfg(unix)]
#[test]
fn a_file_is_the_same_by_each_of_its_names() {
    use fs_err::os::unix::fs::symlink;

    let linked = || {
        let scene = Scene::new();
        for name in ["pkg", "other"] {
            fs_err::create_dir(scene.path(name)).unwrap();
            scene.write(&format!("{name}/x.rs"), name);
        }
        symlink("pkg", scene.path("lnk")).unwrap();
        scene
    };
    // Who has read it by one name is told of the edit by the other, and whoever made it is known.
    let mut scene = linked();
    scene.read("s", "lnk/x.rs");
    scene.pass(60);
    assert_eq!(scene.edit("s", "pkg/x.rs", "one"), ["s x.rs"]);
    assert_eq!(scene.prompt("s"), NOTHING);
    // What somebody else does is done to both.
    scene.pass(60);
    scene.write("pkg/x.rs", "by hand");
    assert_eq!(scene.prompt("s"), ["external x.rs", "external x.rs"]);
    // A name that nobody has used yet.
    let mut scene = linked();
    scene.read("s", "lnk/x.rs");
    scene.pass(60);
    scene.write("pkg/x.rs", "by hand");
    let call = scene.on_file("Edit", "pkg/x.rs");
    assert_eq!(scene.tell("s", "PreToolUse", &call), ["external x.rs"]);
    // A link that leads elsewhere is another file.
    let mut scene = linked();
    scene.read("s", "lnk/x.rs");
    fs_err::remove_file(scene.path("lnk")).unwrap();
    symlink("other", scene.path("lnk")).unwrap();
    assert_eq!(scene.prompt("s"), ["external x.rs"]);
    scene.read("s", "lnk/x.rs");
    scene.pass(60);
    scene.write("pkg/x.rs", "by hand");
    assert_eq!(scene.prompt("s"), NOTHING);
    scene.write("other/x.rs", "by hand");
    assert_eq!(scene.prompt("s"), ["external x.rs"]);
}

#[test]
fn a_file_elsewhere_is_looked_at_for_the_project_whose_sessions_use_it() {
    let mut scene = Scene::new();
    let elsewhere = tempfile::tempdir().unwrap();
    let path = elsewhere.path().join("conf");
    fs_err::write(&path, "one").unwrap();
    scene.read("s", path.to_str().unwrap());
    fs_err::write(&path, "another").unwrap();
    assert_eq!(scene.prompt("s"), ["external conf"]);
}

#[test]
fn a_command_that_rewrites_many_files_is_known_to_have_done_so() {
    let mut scene = Scene::new();
    let files: Vec<_> = (0..MAX_LOOKED_AT + 50).map(|number| format!("{number}.rs")).collect();
    for name in &files {
        scene.write(name, "before");
        scene.read("s", name);
    }
    let call = scene.bash("cargo fmt");
    assert_eq!(scene.tell("s", "PreToolUse", &call), NOTHING);
    scene.pass(5);
    for name in &files {
        scene.write(name, "formatted");
    }
    assert_eq!(scene.tell("s", "PostToolUse", &call).len(), files.len());
    scene.pass(5);
    assert_eq!(scene.edit("s", "0.rs", "one"), NOTHING);
}

#[test]
fn after_a_restart_it_is_known_what_was_known_before() {
    let mut scene = Scene::new();
    scene.read("s", "a.rs");
    scene.read("s", "b.rs");
    scene.read("s", "none.rs");
    scene.restart();
    assert_eq!(scene.prompt("s"), NOTHING);
    scene.pass(60);
    scene.write("a.rs", "by hand");
    scene.write("b.rs", "before");
    scene.write("none.rs", "by hand");
    assert_eq!(scene.prompt("s"), ["external none.rs", "external a.rs"]);
    // What was told is not told again.
    scene.restart();
    assert_eq!(scene.prompt("s"), NOTHING);
    // A command goes on meanwhile.
    let call = scene.bash("cargo fmt");
    scene.tell("s", "PreToolUse", &call);
    scene.restart();
    scene.pass(60);
    scene.write("a.rs", "formatted");
    assert_eq!(scene.tell("s", "PostToolUse", &call), ["s a.rs"]);
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
