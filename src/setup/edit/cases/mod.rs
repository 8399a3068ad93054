//! Cases seen in real files.

pub(super) mod codex;
mod markers;
pub(super) mod member;
mod removal;
pub(super) mod toml;

use std::time::Duration;

use crate::setup::edit::hooks::{Dialect, HookEntries, OwnScript};
use crate::setup::edit::json::{JsonError, MAX_BYTES};

const OURS: &str = r#"{"id":"tma1","matcher":"","hooks":[{"type":"command","command":"/home/dev/.tma1/hooks/tma1-hook.sh","timeout":5}]}"#;
const THEIRS: &str = r#"{"hooks":[{"type":"command","command":"echo hi"}]}"#;

pub(super) fn entries(events: &'static [&'static str]) -> HookEntries {
    HookEntries {
        dialect: Dialect::ClaudeCode,
        events,
        command: "/home/dev/.tma1/hooks/tma1-hook.sh".to_owned(),
        timeout: Duration::from_secs(5),
        script: OwnScript {
            path: "/home/dev/.tma1/hooks/tma1-hook.sh".into(),
            home: "/home/dev".into(),
        },
    }
}

fn install(before: &str) -> Result<String, JsonError> {
    let edited = entries(&["Stop"]).install_into(before.as_bytes())?;
    Ok(String::from_utf8(edited.bytes).unwrap())
}

