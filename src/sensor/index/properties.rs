//! What must hold for all contents of manifests.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

use super::tree::{Listing, Tree, join};
use super::{index, markers};

/// Parts of manifests, so that more than the first character is read.
const PIECES: [&str; 30] = [
    "[workspace]\n",
    "members = ['*', '**/x', '[', '../..']\n",
    "[tool.uv.workspace]\n",
    "a.",
    "=",
    "{\"workspaces\": [\"",
    "\"]}",
    "{",
    "[",
    "]",
    "}",
    "\"",
    "'",
    "\n",
    "use (",
    "use ",
    ")",
    "<module>",
    "</module>",
    "include(':a",
    "project(",
    "<parent>",
    "</parent>",
    "apps_path: ",
    "packages:\n- ",
    "test:",
    "name",
    "\u{0}",
    "\u{feff}",
    "é\u{202e}",
];

fn content() -> impl Strategy<Value = Vec<u8>> {
    let pieces = vec(prop::sample::select(&PIECES[..]), 0..40);
    prop_oneof![
        vec(any::<u8>(), 0..200),
        pieces.prop_map(|pieces| pieces.concat().into_bytes()),
        (prop::sample::select(&PIECES[..]), 1..3000_usize)
            .prop_map(|(piece, times)| piece.repeat(times).into_bytes()),
    ]
}

fn name() -> impl Strategy<Value = String> {
    let known = prop::sample::select(&markers::READ[..]).prop_map(str::to_owned);
    prop_oneof![8 => known, 1 => ".*\\.(csproj|sln|gemspec)".prop_map(|name: String| name.replace('/', "_"))]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_bytes_give_an_index_within_bounds(
        folders in btree_map("[a-c\u{1}]{1,3}(/[xy]){0,2}|", btree_map(name(), content(), 0..6), 0..8),
    ) {
        let mut tree = Tree::new();
        for (path, files) in &folders {
            let listing = Listing { files: files.keys().cloned().collect(), ..Listing::default() };
            tree.add_folder(path, listing);
            for (name, content) in files {
                tree.add_file(&join(path, name), content);
            }
        }
        let index = index(&tree);
        let json = serde_json::to_string(&index).unwrap();
        prop_assert!(json.len() < 32 * 1024, "{}", json.len());
        // What goes into the log comes back the same, and holds nothing that breaks a line.
        prop_assert_eq!(&serde_json::from_str::<crate::world::ProjectIndex>(&json).unwrap(), &index);
        let escapes = ["\\n", "\\r", "\\u0000", "\\u001b"];
        prop_assert!(!escapes.iter().any(|escape| json.contains(escape)), "{}", json);
    }
}
