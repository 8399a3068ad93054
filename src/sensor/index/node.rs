//! JavaScript and TypeScript: `package.json` and the managers and task runners around it, Deno.

use serde_json::Value;

use super::found::{Found, Workspace};
use super::tree::Folder;

const MANIFEST: &str = "package.json";
const DENO: [&str; 2] = ["deno.json", "deno.jsonc"];
const PNPM: &str = "pnpm-workspace.yaml";

/// What tells a package manager beside the manifest.
const LOCKS: [(&str, &str); 7] = [
    ("pnpm-lock.yaml", "pnpm"),
    (PNPM, "pnpm"),
    ("bun.lock", "bun"),
    ("bun.lockb", "bun"),
    (".yarnrc.yml", "yarn"),
    ("yarn.lock", "yarn"),
    ("package-lock.json", "npm"),
];

/// Packages that run tests, and the words that make each run all of them once.
const RUNNERS: [(&str, &str); 8] = [
    ("vitest", "vitest run"),
    ("jest", "jest"),
    ("mocha", "mocha"),
    ("ava", "ava"),
    ("tap", "tap"),
    ("jasmine", "jasmine"),
    ("@playwright/test", "playwright test"),
    ("cypress", "cypress run"),
];

pub(super) fn read(folder: Folder<'_>) -> Option<Found> {
    folder.has(MANIFEST).then(|| package(folder))
}

fn package(folder: Folder<'_>) -> Found {
    let manifest = folder.json(MANIFEST).unwrap_or(&Value::Null);
    let manager = manager(folder);
    let language = if is_typed(folder, manifest) { "TypeScript" } else { "JavaScript" };
    let mut found = Found::new(MANIFEST, language, manager);
    found.set_name(manifest.get("name").and_then(Value::as_str));
    found.workspace = workspace(folder, manifest);
    for (marker, tool) in [("turbo.json", "turbo"), ("nx.json", "nx"), ("lerna.json", "lerna")] {
        if folder.has(marker) {
            found.build_systems.push(tool);
        }
    }
    found.add_files(
        folder,
        &[
            PNPM,
            "turbo.json",
            "nx.json",
            "lerna.json",
            "tsconfig.json",
            "vite.config.ts",
            "next.config.js",
        ],
    );
    add_tests(&mut found, folder, manifest, manager);
    found
}

fn add_tests(found: &mut Found, folder: Folder<'_>, manifest: &Value, manager: &str) {
    let script = test_script(manifest);
    let runners = RUNNERS.into_iter().filter(|(package, words)| {
        let program = words.split(' ').next().unwrap_or(words);
        depends_on(manifest, package) || script.is_some_and(|script| runs(script, program))
    });
    if let Some(script) = script {
        let name = match runners.map(|(package, _)| package).next() {
            Some(package) => package,
            None if script.contains("node --test") => "node --test",
            None if script.contains("bun test") => "bun test",
            None => "test script",
        };
        found.test(
            name,
            if manager == "bun" { "bun run test".to_owned() } else { format!("{manager} test") },
        );
        return;
    }
    let tests_below = || {
        folder
            .descendants()
            .skip(1)
            .filter_map(|it| it.json(MANIFEST))
            .any(|it| test_script(it).is_some())
    };
    let run = match manager {
        "pnpm" => "pnpm exec",
        "yarn" => "yarn",
        "bun" => "bunx",
        _ => "npx",
    };
    if folder.has("nx.json") {
        found.test("nx", format!("{run} nx run-many -t test"));
    } else if has_turbo_task(folder) {
        found.test("turbo", format!("{run} turbo run test"));
    } else if folder.has("lerna.json") && tests_below() {
        found.test("lerna", format!("{run} lerna run test"));
    } else if found.workspace.is_some() && tests_below() {
        found.test(
            "test script",
            match manager {
                "pnpm" => "pnpm -r test",
                "yarn" if folder.has(".yarnrc.yml") => "yarn workspaces foreach -A run test",
                "yarn" => "yarn workspaces run test",
                "bun" => "bun run --filter '*' test",
                _ => "npm test --workspaces --if-present",
            },
        );
    } else {
        for (package, words) in runners {
            found.test(package, format!("{run} {words}"));
        }
        if found.test_runners.is_empty() && manager == "bun" {
            found.test("bun test", "bun test");
        }
    }
}

