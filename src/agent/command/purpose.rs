//! What one simple command is for, by its program and words.

use crate::agent::command::Purpose;
use crate::agent::command::build_tools::{
    BUILDERS, PACKAGE_MANAGERS, RUNNERS, TESTERS, TOOLS, Tool,
};
use crate::agent::command::goals::{of_gradle, of_maven, of_sbt, of_xcodebuild};
use crate::agent::command::launchers::launched;
use crate::agent::command::naming::{purpose_of_name, purpose_of_target};
use crate::agent::shell::{Part, file_name};

/// What a simple command is for.
pub(super) fn of_part(part: &Part<'_>) -> Purpose {
    /// Words of the shell's language that a command follows.
    const LEADS: [&str; 9] = ["!", "{", "if", "then", "elif", "else", "while", "until", "do"];
    let words: Vec<&str> = (part.words.iter().skip_while(|word| LEADS.contains(&word.raw)))
        .skip_while(|word| word.is_assignment())
        .map(|word| word.value.as_str())
        .collect();
    of_words(launched(&words))
}

fn of_words(words: &[&str]) -> Purpose {
    const ASKING: [&str; 6] = ["--help", "-h", "--version", "-V", "-version", "help"];
    let Some((program, arguments)) = words.split_first() else { return Purpose::Other };
    if matches!(arguments, [only] if ASKING.contains(only)) {
        return Purpose::Other;
    }
    let name = file_name(program);
    if watches(name, arguments) || only_lists(name, arguments) {
        return Purpose::Other;
    }
    if let Some(purpose) = of_listed(name, arguments) {
        return purpose;
    }
    if RUNNERS.contains(&name) {
        return of_runner(name, arguments);
    }
    if PACKAGE_MANAGERS.contains(&name) {
        return of_package_manager(arguments);
    }
    match name {
        "cmake" => match arguments.contains(&"--build") {
            true if arguments.contains(&"test") => Purpose::Test,
            true => Purpose::Build,
            false => Purpose::Other,
        },
        "ninja" if arguments.contains(&"clean") => Purpose::Other,
        "ninja" if arguments.contains(&"test") => Purpose::Test,
        "ninja" => Purpose::Build,
        "mvn" | "mvnw" | "mvnd" => of_maven(arguments),
        "gradle" | "gradlew" => of_gradle(arguments),
        "sbt" | "mill" => of_sbt(arguments),
        "xcodebuild" => of_xcodebuild(arguments),
        "sh" | "bash" | "zsh" => of_script(arguments),
        "php" | "ruby" | "node" | "tsx" | "ts-node" => of_interpreter(arguments),
        "artisan" => first(arguments, &[]).map_or(Purpose::Other, purpose_of_name),
        _ if name == "py" || name.starts_with("python") => of_python(arguments),
        _ if program.contains(['/', '\\']) => purpose_of_name(name),
        _ => Purpose::Other,
    }
}

/// Whether a command goes on until it is ended, which says nothing of what it runs.
fn watches(name: &str, arguments: &[&str]) -> bool {
    const WITH_SHORT: [&str; 4] = ["rollup", "tsc", "vue-tsc", "webpack"];
    arguments.iter().any(|word| {
        matches!(*word, "--watch" | "--watchAll" | "--watch=true" | "--watchAll=true")
            || *word == "-w" && WITH_SHORT.contains(&name)
    }) || matches!((name, arguments), ("vitest", ["watch" | "dev", ..]))
}

/// Whether a command only says what it would run.
fn only_lists(name: &str, arguments: &[&str]) -> bool {
    const LISTING: [&str; 12] = [
        "--co",
        "--collect-only",
        "--dry-run",
        "--just-print",
        "--list",
        "--list-tests",
        "--listTests",
        "--print-data-base",
        "--question",
        "--recon",
        "--showConfig",
        "--show-only",
    ];
    let is_listing = |word: &str| match name {
        // Of these, letters may stand together.
        "make" | "gmake" | "just" | "rake" => {
            let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
            let is_cluster = |letters: &str| letters.chars().all(|c| c.is_ascii_lowercase());
            letters.is_some_and(|it| {
                is_cluster(it) && (it.contains('n') || name.ends_with("make") && it.contains('q'))
            })
        }
        "ninja" => word == "-n",
        "ctest" => word == "-N",
        "go" => word == "-list" || word.starts_with("-list="),
        "vitest" => word == "list",
        _ => false,
    };
    arguments.iter().any(|word| LISTING.contains(word) || is_listing(word))
}

