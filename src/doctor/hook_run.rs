//! Runs the commands that an agent has registered, as the agent runs them, and reads what they say as the
//! agent reads it.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::agent::Agent;
use crate::daemon::PROBE_FIELD;
use crate::doctor::daemon::Daemon;
use crate::doctor::finding::{Check, Finding, Fix};
use crate::doctor::process::clean;
use crate::doctor::settings::Handler;
use crate::doctor::subject::Subject;
use crate::process::{self, NoRun, Run};

/// How long the agent waits, as registered.
const PATIENCE: Duration = Duration::from_secs(5);

/// From then on the user feels it before every step. The script itself gives up after half a second.
const SLOW: Duration = Duration::from_millis(1500);

/// An event to which both agents take an answer.
const EVENT: &str = "UserPromptSubmit";

/// The fields of an answer. Codex fails a hook for any other.
const KNOWN: [&str; 7] = [
    "continue",
    "stopReason",
    "suppressOutput",
    "systemMessage",
    "decision",
    "reason",
    "hookSpecificOutput",
];

/// Runs each command of our hooks `own` once.
pub(super) fn check(
    subject: &Subject<'_>,
    daemon: &Daemon,
    agent: Agent,
    own: &[Handler],
) -> Vec<Finding> {
    let check = Check::of("hook-run", agent);
    if daemon.is_other_version() {
        return vec![check.skipped("the daemon has to be of this version")];
    }
    let commands: BTreeSet<_> = own.iter().map(Handler::command).collect();
    let mark = format!("doctor{:016x}", getrandom::u64().unwrap_or_default());
    let event = json!({
        "hook_event_name": EVENT,
        "session_id": "tma1-doctor",
        "cwd": subject.working_dir.to_string_lossy(),
        "prompt": "",
        PROBE_FIELD: mark,
    });
    let mark = daemon.answers().then_some(mark.as_str());
    let judged = commands.into_iter().map(|command| {
        let mut shell = shell(agent, command);
        shell.current_dir(subject.working_dir);
        let run = process::run(clean(shell, subject.environment), &event.to_string(), PATIENCE);
        judge(agent, &run, mark)
    });
    judged.collect()
}

/// How `agent` runs the command of a hook.
fn shell(agent: Agent, line: &str) -> Command {
    if cfg!(windows) {
        let mut shell = Command::new("cmd");
        shell.args(["/C", line]);
        return shell;
    }
    let program = match agent {
        Agent::Codex if PathBuf::from("/bin/bash").exists() => "/bin/bash",
        Agent::ClaudeCode | Agent::Codex => "/bin/sh",
    };
    let mut shell = Command::new(program);
    shell.args(["-c", line]);
    shell
}

/// What the run of a hook comes to; `mark` is what a daemon that runs has said in it.
fn judge(agent: Agent, run: &Result<Run, NoRun>, mark: Option<&str>) -> Finding {
    const LOST: &str = "the agent may show an error at every step, and is told nothing";
    let check = Check::of("hook-run", agent);
    let fix = Fix::Install(agent);
    let run = match run {
        Ok(run) => run,
        Err(NoRun::NotStarted(reason)) => {
            return check.failure(format!("the registered hook can't be run: {reason}"), LOST, fix);
        }
        Err(NoRun::TimedOut) => {
            let what = format!("the registered hook takes longer than {} s", PATIENCE.as_secs());
            return check.failure(what, "the agent waits for it at every step", fix);
        }
    };
    if run.status != Some(0) {
        let status = run.status.map_or("a signal".to_owned(), |it| format!("status {it}"));
        return check.failure(format!("the registered hook ends with {status}"), LOST, fix);
    }
    let heard = match heard(agent, &run.stdout) {
        Ok(heard) => heard,
        Err(reason) => {
            return check.failure(format!("the registered hook says {reason}"), LOST, fix);
        }
    };
    if let Some(mark) = mark
        && !heard.contains(mark)
    {
        let what = "the registered hook does not bring the daemon's answer";
        return check.failure(what, "no event is reported, and the agent is told nothing", fix);
    }
    let took = run.took.as_millis();
    if run.took > SLOW {
        let what = format!("the registered hook takes {took} ms");
        let fix = Fix::ByHand("look what else keeps this machine busy".to_owned());
        return check.warning(what, "the agent waits for it at every step", fix);
    }
    check.ok(match mark {
        Some(_) => format!("the registered hook brings the daemon's answer, in {took} ms"),
        None => format!("the registered hook is quiet without the daemon, in {took} ms"),
    })
}

