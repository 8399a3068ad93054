//! The daemon as a service, with a manager that does what `systemctl --user` does with a unit.

use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use tma1::clock;

use crate::install::INSTALL;
use crate::support::daemon::Daemon;
use crate::support::home::TestHome;
use crate::support::manager;
use crate::support::npm::skip;
use crate::support::process::Run;
use crate::support::snapshot::assert_snapshot;
use crate::support::tree;

const LIMIT: Duration = Duration::from_secs(30);

/// A home whose user has a manager of services.
struct Managed {
    home: TestHome,
}

impl Managed {
    fn new() -> Self {
        Self::of(TestHome::new())
    }

    fn of(home: TestHome) -> Self {
        let bin = home.root().join("manager");
        manager::place(&bin);
        Self { home }
    }

    fn state(&self, name: &str) -> PathBuf {
        self.home.root().join("manager").join(name)
    }

    fn unit(&self) -> PathBuf {
        self.home.home().join(".config/systemd/user/tma1.service")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.tma1_command(&["service"]);
        command.args(arguments);
        command
    }

    /// A command of ours that can talk to the manager.
    fn tma1_command(&self, arguments: &[&str]) -> Command {
        let mut command = self.home.tma1_command(arguments);
        let path = format!("{}:/usr/bin:/bin", self.home.root().join("manager").display());
        command.env("PATH", path);
        command
    }

    fn tma1(&self, arguments: &[&str]) -> Run {
        Run::of(&mut self.tma1_command(arguments), LIMIT)
    }

    fn run(&self, arguments: &[&str]) -> Run {
        Run::of(&mut self.command(arguments), LIMIT)
    }

    fn calls(&self) -> String {
        fs_err::read_to_string(self.state("calls")).unwrap_or_default()
    }

    fn status(&self) -> Value {
        serde_json::from_str(&self.run(&["status", "--json"]).stdout).unwrap()
    }

    fn pid(&self) -> u64 {
        fs_err::read_to_string(self.state("pid")).unwrap().trim().parse().unwrap()
    }

    fn tree(&self) -> Vec<tree::Node> {
        tree::tree(&self.home.home()).into_iter().map(tree::Node::without_time).collect()
    }
}

#[test]
fn the_service_starts_the_daemon_and_goes_without_a_trace() {
    let managed = Managed::new();
    let before = managed.tree();
    let dry = managed.run(&["install", "--dry-run"]).succeeded();
    let (before_hash, hash) = dry.stdout.split_once("\"sha256\": \"").unwrap();
    let shown = format!("{before_hash}\"sha256\": \"[SHA256]{}", &hash[64..]);
    assert_snapshot("service-dry-run", &managed.home.anonymous(&shown), &[]);
    assert_eq!(managed.tree(), before);
    assert!(!managed.calls().contains("enable"));

    let installed = managed.run(&["install"]).succeeded();
    let pid = managed.pid().to_string();
    assert_snapshot(
        "service-install",
        &managed.home.anonymous(&installed.stdout),
        &[(&format!("process {pid}"), "process [PID]")],
    );
    assert_eq!(installed.stderr, "");
    let status = managed.status();
    assert_eq!((&status["active"], &status["current"]), (&true.into(), &true.into()));
    assert_eq!(status["daemon_pid"], managed.pid());
    // What it says goes where `tma1 logs` looks.
    let logs = managed.home.tma1(&["logs"]).succeeded();
    assert!(logs.stdout.contains("is listening on 127.0.0.1"), "{}", logs.stdout);

    let again = managed.run(&["install"]).succeeded();
    assert!(again.stdout.starts_with("Nothing to do: the daemon runs as a service"), "{again:?}");
    assert_eq!(managed.pid().to_string(), pid);

    let uninstalled = managed.run(&["uninstall"]).succeeded();
    assert_snapshot("service-uninstall", &managed.home.anonymous(&uninstalled.stdout), &[]);
    assert_eq!(managed.status()["daemon_pid"], Value::Null);
    assert!(!managed.home.home().join(".config").exists());
    let nothing = managed.run(&["uninstall"]).succeeded();
    assert!(nothing.stdout.ends_with("there is no service of tma1.\n"), "{nothing:?}");
    managed.home.tma1(&["uninstall", "--adapter", "claude-code", "--purge-data"]).succeeded();
    assert_eq!(managed.tree(), before);
}

