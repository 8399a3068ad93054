use crate::agent::command::{Command, Line};
use crate::agent::shell::{Script, unwrapped};
use proptest::prelude::*;

fn command(line: &str) -> Command {
    let line = unwrapped(line);
    Line::new(&line, Script::parse(&line).as_ref(), "/p").command
}

/// Each line has a wider run, `>`, and one that it takes in.
#[track_caller]
fn all(covered: bool, cases: &str) {
    for case in cases.lines().map(str::trim).filter(|case| !case.is_empty()) {
        let (general, special) = case.split_once(" > ").unwrap();
        assert_eq!(command(general).covers(&command(special)), covered, "{case}");
    }
}

#[test]
fn a_run_takes_in_those_that_leave_something_out() {
    all(
        true,
        "make test > make test
         cargo test > cargo test cart
         cargo test > cargo test --lib cart
         cargo test cart --lib > cargo test --lib cart
         cargo test --lib cart > cargo test cart --lib -- --nocapture
         cargo test cart > cargo test cart::adds
         cargo test cart > cargo test cart::adds -- --exact
         cargo test -- --nocapture > cargo test -q -- --test-threads=1
         cargo test > cargo t -j 4 --no-fail-fast
         cargo test --workspace > cargo test -p a
         cargo test --workspace > cargo test
         cargo test -p a -p b > cargo test --package b adds
         cargo test > cargo test -- --skip slow
         cargo nextest run --workspace > cargo nextest run -p a cart
         cargo clippy --workspace -- -D warnings > cargo clippy -p a -- -D warnings
         cargo build > cargo build --bin shop
         RUST_LOG=debug cargo test > cargo test a
         go test ./... > go test ./cart/...
         go test ./... > go test
         go test ./... > go test -v -run TestCart -count=1 ./cart
         go test ./cart/... > go test ./cart/items
         go vet ./... > go vet
         pytest -q > pytest tests/test_x.py -x
         pytest tests > pytest tests/test_x.py::TestA::test_b -vv
         pytest tests/test_x.py > pytest ./tests/test_x.py::test_a
         pytest -xvs -k 'a b' > pytest -k 'a b' tests
         pytest > python -m pytest -n4 --lf
         uv run pytest > poetry run pytest tests
         npx jest > npx jest src/a.test.js -t adds
         npx jest src > yarn jest src/a.test.js
         npx vitest run > pnpm vitest run src/a.test.ts
         npx mocha > npx mocha test/a.js --grep x
         npx playwright test > npx playwright test e2e/a.spec.ts --project=chromium
         npm test > npm run test
         npm test > yarn test -- src/a.test.js
         npm --prefix app test > cd app && npm test
         cd app && npm test > npm --prefix=app test
         make -C app test > cd app; make -j8 test
         make -s check > make check -k
         make -j$(nproc) test > make test
         cargo -C app test > (cd app && cargo test a)
         cargo test --manifest-path app/Cargo.toml > cd app && cargo test
         ./gradlew test > ./gradlew test --tests A --info
         gradle build > ./gradlew build -x test
         mvn -q test > mvn test -Dtest=CartTest -pl core
         bundle exec rspec > rspec spec/cart_spec.rb:5
         vendor/bin/phpunit > vendor/bin/phpunit --filter x tests
         mix test > mix test test/a_test.exs:3
         node --test > node --test a.test.js
         ruff check > ruff check src
         npx eslint . > npx eslint src/a.js
         cargo build && cargo test > cargo test
         cargo build && cargo test > cargo test a && cargo build
         cargo test > git pull && cargo test | tail
         cargo test > timeout 60 cargo test a 2>&1 | grep FAILED; echo done",
    );
}

