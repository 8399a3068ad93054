//! PHP: `composer.json`.

use serde_json::Value;

use super::found::Found;
use super::tree::Folder;

const MANIFEST: &str = "composer.json";

pub(super) fn read(folder: Folder<'_>) -> Option<Found> {
    if !folder.has(MANIFEST) {
        return None;
    }
    let mut found = Found::new(MANIFEST, "PHP", "composer");
    found.add_files(folder, &["phpunit.xml", "phpunit.xml.dist", "artisan"]);
    let manifest = folder.json(MANIFEST).unwrap_or(&Value::Null);
    found.set_name(manifest.get("name").and_then(Value::as_str));
    let needs = |package: &str| {
        ["require", "require-dev"]
            .iter()
            .any(|kind| manifest.get(kind).is_some_and(|packages| packages.get(package).is_some()))
    };
    let has_script = manifest.get("scripts").is_some_and(|scripts| scripts.get("test").is_some());
    let by = |command: &'static str| if has_script { "composer test" } else { command };
    if needs("pestphp/pest") {
        found.test("pest", by("vendor/bin/pest"));
    } else if needs("phpunit/phpunit")
        || folder.has("phpunit.xml")
        || folder.has("phpunit.xml.dist")
    {
        found.test("phpunit", by("vendor/bin/phpunit"));
    } else if has_script {
        found.test("test script", "composer test");
    }
    Some(found)
}
