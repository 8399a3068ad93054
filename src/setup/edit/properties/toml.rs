//! Properties of the table that is added to any TOML file.

use proptest::prelude::*;
use toml_edit::Document;

use crate::setup::edit::cases::toml::server;

/// Lines of the root, each with keys of its own.
const ROOT: &[&str] = &[
    "model = \"gpt\" # mine",
    "a.b.c = 0x1F",
    "\"quoted key\" = 'literal \\'",
    "list = [ 1, # one\n  2,\n]",
    "text = \"\"\"\n[mcp_servers.tma1]\n\"\"\"",
    "when = 1979-05-27T07:32:00Z",
    "float = 1e0_6",
    "inline = { x = { y = [] }, 'z' = {} }",
    "  indented = +0",
];

/// Servers, in each way of which a file has one.
const SERVERS: &[&str] = &[
    "",
    "mcp_servers.files.command = 'x'\nmcp_servers.files.args = []",
    "mcp_servers = { files = { command = 'x' }, 'b' = {} } # c",
    "mcp_servers = {}",
    "mcp_servers = { a.command = 'x', }",
    "mcp_servers = {\n  # why\n  a = {},\n}",
];

const TABLES: &[&str] = &[
    "[mcp_servers]",
    "[mcp_servers.files] # c\ncommand = 'x'\nargs = [\n  'a', # b\n]",
    "[ mcp_servers . \"tma1 \" ]\ncommand = 'x'",
    "[[profile]]\nname = 'a'\n\n[[profile]]\n[profile.x]",
    "[hooks.state.'/home/dev/.codex/hooks.json:stop:0:0']\ntrusted_hash = \"sha256:0\"",
    "[projects.\"/home/项目\"]\ntrust_level = \"trusted\"",
    "[empty]",
];

fn subset(of: &'static [&'static str]) -> impl Strategy<Value = Vec<&'static str>> {
    prop::sample::subsequence(of, 0..=of.len()).prop_shuffle()
}

/// A valid file.
fn config() -> impl Strategy<Value = String> {
    let filler = prop::sample::select(vec!["", "\n", "# [mcp_servers.tma1]\n", "  # c\n\n"]);
    let parts = (subset(ROOT), prop::sample::select(SERVERS), subset(TABLES));
    let layout = (
        prop::collection::vec(filler, 16),
        any::<bool>(),
        any::<bool>(),
        prop::sample::select(vec!["", "\n", "\n\n", " ", "\n# end", "\n\t\n "]),
    );
    (parts, layout).prop_map(|((mut root, servers, tables), (fillers, crlf, marked, end))| {
        root.insert(root.len() / 2, servers);
        // What one way has closed, another may not extend.
        let tables = tables.into_iter();
        let tables = tables.filter(|table| servers.is_empty() || !table.contains("mcp_servers"));
        let statements: Vec<_> = root.into_iter().chain(tables).zip(&fillers).collect();
        let text: Vec<_> =
            statements.iter().map(|(statement, filler)| format!("{filler}{statement}")).collect();
        let text = format!("{}{end}", text.join("\n"));
        let text = if crlf { text.replace('\n', "\r\n") } else { text };
        let mark = if marked { "\u{feff}" } else { "" };
        format!("{mark}{text}")
    })
}

/// Every path and value of a text, as another reader of the tree sees it, but for our table.
fn values(text: &str) -> Vec<String> {
    fn walk(table: &dyn toml_edit::TableLike, path: &str, values: &mut Vec<String>) {
        for (key, item) in table.iter() {
            let path = format!("{path}/{key}");
            if path == "/mcp_servers/tma1" {
                continue;
            }
            if let Some(table) = item.as_table_like() {
                walk(table, &path, values);
            } else if let Some(tables) = item.as_array_of_tables() {
                tables.iter().for_each(|table| walk(table, &path, values));
            } else {
                values.push(format!("{path} = {item:?}"));
            }
        }
    }
    let document = Document::parse(text.to_owned()).unwrap().into_mut();
    let mut values = Vec::new();
    walk(document.as_table(), "", &mut values);
    values
}

fn install(before: &str) -> String {
    String::from_utf8(server().install_into(before.as_bytes()).unwrap()).unwrap()
}

fn remove(before: &str) -> String {
    String::from_utf8(server().remove_from(before.as_bytes()).unwrap()).unwrap()
}

proptest! {
    #[test]
    fn a_table_is_added_once_and_removed_without_a_trace_of_it(before in config()) {
        let after = install(&before);
        prop_assert_eq!(install(&after), after.clone());
        prop_assert_eq!(values(&after), values(&before));
        let parsed = Document::parse(after.clone()).unwrap();
        let command = parsed.as_item()["mcp_servers"]["tma1"]["command"].as_str();
        prop_assert_eq!(command, Some("/usr/bin/tma1"));
        prop_assert_eq!(remove(&after), before.clone());
        prop_assert_eq!(remove(&before), before);
    }

    #[test]
    fn what_is_added_after_our_table_stays(before in config()) {
        let later = "\n# later\n[later]\nx = 1\n";
        let removed = remove(&format!("{}{later}", install(&before)));
        prop_assert!(removed.ends_with(later));
        prop_assert_eq!(values(&removed), values(&format!("{before}{later}")));
    }
}
