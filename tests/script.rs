//! The installed hook script, run as Claude Code runs it.
#![cfg(unix)]

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::Value;

use crate::install::{INSTALL, settings};
use crate::support::daemon::Daemon;
use crate::support::home::TestHome;
use crate::support::process::Run;
use crate::support::tree::tree;

const EVENT: &str = r#"{"hook_event_name":"UserPromptSubmit","session_id":"s","cwd":"/shop"}"#;
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

fn installed(name: &str) -> TestHome {
    let home = TestHome::named(name);
    home.tma1(&INSTALL).succeeded();
    home
}

/// The command that Claude Code was told to run.
fn registered_command(home: &TestHome) -> String {
    registered_in(&settings(home))
}

fn registered_in(file: &Path) -> String {
    let text = fs_err::read_to_string(file).unwrap();
    let settings: Value = serde_json::from_str(&text).unwrap();
    let handler = &settings["hooks"]["SessionStart"][0]["hooks"][0];
    assert_eq!(handler["timeout"], 5);
    handler["command"].as_str().unwrap().to_owned()
}

/// Runs `command` as Claude Code does, with only `path` on the search path.
fn run_hook(command: &str, path: &str) -> Run {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", command]).env_clear().env("PATH", path).env("TMA1_NO_AUTOSTART", "1");
    Run::fed(&mut shell, EVENT.into(), Duration::from_secs(30))
}

#[track_caller]
fn assert_silent(run: &Run) {
    assert_eq!(run.status, Some(0), "{run:#?}");
    assert_eq!(run.stdout, "", "{run:#?}");
    assert_eq!(run.stderr, "", "{run:#?}");
}

/// Answers one request on the port of `home` with `response`, and returns the request.
fn answer_once(home: &TestHome, response: String) -> JoinHandle<String> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, home.port())).unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = Vec::new();
        let mut chunk = [0; 4096];
        while !String::from_utf8_lossy(&request).contains(EVENT) {
            let read = stream.read(&mut chunk).unwrap();
            assert_ne!(read, 0, "{}", String::from_utf8_lossy(&request));
            request.extend_from_slice(&chunk[..read]);
        }
        stream.write_all(response.as_bytes()).unwrap();
        String::from_utf8(request).unwrap()
    })
}

fn response(protocol: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 200 OK\r\n{protocol}Content-Length: {length}\r\n\r\n{body}")
}

/// Names that a user's folders may have.
const NAMES: [&str; 10] = [
    "dev",
    "John Smith",
    "O'Brien",
    "O'Brien \"the $HOME\"",
    "José",
    "项目",
    "a$b `id`",
    "back\\slash",
    "-dash",
    "%20 #1; & (2) *!",
];

#[test]
fn the_registered_command_works_from_any_home() {
    for name in NAMES.into_iter().chain(["line\nend"]) {
        let home = installed(name);
        assert_silent(&run_hook(&registered_command(&home), PATH));
        let _daemon = Daemon::start(&home);
        let run = run_hook(&registered_command(&home), PATH).succeeded();
        assert!(run.stdout.starts_with("<tma1-context>\nproject: shop\n"), "{name}: {run:#?}");
        assert!(home.tma1(&INSTALL).succeeded().stdout.starts_with("Nothing to do"), "{name}");
    }
}

