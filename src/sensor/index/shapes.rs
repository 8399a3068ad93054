//! Projects of many shapes, and their indexes.

use std::path::Path;

use super::scan::{Limits, Scan, scan};
use super::{ProjectIndex, index};

/// What is too slow for nobody: the tests run beside others.
const PATIENT: std::time::Duration = std::time::Duration::from_secs(60);

fn limits() -> Limits {
    Limits { time: PATIENT, ..Limits::default() }
}

fn write(root: &Path, path: &str, content: &str) {
    let path = root.join(path);
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    fs_err::write(path, content).unwrap();
}

fn index_of(root: &Path) -> ProjectIndex {
    let Scan { tree, .. } = scan(root, &limits());
    index(&tree)
}

/// The lines of an index: of the root, and of each member.
fn lines(index: &ProjectIndex) -> Vec<String> {
    let line = |shape: &crate::world::Shape| {
        let commands: Vec<_> = shape.test_runners.iter().map(|it| it.command.as_str()).collect();
        format!(
            "{}; {}; {}",
            shape.languages.join("+"),
            shape.build_systems.join("+"),
            commands.join(" & ")
        )
    };
    let members = index.members.iter().map(|member| {
        let name = member.name.as_deref().unwrap_or("-");
        format!("{} ({name}): {}", member.path, line(&member.shape))
    });
    std::iter::once(line(&index.shape)).chain(members).collect()
}

/// A project: its files, and the lines of its index.
type Row = (&'static str, &'static [(&'static str, &'static str)], &'static [&'static str]);

const PACKAGE: &str = "[package]\nname = \"a\"";

const RUST_AND_GO: &[Row] = &[
    ("crate", &[("Cargo.toml", PACKAGE), ("src/main.rs", "")], &["Rust; cargo; cargo test"]),
    (
        "crate with nextest",
        &[("Cargo.toml", PACKAGE), (".config/nextest.toml", "")],
        &["Rust; cargo; cargo nextest run & cargo test"],
    ),
    (
        "workspace",
        &[
            (
                "Cargo.toml",
                "[package]\nname='a'\n[workspace]\nmembers=['crates/*', 'tool/']\nexclude=['crates/old']\n[dependencies]\nb={path='libs/b'}",
            ),
            ("crates/x/Cargo.toml", "[package]\nname='x'"),
            ("crates/old/Cargo.toml", PACKAGE),
            ("tool/Cargo.toml", "[package]\nname='tool'"),
            ("libs/b/Cargo.toml", "[package]\nname='b'"),
            ("elsewhere/Cargo.toml", PACKAGE),
            ("target/debug/Cargo.toml", PACKAGE),
        ],
        &[
            "Rust; cargo; cargo test --workspace",
            "tool (tool): Rust; cargo; cargo test",
            "crates/x (x): Rust; cargo; cargo test",
            "libs/b (b): Rust; cargo; cargo test",
        ],
    ),
    (
        "virtual workspace",
        &[
            ("Cargo.toml", "[workspace]\nmembers = [\"a\"]"),
            ("a/Cargo.toml", PACKAGE),
            ("b/Cargo.toml", PACKAGE),
        ],
        &["Rust; cargo; cargo test --workspace", "a (a): Rust; cargo; cargo test"],
    ),
    ("Go module", &[("go.mod", "module example.com/a\n\ngo 1.24\n")], &["Go; go; go test ./..."]),
    (
        "Go workspace",
        &[
            ("go.work", "go 1.24\n\nuse (\n\t./api // the server\n\t./cli\n)\n"),
            ("api/go.mod", "module example.com/api\n"),
            ("cli/go.mod", "module example.com/cli\n"),
            ("old/go.mod", "module example.com/old\n"),
        ],
        &[
            "Go; go; go test ./api/... ./cli/...",
            "api (example.com/api): Go; go; go test ./...",
            "cli (example.com/cli): Go; go; go test ./...",
        ],
    ),
];

