//! Go: `go.mod` and `go.work`.

use super::found::{Found, Workspace};
use super::tree::Folder;

const MODULE: &str = "go.mod";
const WORKSPACE: &str = "go.work";

/// How many modules the command of a workspace names.
const MAX_NAMED: usize = 16;

pub(super) fn read(folder: Folder<'_>) -> Option<Found> {
    let manifest = [MODULE, WORKSPACE].into_iter().find(|name| folder.has(name))?;
    let mut found = Found::new(manifest, "Go", "go");
    let module = folder.text(MODULE).and_then(|text| directives(text, "module").into_iter().next());
    found.set_name(module);
    if manifest == MODULE {
        found.add_files(folder, &[WORKSPACE, "main.go"]);
    }
    let Some(text) = folder.text(WORKSPACE) else {
        return Some(found.tested("go test", "go test ./..."));
    };
    let used: Vec<_> = directives(text, "use")
        .into_iter()
        .map(|path| path.strip_prefix("./").unwrap_or(path).trim_end_matches('/'))
        .filter(|path| is_word(path))
        .collect();
    found.workspace = Some(Workspace::of(&used));
    // In a workspace `./...` is no more than the module at the root.
    let named: Vec<_> = used
        .iter()
        .take(MAX_NAMED)
        .map(|path| if *path == "." { "./...".to_owned() } else { format!("./{path}/...") })
        .collect();
    if !named.is_empty() {
        found.test("go test", format!("go test {}", named.join(" ")));
    }
    Some(found)
}

/// The values of a directive, alone in its line or in a block: `use ./a`, `use (`…`)`.
fn directives<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    let mut values = Vec::new();
    let mut in_block = false;
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or_default().trim();
        if in_block {
            in_block = line != ")";
            values.extend((in_block && !line.is_empty()).then_some(line));
        } else if let Some(value) = line.strip_prefix(name).map(str::trim_start) {
            in_block = value == "(";
            values.extend((!in_block && !value.is_empty()).then_some(value));
        }
    }
    values.into_iter().map(|value| value.trim_matches('"')).collect()
}

/// Whether a path needs no quotes in a shell.
fn is_word(path: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/".contains(&byte);
    !path.is_empty() && path.len() <= 200 && path.bytes().all(plain)
}
