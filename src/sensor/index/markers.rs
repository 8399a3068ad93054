//! Which files are markers, and which folders hold none.

/// Files that are read, up to a bound.
pub(super) const READ: [&str; 39] = [
    "Cargo.toml",
    "go.mod",
    "go.work",
    "package.json",
    "pnpm-workspace.yaml",
    "turbo.json",
    "nx.json",
    "lerna.json",
    "deno.json",
    "deno.jsonc",
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "Pipfile",
    "requirements.txt",
    "requirements-dev.txt",
    "dev-requirements.txt",
    "tox.ini",
    "pom.xml",
    "settings.gradle.kts",
    "settings.gradle",
    "build.gradle.kts",
    "build.gradle",
    "build.sbt",
    "CMakeLists.txt",
    "meson.build",
    "mix.exs",
    "Gemfile",
    "composer.json",
    "Package.swift",
    "GNUmakefile",
    "makefile",
    "Makefile",
    "justfile",
    "Justfile",
    ".justfile",
    "Taskfile.yml",
    "Taskfile.yaml",
    ".gitignore",
];

/// Files of a project that tell about it, whatever it is made of.
pub(super) const KEY_FILES: [&str; 14] = [
    "README.md",
    "README.rst",
    "README",
    "AGENTS.md",
    "CLAUDE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "LICENSE",
    "Dockerfile",
    "compose.yaml",
    "docker-compose.yml",
    ".gitlab-ci.yml",
    ".editorconfig",
    ".pre-commit-config.yaml",
];

/// Files whose presence tells of what it is made.
const SEEN: [&str; 27] = [
    "pnpm-lock.yaml",
    "bun.lock",
    "bun.lockb",
    ".yarnrc.yml",
    "yarn.lock",
    "package-lock.json",
    "tsconfig.json",
    "uv.lock",
    "poetry.lock",
    "pdm.lock",
    "noxfile.py",
    "pytest.ini",
    "conftest.py",
    "manage.py",
    "mvnw",
    "gradlew",
    "rust-toolchain.toml",
    "build.rs",
    "main.go",
    "CMakePresets.json",
    "meson_options.txt",
    "Rakefile",
    ".rspec",
    "phpunit.xml",
    "phpunit.xml.dist",
    "artisan",
    "global.json",
];

/// Endings of files that are read.
const READ_ENDINGS: [&str; 6] = [".csproj", ".fsproj", ".vbproj", ".sln", ".slnx", ".gemspec"];

/// Folders that hold what was fetched, built or made for tests, and no part of the project.
const SKIPPED: [&str; 27] = [
    "node_modules",
    "bower_components",
    "target",
    "build",
    "dist",
    "out",
    "vendor",
    "third_party",
    "venv",
    "env",
    "__pycache__",
    "site-packages",
    "deps",
    "_build",
    "bin",
    "obj",
    "Pods",
    "DerivedData",
    "coverage",
    "tmp",
    "log",
    "fixtures",
    "__fixtures__",
    "testdata",
    "test-fixtures",
    "snapshots",
    "__snapshots__",
];

/// Hidden folders that are looked into nevertheless.
const HIDDEN: [&str; 3] = [".github", ".config", "workflows"];

/// Whether a file is a marker whose contents tell something.
pub(super) fn is_read(name: &str) -> bool {
    READ.contains(&name) || READ_ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Whether a change of a file can change the index.
pub(super) fn is_marker(name: &str) -> bool {
    is_read(name) || SEEN.contains(&name) || KEY_FILES.contains(&name)
}

/// The names of markers that have but one.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    READ.into_iter().chain(SEEN).chain(KEY_FILES)
}

/// Whether a folder is looked into. What it is beside tells whether `bin` is what was built: Rails has
/// its programs there.
pub(super) fn is_entered(name: &str) -> bool {
    if name.starts_with('.') { HIDDEN.contains(&name) } else { !SKIPPED.contains(&name) }
}
