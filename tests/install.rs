//! `tma1 install` on the command line, and what it leaves: files, and a command that an agent runs.
#![cfg(unix)]

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::{self, JoinHandle};

use fs_err as fs;
use serde_json::Value;
use tempfile::TempDir;

const TMA1: &str = env!("CARGO_BIN_EXE_tma1");
const EVENT: &str = "{\"hook_event_name\":\"Stop\",\"session_id\":\"s\"}\n";

/// Four blanks, an order of its own, odd spellings, hooks of others.
const SETTINGS: &str = r#"{
    "zeta": 1.0e5,
    "model": "op\u0075s",
    "hooks": {
        "Stop": [
            {
                "hooks": [
                    {"type": "command", "command": "notify-send done"}
                ]
            }
        ],
        "WorktreeCreate": []
    },
    "alpha": [1,   2]
}
"#;

struct Home {
    folder: TempDir,
    path: PathBuf,
    /// Nobody listens there, unless a test does.
    port: u16,
}

impl Home {
    fn new(name: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs::create_dir_all(path.join("tmp")).unwrap();
        let port = free_port();
        Self { folder, path, port }
    }

    fn with_settings(text: &str) -> Self {
        let home = Self::new("dev");
        fs::create_dir(home.path.join(".claude")).unwrap();
        fs::write(home.settings(), text).unwrap();
        home
    }

    fn settings(&self) -> PathBuf {
        self.path.join(".claude/settings.json")
    }

    fn script(&self) -> PathBuf {
        self.path.join(".tma1/hooks/tma1-hook.sh")
    }

    fn run(&self, program: &Path, arguments: &[&str]) -> Output {
        Command::new(program)
            .args(arguments)
            .env_clear()
            .env("HOME", &self.path)
            .env("TMPDIR", self.path.join("tmp"))
            .env("PATH", "/usr/bin:/bin")
            .env("TMA1_PORT", self.port.to_string())
            .output()
            .unwrap()
    }

    fn install(&self, more: &[&str]) -> Output {
        let arguments = [&["install", "--adapter", "claude-code"], more].concat();
        self.run(Path::new(TMA1), &arguments)
    }

    fn installed(self) -> Self {
        let output = self.install(&[]);
        assert!(output.status.success(), "{output:?}");
        self
    }

    /// The command that Claude Code was told to run.
    fn registered_command(&self) -> String {
        let text = fs::read_to_string(self.settings()).unwrap();
        let settings: Value = serde_json::from_str(&text).unwrap();
        let entry = &settings["hooks"]["SessionStart"][0];
        assert_eq!(entry["hooks"][0]["timeout"], 5);
        entry["hooks"][0]["command"].as_str().unwrap().to_owned()
    }

    /// Every file and link below the home directory, with its time and content.
    fn state(&self) -> Vec<(PathBuf, std::time::SystemTime, Vec<u8>)> {
        let mut state = Vec::new();
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let metadata = fs::symlink_metadata(&path).unwrap();
                let content = if metadata.is_dir() {
                    folders.push(path.clone());
                    Vec::new()
                } else {
                    fs::read(&path).unwrap()
                };
                state.push((path, metadata.modified().unwrap(), content));
            }
        }
        state.sort();
        state
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.local_addr().unwrap().port()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Runs `command` as Claude Code does, with only `path` on the search path.
fn run_hook(command: &str, path: &str) -> Output {
    let mut child = Command::new("/bin/sh")
        .args(["-c", command])
        .env_clear()
        .env("PATH", path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A hook that can do nothing may not even read.
    drop(child.stdin.take().unwrap().write_all(EVENT.as_bytes()));
    child.wait_with_output().unwrap()
}

/// Answers one request with `response`, and returns the request.
fn answer_once(response: &'static str) -> (u16, JoinHandle<String>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = String::new();
        let mut chunk = [0; 4096];
        while !request.contains(EVENT) {
            let read = stream.read(&mut chunk).unwrap();
            assert_ne!(read, 0, "{request}");
            request += std::str::from_utf8(&chunk[..read]).unwrap();
        }
        stream.write_all(response.as_bytes()).unwrap();
        request
    });
    (port, server)
}