#[test]
fn a_run_does_not_take_in_what_it_may_not_have_run() {
    all(
        false,
        "make > make test
         make test > make
         make check > make test
         make > make all
         make X=1 > make
         cargo test cart > cargo test
         cargo test --lib > cargo test
         cargo test --doc > cargo test --lib
         cargo test adds > cargo test cart
         cargo test add -- --exact > cargo test adds -- --exact
         cargo test -- --skip slow > cargo test
         cargo test > cargo test -p a
         cargo test -p a > cargo test -p b
         cargo test -p a > cargo test
         cargo test --workspace --exclude a > cargo test -p a
         cargo test > cargo test --release
         cargo test > cargo test --all-features
         cargo test > cargo test --all-targets
         cargo test > cargo test -- --ignored
         cargo test > cargo +nightly test
         cargo test > cargo build
         cargo build > cargo build --target wasm32-unknown-unknown
         cargo check > cargo check --tests
         cargo clippy > cargo clippy --all-targets -- -D warnings
         cargo clippy > cargo clippy -- -D warnings
         go test > go test ./...
         go test ./cart/... > go test ./...
         go test ./cart > go test ./cart/items
         go test ./cart/... > go test ./cartography
         go test ./... > go test -race ./...
         go test -short ./... > go test ./...
         go build ./... > go test ./...
         pytest tests/test_x.py > pytest
         pytest tests/test_x > pytest tests/test_x.py
         pytest -k a > pytest -k b
         pytest --lf > pytest
         pytest > pytest -c other.ini
         pytest -p x tests > pytest -p y tests
         pytest > PYTHONPATH=x pytest
         pytest > uv run --python 3.9 pytest
         pytest > python3.9 -m pytest
         npx tsc > npx tsc -p packages/b
         npx jest > npx jest -u
         npx jest -t a > npx jest
         npm run build > npm run build -- --mode production
         npm run build > npm run build:docs
         npm test > npm run test:e2e
         npm test > npm test -w a
         npm test > npm test -- --coverage
         npm test > npm test e2e
         npm test > cd app && npm test
         cd a && npm test > cd b && npm test
         docker compose build > docker compose build api
         gcc -c a.c > gcc -c b.c
         ./gradlew build > ./gradlew test
         ./gradlew test --tests A > ./gradlew test --tests B
         ./gradlew assembleDebug > ./gradlew assembleRelease
         mvn test > mvn test -Pprod
         mvn test -pl core > mvn test
         ./build.sh > ./build.sh --fast
         FEATURE=y npm test > FEATURE=x npm test
         npm test > FEATURE=x npm test
         ls > cat
         cargo test > cargo build && cargo test
         cargo build; cargo test | tail > cargo build
         cargo test -p a; cargo test -p b > cargo test -p a
         [ -d x ] || cargo test > cargo test
         if true; then cargo test; fi > cargo test
         cargo test & > cargo test
         for p in a b; do cargo test -p $p; done > cargo test -p a
         cargo test -p $P > cargo test -p a
         cargo test > cargo test -p $P
         pytest > pytest tests/*.py
         cd $APP && pytest > pytest
         cd a; (cd b && make x); make y > cd a && make y",
    );
}

#[test]
fn a_suite_is_of_one_tool_in_one_directory_and_of_its_packages() {
    let is_same = |one: &str, other: &str| command(one).suite() == command(other).suite();
    for (one, other) in [
        ("cargo test", "cargo test adds -- --nocapture"),
        ("cargo test -p a", "cargo test --lib -p a --release"),
        ("pytest", "pytest -x tests"),
        ("npm test", "npm run test -- a.test.js"),
        ("cd a && npm test", "npm --prefix a test"),
    ] {
        assert!(is_same(one, other), "{one}, {other}");
    }
    for (one, other) in [
        ("cargo test -p a", "cargo test -p b"),
        ("cargo test", "cargo test -p a"),
        ("cargo test", "cd a && cargo test"),
        ("npm test", "npm run test:e2e"),
        ("npm test -w a", "npm test -w b"),
        ("cargo build && cargo test", "cargo test"),
    ] {
        assert!(!is_same(one, other), "{one}, {other}");
    }
}

proptest! {
    #[test]
    fn what_is_kept_of_a_line_is_bounded_and_takes_itself_in(
        words in prop::collection::vec(prop::sample::select(WORDS), 0..60),
        long in "[a-z]{0,3000}",
    ) {
        let command = command(&format!("{} {long}", words.join(" ")));
        let bytes: usize = command.scopes.iter().map(super::Scope::bytes).sum();
        prop_assert!(bytes <= super::MAX_BYTES && command.scopes.len() <= super::MAX_SCOPES);
        prop_assert!(command.covers(&command));
        for scope in &command.scopes {
            prop_assert!(scope.covers(scope), "{scope:?}");
        }
    }
}

const WORDS: &[&str] = &[
    "cargo", "test", "build", "npm", "run", "pytest", "go", "./...", "make", "-C", "-p", "a", "-k",
    "--", "-j8", "--exact", "-x", "&&", ";", "|", "cd", "A=1", "gradle", "jest", "-t", "vitest",
    "mvn", "-pl", "nextest", "\n", "../x", "yarn", "python", "-m",
];