/// Whether a script runs `program`: as a word of it.
fn runs(script: &str, program: &str) -> bool {
    script.split_whitespace().any(|word| word == program)
}

/// The script that tests; none if it is the one that `npm init` writes.
fn test_script(manifest: &Value) -> Option<&str> {
    let script = manifest.get("scripts")?.get("test")?.as_str()?;
    (!script.trim().is_empty() && !script.contains("no test specified")).then_some(script)
}

fn has_turbo_task(folder: Folder<'_>) -> bool {
    let tasks =
        folder.json("turbo.json").and_then(|turbo| turbo.get("tasks").or(turbo.get("pipeline")));
    tasks.is_some_and(|tasks| tasks.get("test").is_some())
}

/// The package manager: what this manifest or the nearest one above says, or what their lock files tell.
fn manager(folder: Folder<'_>) -> &'static str {
    std::iter::once(folder)
        .chain(folder.ancestors())
        .find_map(|folder| {
            let named = folder.json(MANIFEST).and_then(|it| it.get("packageManager")?.as_str());
            let named = named.and_then(|named| named.split('@').next());
            ["pnpm", "yarn", "bun", "npm"]
                .into_iter()
                .find(|manager| named == Some(*manager))
                .or_else(|| LOCKS.into_iter().find(|(lock, _)| folder.has(lock)).map(|(_, it)| it))
        })
        .unwrap_or("npm")
}

fn is_typed(folder: Folder<'_>, manifest: &Value) -> bool {
    folder.has("tsconfig.json") || depends_on(manifest, "typescript")
}

fn depends_on(manifest: &Value, package: &str) -> bool {
    ["dependencies", "devDependencies"]
        .iter()
        .any(|kind| manifest.get(kind).is_some_and(|packages| packages.get(package).is_some()))
}

fn workspace(folder: Folder<'_>, manifest: &Value) -> Option<Workspace> {
    let listed = manifest.get("workspaces");
    let listed = listed.and_then(|it| it.as_array().or_else(|| it.get("packages")?.as_array()));
    if let Some(text) = folder.text(PNPM) {
        return Some(Workspace::of(yaml_list(text, "packages")));
    }
    let lerna = || folder.json("lerna.json")?.get("packages")?.as_array();
    let listed = listed.or_else(lerna)?;
    Some(Workspace::of(listed.iter().filter_map(Value::as_str)))
}

/// The items of the list `key` at the top of a YAML text, one a line, as everybody writes them.
fn yaml_list<'t>(text: &'t str, key: &str) -> Vec<&'t str> {
    let lines = text.lines().map(|line| line.split(" #").next().unwrap_or(line).trim_end());
    let is_key = |line: &str| line.strip_suffix(':').is_some_and(|found| found == key);
    lines
        .skip_while(|line| !is_key(line))
        .skip(1)
        .map(str::trim_start)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map_while(|line| line.strip_prefix('-'))
        .map(|item| item.trim().trim_matches(['"', '\'']))
        .collect()
}

/// Deno: its own manifest beside or instead of `package.json`.
pub(super) fn read_deno(folder: Folder<'_>) -> Option<Found> {
    let name = DENO.into_iter().find(|name| folder.has(name))?;
    let mut found = Found::new(name, "TypeScript", "deno");
    let manifest = folder.json(name).unwrap_or(&Value::Null);
    found.set_name(manifest.get("name").and_then(Value::as_str));
    let members = manifest.get("workspace");
    let members = members.and_then(|it| it.as_array().or_else(|| it.get("members")?.as_array()));
    found.workspace =
        members.map(|members| Workspace::of(members.iter().filter_map(Value::as_str)));
    let task = manifest.get("tasks").is_some_and(|tasks| tasks.get("test").is_some());
    Some(found.tested("deno test", if task { "deno task test" } else { "deno test" }))
}
