//! Java, Kotlin, Scala: Maven, Gradle, sbt.

use std::sync::LazyLock;

use regex::Regex;

use super::found::{Found, Workspace};
use super::tree::Folder;

const POM: &str = "pom.xml";
const GRADLE: [&str; 4] =
    ["settings.gradle.kts", "settings.gradle", "build.gradle.kts", "build.gradle"];
const SBT: &str = "build.sbt";

pub(super) fn read_maven(folder: Folder<'_>) -> Option<Found> {
    let text = folder.has(POM).then(|| folder.text(POM).unwrap_or_default())?;
    let mut found = Found::new(POM, language(folder, text), "maven");
    let plain = without_parent(text);
    found.set_name(captures("<artifactId>([^<]*)</artifactId>", &plain).into_iter().next());
    let modules = captures("<module>([^<]*)</module>", text);
    found.workspace = (!modules.is_empty()).then(|| Workspace::of(modules));
    let maven = wrapper(folder, "mvnw").unwrap_or_else(|| "mvn".to_owned());
    Some(found.tested("maven", format!("{maven} test")))
}

/// The manifest without what it says of its parent, which has a name too.
fn without_parent(pom: &str) -> String {
    match (pom.find("<parent>"), pom.find("</parent>")) {
        (Some(begin), Some(end)) if begin < end => {
            let parts = [pom.get(..begin), pom.get(end..)];
            parts.into_iter().flatten().collect()
        }
        _ => pom.to_owned(),
    }
}

pub(super) fn read_gradle(folder: Folder<'_>) -> Option<Found> {
    let there: Vec<_> = GRADLE.into_iter().filter(|name| folder.has(name)).collect();
    let manifest = there.first()?;
    let texts: String = there.iter().filter_map(|name| folder.text(name)).collect();
    let mut found = Found::new(manifest, language(folder, &texts), "gradle");
    found.key_files = there.iter().map(|name| (*name).to_owned()).collect();
    found.set_name(
        captures(r#"rootProject\.name\s*=\s*["']([^"']+)["']"#, &texts).into_iter().next(),
    );
    let settings: String = there
        .iter()
        .filter(|name| name.starts_with("settings"))
        .filter_map(|name| folder.text(name))
        .collect();
    let included = included(&settings);
    // What a program works out is not known here: then every build below counts.
    found.workspace = (!included.is_empty()).then(|| Workspace::of(included));
    let gradle = wrapper(folder, "gradlew").unwrap_or_else(|| "gradle".to_owned());
    Some(found.tested("gradle", format!("{gradle} test")))
}

/// The folders of the builds that the settings include: `include(":a:b", ":c")`, `include 'a'`.
fn included(settings: &str) -> Vec<String> {
    let names = r#"["'][^"'\n]+["']"#;
    let lists =
        captures(&format!(r"(?m)^\s*include\b\s*\(?\s*({names}(?:\s*,\s*{names})*)"), settings);
    let paths = lists.into_iter().flat_map(|list| list.split(','));
    let paths = paths.map(|path| path.trim().trim_matches(['"', '\'']));
    paths.map(|path| path.trim_start_matches(':').replace(':', "/")).collect()
}

pub(super) fn read_sbt(folder: Folder<'_>) -> Option<Found> {
    folder.has(SBT).then(|| {
        let mut found = Found::new(SBT, "Scala", "sbt");
        found.set_name(
            captures(r#"name\s*:=\s*"([^"]+)""#, folder.text(SBT).unwrap_or_default())
                .into_iter()
                .next(),
        );
        found.tested("sbt", "sbt test")
    })
}

/// The language of the sources, by where they lie, else by what the manifest mentions.
fn language(folder: Folder<'_>, manifest: &str) -> &'static str {
    let languages =
        [("kotlin", "Kotlin"), ("scala", "Scala"), ("groovy", "Groovy"), ("java", "Java")];
    let lies = |name: &str| folder.has_folder(&format!("src/main/{name}"));
    let by_place = || languages.into_iter().find(|(name, _)| lies(name));
    let mentions_kotlin =
        || manifest.contains("kotlin(\"") || manifest.contains("org.jetbrains.kotlin");
    if lies("java") && !lies("kotlin") {
        "Java"
    } else if let Some((_, language)) = by_place() {
        language
    } else if mentions_kotlin() {
        "Kotlin"
    } else {
        "Java"
    }
}

/// The script that brings the build tool, here or in the nearest folder above.
fn wrapper(folder: Folder<'_>, name: &str) -> Option<String> {
    let place = std::iter::once(folder).chain(folder.ancestors()).find(|it| it.has(name))?;
    let way = folder.way_to(place);
    Some(if way.is_empty() { format!("./{name}") } else { format!("{way}{name}") })
}

/// What the first group of a pattern catches, everywhere in a text.
fn captures<'t>(pattern: &str, text: &'t str) -> Vec<&'t str> {
    static COMMENT: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new("(?s)<!--.*?-->").ok());
    let comments: Vec<_> =
        COMMENT.iter().flat_map(|comment| comment.find_iter(text)).map(|it| it.range()).collect();
    let Ok(pattern) = Regex::new(pattern) else {
        return Vec::new();
    };
    let caught = pattern.captures_iter(text).filter_map(|captures| captures.get(1));
    caught
        .filter(|caught| !comments.iter().any(|comment| comment.contains(&caught.start())))
        .take(MAX_CAUGHT)
        .map(|caught| caught.as_str().trim())
        .collect()
}

/// How many modules are read from a manifest.
const MAX_CAUGHT: usize = 256;
