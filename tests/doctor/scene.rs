//! A home in which everything is as it should be, to be broken.

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use tma1::clock;
use tma1::setup::receipt::sha256;

use crate::support::daemon::Daemon;
use crate::support::home::TestHome;
#[cfg(target_os = "linux")]
use crate::support::manager;
use crate::support::process::Run;
use crate::support::tree::{Node, tree};

const LIMIT: Duration = Duration::from_secs(60);

pub const SETTINGS: &str = "~/.claude/settings.json";
pub const HOOKS: &str = "~/.codex/hooks.json";
pub const CONFIG: &str = "~/.codex/config.toml";

/// A home with both adapters, a project and a daemon.
pub struct Scene {
    pub home: TestHome,
    pub daemon: Option<Daemon>,
    /// What has taken the place of the daemon.
    pub stranger: Option<TcpListener>,
    /// What the shell has set beside.
    pub environment: Vec<(&'static str, PathBuf)>,
    /// Folders before all others of the PATH.
    pub path: Vec<PathBuf>,
}

impl Scene {
    /// A daemon, and nothing installed.
    pub fn uninstalled() -> Self {
        let home = TestHome::new();
        fs_err::create_dir(home.project().join(".git")).unwrap();
        let daemon = Some(Daemon::start(&home));
        Self { home, daemon, stranger: None, environment: Vec::new(), path: Vec::new() }
    }

    /// Everything in place, and the hooks trusted in Codex.
    pub fn healthy() -> Self {
        let home = TestHome::new();
        fs_err::create_dir(home.project().join(".git")).unwrap();
        let both = ["install", "--adapter", "claude-code", "--adapter", "codex"];
        home.tma1(&[&both[..], &["--skip-project-files"]].concat()).succeeded();
        let daemon = Some(start(&home, home.port()));
        let scene =
            Self { home, daemon, stranger: None, environment: Vec::new(), path: Vec::new() };
        scene.trust();
        scene
    }

    /// `~/name` below HOME, `name` in the project.
    pub fn path(&self, name: &str) -> PathBuf {
        name.strip_prefix("~/")
            .map_or_else(|| self.home.project().join(name), |below| self.home.home().join(below))
    }

    pub fn read(&self, name: &str) -> String {
        fs_err::read_to_string(self.path(name)).unwrap()
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }

    pub fn remove(&self, name: &str) {
        let path = self.path(name);
        if path.is_dir() {
            fs_err::remove_dir_all(path).unwrap();
        } else {
            fs_err::remove_file(path).unwrap();
        }
    }

    /// Replaces a part of a file that must be there.
    pub fn replace(&self, name: &str, from: &str, to: &str) {
        let text = self.read(name);
        assert!(text.contains(from), "no {from} in {text}");
        self.write(name, text.replacen(from, to, 1));
    }

    /// Changes the value of a JSON file.
    pub fn edit(&self, name: &str, edit: impl FnOnce(&mut Value)) {
        let mut value = serde_json::from_str(&self.read(name)).unwrap();
        edit(&mut value);
        self.write(name, serde_json::to_string_pretty(&value).unwrap());
    }

    /// Our hook in the settings of Claude Code.
    pub fn own_group(&self) -> Value {
        let settings: Value = serde_json::from_str(&self.read(SETTINGS)).unwrap();
        settings["hooks"]["Stop"][0].clone()
    }

    /// Has Codex trust every hook of ours where it is, as Codex records it.
    pub fn trust(&self) {
        let config = self.read(CONFIG);
        let mut config =
            config.split("\n[hooks.state.").next().unwrap().trim_end().to_owned() + "\n";
        let hooks: Value = serde_json::from_str(&self.read(HOOKS)).unwrap();
        for (event, groups) in hooks["hooks"].as_object().unwrap() {
            let event = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"]
                .iter()
                .zip([
                    "session_start",
                    "user_prompt_submit",
                    "pre_tool_use",
                    "post_tool_use",
                    "stop",
                ])
                .find_map(|(name, snake)| (name == event).then_some(snake))
                .unwrap();
            let ours = |(_, group): &(usize, &Value)| group.to_string().contains("tma1-hook-codex");
            for (group, value) in groups.as_array().unwrap().iter().enumerate().filter(ours) {
                let handler = json!({
                    "async": false,
                    "command": value["hooks"][0]["command"],
                    "statusMessage": "tma1",
                    "timeout": 5,
                    "type": "command",
                });
                let trusted = json!({"event_name": event, "hooks": [handler]}).to_string();
                let file = self.path(HOOKS);
                let record = format!(
                    "\n[hooks.state.\"{}:{event}:{group}:0\"]\ntrusted_hash = \"sha256:{}\"\n",
                    file.display(),
                    sha256(trusted.as_bytes()),
                );
                config.push_str(&record);
            }
        }
        self.write(CONFIG, config);
    }

    /// Starts the daemon where no hook looks for it.
    pub fn start_on_another_port(&mut self) {
        self.daemon = Some(start(&self.home, TestHome::new().port()));
    }

    /// Has the daemon run as a service, with a manager that obeys to the end of the test.
    #[cfg(target_os = "linux")]
    pub fn serve_by_manager(&mut self) {
        let folder = self.home.root().join("manager");
        manager::place(&folder);
        self.path.push(folder);
        self.daemon = None;
        self.shell("tma1 service install").succeeded();
    }