/// What the model is told by a hook that says `stdout`, or what the agent does not understand in it.
fn heard(agent: Agent, stdout: &str) -> Result<String, &'static str> {
    let text = stdout.trim();
    if !text.starts_with('{') {
        return match agent {
            Agent::Codex if !text.is_empty() => Err("something that is not JSON"),
            // Both take plain text for this event, but ours is JSON for Codex.
            Agent::ClaudeCode | Agent::Codex => Ok(text.to_owned()),
        };
    }
    let Ok(Value::Object(said)) = serde_json::from_str::<Value>(text) else {
        return Err("JSON that is broken");
    };
    if agent == Agent::Codex && said.keys().any(|key| !KNOWN.contains(&key.as_str())) {
        return Err("a field that the agent does not know");
    }
    if said.get("decision") == Some(&json!("block")) || said.get("continue") == Some(&json!(false))
    {
        return Err("that the agent is to stop");
    }
    let Some(specific) = said.get("hookSpecificOutput") else { return Ok(String::new()) };
    if specific.get("hookEventName") != Some(&json!(EVENT)) {
        return Err("something about another event");
    }
    let context = specific.get("additionalContext").and_then(Value::as_str);
    Ok(context.unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::finding::Status;

    fn run(status: i32, stdout: &str, millis: u64) -> Run {
        let took = Duration::from_millis(millis);
        Run { status: Some(status), stdout: stdout.to_owned(), stderr: String::new(), took }
    }

    #[test]
    fn a_hook_is_judged_as_its_agent_would() {
        let context = r#"{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"tma1_probe m1"}}"#;
        let other = r#"{"hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"m1"}}"#;
        let both = [Agent::ClaudeCode, Agent::Codex];
        let (claude, codex) = (&both[..1], &both[1..]);
        for (agents, output, mark, status) in [
            (&both[..], Ok(run(0, "", 10)), None, Status::Ok),
            (&both, Ok(run(0, "", 10)), Some("m1"), Status::Failure),
            (&both, Ok(run(0, context, 10)), Some("m1"), Status::Ok),
            (&both, Ok(run(0, context, 10)), Some("m2"), Status::Failure),
            (&both, Ok(run(0, context, 1600)), Some("m1"), Status::Warning),
            (&both, Ok(run(1, context, 10)), Some("m1"), Status::Failure),
            (&both, Ok(run(127, "", 10)), None, Status::Failure),
            (&both, Ok(run(0, other, 10)), Some("m1"), Status::Failure),
            (&both, Ok(run(0, r#"{"decision":"block","reason":"x"}"#, 10)), None, Status::Failure),
            (&both, Ok(run(0, r#"{"continue":false}"#, 10)), None, Status::Failure),
            (&both, Ok(run(0, r#"{"continue":true}"#, 10)), None, Status::Ok),
            (&both, Ok(run(0, "{broken", 10)), None, Status::Failure),
            (claude, Ok(run(0, "tma1_probe m1", 10)), Some("m1"), Status::Ok),
            (codex, Ok(run(0, "tma1_probe m1", 10)), Some("m1"), Status::Failure),
            (claude, Ok(run(0, r#"{"more":1}"#, 10)), None, Status::Ok),
            (codex, Ok(run(0, r#"{"more":1}"#, 10)), None, Status::Failure),
            (&both, Err(NoRun::TimedOut), None, Status::Failure),
            (&both, Err(NoRun::NotStarted("x".to_owned())), None, Status::Failure),
        ] {
            for agent in agents {
                let found = judge(*agent, &output, mark);
                assert_eq!(found.status, status, "{agent} {output:?} {mark:?} {found:?}");
            }
        }
    }
}
