//! Swift: `Package.swift`.

use super::found::Found;
use super::tree::Folder;

const MANIFEST: &str = "Package.swift";

pub(super) fn read(folder: Folder<'_>) -> Option<Found> {
    let text = folder.has(MANIFEST).then(|| folder.text(MANIFEST).unwrap_or_default())?;
    let mut found = Found::new(MANIFEST, "Swift", "swiftpm");
    let name = text.split_once("name:").and_then(|(_, rest)| rest.split('"').nth(1));
    found.set_name(name);
    if text.contains(".testTarget(") || folder.has_folder("Tests") {
        found.test("swift test", "swift test");
    }
    Some(found)
}