    /// Takes another port for everything, as a user does whose port is taken.
    pub fn move_to_new_port(&mut self) {
        let port = TestHome::new().port();
        self.environment.push(("TMA1_PORT", port.to_string().into()));
        let both = "--adapter claude-code --adapter codex --skip-project-files";
        self.shell(&format!("tma1 install {both}")).succeeded();
        self.daemon = Some(start(&self.home, port));
    }

    fn command(&self, program: &str) -> Command {
        let mut command = self.home.command(program);
        let local = [self.home.binary().parent().unwrap().to_owned()];
        let folders = self.path.iter().chain(&local).cloned();
        let folders = folders.chain(["/usr/bin", "/bin"].map(PathBuf::from));
        command.env("PATH", std::env::join_paths(folders).unwrap());
        command.envs(self.environment.iter().cloned());
        command
    }

    /// Runs `line` as a user does.
    pub fn shell(&self, line: &str) -> Run {
        Run::of(self.command("/bin/sh").args(["-c", line]), LIMIT)
    }

    pub fn doctor_command(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(self.home.binary().to_str().unwrap());
        command.arg("doctor").args(arguments);
        command
    }

    pub fn doctor(&self, arguments: &[&str]) -> Run {
        Run::of(&mut self.doctor_command(arguments), LIMIT)
    }

    /// What doctor finds.
    pub fn faults(&self) -> Found {
        self.faults_of(&[])
    }

    pub fn faults_of(&self, arguments: &[&str]) -> Found {
        Found::of(self.doctor_command(arguments).arg("--json"))
    }

    /// Every file but those that the daemon writes at any time.
    pub fn tree(&self) -> Vec<Node> {
        let data = self.path("~/.tma1/data");
        let nodes = tree(self.home.root()).into_iter();
        let nodes = nodes.filter(|node| !node.path.starts_with(&data));
        let nodes = nodes.filter(|node| !node.path.starts_with(self.home.tmp()));
        // A folder is touched by an install lock that comes and goes.
        nodes
            .map(|node| match &node.content {
                Some(_) => node,
                None => Node { modified: SystemTime::UNIX_EPOCH, ..node },
            })
            .collect()
    }

    /// The files that are not what they were.
    pub fn changed_since(&self, before: &[Node]) -> Vec<PathBuf> {
        let after = self.tree();
        let other = after.iter().filter(|node| !before.contains(node));
        let gone = before.iter().filter(|node| !after.contains(node));
        other.chain(gone).map(|node| node.path.clone()).collect()
    }

    /// How many events are in the log.
    pub fn events(&self) -> i64 {
        let log = rusqlite::Connection::open(self.path("~/.tma1/data/tma1.db")).unwrap();
        log.query_row("SELECT count(*) FROM tma1_hook_events", [], |row| row.get(0)).unwrap()
    }
}

/// Starts the daemon, and waits until it has written the hook scripts again, as it does a moment later.
fn start(home: &TestHome, port: u16) -> Daemon {
    const LAST_LINE: &str = "exit 0\n";
    let script = home.home().join(".tma1/hooks/tma1-hook-codex.sh");
    let text = fs_err::read_to_string(&script).unwrap();
    fs_err::write(&script, text.strip_suffix(LAST_LINE).unwrap_or(&text)).unwrap();
    let mut command = home.tma1_command(&["serve"]);
    command.env("TMA1_PORT", port.to_string());
    let daemon = Daemon::start_at(home, port, command);
    let deadline = clock::monotonic() + LIMIT;
    while !fs_err::read_to_string(&script).unwrap().ends_with(LAST_LINE) {
        assert!(clock::monotonic() < deadline, "the scripts are not written again");
        std::thread::sleep(Duration::from_millis(5));
    }
    // The last thing that it does is to let go of the lock.
    if let Ok(lock) = fs_err::File::open(home.home().join(".tma1/install.lock")) {
        lock.file().lock().unwrap();
    }
    daemon
}

/// What doctor has found.
#[derive(Debug)]
pub struct Found {
    pub status: Option<i32>,
    checks: Vec<Value>,
}

impl Found {
    pub fn of(command: &mut Command) -> Self {
        let run = Run::of(command, LIMIT);
        let report: Value =
            serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run:#?}"));
        let checks = report["checks"].as_array().unwrap().iter();
        let bad = checks.filter(|it| it["status"] == "warning" || it["status"] == "failure");
        Self { status: run.status, checks: bad.cloned().collect() }
    }

    /// The status and the name of each fault, with its adapter.
    pub fn names(&self) -> Vec<(String, String)> {
        let name = |check: &Value| {
            let adapter = check["adapter"].as_str().map(|adapter| format!("{adapter} "));
            let name = check["name"].as_str().unwrap();
            let status = check["status"].as_str().unwrap();
            (status.to_owned(), adapter.unwrap_or_default() + name)
        };
        self.checks.iter().map(name).collect()
    }

    /// The commands that are suggested.
    pub fn commands(&self) -> Vec<String> {
        let commands = self.checks.iter().filter(|check| check["fix_is_command"] == true);
        commands.map(|check| check["fix"].as_str().unwrap().to_owned()).collect()
    }
}
