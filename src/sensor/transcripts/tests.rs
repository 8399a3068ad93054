use std::fmt::Write as _;

use proptest::prelude::*;
use serde_json::json;

use super::*;

const ALL: usize = usize::MAX;

/// A home with the folders of both agents.
struct Home {
    folder: tempfile::TempDir,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in [".claude/projects/p/s/subagents", ".codex/sessions/2026", "elsewhere"] {
            fs_err::create_dir_all(folder.path().join(name)).unwrap();
        }
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs_err::write(&path, text).unwrap();
        path
    }

    fn append(&self, name: &str, text: &str) {
        use std::io::Write;
        let mut file = fs_err::OpenOptions::new().append(true).open(self.path(name)).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    fn transcripts(&self) -> Transcripts {
        let home = self.folder.path();
        let variables = [("HOME", home), ("CLAUDE_CONFIG_DIR", &home.join("moved"))];
        Transcripts::new(&Paths::resolve(&variables.into_iter().collect()).unwrap())
    }
}

fn key(agent: Agent, id: &str) -> SessionKey {
    SessionKey { agent, id: id.to_owned() }
}

fn claude() -> SessionKey {
    key(Agent::ClaudeCode, "s")
}

/// A line of a transcript of Claude Code.
fn answer(id: &str, input: u64, output: u64) -> String {
    let message = json!({
        "id": id, "model": "claude-opus-5-5",
        "usage": {"input_tokens": input, "output_tokens": output},
    });
    format!("{}\n", json!({"type": "assistant", "requestId": id, "message": message}))
}

/// A rollout of Codex up to one count.
fn rollout(thread: &str, input: u64, output: u64) -> String {
    let usage =
        json!({"input_tokens": input, "output_tokens": output, "total_tokens": input + output});
    let info = json!({
        "total_token_usage": usage, "last_token_usage": usage, "model_context_window": 1000,
    });
    let meta = json!({"type": "session_meta", "payload": {"id": thread}});
    let end = json!({"type": "exec_command_end", "call_id": thread, "exit_code": 3});
    let count = json!({"type": "token_count", "info": info});
    let event = |payload| json!({"type": "event_msg", "payload": payload});
    format!("{meta}\n{}\n{}\n", event(end), event(count))
}

fn read(transcripts: &mut Transcripts, session: &SessionKey, path: &Path) -> Vec<Observation> {
    let reading = transcripts.read_on(session, path.to_str().unwrap(), ALL);
    assert!(!reading.more);
    reading.observations
}

/// The input, the output and the window that were observed.
fn used(observations: &[Observation]) -> Option<(u64, u64, Option<u64>)> {
    observations.iter().find_map(|observation| match observation {
        Observation::Usage { usage, .. } => Some((usage.input, usage.output, usage.window_used)),
        _ => None,
    })
}

const MAIN: &str = ".claude/projects/p/s.jsonl";

#[test]
fn a_transcript_is_read_as_it_grows() {
    let home = Home::new();
    let mut transcripts = home.transcripts();
    let path = home.path(MAIN);
    let mut read = || read(&mut transcripts, &claude(), &path);
    assert_eq!(read(), [], "not there yet");
    home.write(MAIN, &answer("a", 3, 1));
    let usage = Usage { input: 3, output: 1, window_used: Some(4), window_size: Some(1_000_000) };
    assert_eq!(read(), [Observation::Usage { session: claude(), usage }]);
    assert_eq!(read(), [], "nothing new");
    home.append(MAIN, "{\"type\":\"user\"}\n");
    assert_eq!(read(), [], "nothing that counts");
    let line = answer("b", 5, 2);
    let (begun, rest) = line.split_at(line.len() / 2);
    home.append(MAIN, begun);
    assert_eq!(read(), [], "half a line");
    home.append(MAIN, rest);
    assert_eq!(used(&read()), Some((8, 3, Some(7))));
    fs_err::remove_file(&path).unwrap();
    assert_eq!(read(), [], "gone");
    home.write(MAIN, &(answer("a", 3, 1) + &answer("c", 1, 1)));
    assert_eq!(used(&read()), Some((9, 4, Some(2))), "there again");
}

