//! Elixir: `mix.exs`.

use super::found::{Found, Workspace};
use super::tree::Folder;

const MANIFEST: &str = "mix.exs";

pub(super) fn read(folder: Folder<'_>) -> Option<Found> {
    let text = folder.has(MANIFEST).then(|| folder.text(MANIFEST).unwrap_or_default())?;
    let mut found = Found::new(MANIFEST, "Elixir", "mix");
    let name = after(text, "app:").map(|rest| rest.trim_start_matches(':'));
    found.set_name(name.map(|name| name.trim_end_matches([',', ']'])));
    found.workspace = after(text, "apps_path:").map(|path| {
        let path = path.trim_matches(['"', ',', '\'', ']']);
        Workspace::of([format!("{path}/*")])
    });
    Some(found.tested("mix test", "mix test"))
}

/// The word after `key`.
fn after<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(key)?;
    rest.split_whitespace().next()
}