#[test]
fn the_registered_commands_work_with_any_data_directory_configuration_and_project() {
    const ADAPTERS: [&str; 4] = ["--adapter", "claude-code", "--adapter", "codex"];
    for name in NAMES {
        let home = TestHome::new();
        let folder = |kind: &str| home.root().join(kind).join(name);
        let [data, claude, codex, project] = ["data", "claude", "codex", "work"].map(folder);
        for existing in [data.parent().unwrap(), &codex, &project] {
            fs_err::create_dir_all(existing).unwrap();
        }
        let tma1 = |arguments: &[&str]| {
            let mut command = home.tma1_command(arguments);
            command.current_dir(project.parent().unwrap());
            command.env("TMA1_DATA_DIR", &data).env("CLAUDE_CONFIG_DIR", &claude);
            command.env("CODEX_HOME", &codex);
            command
        };
        let run = |verb: &[&str]| {
            let mut command = tma1(&[verb, &ADAPTERS[..]].concat());
            // As seen from where it runs, where a name may look like an option.
            command.arg(format!("--project={name}"));
            Run::of(&mut command, Duration::from_secs(30)).succeeded()
        };
        let before: Vec<_> = tree(home.root()).into_iter().map(|node| node.path).collect();
        run(&["install"]);
        assert!(project.join("CLAUDE.md").is_file() && project.join("AGENTS.md").is_file());
        let commands = [
            ("/bin/sh", registered_in(&claude.join("settings.json"))),
            ("/bin/bash", registered_in(&codex.join("hooks.json"))),
        ];
        let hook = |shell: &str, command: &str| {
            let mut event: Value = serde_json::from_str(EVENT).unwrap();
            event["cwd"] = project.to_str().unwrap().into();
            let mut shell = Command::new(shell);
            shell
                .args(["-c", command])
                .env_clear()
                .env("PATH", PATH)
                .env("TMA1_NO_AUTOSTART", "1")
                .current_dir(&project);
            Run::fed(&mut shell, event.to_string().into(), Duration::from_secs(30))
        };
        for (shell, command) in &commands {
            assert_silent(&hook(shell, command));
        }
        let daemon = Daemon::start_command(&home, tma1(&["serve"]));
        for (shell, command) in &commands {
            let run = hook(shell, command).succeeded();
            let said = format!("project: {name}");
            assert!(
                run.stdout.replace("\\\\", "\\").replace("\\\"", "\"").contains(&said),
                "{name}: {run:#?}"
            );
        }
        daemon.stop();
        fs_err::remove_file(home.tmp().join("daemon.log")).unwrap();
        run(&["uninstall", "--purge-data", "--yes"]);
        let paths = || tree(home.root()).into_iter().map(|node| node.path);
        let left: Vec<_> = paths().filter(|path| !before.contains(path)).collect();
        assert_eq!(left, [""; 0].map(std::path::PathBuf::from), "{name}");
    }
}

#[test]
fn it_runs_in_any_posix_shell_with_and_without_the_program() {
    let home = installed("O'Brien \"the $HOME\"");
    let _daemon = Daemon::start(&home);
    let shells: Vec<_> = ["dash", "bash", "bash --posix", "busybox sh", "ksh", "zsh"]
        .into_iter()
        .filter(|shell| {
            let name = shell.split(' ').next().unwrap();
            ["/usr/bin", "/bin"].iter().any(|folder| Path::new(folder).join(name).exists())
        })
        .collect();
    assert_ne!(shells, [""; 0]);
    let run_in_all = || {
        for shell in &shells {
            let command = format!("{shell} {}", registered_command(&home));
            let run = run_hook(&command, PATH).succeeded();
            assert!(run.stdout.ends_with("\n</tma1-context>"), "{shell}: {run:#?}");
            assert_eq!(run.stderr, "", "{shell}");
        }
    };
    run_in_all();
    fs_err::remove_file(home.binary()).unwrap();
    run_in_all();
}

#[test]
fn without_the_program_it_asks_with_curl() {
    let home = installed("O'Brien");
    fs_err::remove_file(home.binary()).unwrap();
    let server = answer_once(&home, response("tma1-protocol: 1\r\n", "he\\no\r\n\r\nyou"));
    let run = run_hook(&registered_command(&home), PATH).succeeded();
    assert_eq!(run.stdout, "he\\no\r\n\r\nyou");
    let request = server.join().unwrap();
    assert!(request.starts_with("POST /api/hooks HTTP/1.1\r\n"), "{request}");
    assert!(!request.contains("Expect:"), "{request}");
}