#[test]
fn a_daemon_that_runs_makes_room_and_settings_go_with_the_service() {
    let managed = Managed::new();
    let _daemon = Daemon::start(&managed.home);
    fs_err::write(managed.home.home().join(".tma1/stopped"), "").unwrap();
    let mut command = managed.command(&["install"]);
    command.env("TMA1_LOG", "debug").env("TMA1_GREPTIMEDB_URL", "http://127.0.0.1:1");
    command.env("TMA1_GREPTIMEDB_USER", "dev").env("TMA1_GREPTIMEDB_PASSWORD", "hunter2");
    let run = Run::of(&mut command, LIMIT).succeeded();
    assert_snapshot("service-secret", &run.stderr, &[]);
    assert_eq!(managed.status()["daemon_pid"], managed.pid());
    assert!(!managed.home.home().join(".tma1/stopped").exists());
    let unit = fs_err::read_to_string(managed.unit()).unwrap();
    assert!(
        unit.contains("Environment=\"TMA1_LOG=debug\"\n") && !unit.contains("GREPTIMEDB"),
        "{unit}"
    );
    // Another port: the unit changes, and the daemon with it.
    let mut command = managed.command(&["install"]);
    let other = TestHome::new();
    command.env("TMA1_PORT", other.port().to_string());
    Run::of(&mut command, LIMIT).succeeded();
    let status = managed.home.tma1(&["status", "--json"]).succeeded();
    let status: Value = serde_json::from_str(&status.stdout).unwrap();
    assert_eq!(status["port"], other.port());
    managed.run(&["uninstall"]).succeeded();
}

#[test]
fn start_stop_and_restart_go_through_the_manager() {
    let managed = Managed::new();
    managed.run(&["install"]).succeeded();
    let first = managed.pid();
    managed.tma1(&["stop"]).succeeded();
    // The daemon lets go of everything before its process is gone.
    let deadline = clock::monotonic() + LIMIT;
    while managed.status()["active"] == true && clock::monotonic() < deadline {
        std::thread::sleep(Duration::from_millis(20));
    }
    let status = managed.status();
    assert_eq!((&status["active"], &status["daemon_pid"]), (&false.into(), &Value::Null));

    let port = managed.home.port();
    let started = managed.tma1(&["start"]).succeeded();
    let second = managed.pid();
    assert_ne!(first, second);
    let expected = format!("was started as a service (process {second}, port {port}).\n");
    assert!(started.stdout.ends_with(&expected), "{started:?}");
    let again = managed.tma1(&["start"]).succeeded();
    assert!(again.stdout.contains(&format!("runs already (process {second}")), "{again:?}");

    let restarted = managed.tma1(&["restart"]).succeeded();
    let third = managed.pid();
    assert!(restarted.stdout.contains(&format!("as a service (process {third}")), "{restarted:?}");
    assert_eq!(managed.status()["daemon_pid"], third);

    // For another data directory the service is not meant, nor where its manager is not.
    let calls = managed.calls();
    let mut other = managed.tma1_command(&["restart"]);
    other.env("TMA1_DATA_DIR", managed.home.root().join("other"));
    other.env("TMA1_PORT", TestHome::new().port().to_string());
    let started = Run::of(&mut other, LIMIT).succeeded();
    assert!(started.stdout.contains("was started (process"), "{started:?}");
    let mut stop = managed.tma1_command(&["stop"]);
    stop.env("TMA1_DATA_DIR", managed.home.root().join("other"));
    Run::of(&mut stop, LIMIT).succeeded();
    assert_eq!(managed.calls(), calls);

    // A manager that does not want to is no reason to be without a daemon.
    fs_err::write(managed.state("no-restart"), "").unwrap();
    let restarted = managed.tma1(&["restart"]).succeeded();
    assert!(restarted.stdout.contains("The daemon was started (process"), "{restarted:?}");
    let warning = "warning: systemd refuses `systemctl --user restart tma1.service`: Unit \
                   tma1.service is masked.; the daemon is started without it\n";
    assert_eq!(restarted.stderr, warning);
    managed.run(&["uninstall"]).succeeded();
    managed.tma1(&["stop"]).succeeded();
}

#[test]
fn the_service_ends_with_success_when_it_is_stopped_and_not_when_it_can_not_run() {
    let home = TestHome::new();
    let serve = || home.tma1_command(&["serve", "--detached"]);
    let daemon = Daemon::start_command(&home, serve());
    // By which systemd knows that it is not to start it again.
    home.tma1(&["stop"]).succeeded();
    assert_eq!(daemon.ended().code(), Some(0));
    let stranger = TcpListener::bind((Ipv4Addr::LOCALHOST, home.port())).unwrap();
    let run = Run::of(&mut serve(), LIMIT);
    assert_eq!(run.status, Some(1));
    drop(stranger);
    // Whoever reads standard error, a user looks here.
    let logged = home.tma1(&["logs"]).succeeded().stdout;
    assert!(logged.contains("error: ") && logged.contains("hint: "), "{logged}");
    assert!(logged.contains("is taken by another program"), "{logged}");
}

#[test]
fn what_keeps_the_service_from_running_is_told_by_start() {
    let managed = Managed::new();
    managed.run(&["install"]).succeeded();
    managed.tma1(&["stop"]).succeeded();
    let stranger = TcpListener::bind((Ipv4Addr::LOCALHOST, managed.home.port())).unwrap();
    let run = managed.tma1(&["start"]);
    assert_eq!(run.status, Some(1));
    assert!(run.stderr.contains("is taken by another program"), "{run:?}");
    drop(stranger);
    managed.tma1(&["start"]).succeeded();
    managed.run(&["uninstall"]).succeeded();
}

