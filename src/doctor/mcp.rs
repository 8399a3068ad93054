//! The entry by which an agent starts our MCP server: whether it is right, and whether what it starts
//! answers.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::agent::Agent;
use crate::clock;
use crate::doctor::finding::{Check, Finding, Fix};
use crate::doctor::process::clean;
use crate::doctor::settings;
use crate::doctor::subject::Subject;
use crate::platform;
use crate::setup::adapter::{Content, MCP_NAME, Shared};

/// How long the server may take to say what it can do.
const PATIENCE: Duration = Duration::from_secs(5);

/// The tool by which our server is known.
const TOOL: &str = "get_session_state";

const UNASKED: &str = "the agent can't ask what its session did";

/// An entry, as the agent reads it.
struct Entry {
    command: PathBuf,
    arguments: Vec<String>,
}

/// Looks at the entry of `agent` and starts what it names.
pub(super) fn check(subject: &Subject<'_>, agent: Agent) -> Vec<Finding> {
    let run = Check::of("mcp-run", agent);
    if !subject.is_installed(agent) {
        return Vec::new();
    }
    let (entry, mut findings) = look(subject, agent);
    findings.push(match entry {
        Some(entry) => self::run(subject, agent, &entry),
        None => run.skipped("the MCP entry has to be right first"),
    });
    findings
}

/// The file with the entry, and what an install by `program` would make of it.
fn file(subject: &Subject<'_>, agent: Agent, program: &Path) -> Option<(PathBuf, Shared)> {
    subject.artifacts(agent, program, None).into_iter().find_map(|artifact| {
        match artifact.content {
            Content::Shared(shared @ (Shared::Member(_) | Shared::Table(_))) => {
                Some((artifact.path, shared))
            }
            _ => None,
        }
    })
}

/// The entry, if it is right, and what there is to say of it.
fn look(subject: &Subject<'_>, agent: Agent) -> (Option<Entry>, Vec<Finding>) {
    let readable = Check::of("mcp-settings", agent);
    let check = Check::of("mcp-entry", agent);
    let Some((path, shared)) = file(subject, agent, Path::new("tma1")) else {
        return (None, Vec::new());
    };
    let name = subject.display(&path);
    let before = fs_err::read(&path).unwrap_or_default();
    if let Err(error) = shared.is_settled(&before) {
        let what = format!("{name} can't be used: {error}");
        let meaning = "the agent may not read it either, and tma1 does not touch it";
        let broken = readable.failure(what, meaning, Fix::ByHand(error.hint()));
        return (None, vec![broken, check.skipped(format!("{name} has to be readable"))]);
    }
    let readable = readable.ok(format!("{name} is as the agent reads it"));
    let (entry, found) = match entry(agent, &path) {
        None => {
            let what =
                format!("{name} has no MCP server named {MCP_NAME}{}", stale(subject, &path));
            (None, check.failure(what, UNASKED, Fix::Install(agent)))
        }
        Some(entry) => judge(subject, agent, entry, &before),
    };
    (entry, vec![readable, found])
}

/// That an entry is in the file that Claude Code read before it had the other, if it is.
fn stale(subject: &Subject<'_>, read: &Path) -> String {
    let others = [
        subject.paths.home.join(".claude.json"),
        subject.paths.claude_config.join(".claude.json"),
        subject.paths.claude_config.join("settings.json"),
    ];
    let other = others.into_iter().filter(|other| other != read).find(|other| {
        settings::json(other).is_some_and(|it| it.get("mcpServers").is_some_and(names_us))
    });
    other.map_or_else(String::new, |other| {
        format!("; the one in {} is not read", subject.display(&other))
    })
}

fn names_us(servers: &Value) -> bool {
    servers.get(MCP_NAME).is_some()
}

fn value(agent: Agent, path: &Path) -> Option<Value> {
    let (settings, servers) = match agent {
        Agent::ClaudeCode => (settings::json(path)?, "mcpServers"),
        Agent::Codex => (settings::toml(path)?, "mcp_servers"),
    };
    settings.get(servers)?.get(MCP_NAME).cloned()
}

