//! Properties of the block that is added to any Markdown.

use proptest::prelude::*;

use crate::setup::edit::markers::{MarkerError, install_into, remove_from};

/// Lines of all sorts, with markers among them only where these do not count.
fn markdown() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec![
        "",
        "text",
        "  ",
        "```",
        "````",
        "~~~ sh",
        "   ~~~",
        "    ```",
        "``` `",
        "- item",
        "- ```",
        "  ```",
        "> ~~~",
        "> quoted",
        "# 项目",
        "text <!-- tma1:start -->",
        "<!-- tma1:start --> text",
        "    <!-- tma1:end -->",
        "<!-- tma1:started -->",
        "<!-- other:end -->",
        "lone\rreturn",
    ]);
    let end = prop::sample::select(vec!["\n", "\n", "\n", "\r\n"]);
    let lines = prop::collection::vec((line, end), 0..12);
    let last = prop::sample::select(vec!["", "last", "\t", "<!-- other:end -->", "\r"]);
    (lines, last, any::<bool>()).prop_map(|(lines, last, is_marked)| {
        let mark = if is_marked { "\u{feff}" } else { "" };
        let lines: String = lines.into_iter().flat_map(|(line, end)| [line, end]).collect();
        format!("{mark}{lines}{last}")
    })
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

proptest! {
    #[test]
    fn a_block_is_added_once_and_removed_without_a_trace_of_it(before in markdown()) {
        match install_into(before.as_bytes(), "one\n```\ntwo\n```") {
            Ok(after) => {
                let after = text(after);
                prop_assert!(after.starts_with(&before));
                prop_assert_eq!(text(remove_from(after.as_bytes()).unwrap()), before.clone());
                let again = install_into(after.as_bytes(), "one\r\n```\ntwo\n```\n").unwrap();
                prop_assert_eq!(text(again), after.clone());

                let replaced = text(install_into(after.as_bytes(), "three").unwrap());
                prop_assert!(replaced.contains("three") && !replaced.contains("two"));
                prop_assert_eq!(text(remove_from(replaced.as_bytes()).unwrap()), before.clone());

                let longer = format!("{after}\nmore");
                let removed = text(remove_from(longer.as_bytes()).unwrap());
                prop_assert!(removed.ends_with("more"));
                prop_assert!(!removed.contains("two"));
            }
            Err(error) => {
                prop_assert!(matches!(error, MarkerError::OpenFence { .. }), "{error}");
                let closed = ["````", "~~~"].map(|fence| format!("{before}\n{fence}\n"));
                prop_assert!(closed.iter().any(|text| install_into(text.as_bytes(), "x").is_ok()));
            }
        }
        prop_assert_eq!(text(remove_from(before.as_bytes()).unwrap()), before);
    }
}