/// What a program is for that is in the lists; none if it is not.
fn of_listed(name: &str, arguments: &[&str]) -> Option<Purpose> {
    if let Some(tool) = TOOLS.iter().find(|tool| tool.names.contains(&name)) {
        return Some(of_tool(tool, name, arguments));
    }
    let is_in = |names: &[&str]| names.contains(&name);
    (is_in(&BUILDERS).then_some(Purpose::Build)).or(is_in(&TESTERS).then_some(Purpose::Test))
}

/// The first word that is no option, and no value of one.
fn first<'a>(arguments: &[&'a str], valued: &[&str]) -> Option<&'a str> {
    operands(arguments, valued).next()
}

/// The words that are no options, and no values of one.
pub(super) fn operands<'a>(
    arguments: &[&'a str],
    valued: &[&str],
) -> impl Iterator<Item = &'a str> {
    let mut is_value = false;
    arguments.iter().copied().filter(move |word| {
        let is_operand = !is_value && !word.starts_with(['-', '+']) && !word.contains('=');
        is_value = !is_value && valued.contains(word);
        is_operand
    })
}

/// What several words together are for.
pub(super) fn most_telling(purposes: impl Iterator<Item = Purpose>) -> Purpose {
    purposes.max().unwrap_or(Purpose::Other)
}

fn of_tool(tool: &Tool, name: &str, arguments: &[&str]) -> Purpose {
    let mut words = operands(arguments, tool.valued);
    let Some(word) = words.next() else { return Purpose::Other };
    let next = words.next().unwrap_or_default();
    match (name, word) {
        // These only list, write or compile the tests.
        ("cargo", "nextest") if !matches!(next, "run" | "r") => Purpose::Other,
        ("cargo", "miri" | "insta") if next != "test" => Purpose::Other,
        ("cargo", _) if arguments.contains(&"--no-run") => Purpose::Build,
        // The tool runs what the project names.
        ("hatch", "run") | ("deno", "task") => purpose_of_name(next),
        ("docker" | "podman" | "nerdctl", "compose") if next == "build" => Purpose::Build,
        ("docker" | "podman" | "nerdctl", "buildx") if next != "build" => Purpose::Other,
        ("zig", "build") if next == "test" => Purpose::Test,
        ("mix", "do") => {
            let tasks = arguments.iter().map(|word| word.trim_end_matches(','));
            let tasks = tasks.filter(|task| *task != "do");
            most_telling(tasks.map(|task| of_tool(tool, name, &[task])))
        }
        _ if tool.tests.contains(&word) => Purpose::Test,
        _ if tool.builds.contains(&word) => Purpose::Build,
        _ => Purpose::Other,
    }
}

fn of_runner(name: &str, arguments: &[&str]) -> Purpose {
    const VALUED: [&str; 8] =
        ["-C", "-f", "-I", "--directory", "--file", "--makefile", "--filter", "-d"];
    // Only these have a word for it; of the others it is the name of a target.
    const RUN: [&str; 5] = ["lerna", "mise", "moon", "nx", "turbo"];
    let has_run = RUN.contains(&name);
    let mut targets = operands(arguments, &VALUED)
        .filter(|word| !has_run || !matches!(*word, "run" | "run-many" | "affected"))
        .filter(|word| !word.chars().all(|c| c.is_ascii_digit()))
        .peekable();
    match (name, targets.peek()) {
        ("make" | "gmake" | "nmake", None) => Purpose::Build,
        // What GNU's conventions call the target that tests.
        ("make" | "gmake", Some(&"check")) | ("rake", None) => Purpose::Test,
        ("make" | "gmake" | "nmake", _) => most_telling(targets.map(purpose_of_target)),
        ("nx", _) => {
            let named = arguments.iter().filter_map(|word| word.strip_prefix("--target="));
            most_telling(targets.chain(named).map(purpose_of_name))
        }
        _ => most_telling(targets.map(purpose_of_name)),
    }
}

