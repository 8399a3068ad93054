//! C and C++: CMake and Meson.

use super::found::Found;
use super::tree::Folder;

const CMAKE: &str = "CMakeLists.txt";
const MESON: &str = "meson.build";

pub(super) fn read_cmake(folder: Folder<'_>) -> Option<Found> {
    let text = folder.has(CMAKE).then(|| folder.text(CMAKE).unwrap_or_default())?;
    let mut found = Found::new(CMAKE, language(folder, text), "cmake");
    found.add_files(folder, &["CMakePresets.json", "conanfile.txt", "conanfile.py", "vcpkg.json"]);
    found.set_name(call(text, "project").and_then(|arguments| arguments.split_whitespace().next()));
    let tests = ["enable_testing", "include(CTest)", "add_test(", "gtest_discover_tests"];
    if tests.iter().any(|test| text.contains(test)) {
        found.test("ctest", "ctest --test-dir build");
    }
    Some(found)
}

pub(super) fn read_meson(folder: Folder<'_>) -> Option<Found> {
    let text = folder.has(MESON).then(|| folder.text(MESON).unwrap_or_default())?;
    let mut found = Found::new(MESON, language(folder, text), "meson");
    found.add_files(folder, &["meson_options.txt", "meson.options"]);
    let name = call(text, "project").and_then(|arguments| arguments.split(',').next());
    found.set_name(name.map(|name| name.trim().trim_matches('\'')));
    let has_tests = |text: &str| text.lines().any(|line| line.trim_start().starts_with("test("));
    let below = || folder.descendants().filter_map(|it| it.text(MESON)).any(has_tests);
    if has_tests(text) || below() {
        found.test("meson test", "meson test -C build");
    }
    Some(found)
}

/// C or C++: what the project says that it is in, else what its sources are.
fn language(folder: Folder<'_>, manifest: &str) -> &'static str {
    let arguments = call(manifest, "project").unwrap_or_default();
    let mut words = arguments.split(|character: char| !character.is_ascii_alphanumeric());
    let of_cpp = |name: &str| [".cpp", ".cc", ".cxx", ".hpp"].iter().any(|end| name.ends_with(end));
    let source = |of: &dyn Fn(&str) -> bool| folder.descendants().any(|it| it.files().any(of));
    if words.clone().any(|word| matches!(word, "CXX" | "cpp")) {
        "C++"
    } else if words.any(|word| matches!(word, "C" | "c"))
        || !source(&of_cpp) && source(&|name| [".c"].iter().any(|end| name.ends_with(end)))
    {
        "C"
    } else {
        "C++"
    }
}

/// The arguments of the first call of `function`.
fn call<'t>(text: &'t str, function: &str) -> Option<&'t str> {
    let mut lines = text.match_indices(function);
    lines.find_map(|(at, _)| {
        let rest = text.get(at + function.len()..)?.trim_start().strip_prefix('(')?;
        rest.split(')').next()
    })
}
