//! Properties of the hooks that are installed into any settings file.

use proptest::prelude::*;
use serde_json::Value;

use crate::setup::edit::cases::entries;
use crate::setup::edit::properties::EVENTS;
use crate::setup::edit::properties::generators::{parsed, settings, used_settings};

/// The commands of one event, in the order of the file.
fn commands(settings: &Value, event: &str) -> Vec<String> {
    let groups = settings["hooks"][event].as_array().unwrap().iter();
    let handlers = groups.flat_map(|group| group["hooks"].as_array().unwrap());
    let commands = handlers.map(|handler| handler["command"].as_str().unwrap().to_owned());
    commands.collect()
}

fn install(before: &str) -> String {
    let edited = entries(EVENTS).install_into(before.as_bytes()).unwrap();
    String::from_utf8(edited.bytes).unwrap()
}

/// Whether `before` is `after` with characters taken out.
fn only_grew(before: &str, after: &str) -> bool {
    let mut after = after.bytes();
    before.bytes().all(|byte| after.any(|other| other == byte))
}

/// Takes our entries out of `after`, and the lists that came with them.
fn without_ours(mut after: Value, before: &Value) -> Value {
    let hooks = after["hooks"].as_object_mut().unwrap();
    for event in EVENTS {
        let groups = hooks[*event].as_array_mut().unwrap();
        assert_eq!(groups.pop().unwrap()["id"], "tma1");
        if before["hooks"].get(event).is_none() {
            assert_eq!(hooks.remove(*event), Some(Value::Array(Vec::new())));
        }
    }
    if before.get("hooks").is_none() {
        after.as_object_mut().unwrap().remove("hooks");
    }
    after
}

proptest! {
    #[test]
    fn every_byte_and_meaning_of_others_is_kept(before in settings()) {
        let after = install(&before);
        prop_assert!(only_grew(&before, &after), "{after}");
        let before = parsed(&before);
        prop_assert_eq!(without_ours(parsed(&after), &before), before);
    }

    #[test]
    fn a_second_edit_changes_nothing(before in settings()) {
        let once = install(&before);
        prop_assert_eq!(install(&once), once);
    }

    #[test]
    fn one_handler_of_ours_is_left_and_all_of_others(before in used_settings()) {
        let after = install(&before);
        prop_assert_eq!(install(&after), after.clone());
        let (before, after) = (parsed(&before), parsed(&after));
        for event in EVENTS {
            let is_ours = |command: &String| command.ends_with("tma1-hook.sh");
            let (ours, others): (Vec<_>, Vec<_>) =
                commands(&after, event).into_iter().partition(is_ours);
            prop_assert_eq!(ours, ["/home/dev/.tma1/hooks/tma1-hook.sh"]);
            let kept = commands(&before, event).into_iter().filter(|command| !is_ours(command));
            prop_assert_eq!(others, kept.collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_line_end_is_written_as_the_file_writes_it(before in settings()) {
        if before.contains("\r\n") {
            let after = install(&before);
            prop_assert_eq!(after.matches('\n').count(), after.matches("\r\n").count());
        }
    }
}
