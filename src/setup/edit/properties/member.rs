//! Properties of the server that is added to any file.

use proptest::prelude::*;

use crate::setup::edit::cases::member::server;
use crate::setup::edit::properties::generators::{Spelled, key, parsed, settings, value};

/// A file with servers of others in it, or without.
fn servers() -> impl Strategy<Value = String> {
    let others = prop::collection::vec((key(), value()), 0..3).prop_map(Spelled::Object);
    (settings(), prop::option::of(others)).prop_map(|(text, others)| match others {
        Some(others) => {
            let others = others.write_plain();
            // Any object takes one more member in front.
            let comma = if parsed(&text) == serde_json::json!({}) { "" } else { "," };
            text.replacen('{', &format!("{{\"mcp\\u0053ervers\": {others}{comma}"), 1)
        }
        None => text,
    })
}

proptest! {
    #[test]
    fn a_server_is_added_once_and_removed_without_a_trace_of_it(before in servers()) {
        let installed = server().install_into(before.as_bytes()).unwrap();
        let text = String::from_utf8(installed.bytes).unwrap();
        let again = server().install_into(text.as_bytes()).unwrap();
        prop_assert!(again.trace.is_empty());
        prop_assert_eq!(&again.bytes, text.as_bytes());

        let mut meaning = parsed(&text);
        let servers = meaning["mcpServers"].as_object_mut().unwrap();
        prop_assert_eq!(&servers.remove("tma1").unwrap()["command"], "/usr/bin/tma1");
        if parsed(&before).get("mcpServers").is_none() {
            prop_assert!(servers.is_empty());
            meaning.as_object_mut().unwrap().remove("mcpServers");
        }
        prop_assert_eq!(meaning, parsed(&before));

        // Also after the agent has written the file anew.
        let rewritten = serde_json::to_string_pretty(&parsed(&text)).unwrap();
        let left = server().remove_from(rewritten.as_bytes(), Some(&installed.trace)).unwrap();
        prop_assert_eq!(parsed(str::from_utf8(&left.bytes).unwrap()), parsed(&before));

        let removed = server().remove_from(text.as_bytes(), Some(&installed.trace)).unwrap();
        prop_assert_eq!(String::from_utf8(removed.bytes).unwrap(), before);
    }
}
