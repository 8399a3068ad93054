//! The `hooks.json` of Codex.

use std::time::Duration;

use crate::setup::edit::hooks::{Dialect, HookEntries, OwnScript, Remark};
use crate::setup::edit::json::JsonError;

const COMMAND: &str = "/home/dev/.tma1/hooks/tma1-hook-codex.sh";
const HANDLER: &str = r#"{"type":"command","command":"/home/dev/.tma1/hooks/tma1-hook-codex.sh","timeout":5,"statusMessage":"tma1"}"#;
const THEIRS: &str =
    r#"{"matcher":"Bash","hooks":[{"type":"command","command":"lint","timeout":9}]}"#;

pub(in crate::setup::edit) fn codex_entries(events: &'static [&'static str]) -> HookEntries {
    HookEntries {
        dialect: Dialect::Codex,
        events,
        command: COMMAND.to_owned(),
        timeout: Duration::from_secs(5),
        script: OwnScript { names: ["tma1-hook-codex.sh", "tma1-hook-codex.ps1"] },
    }
}

fn install(before: &str) -> Result<String, JsonError> {
    let edited = codex_entries(&["Stop"]).install_into(before.as_bytes())?;
    Ok(String::from_utf8(edited.bytes).unwrap())
}

fn of_stop(groups: &[&str]) -> String {
    format!(r#"{{"hooks":{{"Stop":[{}]}}}}"#, groups.join(","))
}

fn group(handler: &str) -> String {
    format!(r#"{{"hooks":[{handler}]}}"#)
}

#[test]
fn a_new_file_holds_only_documented_keys() {
    let text = r#"{
  "hooks": {
    "Stop": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "/home/dev/.tma1/hooks/tma1-hook-codex.sh",
            "timeout": 5,
            "statusMessage": "tma1"
          }
        ]
      }
    ]
  }
}
"#;
    // Codex warns of an empty file and ignores it, so there is nothing in it to lose.
    for blank in ["", "\n"] {
        assert_eq!(install(blank).unwrap(), text);
    }
}

#[test]
fn ours_is_appended_and_never_moves() {
    let ours = &group(HANDLER);
    let old = &group(&HANDLER.replace(":5", ":60"));
    for (before, after) in [
        (vec![THEIRS], vec![THEIRS, ours]),
        (vec![ours, THEIRS], vec![ours, THEIRS]),
        (vec![old, THEIRS], vec![ours, THEIRS]),
        // Theirs keeps its place only if the first of ours does.
        (vec![old, THEIRS, ours], vec![ours, THEIRS]),
        (vec![THEIRS, old, THEIRS, ours, ours], vec![THEIRS, ours, THEIRS]),
        (vec![ours, old, THEIRS], vec![ours, old, THEIRS]),
    ] {
        let after = of_stop(&after.iter().map(|group| &**group).collect::<Vec<_>>());
        let before = of_stop(&before.iter().map(|group| &**group).collect::<Vec<_>>());
        assert_eq!(install(&before).unwrap(), after);
        assert_eq!(install(&after).unwrap(), after);
    }
}