#[test]
fn every_byte_of_the_user_is_kept() {
    let home = Home::with_settings(SETTINGS).installed();
    let after = fs::read_to_string(home.settings()).unwrap();
    let mut kept = after.lines();
    for line in SETTINGS.lines() {
        // A line may get a comma after it, and nothing else.
        assert!(kept.any(|other| other == line || other.strip_suffix(',') == Some(line)), "{line}");
    }
    let parsed: Value = serde_json::from_str(&after).unwrap();
    assert_eq!(parsed["hooks"].as_object().unwrap().len(), 26);
    assert_eq!(parsed["hooks"]["Stop"][1]["id"], "tma1");
}

#[test]
fn a_dry_run_writes_nothing_and_shows_what_a_real_run_writes() {
    let home = Home::with_settings(SETTINGS);
    let before = home.state();
    let output = home.install(&["--dry-run"]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(home.state(), before);
    let diff = stdout(&output);
    let files: Vec<_> = diff.split("--- ").skip(1).collect();
    let home = home.installed();
    let [script, settings] = files[files.len() - 2..] else {
        panic!("{diff}");
    };
    assert_eq!(patched("", script), fs::read_to_string(home.script()).unwrap());
    let after = fs::read_to_string(home.settings()).unwrap();
    assert_eq!(patched(SETTINGS, settings), after);
    assert!(diff.ends_with("1 edited. Nothing was written.\n"), "{diff}");
}

/// Applies the hunks of `diff` to `text`.
fn patched(text: &str, diff: &str) -> String {
    let mut old = text.split_inclusive('\n').enumerate().peekable();
    let mut new = String::new();
    for line in diff.split_inclusive('\n').skip(2) {
        let (tag, rest) = line.split_at(1);
        match tag {
            "@" => {
                let start = rest.split(['-', ',']).nth(1).unwrap();
                let start: usize = start.parse().unwrap();
                while let Some((_, kept)) = old.next_if(|(index, _)| index + 1 < start) {
                    new += kept;
                }
            }
            " " => {
                assert_eq!(old.next().unwrap().1, rest);
                new += rest;
            }
            "-" => assert_eq!(old.next().unwrap().1, rest),
            "+" => new += rest,
            _ => break,
        }
    }
    new.extend(old.map(|(_, kept)| kept));
    new
}

#[test]
fn a_second_run_touches_nothing() {
    let home = Home::with_settings(SETTINGS).installed();
    let before = home.state();
    let output = home.install(&[]);
    assert_eq!(stdout(&output), "Nothing to do: Claude Code is already set up.\n");
    assert!(output.status.success());
    assert_eq!(home.state(), before);
}

#[test]
fn a_run_says_what_it_did() {
    // Started by a link on no search path, which is how a package manager may have it.
    let home = Home::new("dev");
    let program = home.path.join("tma1");
    symlink(TMA1, &program).unwrap();
    let output = home.run(&program, &["install", "--adapter", "claude-code"]);
    assert_eq!(
        stdout(&output),
        "Created ~/.tma1/hooks/tma1-hook.sh\n\
         Created ~/.claude/settings.json (25 hooks added)\n\
         Running sessions take the hooks up within seconds. \
         Next, start the daemon: tma1 serve\n"
    );
    let script = fs::read_to_string(home.script()).unwrap();
    assert!(script.contains(&format!("tma1={}\n", program.display())), "{script}");
}

#[test]
fn a_program_in_a_build_folder_is_copied() {
    let home = Home::new("dev");
    let build = home.path.join("target/debug");
    fs::create_dir_all(&build).unwrap();
    let tag = "Signature: 8a477f597d28d172789f06886806bc55\n";
    fs::write(home.path.join("target/CACHEDIR.TAG"), tag).unwrap();
    fs::hard_link(TMA1, build.join("tma1"))
        .or_else(|_| fs::copy(TMA1, build.join("tma1")).map(drop))
        .unwrap();
    let output = home.run(&build.join("tma1"), &["install", "--adapter", "claude-code"]);
    let said = stdout(&output);
    assert!(said.starts_with("Created ~/.tma1/bin/tma1\n"), "{output:?}");
    let copy = home.path.join(".tma1/bin/tma1");
    assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o755);
    let script = fs::read_to_string(home.script()).unwrap();
    assert!(script.contains(&format!("tma1={}\n", copy.display())), "{script}");
    assert!(home.run(&copy, &["--version"]).status.success());
}

