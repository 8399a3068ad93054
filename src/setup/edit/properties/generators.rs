//! Generated settings files.

use proptest::prelude::*;
use serde_json::Value;

use crate::setup::edit::properties::EVENTS;

/// A generated JSON value, spelled: odd numbers and escapes included.
#[derive(Debug, Clone)]
pub(super) enum Spelled {
    Scalar(String),
    Array(Vec<Spelled>),
    Object(Vec<(String, Spelled)>),
}

/// How a generated file is laid out.
#[derive(Debug, Clone)]
pub(super) struct Habits {
    pub(super) indentation: Option<&'static str>,
    pub(super) line_end: &'static str,
    pub(super) colon: &'static str,
    pub(super) mark: &'static str,
    pub(super) ends_last_line: bool,
}

impl Spelled {
    pub(super) fn write_plain(&self) -> String {
        let habits =
            Habits { indentation: None, line_end: "", colon: ":", mark: "", ends_last_line: false };
        self.write(&habits, "")
    }

    pub(super) fn write(&self, habits: &Habits, outer: &str) -> String {
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

pub(super) fn habits() -> impl Strategy<Value = Habits> {
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

pub(super) fn scalar() -> impl Strategy<Value = Spelled> {
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

pub(super) fn key() -> impl Strategy<Value = String> {
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

pub(super) fn value() -> impl Strategy<Value = Spelled> {
    scalar().prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Spelled::Array),
            prop::collection::vec((key(), inner), 0..4).prop_map(Spelled::Object),
        ]
    })
}

pub(super) fn hooks() -> impl Strategy<Value = Spelled> {
    let group = prop::collection::vec((key(), value()), 0..3).prop_map(Spelled::Object);
    let groups = prop::collection::vec(group, 0..3).prop_map(Spelled::Array);
    prop::collection::vec(prop::option::of(groups), 4..=4).prop_map(|events| {
        let names = [r#""Stop""#, r#""Post\u0054oolUse""#, r#""SessionStart""#, r#""X""#];
        let present = names
            .iter()
            .zip(events)
            .filter_map(|(name, groups)| Some(((*name).to_owned(), groups?)));
        Spelled::Object(present.collect())
    })
}

/// A settings file with hooks of others in any event.
pub(super) fn settings() -> impl Strategy<Value = String> {
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
pub(super) fn group() -> impl Strategy<Value = (bool, Vec<&'static str>)> {
    let command = prop::sample::select(vec![
        "lint",
        "notify done",
        "/home/dev/.tma1/hooks/tma1-hook.sh",
        "~/.tma1/hooks/tma1-hook.sh",
        "sh /old/hooks/tma1-hook.sh",
    ]);
    (any::<bool>(), prop::collection::vec(command, 0..4))
}

/// A settings file in which our handlers are already, in whatever way.
pub(super) fn used_settings() -> impl Strategy<Value = String> {
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

/// A file that Codex reads, with hooks of others in events that we register and in others.
pub(super) fn codex_settings() -> impl Strategy<Value = String> {
    let handler = prop::sample::select(vec![
        r#"{"type":"command","command":"lint"}"#,
        r#"{"type":"command","command":"a\u0022b\/","timeout":60,"async":false}"#,
        r#"{ "type" : "prompt" }"#,
    ]);
    let handler = handler.prop_map(|text| Spelled::Scalar(text.to_owned()));
    let group = (any::<bool>(), prop::collection::vec(handler, 0..3));
    let group = group.prop_map(|(has_matcher, handlers)| {
        let matcher = (r#""matcher""#.to_owned(), Spelled::Scalar(r#""Bash|Edit""#.to_owned()));
        let handlers = (r#""hooks""#.to_owned(), Spelled::Array(handlers));
        Spelled::Object(has_matcher.then_some(matcher).into_iter().chain([handlers]).collect())
    });
    let groups = prop::collection::vec(group, 0..3).prop_map(Spelled::Array);
    let events = prop::collection::vec(prop::option::of(groups), 4..=4).prop_map(|events| {
        let names = [r#""Stop""#, r#""Pre\u0054oolUse""#, r#""SessionEnd""#, r#""X""#];
        let present = names.iter().zip(events);
        let present = present.filter_map(|(name, groups)| Some(((*name).to_owned(), groups?)));
        (r#""hooks""#.to_owned(), Spelled::Object(present.collect()))
    });
    let description = scalar().prop_filter_map("text", |text| match &text {
        Spelled::Scalar(spelled) if spelled.starts_with('"') => {
            Some((r#""description""#.to_owned(), text))
        }
        _ => None,
    });
    let members = (prop::option::of(description), prop::option::of(events), any::<bool>());
    (members, habits()).prop_map(|((description, events, is_reversed), habits)| {
        let mut members: Vec<_> = description.into_iter().chain(events).collect();
        if is_reversed {
            members.reverse();
        }
        let end = if habits.ends_last_line { habits.line_end } else { "" };
        format!("{}{end}", Spelled::Object(members).write(&habits, ""))
    })
}

/// What any reader makes of a file; a blank one is an empty one.
pub(super) fn parsed(text: &str) -> Value {
    let text = text.trim_start_matches('\u{feff}');
    if text.trim().is_empty() {
        return Value::Object(serde_json::Map::new());
    }
    serde_json::from_str(text).unwrap()
}