#[test]
fn a_handler_that_runs_as_ours_does_needs_no_new_trust() {
    for same in [
        HANDLER.replace(r#","statusMessage":"tma1""#, ""),
        HANDLER.replace(r#""tma1"}"#, r#""My hook"}"#),
    ] {
        for group in [
            group(&same),
            format!(r#"{{"id":"tma1","matcher":"","hooks":[{same}]}}"#),
            // Shared, in whatever place.
            format!(r#"{{"hooks":[{{"type":"prompt"}},{same},{{"type":"agent"}}]}}"#),
        ] {
            let before = of_stop(&[&group, THEIRS]);
            assert_eq!(install(&before).unwrap(), before);
        }
    }
}

#[test]
fn an_outdated_handler_is_updated_where_it_is() {
    for outdated in [
        HANDLER.replace(":5", ":600"),
        HANDLER.replace(":5", ":5,\"async\":true"),
        HANDLER.replace("/home/dev", "/home/dev/old"),
        HANDLER.replace("/home/dev", "~").replace("hook-codex.sh", "hook-codex.sh "),
    ] {
        let shared = |handler: &str| format!(r#"{{"hooks":[{handler},{{"type":"prompt"}}]}}"#);
        let before = of_stop(&[&group(&outdated), THEIRS]);
        assert_eq!(install(&before).unwrap(), of_stop(&[&group(HANDLER), THEIRS]));
        let before = of_stop(&[&shared(&outdated), THEIRS]);
        assert_eq!(install(&before).unwrap(), of_stop(&[&shared(HANDLER), THEIRS]));
    }
}

#[test]
fn ours_under_a_matcher_of_others_is_replaced_if_none_of_theirs_moves() {
    let shared = r#"{"matcher":"Bash","hooks":[{"type":"prompt"}]}"#;
    let last = shared.replace("}]", &format!("}},{HANDLER}]"));
    assert_eq!(install(&of_stop(&[&last])).unwrap(), of_stop(&[shared, &group(HANDLER)]));
    let first = shared.replace('[', &format!("[{HANDLER},"));
    assert_eq!(install(&of_stop(&[&first])).unwrap(), of_stop(&[&first, &group(HANDLER)]));
}

#[test]
fn ours_leaves_other_events_if_none_of_theirs_moves() {
    let ours = &group(HANDLER);
    let of_events = |others: &str| format!(r#"{{"hooks":{{{others},"Stop":[{ours}]}}}}"#);
    let before = of_events(&format!(
        r#""Interrupt":[{THEIRS},{ours}],"PreCompact":[{ours},{THEIRS},{ours}],"X":[{ours}]"#
    ));
    let after =
        of_events(&format!(r#""Interrupt":[{THEIRS}],"PreCompact":[{ours},{THEIRS}],"X":[]"#));
    assert_eq!(install(&before).unwrap(), after);
}

#[test]
fn a_removal_that_moves_hooks_of_others_is_remarked() {
    let ours = &group(HANDLER);
    let shared = format!(r#"{{"hooks":[{HANDLER},{{"type":"prompt"}}]}}"#);
    for (groups, remark) in [
        (vec![THEIRS, ours], None),
        (vec![THEIRS], None),
        (vec![ours, ours], None),
        (vec![ours, THEIRS], Some(Remark::TrustLost)),
        (vec![THEIRS, ours, THEIRS, ours], Some(Remark::TrustLost)),
        (vec![&*shared], Some(Remark::TrustLost)),
    ] {
        let edited = codex_entries(&["Stop"]).remove_from(of_stop(&groups).as_bytes(), None);
        let remark: Vec<_> = remark.into_iter().collect();
        assert_eq!(edited.unwrap().remarks, remark, "{groups:?}");
    }
}

#[test]
fn a_file_that_codex_would_ignore_is_refused_with_its_place() {
    let of_handler = |handler: &str| of_stop(&[&group(handler)]);
    for (before, message) in [
        ("\u{feff}{}".to_owned(), "it starts with a byte order mark (line 1, column 1)"),
        ("{ // c\n}".to_owned(), "it has a comment (line 1, column 3)"),
        (
            "{\"hooks\":{},\n\"version\":1}".to_owned(),
            "`version` is no key that the agent knows there (line 2, column 1)",
        ),
        ("{\"description\":1}".to_owned(), "`description` is not text (line 1, column 16)"),
        ("{\"hooks\":null}".to_owned(), "`hooks` is not an object (line 1, column 10)"),
        // Also of an event that we do not register.
        (
            "{\"hooks\":{\"Interrupt\":{}}}".to_owned(),
            "`Interrupt` is not an array (line 1, column 23)",
        ),
        (
            "{\"hooks\":{\"Interrupt\":[],\"Interrupt\":[]}}".to_owned(),
            "`Interrupt` is there twice (line 1, column 26)",
        ),
        (of_stop(&["1"]), "a group of hooks is not an object (line 1, column 19)"),
        (of_stop(&["{\"matcher\":[]}"]), "`matcher` is not text (line 1, column 30)"),
        (of_stop(&["{\"hooks\":{}}"]), "`hooks` is not an array (line 1, column 28)"),
        (of_handler("1"), "a hook is not an object (line 1, column 29)"),
        (of_handler("{}"), "a hook has no `type` (line 1, column 29)"),
        (
            of_handler("{\"type\":\"http\"}"),
            "`type` is not a kind of hook that Codex knows (line 1, column 37)",
        ),
        (of_handler("{\"type\":\"command\"}"), "a hook has no `command` (line 1, column 29)"),
        (
            of_handler("{\"type\":\"command\",\"command\":[]}"),
            "`command` is not text (line 1, column 57)",
        ),
        (
            of_handler("{\"type\":\"command\",\"command\":\"x\",\"timeout\":1.5}"),
            "`timeout` is not a whole number of seconds (line 1, column 71)",
        ),
        (
            of_handler("{\"type\":\"command\",\"command\":\"x\",\"async\":1}"),
            "`async` is not true or false (line 1, column 69)",
        ),
    ] {
        let error = install(&before).unwrap_err();
        assert_eq!(error.to_string(), message, "{before}");
        assert_ne!(error.hint(), "");
    }
}

#[test]
fn what_codex_does_not_look_at_is_not_judged() {
    for before in [
        r#"{"description":"mine","hooks":{"Unknown":1,"Notification":{}}}"#,
        r#"{"hooks":{"Interrupt":[{"type":"command"},{"id":1,"matcher":null,"hooks":[]}]}}"#,
        r#"{"hooks":{"Interrupt":[{"hooks":[{"type":"mcp_tool","timeout":"x"},{"type":"prompt"}]}]}}"#,
        r#"{"hooks":{"Interrupt":[{"hooks":[{"type":"command","command":"","env":1}]}]}}"#,
    ] {
        assert!(install(before).is_ok(), "{before}");
    }
}

#[test]
fn ours_are_removed_also_from_a_file_that_codex_ignores() {
    let ours = group(HANDLER);
    let before = format!(
        "\u{feff}{{\"version\":1,\"hooks\":{{\"Stop\":[{THEIRS},{ours}],\"Old\":[{ours}]}}}}"
    );
    let edited = codex_entries(&["Stop"]).remove_from(before.as_bytes(), None).unwrap();
    let after = format!("\u{feff}{{\"version\":1,\"hooks\":{{\"Stop\":[{THEIRS}],\"Old\":[]}}}}");
    assert_eq!(String::from_utf8(edited.bytes).unwrap(), after);
}