fn entry(agent: Agent, path: &Path) -> Option<Entry> {
    let value = value(agent, path)?;
    let arguments = value.get("args").and_then(Value::as_array).into_iter().flatten();
    Some(Entry {
        command: value.get("command").and_then(Value::as_str).unwrap_or_default().into(),
        arguments: arguments.filter_map(Value::as_str).map(str::to_owned).collect(),
    })
}

fn judge(
    subject: &Subject<'_>,
    agent: Agent,
    entry: Entry,
    before: &[u8],
) -> (Option<Entry>, Finding) {
    let check = Check::of("mcp-entry", agent);
    let program = subject.display(&entry.command);
    if !entry.command.is_file() || !platform::is_executable(&entry.command) {
        let what = format!("the MCP entry starts {program}, which is not there or not executable");
        return (None, check.failure(what, UNASKED, Fix::Install(agent)));
    }
    // With the program that it has: which one that is, is the user's choice.
    let Some((path, shared)) = file(subject, agent, &entry.command) else {
        return (None, check.skipped("the paths of this home can't be written down"));
    };
    if !shared.is_settled(before).unwrap_or_default() {
        let what = format!(
            "the MCP entry in {} is not what this version registers for port {}",
            subject.display(&path),
            subject.port()
        );
        return (None, check.failure(what, UNASKED, Fix::Install(agent)));
    }
    if agent == Agent::Codex
        && value(agent, &path).is_some_and(|it| it.get("enabled") == Some(&json!(false)))
    {
        let name = subject.display(&path);
        let fix = Fix::ByHand(format!("remove `enabled = false` from our table in {name}"));
        let found = check.warning(format!("the MCP entry is switched off in {name}"), UNASKED, fix);
        return (None, found);
    }
    let found = check.ok(format!("the MCP entry starts {program}"));
    (Some(entry), found)
}

fn run(subject: &Subject<'_>, agent: Agent, entry: &Entry) -> Finding {
    let check = Check::of("mcp-run", agent);
    let begun = clock::monotonic();
    let mut command = Command::new(&entry.command);
    command.args(&entry.arguments).current_dir(subject.working_dir);
    let mut command = clean(command, subject.environment);
    platform::lead_group(&mut command);
    match tools(command) {
        Ok(tools) if tools.iter().any(|tool| tool == TOOL) => {
            let took = (clock::monotonic() - begun).as_millis();
            check.ok(format!("the MCP server has the tool {TOOL}, after {took} ms"))
        }
        Ok(_) => {
            let what = format!("the MCP server that is registered has no tool {TOOL}");
            check.failure(what, UNASKED, Fix::Install(agent))
        }
        Err(reason) => {
            let what = format!("the MCP server that is registered does not work: {reason}");
            check.failure(what, UNASKED, Fix::Install(agent))
        }
    }
}

/// The tools of the server that `command` starts; it is ended.
fn tools(mut command: Command) -> Result<Vec<String>, String> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let requests = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "tma1-doctor", "version": env!("CARGO_PKG_VERSION")},
        }}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}),
    ];
    let (said, heard) = channel();
    let (mut stdin, stdout) = (child.stdin.take(), child.stdout.take());
    thread::spawn(move || {
        let lines = stdout.map(|stdout| BufReader::new(stdout).lines()).into_iter().flatten();
        for line in lines.map_while(Result::ok) {
            let frame = serde_json::from_str::<Value>(&line).unwrap_or_default();
            if frame.get("id") == Some(&json!(2)) {
                drop(said.send(frame));
                return;
            }
        }
    });
    // They are far smaller than the buffer of a pipe, so this does not wait.
    for request in requests {
        drop(stdin.as_mut().map(|stdin| writeln!(stdin, "{request}")));
    }
    let answer = heard.recv_timeout(PATIENCE);
    drop(stdin);
    // It keeps nothing, and its client need not wait for its end.
    platform::kill_group(&mut child);
    drop(child.wait());
    let answer = answer.map_err(|_| "it does not answer".to_owned())?;
    let tools = answer.get("result").and_then(|result| result.get("tools")?.as_array());
    let tools = tools.ok_or_else(|| "it answers with an error".to_owned())?;
    let names = tools.iter().filter_map(|tool| tool.get("name")?.as_str());
    Ok(names.map(str::to_owned).collect())
}