const NODE: &[Row] = &[
    (
        "npm",
        &[
            (
                "package.json",
                r#"{"name":"a","scripts":{"test":"jest --ci"},"devDependencies":{"jest":"1"}}"#,
            ),
            ("package-lock.json", "{}"),
        ],
        &["JavaScript; npm; npm test"],
    ),
    (
        "npm without a test",
        &[(
            "package.json",
            r#"{"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}"#,
        )],
        &["JavaScript; npm; "],
    ),
    (
        "npm workspaces",
        &[
            ("package.json", r#"{"workspaces":["packages/*"]}"#),
            ("package-lock.json", ""),
            ("packages/a/package.json", r#"{"name":"@s/a","scripts":{"test":"node --test"}}"#),
            ("packages/b/package.json", r#"{"name":"@s/b"}"#),
            ("node_modules/c/package.json", "{}"),
            ("site/package.json", "{}"),
        ],
        &[
            "JavaScript; npm; npm test --workspaces --if-present",
            "packages/a (@s/a): JavaScript; npm; npm test",
            "packages/b (@s/b): JavaScript; npm; ",
        ],
    ),
    (
        "pnpm",
        &[
            ("package.json", r#"{"packageManager":"pnpm@9.1.0"}"#),
            (
                "pnpm-workspace.yaml",
                "packages:\n  # ours\n  - 'apps/*'\n  - \"!apps/old\" # gone\ncatalog:\n  a: 1\n",
            ),
            (
                "apps/web/package.json",
                r#"{"name":"web","devDependencies":{"vitest":"3","typescript":"5"}}"#,
            ),
            ("apps/old/package.json", "{}"),
        ],
        &[
            "JavaScript+TypeScript; pnpm; ",
            "apps/web (web): TypeScript; pnpm; pnpm exec vitest run",
        ],
    ),
    (
        "yarn",
        &[
            ("package.json", r#"{"workspaces":{"packages":["w/**"]}}"#),
            ("yarn.lock", ""),
            ("w/x/y/package.json", r#"{"scripts":{"test":"ava"}}"#),
        ],
        &["JavaScript; yarn; yarn workspaces run test", "w/x/y (-): JavaScript; yarn; yarn test"],
    ),
    (
        "turbo",
        &[
            ("package.json", r#"{"packageManager":"pnpm@9","devDependencies":{"turbo":"2"}}"#),
            ("pnpm-workspace.yaml", "packages: \n- apps/*\n"),
            ("turbo.json", "{ // tasks\n \"tasks\": {\"test\": {}, }, }"),
            ("apps/web/package.json", r#"{"name":"web","scripts":{"test":"vitest"}}"#),
            ("apps/web/tsconfig.json", "{}"),
        ],
        &[
            "JavaScript+TypeScript; pnpm+turbo; pnpm exec turbo run test",
            "apps/web (web): TypeScript; pnpm; pnpm test",
        ],
    ),
    (
        "nx",
        &[("package.json", "{}"), ("nx.json", "{}"), ("libs/ui/package.json", r#"{"name":"ui"}"#)],
        &["JavaScript; npm+nx; npx nx run-many -t test", "libs/ui (ui): JavaScript; npm; "],
    ),
    (
        "lerna",
        &[
            ("package.json", "{}"),
            ("lerna.json", r#"{"packages":["modules/*"]}"#),
            ("modules/m/package.json", r#"{"scripts":{"test":"mocha"}}"#),
        ],
        &["JavaScript; npm+lerna; npx lerna run test", "modules/m (-): JavaScript; npm; npm test"],
    ),
    (
        "bun",
        &[("package.json", "{}"), ("bun.lock", ""), ("tsconfig.json", "")],
        &["TypeScript; bun; bun test"],
    ),
    ("deno", &[("deno.jsonc", "{/* none */}")], &["TypeScript; deno; deno test"]),
    (
        "deno workspace",
        &[
            ("deno.json", r#"{"workspace":["./a"],"tasks":{"test":"deno test -A"}}"#),
            ("a/deno.json", r#"{"name":"@s/a"}"#),
        ],
        &["TypeScript; deno; deno task test", "a (@s/a): TypeScript; deno; deno test"],
    ),
];

const PYTHON: &[Row] = &[
    (
        "uv workspace",
        &[
            (
                "pyproject.toml",
                "[project]\nname='a'\n[dependency-groups]\ndev=['pytest>=8']\n[tool.uv.workspace]\nmembers=['packages/*']",
            ),
            ("uv.lock", ""),
            (
                "packages/b/pyproject.toml",
                "[project]\nname='b'\n[build-system]\nbuild-backend='hatchling.build'",
            ),
            ("packages/b/tests/conftest.py", ""),
        ],
        &["Python; uv; uv run pytest", "packages/b (b): Python; uv; uv run pytest"],
    ),
    (
        "poetry",
        &[(
            "pyproject.toml",
            "[tool.poetry]\nname='a'\n[tool.poetry.group.dev.dependencies]\npytest='^8'",
        )],
        &["Python; poetry; poetry run pytest"],
    ),
    (
        "setuptools with tox",
        &[("setup.py", ""), ("setup.cfg", "[metadata]"), ("tox.ini", "[tox]\n[pytest]")],
        &["Python; setuptools; python -m pytest & tox"],
    ),
    (
        "nox",
        &[
            ("pyproject.toml", "[build-system]\nbuild-backend='flit_core.buildapi'"),
            ("noxfile.py", ""),
        ],
        &["Python; flit; nox"],
    ),
    (
        "requirements",
        &[
            ("requirements.txt", "flask\n"),
            ("tests/test_a.py", ""),
            ("docs/requirements.txt", "sphinx"),
        ],
        &["Python; pip; python -m unittest"],
    ),
    (
        "Django",
        &[("requirements.txt", "django"), ("manage.py", "")],
        &["Python; pip; python manage.py test"],
    ),
    (
        "Pipenv",
        &[("Pipfile", "[dev-packages]\npytest = '*'")],
        &["Python; pipenv; pipenv run pytest"],
    ),
];

const JVM: &[Row] = &[
    (
        "Maven",
        &[
            ("pom.xml", "<project><artifactId>a</artifactId></project>"),
            ("mvnw", ""),
            ("src/main/java/A.java", ""),
        ],
        &["Java; maven; ./mvnw test"],
    ),
    (
        "Maven modules",
        &[
            (
                "pom.xml",
                "<project><modules><module>core</module><!-- <module>old</module> --></modules></project>",
            ),
            (
                "core/pom.xml",
                "<project><parent><artifactId>p</artifactId></parent><artifactId>core</artifactId></project>",
            ),
            ("old/pom.xml", ""),
        ],
        &["Java; maven; mvn test", "core (core): Java; maven; mvn test"],
    ),
    (
        "Gradle, Groovy",
        &[("build.gradle", "plugins { id 'java' }"), ("gradlew", "")],
        &["Java; gradle; ./gradlew test"],
    ),
    (
        "Gradle, Kotlin, many",
        &[
            (
                "settings.gradle.kts",
                "rootProject.name = \"shop\"\ninclude(\":app\", \":libs:core\")\n",
            ),
            ("gradlew", ""),
            ("app/build.gradle.kts", "plugins { kotlin(\"jvm\") }"),
            ("libs/core/build.gradle.kts", ""),
            ("libs/core/src/main/kotlin/A.kt", ""),
            ("old/build.gradle.kts", ""),
        ],
        &[
            "Java+Kotlin; gradle; ./gradlew test",
            "app (-): Kotlin; gradle; ../gradlew test",
            "libs/core (-): Kotlin; gradle; ../../gradlew test",
        ],
    ),
    ("sbt", &[("build.sbt", "name := \"a\"")], &["Scala; sbt; sbt test"]),
];

const OTHERS: &[Row] = &[
    (
        "CMake",
        &[
            ("CMakeLists.txt", "project(a LANGUAGES CXX)\nenable_testing()\nadd_subdirectory(lib)"),
            ("lib/CMakeLists.txt", ""),
        ],
        &["C++; cmake; ctest --test-dir build"],
    ),
    ("CMake, C", &[("CMakeLists.txt", "project(a C)")], &["C; cmake; "]),
    (
        "Meson",
        &[("meson.build", "project('a', 'c')\nsubdir('t')"), ("t/meson.build", "test('x', exe)")],
        &["C; meson; meson test -C build"],
    ),
    (
        "Make",
        &[("Makefile", "CC := cc\n.PHONY: all test\nall:\n\ttrue\ntest: all\n\t./t"), ("a.c", "")],
        &["C; make; make test"],
    ),
    ("just", &[("justfile", "test *args:\n  ./t"), ("a.sh", "")], &["Shell; just; just test"]),
    (
        "Elixir umbrella",
        &[
            ("mix.exs", "def project do [apps_path: \"apps\", deps: deps()] end"),
            ("apps/web/mix.exs", "[app: :web, version: \"1\"]"),
            ("deps/x/mix.exs", ""),
        ],
        &["Elixir; mix; mix test", "apps/web (web): Elixir; mix; mix test"],
    ),
    (
        "Ruby with RSpec",
        &[("Gemfile", "gem 'rspec'"), ("a.gemspec", "")],
        &["Ruby; bundler; bundle exec rspec"],
    ),
    (
        "Rails",
        &[
            ("Gemfile", "gem 'rails'"),
            ("config/application.rb", ""),
            ("test/a_test.rb", ""),
            ("Rakefile", ""),
        ],
        &["Ruby; bundler+rails; bin/rails test"],
    ),
    (
        "Composer",
        &[("composer.json", r#"{"require-dev":{"phpunit/phpunit":"^11"}}"#)],
        &["PHP; composer; vendor/bin/phpunit"],
    ),
    (
        ".NET",
        &[
            (
                "Shop.sln",
                "Project(\"{F}\") = \"App\", \"src\\App\\App.csproj\", \"{1}\"\nProject(\"{F}\") = \"T\", \"test\\T\\T.csproj\", \"{2}\"",
            ),
            ("src/App/App.csproj", "<Project/>"),
            ("test/T/T.csproj", "<PackageReference Include=\"xunit\"/>"),
            ("old/Old.csproj", ""),
        ],
        &[
            "C#; dotnet; dotnet test",
            "src/App (App): C#; dotnet; ",
            "test/T (T): C#; dotnet; dotnet test",
        ],
    ),
    (
        "Swift",
        &[("Package.swift", "let package = Package(name: \"A\")"), ("Tests/ATests/A.swift", "")],
        &["Swift; swiftpm; swift test"],
    ),
    (
        "Rust and JavaScript",
        &[
            ("Cargo.toml", PACKAGE),
            ("Makefile", "check:\n"),
            ("web/package.json", r#"{"scripts":{"test":"vitest"}}"#),
            ("web/Makefile", ""),
        ],
        &[
            "Rust+JavaScript; cargo+make+npm; cargo test & make check",
            "web (-): JavaScript; npm+make; npm test",
        ],
    ),
    (
        "two halves",
        &[("backend/go.mod", "module b"), ("frontend/package.json", "{}"), ("README.md", "")],
        &[
            "Go+JavaScript; go+npm; ",
            "backend (b): Go; go; go test ./...",
            "frontend (-): JavaScript; npm; ",
        ],
    ),
    ("scripts", &[("a.py", ""), ("b/c.py", ""), ("d.sh", "")], &["Python; ; "]),
    ("nothing", &[], &["; ; "]),
    (
        "broken manifests",
        &[
            ("Cargo.toml", "[package"),
            ("package.json", "{\"scripts\": {"),
            ("pyproject.toml", "\0\u{1}"),
            ("go.work", "use ("),
            ("pom.xml", "<module>"),
        ],
        &["Rust+Go+Java+Python+JavaScript; cargo+go+maven+setuptools+npm; cargo test & mvn test"],
    ),
    (
        "a folder of a manifest's name",
        &[("Cargo.toml/a.rs", ""), ("package.json/b.rs", "")],
        &["Rust; ; "],
    ),
    (
        "ignored folders",
        &[
            (".gitignore", "/gen/\n*.cache/\nsub/*\n!sub/kept/\n"),
            ("gen/package.json", "{}"),
            ("a/x.cache/package.json", "{}"),
            ("sub/gone/package.json", "{}"),
            ("sub/kept/go.mod", "module k"),
        ],
        &["Go; go; ", "sub/kept (k): Go; go; go test ./..."],
    ),
];

#[test]
fn the_table() {
    let mut wrong = Vec::new();
    for (name, files, expected) in [RUST_AND_GO, NODE, PYTHON, JVM, OTHERS].concat() {
        let folder = tempfile::tempdir().unwrap();
        for (path, content) in files {
            write(folder.path(), path, content);
        }
        let index = index_of(folder.path());
        assert!(index.complete, "{name}");
        let found = lines(&index);
        if found != expected {
            wrong.push(format!("{name}:\n  found    {found:#?}\n  expected {expected:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn folders_and_key_files_are_named() {
    let folder = tempfile::tempdir().unwrap();
    for path in
        ["src/main.rs", "docs/a.md", "target/x", ".idea/x", "README.md", ".github/workflows/ci.yml"]
    {
        write(folder.path(), path, "");
    }
    write(folder.path(), "Cargo.toml", PACKAGE);
    write(folder.path(), ".gitignore", "target");
    let index = index_of(folder.path());
    assert_eq!(index.folders, ["docs", "src"]);
    assert_eq!(
        index.shape.key_files,
        ["Cargo.toml", "src/main.rs", "README.md", ".github/workflows/ci.yml"]
    );
}

#[test]
fn a_folder_with_very_many_files_keeps_its_markers() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..100_000 {
        fs_err::File::create(folder.path().join(format!("{number}.txt"))).unwrap();
    }
    write(folder.path(), "Cargo.toml", PACKAGE);
    let Scan { tree, .. } = scan(folder.path(), &limits());
    let index = index(&tree);
    assert_eq!(lines(&index), ["Rust; cargo; cargo test"]);
    assert!(!index.complete);
}

#[test]
fn a_monorepo_is_looked_at_within_bounds() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "package.json", r#"{"workspaces":["packages/*"]}"#);
    for number in 0..400 {
        write(folder.path(), &format!("packages/p{number:03}/package.json"), "{}");
    }
    let Scan { tree, stamps } = scan(folder.path(), &limits());
    let index = index(&tree);
    assert_eq!((index.members.len(), index.more_members), (100, 300));
    assert!(stamps.len() < 2000, "{}", stamps.len());
    let few = scan(folder.path(), &Limits { entries: 50, ..limits() });
    assert!(!few.tree.complete && few.tree.folders().len() < 50);
    let late = scan(folder.path(), &Limits { time: std::time::Duration::ZERO, ..limits() });
    assert!(!late.tree.complete && late.tree.folders().is_empty());
}

#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    let outside = tempfile::tempdir().unwrap();
    write(outside.path(), "x/go.mod", "module outside");
    write(outside.path(), "Cargo.toml", PACKAGE);
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "a/package.json", "{}");
    for (target, link) in [
        (folder.path().to_owned(), "a/loop"),
        (outside.path().join("x"), "x"),
        (outside.path().join("Cargo.toml"), "Cargo.toml"),
        (folder.path().join("nowhere"), "go.mod"),
    ] {
        fs_err::os::unix::fs::symlink(target, folder.path().join(link)).unwrap();
    }
    let index = index_of(folder.path());
    assert_eq!(lines(&index), ["JavaScript; npm; ", "a (-): JavaScript; npm; "]);
    assert_eq!(index.folders, ["a"]);
}
