//! The daemon as a service, with a manager that does what `systemctl --user` does with a unit.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::install::INSTALL;
use crate::support::daemon::Daemon;
use crate::support::home::TestHome;
use crate::support::npm::skip;
use crate::support::process::Run;
use crate::support::snapshot::assert_snapshot;
use crate::support::tree;

const LIMIT: Duration = Duration::from_secs(30);

/// Writes down what it is told, and starts and ends what the unit says, as its one line of a command
/// and its assignments read the same to a shell unless there are signs in them.
const SYSTEMCTL: &str = r#"#!/bin/sh
unit=${XDG_CONFIG_HOME:-$HOME/.config}/systemd/user/tma1.service
state=@STATE@
echo "$*" >>"$state/calls"
[ ! -e "$state/no-bus" ] || { echo "Failed to connect to bus: No medium found" >&2; exit 1; }
case "$*" in
"--user enable --now tma1.service")
    [ ! -e "$state/broken" ] || { echo "Unit tma1.service has a bad setting" >&2; exit 1; }
    eval "$(sed -n 's/^Environment=/export /p' "$unit")"
    unset TMA1_PORT
    eval "$(sed -n 's/^ExecStart=//p' "$unit") >/dev/null 2>&1 &"
    echo $! >"$state/pid" ;;
"--user disable --now tma1.service")
    [ -e "$unit" ] || { echo "Unit file tma1.service does not exist." >&2; exit 1; }
    if [ -e "$state/pid" ]; then
        kill "$(cat "$state/pid")"
        while kill -0 "$(cat "$state/pid")" 2>/dev/null; do sleep 0.05; done
        rm "$state/pid"
    fi ;;
"--user is-active --quiet tma1.service")
    [ -e "$state/pid" ] && kill -0 "$(cat "$state/pid")" 2>/dev/null ;;
"--user show-environment" | "--user daemon-reload") ;;
*) echo "Unknown command verb $*." >&2; exit 1 ;;
esac
"#;

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
        fs_err::create_dir_all(&bin).unwrap();
        let program = SYSTEMCTL.replace("@STATE@", &format!("'{}'", bin.display()));
        fs_err::write(bin.join("systemctl"), program).unwrap();
        fs_err::set_permissions(bin.join("systemctl"), PermissionsExt::from_mode(0o755)).unwrap();
        Self { home }
    }

    fn state(&self, name: &str) -> PathBuf {
        self.home.root().join("manager").join(name)
    }

    fn unit(&self) -> PathBuf {
        self.home.home().join(".config/systemd/user/tma1.service")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.home.tma1_command(&["service"]);
        let path = format!("{}:/usr/bin:/bin", self.home.root().join("manager").display());
        command.args(arguments).env("PATH", path);
        command
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
    command.env("TMA1_LOG", "debug").env("TMA1_GREPTIMEDB_PASSWORD", "hunter2");
    let run = Run::of(&mut command, LIMIT).succeeded();
    assert!(
        run.stderr.contains("TMA1_GREPTIMEDB_PASSWORD is a secret, so it is not in"),
        "{run:?}"
    );
    assert_eq!(managed.status()["daemon_pid"], managed.pid());
    assert!(!managed.home.home().join(".tma1/stopped").exists());
    let unit = fs_err::read_to_string(managed.unit()).unwrap();
    assert!(
        unit.contains("Environment=\"TMA1_LOG=debug\"\n") && !unit.contains("hunter2"),
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
