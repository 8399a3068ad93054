//! .NET: solutions and projects.

use super::found::{Found, Workspace};
use super::tree::Folder;

const SOLUTIONS: [&str; 2] = [".sln", ".slnx"];
const PROJECTS: [(&str, &str); 3] =
    [(".csproj", "C#"), (".fsproj", "F#"), (".vbproj", "Visual Basic")];

/// Packages that make a project one of tests.
const TESTING: [&str; 5] = ["Microsoft.NET.Test.Sdk", "xunit", "NUnit", "MSTest", "TUnit"];

pub(super) fn read(folder: Folder<'_>) -> Option<Found> {
    let solution = SOLUTIONS.into_iter().find_map(|ending| folder.with_ending(ending));
    let project = project(folder);
    let manifest = solution.or(project.map(|(name, _)| name))?;
    let language = project.or_else(|| folder.descendants().find_map(self::project));
    let mut found = Found::new(manifest, language.map_or("C#", |(_, language)| language), "dotnet");
    found.set_name(manifest.rsplit_once('.').map(|(name, _)| name));
    found.add_files(folder, &["global.json", "Directory.Build.props", "Directory.Packages.props"]);
    found.workspace = solution
        .map(|name| Workspace::of(listed(folder.text(name).unwrap_or_default())))
        .filter(|workspace| !workspace.is_empty());
    let tested =
        if solution.is_some() { folder.descendants().any(has_tests) } else { has_tests(folder) };
    Some(if tested { found.tested("dotnet test", "dotnet test") } else { found })
}

fn project(folder: Folder<'_>) -> Option<(&str, &'static str)> {
    PROJECTS
        .into_iter()
        .find_map(|(ending, language)| folder.with_ending(ending).map(|name| (name, language)))
}

/// The folders of the projects that a solution lists, as quoted paths.
fn listed(solution: &str) -> Vec<String> {
    let quoted = solution.split('"').skip(1).step_by(2);
    let projects = quoted.filter(|path| PROJECTS.iter().any(|(ending, _)| path.ends_with(ending)));
    projects
        .map(|path| path.replace('\\', "/"))
        .filter_map(|path| path.rsplit_once('/').map(|(folder, _)| folder.to_owned()))
        .collect()
}

fn has_tests(folder: Folder<'_>) -> bool {
    project(folder).is_some_and(|(name, _)| TESTING.iter().any(|it| folder.mentions(name, it)))
}
