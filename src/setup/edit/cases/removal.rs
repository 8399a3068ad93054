//! What is left of a settings file after our entries are taken out.

use crate::setup::edit::cases::{OURS, THEIRS, entries, ours_with};
use crate::setup::edit::hooks::Edited;
use crate::setup::edit::json::JsonError;
use crate::setup::edit::trace::Trace;

fn install(before: &str) -> Edited {
    entries(&["Stop"]).install_into(before.as_bytes()).unwrap()
}

fn remove(before: &str, trace: Option<&Trace>) -> Result<(String, String), JsonError> {
    let edited = entries(&["Stop"]).remove_from(before.as_bytes(), trace)?;
    Ok((String::from_utf8(edited.bytes).unwrap(), edited.tally.to_string()))
}

fn remove_unaided(before: &str) -> String {
    remove(before, None).unwrap().0
}

#[test]
fn every_container_is_as_it_was() {
    for before in [
        "",
        "\n",
        " \r\n\t",
        "\u{feff}",
        "\u{feff}\n",
        "{}",
        "{ }\n",
        "\n{\r\n}\r\n",
        "{\"hooks\":{}}",
        "{\"hooks\": { \n } }",
        "{\"hooks\":{\"Stop\":[]}}",
        "{\n  \"hooks\": {\n    \"Stop\": [\n    ]\n  }\n}\n",
        "{\"hooks\":{\"Stop\":[ ],\"X\":[]}}",
        "{\"a\":1}",
        "{\"a\":1,\"hooks\":{\"X\":{}}}",
    ] {
        let installed = install(before);
        let text = String::from_utf8(installed.bytes).unwrap();
        let trace = serde_json::to_string(&installed.trace).unwrap();
        let trace: Trace = serde_json::from_str(&trace).unwrap();
        assert_eq!(
            remove(&text, Some(&trace)).unwrap(),
            (before.to_owned(), "1 hook removed".to_owned())
        );
    }
}

#[test]
fn nothing_is_remembered_where_the_text_tells() {
    let before = format!("{{\"hooks\":{{\"Stop\":[{THEIRS}]}}}}");
    let installed = install(&before);
    assert!(installed.trace.is_empty());
    assert_eq!(remove_unaided(str::from_utf8(&installed.bytes).unwrap()), before);
    assert!(install(str::from_utf8(&installed.bytes).unwrap()).trace.is_empty());
}

#[test]
fn without_a_trace_what_may_be_the_users_stays() {
    let ours = |rest: &str| format!("{{\"hooks\":{{\"Stop\":[{OURS}]{rest}}}}}");
    assert_eq!(remove_unaided(&ours("")), "{\"hooks\":{\"Stop\":[]}}");
    assert_eq!(remove_unaided(&ours(",\"X\":[]")), "{\"hooks\":{\"Stop\":[],\"X\":[]}}");
}

#[test]
fn what_a_later_install_finds_counts() {
    let first = install("");
    // The user empties the file of all but the list, then installs again.
    let second = install("{\"hooks\":{\"Stop\":[ ]}}");
    let mut trace = first.trace;
    trace.extend(second.trace);
    let text = String::from_utf8(second.bytes).unwrap();
    assert_eq!(remove(&text, Some(&trace)).unwrap().0, "{\"hooks\":{\"Stop\":[ ]}}");
}

#[test]
fn what_was_added_to_our_containers_stays() {
    let Edited { bytes, trace, .. } = install("");
    let text = String::from_utf8(bytes).unwrap();
    for (added, left) in [
        // A setting.
        (
            text.replace("{\n  \"hooks\"", "{\n  \"model\": 1,\n  \"hooks\""),
            "{\n  \"model\": 1\n}\n".to_owned(),
        ),
        // An event.
        (
            text.replace("\"Stop\"", "\"X\": [],\n    \"Stop\""),
            "{\n  \"hooks\": {\n    \"X\": []\n  }\n}\n".to_owned(),
        ),
        // A group of the same event.
        (
            text.replace("\"Stop\": [", &format!("\"Stop\": [{THEIRS},")),
            format!("{{\n  \"hooks\": {{\n    \"Stop\": [{THEIRS}\n    ]\n  }}\n}}\n"),
        ),
    ] {
        assert_ne!(added, text);
        assert_eq!(remove(&added, Some(&trace)).unwrap().0, left);
    }
}

#[test]
fn ours_go_from_every_event_and_shape() {
    let old = ours_with("~/.tma1/hooks/tma1-hook.sh");
    let shared =
        r#"{"id":"tma1","hooks":[{"command":"lint"},{"command":"~/.tma1/hooks/tma1-hook.sh"}]}"#;
    let before = format!(
        r#"{{"hooks":{{"Gone":[{old},{THEIRS}],"Stop":[{shared},{OURS},{old}],"X":{{"a":[{OURS}]}},"Y":[1]}}}}"#
    );
    let (after, done) = remove(&before, None).unwrap();
    let left = r#"{"hooks":[{"command":"lint"}]}"#;
    assert_eq!(
        after,
        format!(
            r#"{{"hooks":{{"Gone":[{THEIRS}],"Stop":[{left}],"X":{{"a":[{OURS}]}},"Y":[1]}}}}"#
        )
    );
    assert_eq!(done, "4 hooks removed");
}

#[test]
fn where_nothing_is_ours_nothing_changes() {
    let trace = install("").trace;
    for text in [
        "",
        " \n",
        "\u{feff}",
        "{}",
        "{\"hooks\":[]}",
        "{\"hooks\":{}}",
        "{\"hooks\":{\"Stop\":[]}}",
        "{\"hooks\":{\"Stop\":{},\"Stop\":1}}",
    ] {
        for trace in [None, Some(&trace)] {
            assert_eq!(remove(text, trace), Ok((text.to_owned(), String::new())));
        }
    }
}

#[test]
fn a_broken_file_is_refused_as_by_the_install() {
    for (before, message) in [
        ("{ // why\n}", "it has a comment (line 1, column 3)"),
        ("[]", "the whole file is not an object (line 1, column 1)"),
        ("{\"hooks\":{},\"hooks\":{}}", "`hooks` is there twice (line 1, column 13)"),
    ] {
        assert_eq!(remove(before, None).unwrap_err().to_string(), message);
    }
}
