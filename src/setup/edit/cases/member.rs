//! The file in which Claude Code keeps its servers, and everything else.

use crate::setup::edit::json::JsonError;
use crate::setup::edit::literal::Literal;
use crate::setup::edit::member::{MAX_BYTES, MemberEntry};

const OURS: &str = r#"{"type":"stdio","command":"/usr/bin/tma1","args":["mcp-serve"]}"#;
const THEIRS: &str = r#""files":{"command":"files"}"#;

pub(in crate::setup::edit) fn server() -> MemberEntry {
    MemberEntry {
        parent: "mcpServers",
        name: "tma1",
        members: vec![
            ("type", "stdio".into()),
            ("command", "/usr/bin/tma1".into()),
            ("args", Literal::texts(["mcp-serve"])),
        ],
    }
}

fn install(before: &str) -> Result<String, JsonError> {
    let edited = server().install_into(before.as_bytes())?;
    Ok(String::from_utf8(edited.bytes).unwrap())
}

fn remove(before: &str) -> String {
    let edited = server().remove_from(before.as_bytes(), None).unwrap();
    String::from_utf8(edited.bytes).unwrap()
}

/// Servers in a file of one line.
fn servers(servers: &[&str]) -> String {
    format!(r#"{{"n":1.0,"mcpServers":{{{}}}}}"#, servers.join(","))
}

fn ours(value: &str) -> String {
    format!(r#""tma1":{value}"#)
}

#[test]
fn a_new_file_is_indented_by_two_and_ends_its_last_line() {
    let text = r#"{
  "mcpServers": {
    "tma1": {
      "type": "stdio",
      "command": "/usr/bin/tma1",
      "args": [
        "mcp-serve"
      ]
    }
  }
}
"#;
    for blank in ["", "\n"] {
        assert_eq!(install(blank).unwrap(), text);
    }
    let edited = server().install_into(b"\n").unwrap();
    let removed = server().remove_from(&edited.bytes, Some(&edited.trace)).unwrap();
    assert_eq!(removed.bytes, b"\n");
}

#[test]
fn ours_is_added_after_the_servers_of_others() {
    let after = servers(&[THEIRS, &ours(OURS)]);
    assert_eq!(install(&servers(&[THEIRS])).unwrap(), after);
    assert_eq!(install(&servers(&[])).unwrap(), servers(&[&ours(OURS)]));
    assert_eq!(install(r#"{"n":1.0}"#).unwrap(), servers(&[&ours(OURS)]));
    assert_eq!(remove(&after), servers(&[THEIRS]));
    assert_eq!(remove(&servers(&[&ours(OURS)])), servers(&[]));
}

#[test]
fn an_entry_that_runs_ours_is_left_as_it_is() {
    for value in [
        OURS.to_owned(),
        // As another program spells it, with keys that others added.
        r#"{ "args" : ["mcp\u002dserve"], "type":"stdio", "command":"\/usr/bin/tma1" }"#.to_owned(),
        OURS.replace('}', r#","env":{},"alwaysLoad":true,"x":[]}"#),
    ] {
        let before = servers(&[&ours(&value), THEIRS]);
        assert_eq!(install(&before).unwrap(), before);
        assert_eq!(remove(&before), servers(&[THEIRS]));
    }
}

#[test]
fn any_other_entry_of_our_name_is_made_right_in_place() {
    for value in [
        "null".to_owned(),
        "[]".to_owned(),
        "{}".to_owned(),
        OURS.replace("/usr", "/old"),
        OURS.replace("stdio", "http"),
        OURS.replace("[\"mcp-serve\"]", "[]"),
        OURS.replace("[\"mcp-serve\"]", "[\"mcp-serve\",1]"),
    ] {
        let before = servers(&[&ours(&value), THEIRS]);
        assert_eq!(install(&before).unwrap(), servers(&[&ours(OURS), THEIRS]), "{value}");
    }
}

#[test]
fn what_the_user_added_to_our_entry_survives_its_update() {
    let with = |value: &str| value.replace('}', r#","env":{"TMA1_LOG":"debug"},"n":1.0}"#);
    let lines = "{\n  \"command\": \"/usr/bin/tma1\",\n  \"env\": {\"A\": \"b\"},\n  \"type\": \"stdio\",\n  \"args\": [\n    \"mcp-serve\"\n  ]\n}";
    for (outdated, updated) in [
        (with(&OURS.replace("/usr", "/old")), with(OURS)),
        (with(&OURS.replace("[\"mcp-serve\"]", "[\"mcp-serve\",\"--port\"]")), with(OURS)),
        (with(&OURS.replace("\"stdio\"", "null")), with(OURS)),
        (
            r#"{"env":{},"command":"/old","type":"stdio"}"#.to_owned(),
            r#"{"env":{},"command":"/usr/bin/tma1","type":"stdio","args":["mcp-serve"]}"#
                .to_owned(),
        ),
        (lines.replace("/usr/bin", "/old"), lines.to_owned()),
    ] {
        let before = servers(&[THEIRS, &ours(&outdated)]);
        let after = servers(&[THEIRS, &ours(&updated)]);
        assert_eq!(install(&before).unwrap(), after);
        assert_eq!(remove(&after), servers(&[THEIRS]));
    }
    // Which of two keys is meant is not ours to say.
    let twice = servers(&[&ours(r#"{"type":"stdio","env":1,"env":2}"#)]);
    assert!(install(&twice).unwrap_err().to_string().starts_with("`env` is there twice"));
}

#[test]
fn what_claude_code_would_not_start_with_is_refused() {
    for (before, message) in [
        ("{\"a\": 1,}", "it has a trailing comma (line 1, column 8)"),
        ("{\"a\": [1, 2", "it is not valid JSON: EOF while parsing a list (line 1, column 11)"),
        ("1", "the whole file is not an object (line 1, column 1)"),
        ("{\"mcpServers\":[]}", "`mcpServers` is not an object (line 1, column 15)"),
        ("{\"mcpServers\":{\"tma1\":1,\"tma1\":2}}", "`tma1` is there twice (line 1, column 25)"),
    ] {
        let error = install(before).unwrap_err();
        assert_eq!(error.to_string(), message, "{before}");
    }
    let huge = " ".repeat(MAX_BYTES + 1);
    assert_eq!(install(&huge).unwrap_err().to_string(), "it is larger than 64 MiB");
}

#[test]
fn duplicates_elsewhere_are_none_of_our_business() {
    let before =
        r#"{"projects":{"/a":{},"/a":{"mcpServers":1}},"x":1,"x":2,"mcpServers":{"a":1,"a":2}}"#;
    let after = install(before).unwrap();
    assert_eq!(remove(&after), before);
}

#[test]
fn a_removal_leaves_a_file_without_ours_alone() {
    for before in ["", "\n", "{}", r#"{"mcpServers":[1]}"#, r#"{"mcpServers":{}}"#] {
        assert_eq!(remove(before), before);
    }
}