fn of_package_manager(arguments: &[&str]) -> Purpose {
    const VALUED: [&str; 8] =
        ["-w", "--workspace", "-F", "--filter", "-C", "--prefix", "--dir", "--cwd"];
    let mut words = operands(arguments, &VALUED);
    match words.next() {
        Some("run" | "run-script" | "rum" | "urn") => {
            words.next().map_or(Purpose::Other, purpose_of_name)
        }
        Some("t" | "tst") => Purpose::Test,
        // Of `yarn workspace shop test` and the like.
        Some("workspace") => words.nth(1).map_or(Purpose::Other, purpose_of_name),
        Some("workspaces" | "recursive") => most_telling(words.map(purpose_of_name)),
        Some("add" | "ci" | "i" | "install" | "create" | "init" | "remove" | "why") | None => {
            Purpose::Other
        }
        Some(script) => match purpose_of_name(script) {
            // `yarn tsc` and `pnpm vitest run` run a program of the project.
            Purpose::Other => {
                let after = arguments.iter().skip_while(|word| **word != script).skip(1);
                let after: Vec<&str> = after.copied().collect();
                of_listed(script, &after).unwrap_or(Purpose::Other)
            }
            purpose => purpose,
        },
    }
}

/// A script file that a shell runs: its name says what for.
fn of_script(arguments: &[&str]) -> Purpose {
    match first(arguments, &[]) {
        Some(script) if !arguments.contains(&"-c") => purpose_of_name(file_name(script)),
        _ => Purpose::Other,
    }
}

/// A program that a language's interpreter runs from a file.
fn of_interpreter(arguments: &[&str]) -> Purpose {
    if arguments.contains(&"--test") {
        return Purpose::Test;
    }
    if arguments.iter().any(|word| matches!(*word, "-e" | "-r" | "-p" | "--eval")) {
        return Purpose::Other;
    }
    let mut words = operands(arguments, &["-r", "--require", "--import", "-I"]);
    let Some(script) = words.next().map(file_name) else { return Purpose::Other };
    let stem = script.split('.').next().unwrap_or(script);
    if stem == "artisan" {
        return words.next().map_or(Purpose::Other, purpose_of_name);
    }
    of_listed(stem, &[]).unwrap_or_else(|| purpose_of_name(script))
}