/// What becomes of the groups of one event, and what the edit says that it did.
fn converge(groups: &[&str]) -> (String, String) {
    let before = format!(r#"{{"hooks":{{"Stop":[{}]}}}}"#, groups.join(","));
    let edited = entries(&["Stop"]).install_into(before.as_bytes()).unwrap();
    let after = String::from_utf8(edited.bytes).unwrap();
    let groups = after
        .strip_prefix(r#"{"hooks":{"Stop":["#)
        .and_then(|after| after.strip_suffix("]}}"))
        .unwrap();
    (groups.to_owned(), edited.tally.to_string())
}

fn ours_with(command: &str) -> String {
    let command = serde_json::Value::from(command);
    format!(r#"{{"matcher":"","hooks":[{{"type":"command","command":{command},"timeout":5}}]}}"#)
}

#[test]
fn a_new_file_is_indented_by_two_and_ends_its_last_line() {
    let text = r#"{
  "hooks": {
    "Stop": [
      {
        "id": "tma1",
        "matcher": "",
        "hooks": [
          {
            "type": "command",
            "command": "/home/dev/.tma1/hooks/tma1-hook.sh",
            "timeout": 5
          }
        ]
      }
    ]
  }
}"#;
    assert_eq!(install("").unwrap(), format!("{text}\n"));
    assert_eq!(install("{}").unwrap(), text);
    assert_eq!(install(" \n\n").unwrap(), format!("{text} \n\n"));
    assert_eq!(install("\u{feff}").unwrap(), format!("\u{feff}{text}\n"));
}

#[test]
fn an_insertion_follows_the_layout_around_it() {
    let lines = |indentation: &str, depth: usize, eol: &str| {
        let text = install("").unwrap();
        let entry = text.lines().skip(3).take(11);
        let reindented = entry.map(|line| {
            let blanks = line.len() - line.trim_start().len();
            let levels = blanks / 2 + depth - 3;
            format!("{eol}{}{}", indentation.repeat(levels), line.trim_start())
        });
        reindented.collect::<String>()
    };
    for (before, after) in [
        // One line stays one line, with its own spacing.
        (
            r#"{"a":1}"#.to_owned(),
            format!(r#"{{"a":1,"hooks":{{"Stop":[{OURS}]}}}}"#),
        ),
        (
            r#"{"a": 1}"#.to_owned(),
            format!(
                r#"{{"a": 1, "hooks": {{"Stop": [{}]}}}}"#,
                OURS.replace("\":", "\": ").replace(",\"", ", \"")
            ),
        ),
        (
            r#"{"hooks":{ }}"#.to_owned(),
            format!(r#"{{"hooks":{{"Stop":[{OURS}] }}}}"#),
        ),
        // Tabs, and a list whose first bracket hugs its first element.
        (
            "{\n\t\"hooks\": {\n\t\t\"Stop\": []\n\t}\n}\n".to_owned(),
            format!(
                "{{\n\t\"hooks\": {{\n\t\t\"Stop\": [{}\n\t\t]\n\t}}\n}}\n",
                lines("\t", 3, "\n")
            ),
        ),
        // Four blanks and CRLF, no final line end.
        (
            "{\r\n    \"hooks\": {\r\n        \"Stop\": [\r\n            1\r\n        ]\r\n    }\r\n}"
                .to_owned(),
            format!(
                "{{\r\n    \"hooks\": {{\r\n        \"Stop\": [\r\n            1,{}\r\n        ]\r\n    }}\r\n}}",
                lines("    ", 3, "\r\n")
            ),
        ),
    ] {
        assert_eq!(install(&before).unwrap(), after, "{before}");
    }
}

#[test]
fn a_correct_entry_is_left_as_it_is() {
    let command = "/home/dev/.tma1/hooks/tma1-hook.sh";
    for group in [
        OURS.to_owned(),
        // As Claude Code leaves it when it rewrites the file.
        ours_with(command),
        ours_with(command).replace(r#""matcher":"","#, ""),
        ours_with(command).replace(r#""matcher":"""#, r#""matcher":"*""#),
        ours_with(command).replace("5}", "5.0}"),
    ] {
        let (after, done) = converge(&[&group, THEIRS]);
        assert_eq!(after, format!("{group},{THEIRS}"));
        assert_eq!(done, "");
    }
}

#[test]
fn an_outdated_entry_is_updated_in_place() {
    let command = "/home/dev/.tma1/hooks/tma1-hook.sh";
    for group in [
        ours_with("~/.tma1/hooks/tma1-hook.sh"),
        ours_with("\"$HOME/.tma1/hooks/tma1-hook.sh\""),
        ours_with("sh ${HOME}/.tma1/hooks/tma1-hook.sh"),
        ours_with(command).replace("5}", "60}"),
        ours_with(command).replace("5}", "\"5\"}"),
        ours_with(command).replace("5}", r#"5,"async":true}"#),
        ours_with(command).replace(r#""matcher":"""#, r#""matcher":"Bash""#),
        // By the `id` alone.
        OURS.replace("/home/dev", "/old"),
        OURS.replace(command, "/opt/x/hook"),
        r#"{"id":"tma1","hooks":[]}"#.to_owned(),
    ] {
        let (after, done) = converge(&[&group, THEIRS]);
        assert_eq!(after, format!("{OURS},{THEIRS}"), "{group}");
        assert_eq!(done, "1 hook updated");
    }
}

#[test]
fn the_commands_of_others_are_not_ours() {
    for group in [
        "1".to_owned(),
        THEIRS.to_owned(),
        // Resembles ours.
        ours_with("/home/dev/.tma1/hooks/tma1-hook.sh.bak"),
        ours_with("/old/.tma1/hooks/tma1-hook.sh"),
        ours_with("echo ~/.tma1/hooks/tma1-hook.sh"),
        // Does more than ours.
        ours_with("~/.tma1/hooks/tma1-hook.sh && notify-send done"),
        ours_with("unbalanced ' quote"),
        // Claims our `id`, but nothing in it is known.
        r#"{"id":"tma1","hooks":[{"command":"a"},{"command":"b"}]}"#.to_owned(),
    ] {
        let (after, done) = converge(&[&group]);
        assert_eq!(after, format!("{group},{OURS}"));
        assert_eq!(done, "1 hook added");
    }
}

#[test]
fn surplus_copies_go_and_the_correct_one_stays() {
    let old = ours_with("~/.tma1/hooks/tma1-hook.sh");
    let (after, done) = converge(&[&old, THEIRS, OURS, &old, OURS]);
    assert_eq!(after, format!("{THEIRS},{OURS}"));
    assert_eq!(done, "3 hooks removed");
    let (after, done) = converge(&[&old, &old, THEIRS]);
    assert_eq!(after, format!("{OURS},{THEIRS}"));
    assert_eq!(done, "1 hook updated, 1 removed");
}

#[test]
fn a_shared_group_loses_only_our_handler() {
    let shared = r#"{"id":"tma1","matcher":"Bash","hooks":[{"command":"lint"},{"command":"~/.tma1/hooks/tma1-hook.sh"},{"command":"test"}]}"#;
    let (after, done) = converge(&[shared]);
    let left = r#"{"matcher":"Bash","hooks":[{"command":"lint"},{"command":"test"}]}"#;
    assert_eq!(after, format!("{left},{OURS}"));
    assert_eq!(done, "1 hook added, 1 removed");
    assert_eq!(converge(&[left, OURS]).0, format!("{left},{OURS}"));
}

#[test]
fn what_claude_code_would_not_read_is_refused_with_its_place() {
    for (before, message) in [
        ("{\n  // why\n}", "it has a comment (line 2, column 3)"),
        ("/* why */ {}", "it has a comment (line 1, column 1)"),
        ("{} /* why", "it has a comment (line 1, column 4)"),
        ("{\"é\": 1,}", "it has a trailing comma (line 1, column 8)"),
        ("{\"a\": [1,\n]}", "it has a trailing comma (line 1, column 9)"),
        ("{\"a\": 'b'}", "it has single quotes (line 1, column 7)"),
        ("{'a': 1}", "it has single quotes (line 1, column 2)"),
        (
            r#"{"é": "C:\Users"}"#,
            r"it has a backslash that starts no escape, `\U` (in a path, write `\\`) (line 1, column 10)",
        ),
        (
            r#"{"a": "C:\new\users"}"#,
            r"it has a backslash that starts no escape, `\u` (in a path, write `\\`) (line 1, column 14)",
        ),
        (
            "{\n<<<<<<< HEAD\n\"a\": 1\n=======\n\"a\": 2\n>>>>>>> b\n}",
            "it has an unresolved merge conflict, `<<<<<<<` (line 2, column 1)",
        ),
        ("{\"a\": ", "it is not valid JSON: EOF while parsing a value (line 1, column 6)"),
        ("{\"a\" 1}", "it is not valid JSON: expected `:` (line 1, column 6)"),
        ("{\"a\": 1 \"b\": 2}", "it is not valid JSON: expected `,` or `}` (line 1, column 9)"),
        (
            "{\"a\": \"\n\"}",
            "it is not valid JSON: control character (\\u0000-\\u001F) found while parsing a string (line 1, column 7)",
        ),
        ("[]", "the whole file is not an object (line 1, column 1)"),
        ("\n {\"hooks\":[]}", "`hooks` is not an object (line 2, column 11)"),
        ("{\"hooks\":null}", "`hooks` is not an object (line 1, column 10)"),
        ("{\"hooks\":{\"Stop\":{}}}", "`Stop` is not an array (line 1, column 18)"),
        ("{\"hooks\":{},\n\"ho\\u006fks\":{}}", "`hooks` is there twice (line 2, column 1)"),
        ("{\"hooks\":{\"Stop\":[],\"Stop\":[]}}", "`Stop` is there twice (line 1, column 21)"),
    ] {
        let error = install(before).unwrap_err();
        assert_eq!(error.to_string(), message, "{before}");
        assert_ne!(error.hint(), "");
    }
}

#[test]
fn what_is_not_on_our_path_is_not_judged() {
    for foreign in [
        r#""env":{"A":1,"A":2}"#,
        r#""n":[1e999,-0,1.0e5,12345678901234567890123]"#,
        r#""env":1,"env":2"#,
    ] {
        let after = install(&format!("{{{foreign}}}")).unwrap();
        assert!(after.starts_with(&format!("{{{foreign},")), "{after}");
    }
    let after = install(r#"{"hooks":{"WorktreeCreate":1,"WorktreeCreate":2}}"#);
    assert!(after.is_ok());
}

#[test]
fn bytes_that_are_not_text_and_huge_files_are_refused() {
    let error = entries(&["Stop"]).install_into(b"{\n\"\xff\"}").unwrap_err();
    assert_eq!(error.to_string(), "it is not UTF-8 text (line 2, column 2)");
    let huge = " ".repeat(MAX_BYTES + 1);
    assert_eq!(install(&huge), Err(JsonError::TooLarge { limit: MAX_BYTES }));
    // Ours would make it too large to be edited again.
    let full = format!("{{\"a\":\"{}\"}}", "x".repeat(MAX_BYTES - 10));
    assert_eq!(install(&full), Err(JsonError::WouldBeTooLarge { limit: MAX_BYTES }));
    let deep = "[".repeat(100_000);
    assert!(install(&deep).is_err());
    // However deep, it is not ours to judge.
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(install(&deep).is_ok());
}
