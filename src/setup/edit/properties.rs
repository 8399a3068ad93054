//! Properties that hold for any settings file.

use proptest::prelude::*;
use serde_json::Value;

use crate::setup::edit::cases::entries;

const EVENTS: &[&str] = &["SessionStart", "PreToolUse", "Stop"];

/// A generated JSON value, spelled: odd numbers and escapes included.
#[derive(Debug, Clone)]
enum Spelled {
    Scalar(String),
    Array(Vec<Spelled>),
    Object(Vec<(String, Spelled)>),
}

/// How a generated file is laid out.
#[derive(Debug, Clone)]
struct Habits {
    indentation: Option<&'static str>,
    line_end: &'static str,
    colon: &'static str,
    mark: &'static str,
    ends_last_line: bool,
}

impl Spelled {
    fn write(&self, habits: &Habits, outer: &str) -> String {
        match self {
            Self::Scalar(text) => text.clone(),
            Self::Array(items) => {
                Self::bracketed(["[", "]"], habits, outer, items, |item, inner| {
                    item.write(habits, inner)
                })
            }
            Self::Object(items) => {
                Self::bracketed(["{", "}"], habits, outer, items, |(key, value), inner| {
                    format!("{key}{}{}", habits.colon, value.write(habits, inner))
                })
            }
        }
    }

    fn bracketed<T>(
        [open, close]: [&str; 2],
        habits: &Habits,
        outer: &str,
        items: &[T],
        write: impl Fn(&T, &str) -> String,
    ) -> String {
        let (Some(indentation), false) = (habits.indentation, items.is_empty()) else {
            let items: Vec<_> = items.iter().map(|item| write(item, outer)).collect();
            return format!("{open}{}{close}", items.join(","));
        };
        let inner = format!("{outer}{indentation}");
        let line = format!("{}{inner}", habits.line_end);
        let items: Vec<_> = items.iter().map(|item| write(item, &inner)).collect();
        let items = items.join(&format!(",{line}"));
        format!("{open}{line}{items}{}{outer}{close}", habits.line_end)
    }
}

fn habits() -> impl Strategy<Value = Habits> {
    (
        prop::sample::select(vec![None, Some("  "), Some("    "), Some("\t"), Some("")]),
        prop::sample::select(vec!["\n", "\r\n"]),
        prop::sample::select(vec![":", ": ", " : "]),
        prop::sample::select(vec!["", "\u{feff}"]),
        any::<bool>(),
    )
        .prop_map(|(indentation, line_end, colon, mark, ends_last_line)| Habits {
            indentation,
            line_end,
            colon,
            mark,
            ends_last_line,
        })
}

fn scalar() -> impl Strategy<Value = Spelled> {
    let odd = prop::sample::select(vec![
        "0",
        "-0",
        "1.0e5",
        "1E+2",
        "0.10",
        "12345678901234567890123",
        "true",
        "null",
        r#""\u00e9\/""#,
        r#""a\\\"b""#,
        r#""{[,:]}""#,
        r#""// no comment""#,
        "\"项目 José\"",
        r#""""#,
    ]);
    odd.prop_map(|text| Spelled::Scalar(text.to_owned()))
}

fn key() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        r#""model""#,
        r#""id""#,
        r#""""#,
        r#""hooks ""#,
        r#""a\":b""#,
        r#""键""#,
    ])
    .prop_map(str::to_owned)
}

fn value() -> impl Strategy<Value = Spelled> {
    scalar().prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Spelled::Array),
            prop::collection::vec((key(), inner), 0..4).prop_map(Spelled::Object),
        ]
    })
}

fn hooks() -> impl Strategy<Value = Spelled> {
    let group = prop::collection::vec((key(), value()), 0..3).prop_map(Spelled::Object);
    let groups = prop::collection::vec(group, 0..3).prop_map(Spelled::Array);
    prop::collection::vec(prop::option::of(groups), 4..=4).prop_map(|events| {
        let names = [r#""Stop""#, r#""Pre\u0054oolUse""#, r#""SessionStart""#, r#""X""#];
        let present = names
            .iter()
            .zip(events)
            .filter_map(|(name, groups)| Some(((*name).to_owned(), groups?)));
        Spelled::Object(present.collect())
    })
}

/// A settings file with hooks of others in any event.
fn settings() -> impl Strategy<Value = String> {
    let members = prop::collection::vec((key(), value()), 0..4);
    let hooks = prop::option::of((hooks(), any::<prop::sample::Index>()));
    (members, hooks, habits()).prop_map(|(mut members, hooks, habits)| {
        if let Some((hooks, at)) = hooks {
            members.insert(at.index(members.len() + 1), (r#""hooks""#.to_owned(), hooks));
        }
        let end = if habits.ends_last_line { habits.line_end } else { "" };
        let text = Spelled::Object(members).write(&habits, "");
        format!("{}{text}{end}", habits.mark)
    })
}

/// The commands of one group: others', ours, and ours as they once were.
fn group() -> impl Strategy<Value = (bool, Vec<&'static str>)> {
    let command = prop::sample::select(vec![
        "lint",
        "notify done",
        "/home/dev/.tma1/hooks/tma1-hook.sh",
        "~/.tma1/hooks/tma1-hook.sh",
    ]);
    (any::<bool>(), prop::collection::vec(command, 0..4))
}

/// A settings file in which our handlers are already, in whatever way.
fn used_settings() -> impl Strategy<Value = String> {
    let events = prop::collection::vec(prop::collection::vec(group(), 0..4), 3);
    (events, habits()).prop_map(|(events, habits)| {
        let scalar = |text: &str| Spelled::Scalar(format!("\"{text}\""));
        let member = |name: &str, value| (format!("\"{name}\""), value);
        let handler = |command: &&str| {
            Spelled::Object(vec![
                member("type", scalar("command")),
                member("command", scalar(command)),
                member("timeout", Spelled::Scalar("5".to_owned())),
            ])
        };
        let group = |(marked, commands): (bool, Vec<&str>)| {
            let mark = marked.then(|| member("id", scalar("tma1")));
            let handlers = Spelled::Array(commands.iter().map(handler).collect());
            let members = mark.into_iter().chain([member("hooks", handlers)]);
            Spelled::Object(members.collect())
        };
        let events = EVENTS.iter().zip(events).map(|(event, groups)| {
            let groups = groups.into_iter().map(group).collect();
            member(event, Spelled::Array(groups))
        });
        let hooks = member("hooks", Spelled::Object(events.collect()));
        Spelled::Object(vec![hooks]).write(&habits, "")
    })
}

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

fn parsed(text: &str) -> Value {
    serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap()
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
            // A lone command under our `id` is ours whatever it is.
            let groups = before["hooks"][event].as_array().unwrap().iter();
            let kept = groups
                .filter(|group| group["id"].is_null() || group["hooks"].as_array().unwrap().len() > 1)
                .flat_map(|group| group["hooks"].as_array().unwrap())
                .map(|handler| handler["command"].as_str().unwrap().to_owned())
                .filter(|command| !is_ours(command));
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