#[test]
fn the_registered_command_works_from_any_home_and_is_silent_without_a_daemon() {
    for name in [
        "dev",
        "John Smith",
        "O'Brien",
        "O'Brien \"the $HOME\"",
        "José",
        "项目",
        "a$b",
        "back\\slash",
        "-dash",
        "line\nend",
    ] {
        let home = Home::new(name).installed();
        let output = run_hook(&home.registered_command(), "/usr/bin:/bin");
        assert!(output.status.success(), "{name}: {output:?}");
        assert_eq!(output.stdout, b"", "{name}: {output:?}");
        assert_eq!(output.stderr, b"", "{name}: {output:?}");
        assert!(home.install(&[]).stdout.starts_with(b"Nothing to do"));
    }
}

#[test]
fn the_script_runs_in_any_posix_shell() {
    let home = Home::new("O'Brien \"the $HOME\"").installed();
    let command = home.registered_command();
    for shell in ["dash", "bash", "bash --posix", "busybox sh"] {
        let name = shell.split(' ').next().unwrap();
        if !Path::new("/usr/bin").join(name).exists() && !Path::new("/bin").join(name).exists() {
            continue;
        }
        let output = run_hook(&format!("{shell} {command}"), "/usr/bin:/bin");
        assert!(output.status.success(), "{shell}: {output:?}");
        assert_eq!(output.stdout, b"", "{shell}: {output:?}");
        assert_eq!(output.stderr, b"", "{shell}: {output:?}");
    }
}

#[test]
fn the_script_falls_back_to_curl_when_the_program_is_gone() {
    let mut home = Home::new("O'Brien");
    let (port, server) = answer_once("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe\\no");
    home.port = port;
    let program = home.path.join("tma1");
    symlink(TMA1, &program).unwrap();
    home.run(&program, &["install", "--adapter", "claude-code"]);
    fs::remove_file(&program).unwrap();
    let output = run_hook(&home.registered_command(), "/usr/bin:/bin");
    assert_eq!(stdout(&output), "he\\no");
    assert!(output.status.success());
    let request = server.join().unwrap();
    assert!(request.starts_with("POST /api/hooks HTTP/1.1\r\n"), "{request}");
    assert!(!request.contains("Expect:"), "{request}");
}

#[test]
fn a_broken_answer_and_a_broken_program_leave_no_output() {
    let mut home = Home::new("dev");
    let (port, server) = answer_once("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nhalf an ans");
    home.port = port;
    let program = home.path.join("tma1");
    symlink(TMA1, &program).unwrap();
    home.run(&program, &["install", "--adapter", "claude-code"]);
    fs::remove_file(&program).unwrap();
    let output = run_hook(&home.registered_command(), "/usr/bin:/bin");
    assert!(output.status.success());
    assert_eq!(stdout(&output), "");
    server.join().unwrap();
    // Neither the program nor curl, nor a search path.
    let no_curl = run_hook(&home.registered_command(), "/nowhere");
    assert!(no_curl.status.success(), "{no_curl:?}");
    assert_eq!(no_curl.stdout, b"");
    // A program that says something and then fails.
    fs::write(&program, "#!/bin/sh\necho half; exit 1\n").unwrap();
    fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    let failing = run_hook(&home.registered_command(), "/usr/bin:/bin");
    assert!(failing.status.success(), "{failing:?}");
    assert_eq!(failing.stdout, b"");
    // One that is not for this machine.
    fs::write(&program, b"\x7fELF\x02\x01\0\0").unwrap();
    let foreign = run_hook(&home.registered_command(), "/usr/bin:/bin");
    assert!(foreign.status.success(), "{foreign:?}");
    assert_eq!(foreign.stdout, b"");
}

#[test]
fn a_refusal_exits_with_1_and_wrong_usage_with_2() {
    let home = Home::with_settings("{\n  \"hooks\": {},\n}");
    let before = home.state();
    let output = home.install(&[]);
    assert_eq!(output.status.code(), Some(1));
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert!(complaint.contains("line 3, column 1"), "{complaint}");
    assert!(complaint.contains("\nhint: "), "{complaint}");
    assert_eq!(output.stdout, b"");
    assert_eq!(home.state(), before);
    for adapter in ["codex", "emacs"] {
        let output = home.run(Path::new(TMA1), &["install", "--adapter", adapter]);
        assert_eq!(output.status.code(), Some(2));
    }
    assert_eq!(home.run(Path::new(TMA1), &["install"]).status.code(), Some(2));
}
