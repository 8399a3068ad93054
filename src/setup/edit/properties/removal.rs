//! Install, then remove: the same bytes, whatever the file.

use proptest::prelude::*;
use serde_json::Value;

use crate::setup::edit::cases::codex::codex_entries;
use crate::setup::edit::cases::entries;
use crate::setup::edit::hooks::HookEntries;
use crate::setup::edit::properties::EVENTS;
use crate::setup::edit::properties::generators::{codex_settings, parsed, settings, used_settings};
use crate::setup::edit::trace::Trace;

fn blank() -> impl Strategy<Value = String> {
    "\u{feff}?[ \t\r\n]{0,4}"
}

fn install(entries: &HookEntries, before: &str) -> (String, Trace) {
    let edited = entries.install_into(before.as_bytes()).unwrap();
    (String::from_utf8(edited.bytes).unwrap(), edited.trace)
}

fn remove(entries: &HookEntries, before: &str, trace: Option<&Trace>) -> String {
    let edited = entries.remove_from(before.as_bytes(), trace).unwrap();
    String::from_utf8(edited.bytes).unwrap()
}

/// As Claude Code writes the file: its own layout, and no `id`.
fn rewritten(text: &str) -> String {
    let mut settings = parsed(text);
    for event in EVENTS {
        for group in settings["hooks"][event].as_array_mut().unwrap() {
            if group.get("id") == Some(&Value::from("tma1")) {
                group.as_object_mut().unwrap().remove("id");
            }
        }
    }
    serde_json::to_string_pretty(&settings).unwrap()
}

/// Without the empty containers that a removal leaves if it does not know whose they were.
fn without_empty(mut settings: Value) -> Value {
    let members = settings.as_object_mut().unwrap();
    if let Some(hooks) = members.get_mut("hooks").and_then(Value::as_object_mut) {
        hooks.retain(|_, groups| groups.as_array().is_none_or(|groups| !groups.is_empty()));
        if hooks.is_empty() {
            members.remove("hooks");
        }
    }
    settings
}

proptest! {
    #[test]
    fn a_removal_gives_back_the_bytes(before in prop_oneof![9 => settings(), 1 => blank()]) {
        let entries = entries(EVENTS);
        let (installed, trace) = install(&entries, &before);
        prop_assert_eq!(remove(&entries, &installed, Some(&trace)), before);
    }

    #[test]
    fn a_removal_gives_codex_back_its_bytes(before in codex_settings()) {
        let entries = codex_entries(EVENTS);
        let (installed, trace) = install(&entries, &before);
        let (again, nothing) = install(&entries, &installed);
        prop_assert!(nothing.is_empty());
        prop_assert_eq!(&again, &installed);
        prop_assert_eq!(remove(&entries, &installed, Some(&trace)), before);
    }

    #[test]
    fn a_removal_without_a_trace_takes_the_same_entries(before in settings()) {
        let entries = entries(EVENTS);
        let (installed, _) = install(&entries, &before);
        let after = remove(&entries, &installed, None);
        prop_assert_eq!(without_empty(parsed(&after)), without_empty(parsed(&before)));
    }

    #[test]
    fn a_removal_after_the_agent_rewrote_the_file_leaves_what_was_there(before in settings()) {
        let entries = entries(EVENTS);
        let (installed, trace) = install(&entries, &before);
        let rewritten = rewritten(&installed);
        let (again, nothing) = install(&entries, &rewritten);
        prop_assert!(nothing.is_empty());
        prop_assert_eq!(&again, &rewritten);
        let after = remove(&entries, &rewritten, Some(&trace));
        prop_assert_eq!(parsed(&after), parsed(&before));
    }

    #[test]
    fn nothing_of_ours_is_left_and_all_of_others(before in used_settings()) {
        let entries = entries(&[]);
        let after = remove(&entries, &before, None);
        prop_assert_eq!(remove(&entries, &after, None), after.clone());
        prop_assert!(!after.contains("tma1-hook.sh"));
        for theirs in ["lint", "notify done"] {
            prop_assert_eq!(after.matches(theirs).count(), before.matches(theirs).count());
        }
    }
}