#[test]
fn the_unit_is_where_the_user_has_such_files() {
    let managed = Managed::new();
    let folder = managed.home.home().join("my config");
    let with = |arguments: &[&str]| {
        let mut command = managed.command(arguments);
        command.env("XDG_CONFIG_HOME", &folder);
        Run::of(&mut command, LIMIT).succeeded()
    };
    with(&["install"]);
    assert!(folder.join("systemd/user/tma1.service").is_file());
    assert!(!managed.unit().exists());
    with(&["uninstall"]);
    assert!(!folder.exists());
}

#[test]
fn without_a_manager_nothing_is_written_and_it_is_said_what_to_do() {
    let managed = Managed::new();
    let before = managed.tree();
    fs_err::write(managed.state("no-bus"), "").unwrap();
    let run = managed.run(&["install"]);
    assert_eq!(run.status, Some(1));
    assert_snapshot("service-no-manager", &run.stderr, &[]);
    let mut absent = managed.command(&["install"]);
    absent.env("PATH", managed.home.root());
    let absent = Run::of(&mut absent, LIMIT);
    assert_eq!(absent.status, Some(1));
    assert!(absent.stderr.contains("No such file or directory"), "{absent:?}");
    assert_eq!(managed.tree(), before);
    assert_eq!(managed.run(&["status"]).status, Some(1));
}

#[test]
fn a_manager_that_does_not_start_it_is_named() {
    let managed = Managed::new();
    fs_err::write(managed.state("broken"), "").unwrap();
    let run = managed.run(&["install"]);
    assert_eq!(run.status, Some(1));
    assert!(run.stdout.contains("tma1.service"), "{run:?}");
    assert!(
        run.stderr.contains("systemd refuses `systemctl --user enable --now tma1.service`: Unit"),
        "{run:?}"
    );
    managed.run(&["uninstall"]).succeeded();
    assert!(!managed.unit().exists());
}

#[test]
fn a_unit_of_the_user_stays() {
    let managed = Managed::new();
    fs_err::create_dir_all(managed.unit().parent().unwrap()).unwrap();
    fs_err::write(managed.unit(), "[Service]\nExecStart=/bin/true\n").unwrap();
    let run = managed.run(&["install", "--force"]);
    assert_eq!(run.status, Some(1));
    assert!(run.stderr.contains("it is not ours, so it stays"), "{run:?}");
    managed.run(&["uninstall"]).succeeded();
    assert_eq!(fs_err::read_to_string(managed.unit()).unwrap(), "[Service]\nExecStart=/bin/true\n");
    assert!(!managed.calls().contains("able --now"), "{}", managed.calls());

    // One of ours that the user has changed is replaced only if that is asked for.
    fs_err::remove_file(managed.unit()).unwrap();
    managed.run(&["install"]).succeeded();
    let ours = fs_err::read_to_string(managed.unit()).unwrap();
    fs_err::write(managed.unit(), format!("{ours}# mine\n")).unwrap();
    let run = managed.run(&["install"]);
    assert_eq!(run.status, Some(1));
    assert!(run.stderr.contains("you have changed it"), "{run:?}");
    managed.run(&["install", "--force"]).succeeded();
    assert_eq!(fs_err::read_to_string(managed.unit()).unwrap(), ours);
    managed.run(&["uninstall"]).succeeded();
}

#[test]
fn an_uninstall_of_an_adapter_names_the_service_and_leaves_what_it_runs() {
    let managed = Managed::new();
    managed.home.tma1(&INSTALL).succeeded();
    managed.run(&["install"]).succeeded();
    managed.home.tma1(&["stop"]).succeeded();
    let run = managed.home.tma1(&["uninstall", "--adapter", "claude-code", "--purge-data"]);
    assert!(
        run.stdout
            .contains("tma1.service — left in place; to take it away: tma1 service uninstall"),
        "{run:?}"
    );
    let program = managed.home.home().join(".tma1/bin/tma1");
    assert!(
        program.exists() || !fs_err::read_to_string(managed.unit()).unwrap().contains(".tma1/bin")
    );
    managed.run(&["uninstall"]).succeeded();
    managed.home.tma1(&["uninstall", "--adapter", "claude-code", "--purge-data"]).succeeded();
    assert!(!managed.home.home().join(".tma1").exists());
}

#[test]
fn systemd_finds_nothing_wrong_with_the_unit_from_any_home() {
    if Command::new("systemd-analyze").arg("--version").output().is_err() {
        return skip("systemd-analyze is not there");
    }
    for name in ["home", "a b", "100%", "$HOME", "it's \"q\"", "back\\slash", "é世", "a;b", "{x}"]
    {
        let managed = Managed::of(TestHome::named(name));
        managed.run(&["install"]);
        let unit = managed.unit();
        let mut verify = managed.home.command("systemd-analyze");
        verify.args(["--user", "verify"]).arg(&unit);
        verify.env("XDG_RUNTIME_DIR", managed.home.tmp());
        let run = Run::of(&mut verify, LIMIT);
        let about_ours =
            run.stderr.lines().filter(|line| line.contains("tma1")).collect::<Vec<_>>();
        assert_eq!(about_ours, [""; 0], "{name}: {run:?}");
        assert_eq!(run.status, Some(0), "{name}: {run:?}");
        managed.run(&["uninstall"]);
    }
}