#[test]
fn a_file_that_is_cut_or_replaced_is_read_again_and_counted_once() {
    let home = Home::new();
    let mut transcripts = home.transcripts();
    let lines = answer("a", 3, 1) + &answer("b", 5, 2) + &answer("c", 7, 3);
    let path = home.write(MAIN, &lines);
    let mut read = || read(&mut transcripts, &claude(), &path);
    assert_eq!(used(&read()), Some((15, 6, Some(10))));
    home.write(MAIN, &answer("a", 3, 1));
    assert_eq!(used(&read()), Some((15, 6, Some(4))), "cut");
    let other = home.write(".claude/projects/p/new", &(lines + &answer("d", 1, 1)));
    fs_err::rename(other, &path).unwrap();
    assert_eq!(used(&read()), Some((16, 7, Some(2))), "replaced");
}

#[test]
fn subagents_count_for_their_session_but_not_for_its_window() {
    let home = Home::new();
    let mut transcripts = home.transcripts();
    let path = home.write(MAIN, &answer("a", 3, 1));
    for (name, id) in [("agent-1.jsonl", "b"), ("agent-2.jsonl", "c"), ("notes.jsonl", "d")] {
        home.write(&format!(".claude/projects/p/s/subagents/{name}"), &answer(id, 100, 10));
    }
    assert_eq!(used(&read(&mut transcripts, &claude(), &path)), Some((203, 21, Some(4))));

    let child = home.path(".codex/sessions/2026/rollout-child.jsonl");
    let main = home.write(".codex/sessions/2026/rollout-main.jsonl", &rollout("main", 5, 1));
    let session = key(Agent::Codex, "main");
    let mut read = |path: &Path| read(&mut transcripts, &session, path);
    assert_eq!(used(&read(&main)), Some((5, 1, Some(6))));
    assert_eq!(read(&child), [], "its start is told before its file is there");
    home.write(".codex/sessions/2026/rollout-child.jsonl", &rollout("child", 50, 10));
    let observations = read(&main);
    assert_eq!(used(&observations), Some((55, 11, Some(6))));
    let ended = Observation::CommandEnded {
        session: session.clone(),
        call_id: "child".to_owned(),
        exit_code: 3,
    };
    assert_eq!(observations.first(), Some(&ended));
}

#[test]
fn only_transcripts_are_read() {
    let home = Home::new();
    let line = answer("a", 3, 1);
    let thread = rollout("t", 3, 1);
    for (name, text, agent, is_read) in [
        (MAIN, &line, Agent::ClaudeCode, true),
        (".codex/sessions/2026/r.jsonl", &thread, Agent::Codex, true),
        (".claude/projects/p/../p/t.jsonl", &line, Agent::ClaudeCode, true),
        (".claude/projects/p/s.json", &line, Agent::ClaudeCode, false),
        (".claude/s.jsonl", &line, Agent::ClaudeCode, false),
        (".claude/projects/../s.jsonl", &line, Agent::ClaudeCode, false),
        ("elsewhere/s.jsonl", &line, Agent::ClaudeCode, false),
        (".codex/sessions/2026/s.jsonl", &line, Agent::ClaudeCode, false),
        (".claude/projects/p/r.jsonl", &thread, Agent::Codex, false),
    ] {
        let path = home.write(name, text);
        let observations = read(&mut home.transcripts(), &key(agent, "t"), &path);
        assert_eq!(used(&observations).is_some(), is_read, "{name}");
    }
    let mut transcripts = home.transcripts();
    for path in ["", "s.jsonl", "/", "/dev/zero", "\0.jsonl", "/nowhere/s.jsonl"] {
        assert_eq!(transcripts.read_on(&claude(), path, ALL), Reading::default(), "{path}");
    }
}

