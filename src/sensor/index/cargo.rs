//! Rust: `Cargo.toml`.

use toml_edit::{Item, Table};

use super::found::{Found, Workspace};
use super::tree::Folder;

const MANIFEST: &str = "Cargo.toml";

pub(super) fn read(folder: Folder<'_>) -> Option<Found> {
    if !folder.has(MANIFEST) {
        return None;
    }
    let mut found = Found::new(MANIFEST, "Rust", "cargo");
    found.add_files(folder, &["rust-toolchain.toml", "build.rs", "src/main.rs", "src/lib.rs"]);
    let manifest = folder.toml(MANIFEST).map(toml_edit::DocumentMut::as_table);
    found.set_name(manifest.and_then(|it| it.get("package")?.get("name")).and_then(Item::as_str));
    found.workspace = manifest.and_then(workspace);
    let whole = if found.workspace.is_some() { " --workspace" } else { "" };
    let with_nextest = std::iter::once(folder)
        .chain(folder.ancestors())
        .any(|folder| folder.has(".config/nextest.toml"));
    if with_nextest {
        found.test("nextest", format!("cargo nextest run{whole}"));
    }
    found.test("cargo test", format!("cargo test{whole}"));
    Some(found)
}

/// The members of a workspace: those that it lists, and the packages that its root depends on by a path.
fn workspace(manifest: &Table) -> Option<Workspace> {
    let declared = manifest.get("workspace")?;
    let listed = strings(declared.get("members"));
    let by_path = ["dependencies", "dev-dependencies", "build-dependencies"]
        .into_iter()
        .filter_map(|name| manifest.get(name)?.as_table_like())
        .flat_map(|table| table.iter())
        .filter_map(|(_, dependency)| dependency.get("path")?.as_str());
    let mut workspace = Workspace::of(listed.chain(by_path));
    workspace.exclude(strings(declared.get("exclude")));
    Some(workspace)
}

/// The strings of a list; none if it is something else.
pub(super) fn strings(list: Option<&Item>) -> impl Iterator<Item = &str> {
    list.and_then(Item::as_array).into_iter().flatten().filter_map(|value| value.as_str())
}
