//! Python: `pyproject.toml`, `setup.py`, requirements, and what runs its tests.

use toml_edit::Item;

use super::cargo::strings;
use super::found::{Found, Workspace};
use super::tree::Folder;

const PROJECT: &str = "pyproject.toml";
const SETUP: [&str; 2] = ["setup.py", "setup.cfg"];
const PIPENV: &str = "Pipfile";
const REQUIREMENTS: &str = "requirements.txt";

/// What names packages that are needed, `pytest` perhaps among them.
const NEEDS: [&str; 6] =
    [PROJECT, SETUP[1], PIPENV, REQUIREMENTS, "requirements-dev.txt", "dev-requirements.txt"];

pub(super) fn read(folder: Folder<'_>) -> Option<Found> {
    let named_so_elsewhere = matches!(folder.path().rsplit('/').next(), Some("docs" | "doc"));
    let manifest = [PROJECT, SETUP[0], SETUP[1], PIPENV, REQUIREMENTS]
        .into_iter()
        .find(|name| folder.has(name))
        .filter(|manifest| *manifest != REQUIREMENTS || !named_so_elsewhere)?;
    let tool = tool(folder);
    let mut found = Found::new(manifest, "Python", tool.name());
    found.set_name(
        in_project(folder, &["project", "name"])
            .or(in_project(folder, &["tool", "poetry", "name"]))
            .and_then(Item::as_str),
    );
    found.workspace = in_project(folder, &["tool", "uv", "workspace"]).map(|declared| {
        let mut workspace = Workspace::of(strings(declared.get("members")));
        workspace.exclude(strings(declared.get("exclude")));
        workspace
    });
    let more =
        ["setup.py", "setup.cfg", REQUIREMENTS, "tox.ini", "noxfile.py", "pytest.ini", "manage.py"];
    found.add_files(folder, &more.map(|name| if name == manifest { "" } else { name }));
    add_tests(&mut found, folder, tool);
    Some(found)
}

fn add_tests(found: &mut Found, folder: Folder<'_>, tool: Tool) {
    let run = tool.runner();
    if uses_pytest(folder) {
        let alone = if run.is_empty() { "python -m pytest" } else { "pytest" };
        found.test("pytest", format!("{run}{alone}"));
    }
    if folder.has("tox.ini")
        || in_project(folder, &["tool", "tox"]).is_some()
        || folder.mentions(SETUP[1], "[tox:tox]")
    {
        found.test("tox", format!("{run}tox"));
    }
    if folder.has("noxfile.py") {
        found.test("nox", format!("{run}nox"));
    }
    if found.test_runners.is_empty() {
        if folder.has("manage.py") {
            found.test("django", format!("{run}python manage.py test"));
        } else if folder.has_folder("tests") || folder.has_folder("test") {
            found.test("unittest", format!("{run}python -m unittest"));
        }
    }
}

fn uses_pytest(folder: Folder<'_>) -> bool {
    folder.has("pytest.ini")
        || folder.has("conftest.py")
        || folder.has("tests/conftest.py")
        || folder.mentions("tox.ini", "[pytest]")
        || NEEDS.iter().any(|name| folder.mentions(name, "pytest"))
}

/// What builds or installs a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tool {
    Uv,
    Poetry,
    Pdm,
    Hatch,
    Pipenv,
    Flit,
    Maturin,
    Setuptools,
    Pip,
}

impl Tool {
    const fn name(self) -> &'static str {
        match self {
            Self::Uv => "uv",
            Self::Poetry => "poetry",
            Self::Pdm => "pdm",
            Self::Hatch => "hatch",
            Self::Pipenv => "pipenv",
            Self::Flit => "flit",
            Self::Maturin => "maturin",
            Self::Setuptools => "setuptools",
            Self::Pip => "pip",
        }
    }

    /// What runs a program in its environment.
    const fn runner(self) -> &'static str {
        match self {
            Self::Uv => "uv run ",
            Self::Poetry => "poetry run ",
            Self::Pdm => "pdm run ",
            Self::Hatch => "hatch run ",
            Self::Pipenv => "pipenv run ",
            Self::Flit | Self::Maturin | Self::Setuptools | Self::Pip => "",
        }
    }
}

fn tool(folder: Folder<'_>) -> Tool {
    let has_table = |name: &str| in_project(folder, &["tool", name]).is_some();
    let backend = in_project(folder, &["build-system", "build-backend"]).and_then(Item::as_str);
    let built_by = |name: &str| backend.is_some_and(|backend| backend.starts_with(name));
    let member_of_uv = || {
        folder.has(PROJECT)
            && folder.ancestors().any(|it| in_project(it, &["tool", "uv", "workspace"]).is_some())
    };
    if folder.has("uv.lock") || has_table("uv") || member_of_uv() {
        Tool::Uv
    } else if folder.has("poetry.lock") || has_table("poetry") || built_by("poetry") {
        Tool::Poetry
    } else if folder.has("pdm.lock") || has_table("pdm") || built_by("pdm") {
        Tool::Pdm
    } else if has_table("hatch") || built_by("hatchling") {
        Tool::Hatch
    } else if folder.has(PIPENV) {
        Tool::Pipenv
    } else if built_by("flit") {
        Tool::Flit
    } else if built_by("maturin") {
        Tool::Maturin
    } else if folder.has(PROJECT) || SETUP.iter().any(|name| folder.has(name)) {
        Tool::Setuptools
    } else {
        Tool::Pip
    }
}

fn in_project<'t>(folder: Folder<'t>, path: &[&str]) -> Option<&'t Item> {
    let mut item = folder.toml(PROJECT)?.as_item();
    for name in path {
        item = item.get(name)?;
    }
    Some(item)
}
