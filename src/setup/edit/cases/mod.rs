//! Cases seen in real files.

pub(super) mod codex;
mod markers;
pub(super) mod member;
mod removal;
pub(super) mod toml;
mod wrapped;

use std::time::Duration;

use crate::setup::edit::hooks::{Dialect, HookEntries, OwnScript, Remark};
use crate::setup::edit::json::{JsonError, MAX_BYTES};

const OURS: &str = r#"{"id":"tma1","matcher":"","hooks":[{"type":"command","command":"/home/dev/.tma1/hooks/tma1-hook.sh","timeout":5}]}"#;
const THEIRS: &str = r#"{"hooks":[{"type":"command","command":"echo hi"}]}"#;

pub(super) fn entries(events: &'static [&'static str]) -> HookEntries {
    HookEntries {
        dialect: Dialect::ClaudeCode,
        events,
        command: "/home/dev/.tma1/hooks/tma1-hook.sh".to_owned(),
        timeout: Duration::from_secs(5),
        script: OwnScript { names: ["tma1-hook.sh", "tma1-hook.ps1"] },
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
    let ours = ours_with(command);
    for group in [
        ours_with("sh ~/.tma1/hooks/tma1-hook.sh"),
        ours.replace("5}", "60}"),
        ours.replace("5}", "\"5\"}"),
        ours.replace("5}", r#"5,"async":true}"#),
        ours.replace(r#""type""#, r#""if":"x","once":false,"type""#),
        ours.replace(r#""matcher":"""#, r#""matcher":"Bash""#),
        ours.replace(r#""matcher":"""#, r#""matcher":null"#),
        ours.replace("}]", r#"},{"command":"/x/hooks/tma1-hook.sh"}]"#),
    ] {
        let (after, done) = converge(&[&group, THEIRS]);
        assert_eq!(after, format!("{ours},{THEIRS}"), "{group}");
        assert_eq!(done, "1 hook updated");
    }
    let handler =
        r#"{"type":"command","command":"/home/dev/.tma1/hooks/tma1-hook.sh","timeout":5}"#;
    for group in [r#"{"id":"tma1"}"#, r#"{"id":"tma1","hooks":[]}"#] {
        let updated = format!(r#"{{"id":"tma1","hooks":[{handler}]}}"#);
        assert_eq!(converge(&[group]), (updated, "1 hook updated".to_owned()));
    }
}

#[test]
fn what_the_user_added_to_an_entry_of_ours_survives_its_update() {
    let mine = r#"{"description":"mine","matcher":"","hooks":[{"command":"/home/dev/.tma1/hooks/tma1-hook.sh","statusMessage":"x","type":"command","timeout":5,"n":1.0}]}"#;
    for (outdated, updated) in [
        (mine.replace("/home/dev", "/old"), mine.to_owned()),
        (mine.replace(":5", ":60"), mine.to_owned()),
        (mine.replace(":\"\"", ":\"Bash\""), mine.to_owned()),
        (mine.replace("1.0", "1.0,\"args\":[]"), mine.to_owned()),
        (
            mine.replace("\"timeout\":5,", ""),
            mine.replace("\"timeout\":5,", "").replace("1.0", "1.0,\"timeout\":5"),
        ),
        (
            mine.replace("\"timeout\":5,\"n\":1.0", "\"async\":true,\"once\":true"),
            mine.replace(",\"n\":1.0", ""),
        ),
    ] {
        assert_ne!(outdated, updated);
        assert_eq!(converge(&[THEIRS, &outdated]).0, format!("{THEIRS},{updated}"));
    }
    // Without an outdated value there is nothing to do.
    assert_eq!(converge(&[mine]), (mine.to_owned(), String::new()));
}

#[test]
fn a_key_that_is_twice_where_an_edit_would_be_is_refused() {
    let ours = ours_with("/old/hooks/tma1-hook.sh");
    for (group, message) in [
        (ours.replace("\"timeout\"", "\"type\":1,\"timeout\""), "`type` is there twice"),
        (ours.replace("\"hooks\"", "\"x\":1,\"x\":1,\"hooks\""), "`x` is there twice"),
        (format!("{OURS},{}", ours.replace("\"hooks\"", "\"hooks\":1,\"hooks\"")), "`hooks` is"),
        (THEIRS.replace("\"hooks\"", "\"id\":\"tma1\",\"hooks\":1,\"hooks\""), "`hooks` is"),
    ] {
        let error = install(&format!(r#"{{"hooks":{{"Stop":[{group}]}}}}"#)).unwrap_err();
        assert!(error.to_string().starts_with(message), "{error}");
    }
    for fine in [
        OURS.replace("\"timeout\"", "\"n\":1,\"n\":1,\"timeout\""),
        THEIRS.replace('{', "{\"a\":1,\"a\":1,"),
    ] {
        assert_eq!(
            converge(&[&fine, OURS]).0,
            if fine.contains("echo") { format!("{fine},{OURS}") } else { fine }
        );
    }
}

#[test]
fn ours_is_known_by_its_command_wherever_it_is() {
    for command in [
        "~/.tma1/hooks/tma1-hook.sh",
        "\"$HOME/.tma1/hooks/tma1-hook.sh\"",
        "\"$HOME\"/.tma1/hooks/tma1-hook.sh",
        "sh ${HOME}/.tma1/hooks/tma1-hook.sh",
        "bash '/home/John Smith/.tma1/hooks/tma1-hook.sh'",
        "/bin/bash /Users/o\\'brien/.tma1/hooks/tma1-hook.sh",
        "'/a;b & c/hooks/tma1-hook.sh'",
        "/private/home/dev/.tma1/hooks/tma1-hook.sh",
        "/old/data/hooks/tma1-hook.sh",
        "/home/dev/x/../.tma1/./hooks//tma1-hook.sh",
        "/home/dev/.tma1/hooks/x/../tma1-hook.sh",
        "powershell -NoProfile -ExecutionPolicy Bypass -File \"C:/Users/dev/.tma1/hooks/tma1-hook.ps1\"",
        r#"powershell.exe -file "C:\Users\dev\.tma1\hooks\tma1-hook.ps1""#,
        r"C:\Windows\pwsh.exe -NoLogo -File C:\Users\dev\.tma1\hooks\tma1-hook.ps1",
    ] {
        let (after, done) = converge(&[&ours_with(command)]);
        let updated = ours_with("/home/dev/.tma1/hooks/tma1-hook.sh");
        assert_eq!((after, done), (updated, "1 hook updated".to_owned()), "{command}");
    }
}

#[test]
fn the_commands_of_others_are_not_ours() {
    for group in [
        "1".to_owned(),
        THEIRS.to_owned(),
        // Resembles ours.
        ours_with("/home/dev/.tma1/hooks/tma1-hook.sh.bak"),
        ours_with("/home/dev/.tma1/tma1-hook.sh"),
        ours_with("/home/dev/.tma1/hooks/../tma1-hook.sh"),
        ours_with("tma1-hook.sh"),
        // Of another adapter.
        ours_with("/home/dev/.tma1/hooks/tma1-hook-codex.sh"),
        // Only reads it, or names it in a comment.
        ours_with("lint </home/dev/.tma1/hooks/tma1-hook.sh"),
        ours_with("lint # /home/dev/.tma1/hooks/tma1-hook.sh"),
        // Does more than ours, with a script of another place.
        ours_with("/old/hooks/tma1-hook.sh && notify-send done"),
        ours_with("powershell -Command lint -File C:/x/hooks/tma1-hook.ps1"),
        ours_with("unbalanced ' /home/dev/.tma1/hooks/tma1-hook.sh"),
        OURS.replace("\"id\":\"tma1\",", "").replace("\"command\",", "\"http\","),
    ] {
        let (after, done) = converge(&[&group]);
        assert_eq!(after, format!("{group},{OURS}"));
        assert_eq!(done, "1 hook added");
    }
}

#[test]
fn what_is_not_ours_under_our_id_loses_the_id_alone() {
    for (group, left) in [
        (r#"{"id":"tma1","hooks":[{"command":"a"}]}"#, r#"{"hooks":[{"command":"a"}]}"#),
        (
            r#"{"matcher":"","hooks":[{"command":"a"},{"command":"b"}],"id":"tma1"}"#,
            r#"{"matcher":"","hooks":[{"command":"a"},{"command":"b"}]}"#,
        ),
        (
            r#"{"id":"tma1","hooks":[{"type":"http","url":"x"}]}"#,
            r#"{"hooks":[{"type":"http","url":"x"}]}"#,
        ),
        (r#"{"id":"tma1","hooks":{"command":"a"}}"#, r#"{"hooks":{"command":"a"}}"#),
    ] {
        let added = (format!("{left},{OURS}"), "1 hook added".to_owned());
        assert_eq!(converge(&[group]), added);
        let before = format!(r#"{{"hooks":{{"Stop":[{group}]}}}}"#);
        let removed = entries(&["Stop"]).remove_from(before.as_bytes(), None).unwrap();
        assert_eq!(removed.bytes, format!(r#"{{"hooks":{{"Stop":[{left}]}}}}"#).as_bytes());
    }
}

#[test]
fn ours_leaves_the_events_that_are_not_registered() {
    let old = ours_with("/old/hooks/tma1-hook.sh");
    let shared = r#"{"hooks":[{"command":"lint"},{"command":"/x/hooks/tma1-hook.sh"}]}"#;
    let before = format!(
        r#"{{"hooks":{{"WorktreeCreate":[{OURS}],"Gone":[{old},{THEIRS}],"X":[{shared}],"Y":1,"Stop":[{OURS}]}}}}"#
    );
    let after = format!(
        r#"{{"hooks":{{"WorktreeCreate":[],"Gone":[{THEIRS}],"X":[{{"hooks":[{{"command":"lint"}}]}}],"Y":1,"Stop":[{OURS}]}}}}"#
    );
    let edited = entries(&["Stop"]).install_into(before.as_bytes()).unwrap();
    assert_eq!(str::from_utf8(&edited.bytes).unwrap(), after);
    assert_eq!(edited.tally.to_string(), "3 hooks removed");
}

#[test]
fn surplus_copies_go_and_the_correct_one_stays() {
    let old = ours_with("~/.tma1/hooks/tma1-hook.sh");
    let (after, done) = converge(&[&old, THEIRS, OURS, &old, OURS]);
    assert_eq!(after, format!("{THEIRS},{OURS}"));
    assert_eq!(done, "3 hooks removed");
    let (after, done) = converge(&[&old, &old, THEIRS]);
    let updated = ours_with("/home/dev/.tma1/hooks/tma1-hook.sh");
    assert_eq!(after, format!("{updated},{THEIRS}"));
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
fn an_entry_for_which_claude_code_ignores_the_whole_file_is_refused() {
    for (group, message) in [
        ("1", "a group of hooks is not an object (line 1, column 25)"),
        ("{}", "a group of hooks has no `hooks` (line 1, column 25)"),
        ("{\"matcher\":null,\"hooks\":[]}", "`matcher` is not a string (line 1, column 36)"),
        ("{\"hooks\":null}", "`hooks` is not an array (line 1, column 34)"),
        ("{\"hooks\":[1]}", "a hook is not an object (line 1, column 35)"),
        ("{\"hooks\":[{}]}", "a hook has no `type` (line 1, column 35)"),
        (
            "{\"hooks\":[{\"type\":\"x\"}]}",
            "`type` is not a kind of hook that Claude Code knows (line 1, column 43)",
        ),
        ("{\"hooks\":[{\"type\":\"http\"}]}", "a hook has no `url` (line 1, column 35)"),
        (
            "{\"hooks\":[{\"type\":\"command\",\"command\":1}]}",
            "`command` is not a string (line 1, column 63)",
        ),
        (
            "{\"hooks\":[{\"type\":\"command\",\"command\":\"x\",\"timeout\":0}]}",
            "`timeout` is not a number of seconds above zero (line 1, column 77)",
        ),
    ] {
        let error = install(&format!(r#"{{"hooks":{{"PreToolUse":[{group}]}}}}"#)).unwrap_err();
        assert_eq!(error.to_string(), message);
        assert!(error.hint().starts_with("the agent ignores the whole file"), "{}", error.hint());
        // Elsewhere, Claude Code skips it alone.
        install(&format!(r#"{{"hooks":{{"PostToolUse":[{group}]}}}}"#)).unwrap();
    }
    let error = install(r#"{"hooks":{"PermissionRequest":{}}}"#).unwrap_err();
    assert_eq!(error.to_string(), "`PermissionRequest` is not an array (line 1, column 31)");
    // One of ours is made right.
    let ours = ours_with("/home/dev/.tma1/hooks/tma1-hook.sh");
    let before = format!(r#"{{"hooks":{{"PreToolUse":[{}]}}}}"#, ours.replace("5}", "\"5\"}"));
    let edited = entries(&["PreToolUse"]).install_into(before.as_bytes()).unwrap();
    assert_eq!(edited.bytes, format!(r#"{{"hooks":{{"PreToolUse":[{ours}]}}}}"#).as_bytes());
}

/// Measured with the real Claude Code: whether a hook of another event still runs.
#[test]
fn each_value_of_a_hook_is_judged_as_claude_code_does() {
    let command = r#""type":"command","command":"x""#;
    let http = r#""type":"http","url":"http://127.0.0.1:9/""#;
    let tool = r#""type":"mcp_tool","server":"s","tool":"t""#;
    let prompt = r#""type":"prompt","prompt":"p""#;
    let agent = r#""type":"agent","prompt":"p""#;
    for (hook, values) in [
        (command, r#""async":true|"args":[]|"shell":"bash"|"if":""|"onFailure":"block""#),
        (command, r#""unknown":1|"timeout":1.5|"statusMessage":"x"|"once":false"#),
        (http, r#""headers":{"a":"b"}|"allowedEnvVars":["A"]"#),
        (tool, r#""input":{}"#),
        (prompt, r#""model":"m""#),
        (r#""type":"command""#, r#""command":"""#),
    ] {
        for value in values.split('|') {
            let before =
                format!(r#"{{"hooks":{{"PreToolUse":[{{"hooks":[{{{hook},{value}}}]}}]}}}}"#);
            install(&before).unwrap();
        }
    }
    for (hook, values) in [
        (
            command,
            r#""async":"yes"|"async":1|"async":null|"asyncRewake":"x"|"args":"x"|"args":[1]"#,
        ),
        (command, r#""args":null|"once":"x"|"once":1|"shell":"zsh"|"shell":1|"statusMessage":1"#),
        (command, r#""statusMessage":null|"if":1|"onFailure":"x"|"timeout":"5"|"timeout":-1"#),
        (r#""type":"http""#, r#""url":"nonsense"|"url":"""#),
        (http, r#""headers":1|"headers":{"a":1}|"allowedEnvVars":"x"|"allowedEnvVars":[1]"#),
        (r#""type":"mcp_tool","tool":"t""#, r#""server":1|"x":1"#),
        (tool, r#""input":1"#),
        (prompt, r#""model":1"#),
        (agent, r#""model":1"#),
    ] {
        for value in values.split('|') {
            let before =
                format!(r#"{{"hooks":{{"PreToolUse":[{{"hooks":[{{{hook},{value}}}]}}]}}}}"#);
            let error = install(&before).unwrap_err();
            assert!(error.hint().starts_with("the agent ignores the whole file"), "{before}");
        }
    }
}

#[test]
fn a_switch_that_turns_all_hooks_off_is_remarked() {
    for (before, remark) in [
        ("{\"disableAllHooks\":true}", &[Remark::HooksOff][..]),
        ("{\"disableAllHooks\":false}", &[]),
        ("{}", &[]),
    ] {
        let edited = entries(&["Stop"]).install_into(before.as_bytes()).unwrap();
        assert_eq!(edited.remarks, remark);
        assert_eq!(entries(&["Stop"]).install_into(&edited.bytes).unwrap().remarks, remark);
    }
}

#[test]
fn half_of_a_surrogate_pair_is_in_nobodys_way() {
    for before in [
        r#"{"\ud800":"\ud800","\ud800":1}"#,
        r#"{"hooks":{"\ud800":[{"hooks":[]}]}}"#,
        r#"{"hooks":{"Stop":[{"\ud800":1,"id":"\ud800","matcher":"\ud800","hooks":[{"type":"\ud800","command":"\ud800"}]}]}}"#,
        r#"{"hooks":{"PreToolUse":[{"matcher":"\ud800","hooks":[{"type":"command","command":"\ud800"}]}]}}"#,
    ] {
        let installed = entries(&["Stop"]).install_into(before.as_bytes()).unwrap();
        let trace = Some(&installed.trace);
        let removed = entries(&["Stop"]).remove_from(&installed.bytes, trace).unwrap();
        assert_eq!(str::from_utf8(&removed.bytes).unwrap(), before);
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