#[test]
fn an_answer_that_is_not_whole_or_not_of_the_daemon_is_not_printed() {
    let ours = "tma1-protocol: 1\r\n";
    for answer in [
        String::new(),
        response(ours, ""),
        response(ours, "cut off").replace("Length: 7", "Length: 99"),
        response(ours, "refused").replace("200 OK", "403 Forbidden"),
        response("", "a stranger"),
        response("", "a stranger\ntma1-protocol: 1\r\n\r\nthat speaks like us"),
        response(ours, "another success").replace("200 OK", "203 Other"),
        response("tma1-protocol: 2\r\n", "another version"),
    ] {
        let home = installed("dev");
        fs_err::remove_file(home.binary()).unwrap();
        let server = answer_once(&home, answer);
        assert_silent(&run_hook(&registered_command(&home), PATH));
        server.join().unwrap();
    }
}

#[test]
fn without_the_program_and_without_curl_it_is_silent() {
    let home = installed("dev");
    let _daemon = Daemon::start(&home);
    fs_err::remove_file(home.binary()).unwrap();
    assert_silent(&run_hook(&registered_command(&home), "/nowhere"));
}

#[test]
fn a_program_that_is_broken_leaves_no_output() {
    let home = installed("dev");
    for broken in [&b"#!/bin/sh\necho half; exit 1\n"[..], b"\x7fELF\x02\x01\0\0", b"", b"\xff"] {
        fs_err::remove_file(home.binary()).unwrap();
        fs_err::write(home.binary(), broken).unwrap();
        fs_err::set_permissions(home.binary(), PermissionsExt::from_mode(0o755)).unwrap();
        assert_silent(&run_hook(&registered_command(&home), PATH));
    }
}

/// Runs what `check` does with the program and without it.
fn with_and_without_the_program(check: impl Fn(&str)) {
    let home = installed("dev");
    let _daemon = Daemon::start(&home);
    check(&registered_command(&home));
    fs_err::remove_file(home.binary()).unwrap();
    check(&registered_command(&home));
}

#[test]
fn a_standard_input_that_stays_open_is_given_up() {
    with_and_without_the_program(|command| {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", command]).env_clear().env("PATH", PATH).env("TMA1_NO_AUTOSTART", "1");
        shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = shell.spawn().unwrap();
        let stdin = child.stdin.take();
        // It waits for everyone who holds the output, as an agent does.
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        assert!(output.stdout.is_empty() && output.stderr.is_empty(), "{output:?}");
        drop(stdin);
    });
}

#[test]
fn descriptors_that_are_closed_or_broken_are_no_failure() {
    with_and_without_the_program(|command| {
        for redirection in ["<&-", ">&-", "2>&-", "<&- >&- 2>&-", ">/dev/full"] {
            if redirection != ">/dev/full" || Path::new("/dev/full").exists() {
                let run = run_hook(&format!("{command} {redirection}"), PATH);
                assert_eq!((run.status, &*run.stderr), (Some(0), ""), "{redirection}");
            }
        }
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", &format!("printf '%s' '{EVENT}' | {command}")]).env_clear();
        assert_eq!(
            shell
                .env("PATH", PATH)
                .env("TMA1_NO_AUTOSTART", "1")
                .stdout(writer)
                .status()
                .unwrap()
                .code(),
            Some(0)
        );
    });
}

#[test]
fn where_no_process_can_be_started_it_is_silent() {
    // bash tries for many seconds, which is not ours to change.
    let Some(shell) = ["/bin/dash", "/bin/busybox"].into_iter().find(|s| Path::new(s).exists())
    else {
        return;
    };
    let home = installed("dev");
    let command = registered_command(&home);
    let script = fs_err::read_to_string(command.trim_matches('\'')).unwrap();
    let mut limited = Command::new("/bin/bash");
    limited.args(["-c", r#"ulimit -u 0 && exec "$@" -c "$SCRIPT""#, "bash", shell]);
    if shell.ends_with("busybox") {
        limited.arg("sh");
    }
    limited
        .env_clear()
        .env("PATH", PATH)
        .env("TMA1_NO_AUTOSTART", "1")
        .env("SCRIPT", script)
        .current_dir("/");
    if tma1::platform::current_user() == 0 {
        // The limit is not for root.
        limited.uid(65534);
    }
    assert_silent(&Run::fed(&mut limited, EVENT.into(), Duration::from_secs(30)));
}