#[cfg(unix)]
#[test]
fn links_pipes_and_files_of_others_are_not_read() {
    use fs_err::os::unix::fs::symlink;

    let home = Home::new();
    let secret = home.write("elsewhere/s.jsonl", &answer("a", 3, 1));
    let inside = home.write(".claude/projects/p/real.jsonl", &answer("b", 5, 1));
    symlink(&secret, home.path(".claude/projects/p/out.jsonl")).unwrap();
    symlink(home.path("elsewhere"), home.path(".claude/projects/folder")).unwrap();
    symlink(&inside, home.path(".claude/projects/p/in.jsonl")).unwrap();
    symlink(&secret, home.path(".claude/projects/p/s/subagents/agent-1.jsonl")).unwrap();
    let pipe = home.path(".claude/projects/p/pipe.jsonl");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    fs_err::create_dir(home.path(".claude/projects/p/dir.jsonl")).unwrap();
    let others = home.write(".claude/projects/p/others.jsonl", &answer("c", 7, 1));
    // Only root can give a file away.
    let is_given = std::os::unix::fs::chown(&others, Some(4321), None).is_ok();
    home.write(MAIN, &answer("d", 9, 1));
    for (name, input) in [
        ("p/out.jsonl", None),
        ("folder/s.jsonl", None),
        ("p/pipe.jsonl", None),
        ("p/dir.jsonl", None),
        ("p/others.jsonl", (!is_given).then_some(7)),
        ("p/in.jsonl", Some(5)),
        ("p/s.jsonl", Some(9)),
    ] {
        let path = home.path(".claude/projects").join(name);
        let observations = read(&mut home.transcripts(), &claude(), &path);
        assert_eq!(used(&observations).map(|(input, ..)| input), input, "{name}");
    }
}

#[test]
fn a_small_budget_reads_in_steps_and_tells_the_window_at_the_end() {
    let home = Home::new();
    let mut lines = String::new();
    for number in 0..2000 {
        lines += &answer(&number.to_string(), 1, 1);
        let size = if number == 1000 { 300_000 } else { 100 };
        writeln!(lines, "{}", json!({"type": "user", "text": "x".repeat(size)})).unwrap();
    }
    let path = home.write(MAIN, &lines);
    let mut transcripts = home.transcripts();
    let mut steps = Vec::new();
    loop {
        let reading = transcripts.read_on(&claude(), path.to_str().unwrap(), 100_000);
        steps.extend(used(&reading.observations));
        if !reading.more {
            break;
        }
    }
    let (last, before) = steps.split_last().unwrap();
    assert_eq!(*last, (2000, 2000, Some(2)));
    assert!(before.len() >= 4, "{steps:?}");
    assert!(before.iter().all(|(.., window)| window.is_none()), "{steps:?}");
    assert!(before.is_sorted(), "{steps:?}");
}

#[test]
fn sessions_and_files_are_bounded_and_what_was_forgotten_is_read_again() {
    let home = Home::new();
    let mut transcripts = home.transcripts();
    let session = |number: usize| key(Agent::ClaudeCode, &format!("s{number}"));
    let path = |number: usize| format!(".claude/projects/p/s{number}.jsonl");
    for number in 0..=MAX_SESSIONS {
        let path = home.write(&path(number), &answer(&number.to_string(), 3, 1));
        assert_eq!(used(&read(&mut transcripts, &session(number), &path)), Some((3, 1, Some(4))));
    }
    assert_eq!(transcripts.sessions.len(), MAX_SESSIONS);
    assert_eq!(read(&mut transcripts, &session(1), &home.path(&path(1))), [], "still known");
    let observations = read(&mut transcripts, &session(0), &home.path(&path(0)));
    assert_eq!(used(&observations), Some((3, 1, Some(4))), "read again");

    for number in 0..2 * MAX_AWAITED {
        read(&mut transcripts, &session(1), &home.path(&format!("{number}.jsonl")));
    }
    let files = &transcripts.sessions[&session(1)].files;
    assert_eq!(files.len(), 1 + MAX_AWAITED);
    assert!(files.contains_key(&home.path(&format!("{}.jsonl", 2 * MAX_AWAITED - 1))));
}

