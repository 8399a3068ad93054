//! Properties of files that were cut, doubled and spliced at random: each is edited and given back
//! exactly, or refused for a reason of its own.

use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::setup::edit::cases::codex::codex_entries;
use crate::setup::edit::cases::{entries, member, toml};
use crate::setup::edit::json::JsonError;
use crate::setup::edit::markers::{self, MarkerError};
use crate::setup::edit::toml::TomlError;

const JSON: [&str; 4] = [
    "{}",
    "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"x\"}]}],\"X\":[]}}",
    "{\n  \"hooks\": {\n    \"Stop\": [],\n    \"PreToolUse\": [\n    ]\n  },\n  \"mcpServers\": {\n  }\n}\n",
    "{\r\n\t\"mcpServers\" : { } ,\r\n\t\"hooks\" : { } }",
];
const JSON_PIECES: [&str; 18] = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"hooks\":",
    "\"Stop\":",
    "\"mcpServers\":{}",
    " ",
    "\n",
    "\r\n",
    "null",
    "1e5",
    "\"a\"",
    "{}",
    "\"\\ud800\":1",
    "\u{feff}",
];

const TOML: [&str; 5] = [
    "",
    "a = 1\n[b]\nc = [\n 1, # x\n]\n[[d]]\n",
    "mcp_servers = { a = { c = 'x' }, b.d = 1 } # e\nx = \"\"\"\ny\n\"\"\"",
    "a.b = 1\r\n[mcp_servers]\r\nx = { y = 1 }\r\n\r\n[mcp_servers.z]\r\nq = ''\r\n",
    "mcp_servers = {\n # c\n a = 1, # d\n}\n",
];
const TOML_PIECES: [&str; 20] = [
    "[",
    "]",
    "{",
    "}",
    ",",
    ".",
    "\n",
    "\r\n",
    " ",
    "#",
    "\"\"\"",
    "\u{feff}",
    "[x]\n",
    "[[a]]\n",
    "mcp_servers.a.b = 1\n",
    "[mcp_servers]\n",
    "[mcp_servers.x]\n",
    "a = 1",
    "# c",
    "é",
];
const OWN_TOML_PIECES: [&str; 14] = [
    "[mcp_servers.tma1]\n",
    "mcp_servers.tma1.command = 1\n",
    "[mcp_servers.tma1.env]\nA = 1\n",
    "mcp_servers = { tma1 = {}, a = 1 }\n",
    "tma1 = { x = 1 }",
    "command = 'x'\n",
    "args = []\n",
    "env.B = 1\n",
    "[mcp_servers]\n",
    "[x]\n",
    "# c\n",
    "\n",
    "\r\n",
    ", ",
];

const MARKDOWN: [&str; 3] = [
    "# a\n\n```\nx\n```\n- b\n  c\n",
    "a\r\n\r\n~~~\r\nb\r\n~~~",
    "> a\n\n1. b\n\n   ```\n   c\n   ```\n",
];
const MARKDOWN_PIECES: [&str; 17] = [
    "\n",
    "\r\n",
    "\r",
    "```",
    "~~~~",
    "```\n",
    "> ",
    "- ",
    "1. ",
    "   ",
    "\t",
    "\n> ```\n",
    "\n- ~~~\n",
    "<!-- tma1:start",
    "tma1:end -->",
    "\u{feff}",
    "\u{2028}",
];