fn of_python(arguments: &[&str]) -> Purpose {
    if let Some(at) = arguments.iter().position(|word| *word == "-m") {
        return match arguments.get(at + 1..).unwrap_or_default() {
            ["compileall" | "py_compile" | "build", ..] => Purpose::Build,
            [module, rest @ ..] => of_listed(module, rest).unwrap_or(Purpose::Other),
            [] => Purpose::Other,
        };
    }
    if arguments.contains(&"-c") {
        return Purpose::Other;
    }
    let mut words = operands(arguments, &["-W", "-X"]);
    match (words.next().map(file_name), words.next()) {
        (Some("manage.py" | "setup.py"), Some(task)) => purpose_of_name(task),
        (Some(script), _) => purpose_of_name(script),
        (None, _) => Purpose::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::shell::Script;

    fn purpose(line: &str) -> Purpose {
        of_part(&Script::parse(line).unwrap().parts[0])
    }

    #[track_caller]
    fn all(expected: Purpose, lines: &str) {
        for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
            assert_eq!(purpose(line), expected, "{line}");
        }
    }

    #[test]
    fn the_usual_builds_and_checks_are_known() {
        all(
            Purpose::Build,
            "cargo build --release
             cargo +nightly clippy --all-targets -- -D warnings
             RUSTFLAGS=-Dwarnings cargo check -p a
             cargo test --no-run
             /home/dev/.cargo/bin/cargo build
             make
             make -j8 all
             make -C sub CC=clang build
             cmake --build build -j 4
             ninja -C out
             go build ./...
             go vet ./...
             golangci-lint run
             npm run build
             npm --prefix web run typecheck
             pnpm -F shop build
             pnpm lint
             yarn tsc --noEmit
             yarn workspace shop build
             bun run typecheck
             npx tsc --noEmit
             npx eslint src
             node_modules/.bin/tsc -p .
             node ./node_modules/typescript/bin/tsc
             vite build
             next lint
             turbo run build --filter=web
             nx build shop
             mypy src
             python -m mypy src
             uv run ruff check .
             pyright
             python3 setup.py build
             mvn -q compile
             ./mvnw package -DskipTests
             mvn test -DskipTests=true
             ./gradlew assembleDebug
             gradle build -x test
             ./gradlew :app:compileKotlin
             gradle testClasses
             sbt compile
             dotnet build
             swift build
             xcodebuild -scheme App
             bazel build //...
             buck2 build //...
             mix compile --warnings-as-errors
             deno check main.ts
             zig build
             just build
             just -q build
             task build
             docker build -t a .
             docker compose build
             docker buildx build .
             gcc -c a.c
             bundle exec rubocop
             ./build.sh
             make -C . app
             make main.o
             make clean all
             bash scripts/build.sh
             time cargo build
             timeout 60 make",
        );
    }

    #[test]
    fn the_usual_tests_are_known() {
        all(
            Purpose::Test,
            "cargo test
             cargo t -p a some_test -- --nocapture
             cargo nextest run
             cargo llvm-cov nextest
             make test
             make check
             make -s -j$(nproc) test
             make -j 8 test
             make build test
             ctest --test-dir build
             meson test -C out
             go test ./... -run TestX
             gotestsum ./...
             npm test
             npm t
             npm run test:unit -- --watch=false
             pnpm --filter shop test
             yarn test
             yarn jest a
             pnpm vitest run
             bun test
             npx jest src/a.test.js
             npx vitest run
             npx mocha
             npx playwright test
             node --test
             node node_modules/.bin/jest
             pytest -q
             python -m pytest tests/a.py
             python3 -m unittest
             python manage.py test shop
             python tests/run_tests.py
             poetry run pytest
             coverage run -m pytest
             tox -e py311
             nox
             hatch run test
             mvn verify
             ./mvnw -q -pl core test
             ./gradlew test --tests X
             ./gradlew :app:connectedAndroidTest
             ./gradlew check
             sbt 'testOnly x.Y'
             sbt core/test
             dotnet test
             swift test
             xcodebuild test -scheme App
             bazel test //...
             buck2 test //...
             rspec
             bundle exec rspec spec/a_spec.rb
             rake test
             rake spec
             bin/rails test
             ruby -Itest test/cart_test.rb
             vendor/bin/phpunit
             php vendor/bin/phpunit --filter x
             php artisan test
             composer test
             mix test test/a_test.exs
             mix do compile, test
             deno test
             deno task test
             zig build test
             zig test a.zig
             just test
             task test:unit
             flutter test
             ./run_tests.sh
             sh test.sh",
        );
    }

    #[test]
    fn what_is_neither_is_not_taken_for_it() {
        all(
            Purpose::Other,
            "cargo --version
             cargo run
             cargo fmt
             cargo nextest list
             cargo add test
             make clean
             make -n test
             make install
             make run
             make db
             make -q
             make -sn all
             make docker-up db-reset
             just run
             just -n build
             ctest -N
             cargo test -- --list
             go test -list . ./...
             npx vitest list
             npx jest --listTests
             npx playwright test --list
             pytest --collect-only -q
             npm run check-updates
             npm run update:deps
             ./gradlew test --dry-run
             cmake -S . -B build
             ninja clean
             npm install
             npm ci
             npm run dev
             npm run start
             npm run lint:fix
             pnpm add -D vitest
             yarn
             npx create-vite build
             tsc --version
             tsc -w
             npx tsc --noEmit --watch
             npm test -- --watch
             timeout 20 npx jest --watchAll
             npx vitest watch
             go run ./cmd/test
             go mod tidy
             pip install pytest
             python -c 'import pytest'
             python -m http.server
             python -m python
             python app.py
             ruff format
             gradle clean
             mvn clean
             git checkout test
             git commit -m test
             cat build.log
             ls test
             test -f Makefile
             mkdir -p build
             cd build
             docker run test
             docker compose up
             xcodebuild -list
             bash -c 'cargo test'
             node server.js
             node -e 'test'
             ./dev.sh
             command -v make
             which cargo
             rake -n
             time",
        );
    }
}
