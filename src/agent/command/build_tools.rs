//! The usual programs that build, check and test.

/// A program whose first word says what it does.
pub(super) struct Tool {
    /// Its names.
    pub names: &'static [&'static str],
    /// Options in front of that word that take the next one as their value.
    pub valued: &'static [&'static str],
    /// The words that build or check.
    pub builds: &'static [&'static str],
    /// The words that test.
    pub tests: &'static [&'static str],
}

const fn tool(
    names: &'static [&'static str],
    valued: &'static [&'static str],
    builds: &'static [&'static str],
    tests: &'static [&'static str],
) -> Tool {
    Tool { names, valued, builds, tests }
}

/// Programs whose first word says what they do.
pub(super) const TOOLS: [Tool; 29] = [
    tool(
        &["cargo", "cross"],
        &["--config", "--color", "-C", "-Z", "--manifest-path"],
        &["b", "build", "c", "check", "clippy", "d", "doc", "rustc", "rustdoc"],
        &["t", "test", "nextest", "insta", "llvm-cov", "miri", "tarpaulin"],
    ),
    tool(&["go"], &["-C"], &["build", "install", "vet"], &["test"]),
    tool(&["dotnet"], &[], &["build", "msbuild", "pack", "publish"], &["test", "vstest"]),
    tool(&["swift"], &[], &["build"], &["test"]),
    tool(&["bazel", "bazelisk", "buck", "buck2"], &[], &["build"], &["coverage", "test"]),
    tool(&["pants"], &[], &["check", "lint", "package"], &["test"]),
    tool(&["deno"], &[], &["bundle", "check", "compile", "lint"], &["test"]),
    tool(&["zig"], &[], &["ast-check", "build", "build-exe", "build-lib", "build-obj"], &["test"]),
    tool(&["flutter", "dart"], &[], &["analyze", "build", "compile"], &["test"]),
    tool(&["mix"], &[], &["compile", "credo", "dialyzer"], &["test"]),
    tool(&["rebar3"], &[], &["compile", "dialyzer"], &["ct", "eunit"]),
    tool(&["stack", "cabal"], &[], &["build"], &["test"]),
    tool(&["dune"], &[], &["build"], &["runtest", "test"]),
    tool(&["meson"], &["-C"], &["compile"], &["test"]),
    tool(&["lein"], &[], &["compile", "uberjar"], &["test"]),
    tool(&["docker", "podman", "nerdctl"], &[], &["build", "buildx"], &[]),
    tool(&["docker-compose"], &["-f", "-p"], &["build"], &[]),
    tool(&["vite", "astro", "nuxt", "nuxi", "parcel"], &[], &["build", "check", "typecheck"], &[]),
    tool(&["next"], &[], &["build", "lint", "typegen"], &[]),
    tool(&["ng"], &[], &["b", "build", "lint"], &["e2e", "t", "test"]),
    tool(&["biome"], &[], &["check", "ci", "lint"], &[]),
    tool(&["ruff", "ty"], &["--config"], &["check"], &[]),
    tool(&["playwright", "cypress"], &[], &[], &["run", "test"]),
    tool(&["hatch"], &["-e"], &["build"], &["test"]),
    tool(&["forge"], &[], &["build"], &["test"]),
    tool(&["anchor", "sui", "aptos"], &[], &["build"], &["test"]),
    tool(&["wasm-pack", "maturin"], &[], &["build", "develop"], &["test"]),
    tool(&["rails"], &[], &["zeitwerk:check"], &["spec", "test", "test:all", "test:system"]),
    tool(&["golangci-lint"], &[], &["run"], &[]),
];

/// Programs that only build or check.
pub(super) const BUILDERS: [&str; 55] = [
    "basedpyright",
    "c++",
    "cc",
    "clang",
    "clang++",
    "cl",
    "dialyzer",
    "elixirc",
    "esbuild",
    "eslint",
    "flake8",
    "g++",
    "gcc",
    "gfortran",
    "ghc",
    "hlint",
    "javac",
    "kotlinc",
    "ld",
    "msbuild",
    "mypy",
    "nvcc",
    "ocamlc",
    "oxlint",
    "phpcs",
    "phpstan",
    "pre-commit",
    "prospector",
    "psalm",
    "pylint",
    "pyre",
    "pyright",
    "pytype",
    "rollup",
    "rspack",
    "rubocop",
    "rustc",
    "samu",
    "scalac",
    "sorbet",
    "srb",
    "standardrb",
    "staticcheck",
    "stylelint",
    "svelte-check",
    "swiftc",
    "swiftlint",
    "tsc",
    "tsd",
    "tsup",
    "tslint",
    "vue-tsc",
    "webpack",
    "xbuild",
    "xo",
];

/// Programs that only test.
pub(super) const TESTERS: [&str; 30] = [
    "ava",
    "bats",
    "behat",
    "behave",
    "busted",
    "cargo-nextest",
    "codecept",
    "ctest",
    "cucumber",
    "gotestsum",
    "jasmine",
    "jest",
    "karma",
    "lit",
    "mocha",
    "nose2",
    "nosetests",
    "nox",
    "paratest",
    "pest",
    "phpunit",
    "prove",
    "py.test",
    "pytest",
    "rspec",
    "tap",
    "tox",
    "unittest",
    "uvu",
    "vitest",
];

/// Programs that run scripts or targets which the project names.
pub(super) const RUNNERS: [&str; 14] = [
    "gmake", "inv", "invoke", "just", "lerna", "mage", "make", "mise", "moon", "nmake", "nx",
    "rake", "task", "turbo",
];

/// Package managers that run the scripts of a `package.json` or `composer.json`.
pub(super) const PACKAGE_MANAGERS: [&str; 5] = ["bun", "composer", "npm", "pnpm", "yarn"];