#[test]
fn a_copied_session_does_not_count_what_it_copies() {
    let home = Home::new();
    let mut transcripts = home.transcripts();
    let original = home.write(MAIN, &answer("a", 3, 1));
    read(&mut transcripts, &claude(), &original);
    let copy = answer("a", 3, 1) + &answer("b", 5, 2);
    let copy = home.write(".claude/projects/p/f.jsonl", &copy);
    let fork = key(Agent::ClaudeCode, "f");
    assert_eq!(used(&read(&mut transcripts, &fork, &copy)), Some((5, 2, Some(7))));
}

#[test]
fn after_a_restart_a_copy_still_does_not_count_what_it_copies() {
    let home = Home::new();
    let original = home.write(MAIN, &(answer("a", 500, 1) + &answer("b", 500, 1)));
    let copy = answer("a", 500, 1) + &answer("b", 500, 1) + &answer("c", 5, 2);
    let copy = home.write(".claude/projects/p/f.jsonl", &copy);
    let (gone, fork) = (key(Agent::ClaudeCode, "gone"), key(Agent::ClaudeCode, "f"));
    let mut transcripts = home.transcripts();
    for (session, path) in [
        (&gone, &home.path(".claude/projects/p/gone.jsonl")),
        (&claude(), &original),
        (&fork, &copy),
    ] {
        transcripts.began(session, path.to_str().unwrap());
    }
    // The copy is the first that is asked for, and a step reads no more than a line.
    let mut told = HashMap::new();
    loop {
        let reading = transcripts.read_on(&fork, copy.to_str().unwrap(), 10);
        for observation in reading.observations {
            if let Observation::Usage { session, usage } = observation {
                told.insert(session.id, (usage.input, usage.output));
            }
        }
        if !reading.more {
            break;
        }
    }
    let expected = [("s", (1000, 2)), ("f", (5, 2))].map(|(id, used)| (id.to_owned(), used));
    assert_eq!(told, HashMap::from(expected));
    // What is in another folder is no original.
    let mut transcripts = home.transcripts();
    transcripts.began(&gone, home.path(".claude/projects/q/gone.jsonl").to_str().unwrap());
    assert_eq!(used(&read(&mut transcripts, &fork, &copy)), Some((1005, 4, Some(7))));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn any_growth_and_any_budget_give_the_same_usage(
        outputs in prop::collection::vec((0..5_usize, 0..1000_u64, 0..200_usize), 1..30),
        writes in prop::collection::vec((1..3000_usize, 1..2000_usize), 1..40),
    ) {
        let home = Home::new();
        let mut text = String::new();
        let mut largest = [None; 5];
        for (id, output, padding) in outputs {
            text += &answer(&id.to_string(), 2, output);
            writeln!(text, "{}", "x".repeat(padding)).unwrap();
            largest[id] = largest[id].max(Some(output));
        }
        home.write(MAIN, "");
        let mut transcripts = home.transcripts();
        let path = home.path(MAIN).to_str().unwrap().to_owned();
        let mut latest = None;
        let mut rest = text.as_str();
        for (bytes, budget) in writes {
            let (written, later) = rest.split_at(bytes.min(rest.len()));
            home.append(MAIN, written);
            rest = later;
            let reading = transcripts.read_on(&claude(), &path, budget);
            latest = used(&reading.observations).or(latest);
        }
        home.append(MAIN, rest);
        loop {
            let reading = transcripts.read_on(&claude(), &path, 700);
            latest = used(&reading.observations).or(latest);
            if !reading.more {
                break;
            }
        }
        let input = 2 * u64::try_from(largest.iter().flatten().count()).unwrap();
        let (input_found, output_found, _) = latest.unwrap();
        prop_assert_eq!((input_found, output_found), (input, largest.iter().flatten().sum()));
    }
}