#[derive(Debug, Clone)]
enum Mutation {
    Insert(Index, &'static str),
    Cut(Index, usize),
    Double(Index, Index),
}

fn mutated(
    seeds: &'static [&'static str],
    pieces: &'static [&'static str],
) -> impl Strategy<Value = String> {
    let mutation = prop_oneof![
        (any::<Index>(), select(pieces)).prop_map(|(at, piece)| Mutation::Insert(at, piece)),
        (any::<Index>(), 1..8_usize).prop_map(|(at, length)| Mutation::Cut(at, length)),
        (any::<Index>(), any::<Index>()).prop_map(|(from, to)| Mutation::Double(from, to)),
    ];
    (select(seeds), prop::collection::vec(mutation, 0..6)).prop_map(|(seed, mutations)| {
        let mut text: Vec<_> = seed.chars().collect();
        for mutation in mutations {
            let end = text.len();
            let within = |length: usize, at: Index| {
                let start = at.index(end + 1);
                start..end.min(start + length)
            };
            match mutation {
                Mutation::Insert(at, piece) => {
                    let at = within(0, at);
                    text.splice(at, piece.chars());
                }
                Mutation::Cut(at, length) => {
                    let range = within(length, at);
                    text.drain(range);
                }
                Mutation::Double(from, to) => {
                    let (piece, to) = (text[within(12, from)].to_owned(), within(0, to));
                    text.splice(to, piece);
                }
            }
        }
        text.into_iter().collect()
    })
}

proptest! {
    #[test]
    fn hooks_are_given_back(before in mutated(&JSON, &JSON_PIECES)) {
        for entries in [entries(&["Stop", "PreToolUse", "Z"]), codex_entries(&["Stop", "SessionEnd"])] {
            match entries.install_into(before.as_bytes()) {
                Ok(installed) => {
                    let again = entries.install_into(&installed.bytes).unwrap();
                    prop_assert!(again.trace.is_empty());
                    prop_assert_eq!(&again.bytes, &installed.bytes);
                    let trace = Some(&installed.trace);
                    let removed = entries.remove_from(&installed.bytes, trace).unwrap();
                    prop_assert_eq!(removed.bytes, before.as_bytes());
                    prop_assert!(entries.remove_from(&installed.bytes, None).is_ok());
                }
                Err(error) => prop_assert_ne!(error, JsonError::Guard),
            }
        }
    }

    #[test]
    fn a_server_is_given_back(before in mutated(&JSON, &JSON_PIECES)) {
        match member::server().install_into(before.as_bytes()) {
            Ok(installed) => {
                let trace = Some(&installed.trace);
                let removed = member::server().remove_from(&installed.bytes, trace).unwrap();
                prop_assert_eq!(removed.bytes, before.as_bytes());
            }
            Err(error) => prop_assert_ne!(error, JsonError::Guard),
        }
    }

    #[test]
    fn a_table_is_given_back(before in mutated(&TOML, &TOML_PIECES)) {
        match toml::server().install_into(before.as_bytes()) {
            Ok(after) => {
                prop_assert_eq!(&toml::server().install_into(&after).unwrap(), &after);
                prop_assert_eq!(toml::server().remove_from(&after).unwrap(), before.as_bytes());
            }
            Err(error) => prop_assert_ne!(error, TomlError::Guard),
        }
    }

    #[test]
    fn a_table_that_is_updated_leaves_the_same_rest(before in mutated(&TOML, &OWN_TOML_PIECES)) {
        match toml::server().install_into(before.as_bytes()) {
            Ok(after) => {
                prop_assert_eq!(&toml::server().install_into(&after).unwrap(), &after);
                let rest = toml::server().remove_from(&after).unwrap();
                prop_assert_eq!(toml::server().remove_from(before.as_bytes()).unwrap(), rest);
            }
            Err(error) => prop_assert_ne!(error, TomlError::Guard),
        }
    }

    #[test]
    fn a_block_is_given_back(before in mutated(&MARKDOWN, &MARKDOWN_PIECES)) {
        match markers::install_into(before.as_bytes(), "x\ny") {
            Ok(after) => {
                prop_assert_eq!(&markers::install_into(&after, "x\ny\n").unwrap(), &after);
                prop_assert_eq!(markers::remove_from(&after).unwrap(), before.as_bytes());
            }
            Err(error) => prop_assert_ne!(error, MarkerError::Guard),
        }
    }
}
