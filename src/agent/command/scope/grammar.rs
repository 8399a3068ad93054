//! The options of the usual testers and checkers, as far as they say what a run takes in.
//!
//! Options stand in one text each: `-k=` takes a value, in the same word or in the next one; `-j#`
//! takes a number if there is one; `-x` takes none. An option that is nowhere in the grammar of its
//! tool makes another mode of it, whatever it does.

/// What a run picks, by kind. Of one kind, more picks take in more, and none takes in everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Pick {
    /// Parts of names: a shorter one takes in more.
    Name,
    /// Packages of a workspace.
    Package,
    /// Files and folders: one takes in what lies below.
    Path,
    /// Libraries, binaries, suites; also patterns of names that are not looked into.
    Target,
}

/// What the words without a dash are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operands {
    /// Goals and the like: another run if they are others.
    Mode,
    /// Parts of the names of tests.
    Names,
    /// Files and folders.
    Paths,
    /// Packages of Go: `./...` takes in what lies below, `.` does not.
    GoPackages,
    /// Those of a script of the project: files and folders if they look so, else unknown.
    ScriptPaths,
}

/// The options of a tool.
#[derive(Debug)]
pub(super) struct Grammar {
    /// The tool with its subcommand.
    pub tool: &'static str,
    /// Options that change how a run looks, how fast it is and when it gives up.
    pub cosmetic: &'static str,
    /// Options by each of which a run takes in less.
    pub conditions: &'static str,
    /// Options that pick.
    pub picks: &'static [(Pick, &'static str)],
    /// Options with which a run takes in all packages.
    pub whole: &'static str,
    /// Options that name the directory, or its file that describes the project.
    pub directory: &'static str,
    /// What the words without a dash are.
    pub operands: Operands,
    /// What is picked if nothing else is.
    pub default: Option<(Pick, &'static str)>,
    /// The options after `--`; if none, everything there makes another mode.
    pub inner: Option<&'static Self>,
}

const BLANK: Grammar = Grammar {
    tool: "",
    cosmetic: "",
    conditions: "",
    picks: &[],
    whole: "",
    directory: "",
    operands: Operands::Mode,
    default: None,
    inner: None,
};

const CARGO: Grammar = Grammar {
    cosmetic: "-q --quiet -v --verbose --color= --message-format= --no-fail-fast --keep-going --locked \
               --offline --frozen -j= --jobs= --timings --target-dir=",
    conditions: "--exclude=",
    whole: "--workspace --all",
    directory: "-C= --manifest-path=",
    default: Some((Pick::Package, ".")),
    ..BLANK
};

const CARGO_BUILD: Grammar = Grammar {
    picks: &[(Pick::Package, "-p= --package="), (Pick::Target, "--lib --bins --bin=")],
    ..CARGO
};

const LIBTEST: Grammar = Grammar {
    cosmetic: "--nocapture --no-capture --show-output --test-threads= --color= -q --quiet --format=",
    conditions: "--exact --skip=",
    operands: Operands::Names,
    ..BLANK
};

const GO: Grammar = Grammar {
    cosmetic: "-v -x -json -parallel= -count= -timeout= -failfast -shuffle=",
    conditions: "-run= -skip= -short",
    directory: "-C=",
    operands: Operands::GoPackages,
    default: Some((Pick::Path, ".")),
    ..BLANK
};

const CHECKER: Grammar = Grammar {
    cosmetic: "--color --no-color --format= -f= --output-format= -q --quiet --cache --no-cache",
    operands: Operands::Paths,
    ..BLANK
};

/// The scripts of a `package.json` that test, whatever the script runs.
pub(super) const TEST_SCRIPT: Grammar =
    Grammar { operands: Operands::ScriptPaths, inner: Some(&INNER_SCRIPT), ..BUILD_SCRIPT };

const INNER_SCRIPT: Grammar = Grammar { operands: Operands::ScriptPaths, ..BLANK };

/// The other scripts of a `package.json`.
pub(super) const BUILD_SCRIPT: Grammar = Grammar {
    cosmetic: "-s --silent --loglevel= --no-color --color",
    picks: &[(Pick::Package, "-w= --workspace= -F= --filter=")],
    directory: "-C= --prefix= --dir= --cwd=",
    default: Some((Pick::Package, ".")),
    ..BLANK
};

static GRAMMARS: [Grammar; 32] = [
    Grammar {
        tool: "cargo test",
        picks: &[
            (Pick::Package, "-p= --package="),
            (Pick::Target, "--lib --bins --tests --doc --bin= --test="),
        ],
        operands: Operands::Names,
        inner: Some(&LIBTEST),
        ..CARGO
    },
    Grammar {
        tool: "cargo nextest",
        cosmetic: "-q --quiet -v --verbose --color= --no-fail-fast --fail-fast --locked --offline --frozen \
                   -j= --test-threads= --build-jobs= --target-dir= --no-capture --nocapture \
                   --failure-output= --success-output= --status-level= --final-status-level= \
                   --hide-progress-bar --show-progress= --no-tests=",
        conditions: "-E= --filter-expr= --filterset= --exclude=",
        picks: &[
            (Pick::Package, "-p= --package="),
            (Pick::Target, "--lib --bins --tests --bin= --test="),
        ],
        operands: Operands::Names,
        inner: Some(&LIBTEST),
        ..CARGO
    },
    Grammar { tool: "cargo build", ..CARGO_BUILD },
    Grammar { tool: "cargo check", ..CARGO_BUILD },
    Grammar { tool: "cargo clippy", ..CARGO_BUILD },
    Grammar { tool: "cargo doc", ..CARGO_BUILD },
    Grammar { tool: "go test", ..GO },
    Grammar { tool: "go build", ..GO },
    Grammar { tool: "go vet", ..GO },
    Grammar {
        tool: "pytest",
        cosmetic: "-v --verbose -q --quiet -s -x --exitfirst --maxfail= -l --showlocals -r= --tb= --color= \
                   --no-header --no-summary --durations= -n= --capture= --cov --cov-report= --no-cov \
                   --disable-warnings --ff --failed-first --cache-clear",
        conditions: "-k= -m= --lf --last-failed --deselect= --ignore= --ignore-glob= --sw --stepwise",
        operands: Operands::Paths,
        ..BLANK
    },
    Grammar { tool: "unittest", cosmetic: "-v --verbose -q --quiet -f --failfast -b", ..BLANK },
    Grammar {
        tool: "jest",
        cosmetic: "--verbose --silent --color --colors --no-color -i --runInBand --ci --no-cache --coverage \
                   --no-coverage --maxWorkers= -w= --forceExit --detectOpenHandles --passWithNoTests -b \
                   --bail --reporters=",
        conditions: "-t= --testNamePattern= --testPathPattern= --testPathPatterns= -o --onlyChanged -f \
                     --onlyFailures --changedSince= --testPathIgnorePatterns= --shard=",
        operands: Operands::Paths,
        ..BLANK
    },
    Grammar {
        tool: "vitest",
        cosmetic: "--run --reporter= --silent --no-color --coverage --bail= --passWithNoTests",
        conditions: "-t= --testNamePattern= --changed --shard= --exclude=",
        picks: &[(Pick::Target, "--project=")],
        operands: Operands::Paths,
        ..BLANK
    },
    Grammar {
        tool: "mocha",
        cosmetic: "-R= --reporter= -b --bail --exit --parallel -t= --timeout= --colors --no-colors",
        conditions: "-g= --grep= -f= --fgrep=",
        operands: Operands::Paths,
        ..BLANK
    },
    Grammar {
        tool: "playwright test",
        cosmetic: "--reporter= -j= --workers= --headed -x --max-failures= --quiet --trace=",
        conditions: "-g= --grep= --grep-invert= --last-failed --only-changed --shard=",
        picks: &[(Pick::Target, "--project=")],
        operands: Operands::Paths,
        ..BLANK
    },
    Grammar {
        tool: "node --test",
        cosmetic: "--test-reporter= --test-concurrency=",
        conditions: "--test-name-pattern= --test-only",
        operands: Operands::Paths,
        ..BLANK
    },
    Grammar {
        tool: "bun test",
        cosmetic: "--bail --timeout= --coverage",
        conditions: "-t= --test-name-pattern=",
        operands: Operands::Paths,
        ..BLANK
    },
    Grammar {
        tool: "deno test",
        cosmetic: "-q --quiet --fail-fast --parallel --reporter=",
        conditions: "--filter=",
        operands: Operands::Paths,
        ..BLANK
    },
    Grammar {
        tool: "rspec",
        cosmetic: "-f= --format= --color --no-color --fail-fast -b --backtrace",
        conditions: "--only-failures -n --next-failure",
        picks: &[(Pick::Target, "-e= --example= -E= --example-matches= -t= --tag=")],
        operands: Operands::Paths,
        ..BLANK
    },
    Grammar {
        tool: "phpunit",
        cosmetic: "--colors --no-coverage --testdox --stop-on-failure -v --verbose",
        conditions: "--filter= --group= --exclude-group= --testsuite=",
        operands: Operands::Paths,
        ..BLANK
    },
    Grammar {
        tool: "mix test",
        cosmetic: "--trace --color --no-color --max-failures= --seed= --slowest=",
        conditions: "--only= --failed --stale",
        operands: Operands::Paths,
        ..BLANK
    },
    Grammar {
        tool: "gradle",
        cosmetic: "-q --quiet -i --info --debug -s --stacktrace -S --full-stacktrace --no-daemon --daemon \
                   --console= --warning-mode= --continue --parallel --build-cache --no-build-cache --offline \
                   --rerun-tasks --no-scan",
        conditions: "-x= --exclude-task=",
        picks: &[(Pick::Target, "--tests=")],
        directory: "-p= --project-dir=",
        ..BLANK
    },
    Grammar {
        tool: "mvn",
        cosmetic: "-q --quiet -B --batch-mode -e --errors -o --offline -U -T= -ntp --no-transfer-progress \
                   -fae --fail-at-end -ff --fail-fast -am --also-make",
        conditions: "-Dtest -Dit.test",
        picks: &[(Pick::Package, "-pl= --projects=")],
        directory: "-f= --file=",
        ..BLANK
    },
    Grammar {
        tool: "dotnet test",
        cosmetic: "--nologo -v= --verbosity= --no-restore -l= --logger=",
        conditions: "--filter=",
        ..BLANK
    },
    Grammar {
        tool: "ctest",
        cosmetic: "-j= --parallel= -V -VV --output-on-failure -Q --quiet --progress --timeout=",
        conditions: "-R= -E= -L= -LE= --rerun-failed",
        ..BLANK
    },
    Grammar { tool: "make", cosmetic: MAKE, directory: "-C= --directory=", ..BLANK },
    Grammar { tool: "gmake", cosmetic: MAKE, directory: "-C= --directory=", ..BLANK },
    Grammar { tool: "eslint", ..CHECKER },
    Grammar { tool: "oxlint", ..CHECKER },
    Grammar { tool: "rubocop", ..CHECKER },
    Grammar { tool: "ruff check", default: Some((Pick::Path, "")), ..CHECKER },
    Grammar { tool: "biome check", ..CHECKER },
];

const MAKE: &str = "-j# --jobs# -s --silent --no-print-directory -k --keep-going -O";

/// The grammar of a tool with its subcommand.
pub(super) fn of_tool(tool: &str) -> Option<&'static Grammar> {
    GRAMMARS.iter().find(|grammar| grammar.tool == tool)
}

/// An option of a list, and the value that belongs to it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Given<'a> {
    pub name: &'a str,
    pub value: &'a str,
    /// Whether the value is the next word.
    pub takes_next: bool,
}

/// The option of `list` that `word` is, in front of `next`.
pub(super) fn given<'a>(list: &'a str, word: &'a str, next: Option<&'a str>) -> Option<Given<'a>> {
    let (long, value) = match word.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (word, None),
    };
    let options = || {
        (list.split(' ').filter(|option| !option.is_empty()))
            .map(|option| (option.trim_end_matches(['=', '#']), option.chars().last()))
    };
    if let Some((name, kind)) = options().find(|(name, _)| *name == long) {
        let is_number = |next: &str| next.chars().all(|c| c.is_ascii_digit());
        let takes_next = value.is_none()
            && (kind == Some('=') || kind == Some('#') && next.is_some_and(is_number));
        let value = value.or(next.filter(|_| takes_next)).unwrap_or_default();
        return Some(Given { name, value, takes_next });
    }
    // `-j8`.
    let mut shorts =
        options().filter(|(name, kind)| name.len() == 2 && matches!(kind, Some('=' | '#')));
    if let Some(given) = shorts.find_map(|(name, _)| {
        let value = word.strip_prefix(name)?;
        Some(Given { name, value, takes_next: false })
    }) {
        return Some(given);
    }
    // `-vv`, `-xvs`.
    let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-'))?;
    let is_listed = |letter: char| list.split(' ').any(|option| option == format!("-{letter}"));
    let is_cluster = letters.len() > 1 && letters.chars().all(is_listed);
    is_cluster.then_some(Given { name: word, value: "", takes_next: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_found_with_its_value() {
        const LIST: &str = "-q -v --quiet -j# -k= --color=";
        for (word, next, expected) in [
            ("-q", "a", Some(("-q", "", false))),
            ("-vvq", "a", Some(("-vvq", "", false))),
            ("-vx", "a", None),
            ("--quiet", "a", Some(("--quiet", "", false))),
            ("-j", "8", Some(("-j", "8", true))),
            ("-j", "test", Some(("-j", "", false))),
            ("-j8", "test", Some(("-j", "8", false))),
            ("-k", "a and b", Some(("-k", "a and b", true))),
            ("-ka", "b", Some(("-k", "a", false))),
            ("--color=always", "b", Some(("--color", "always", false))),
            ("--color", "always", Some(("--color", "always", true))),
            ("--colour", "b", None),
            ("-", "b", None),
            ("--", "b", None),
        ] {
            let found = given(LIST, word, Some(next));
            let found = found.map(|it| (it.name, it.value, it.takes_next));
            assert_eq!(found, expected, "{word} {next}");
        }
    }

    #[test]
    fn every_tool_is_once_in_the_table() {
        for grammar in &GRAMMARS {
            let found = of_tool(grammar.tool).unwrap();
            assert_eq!(found.operands, grammar.operands, "{}", grammar.tool);
            assert_eq!(GRAMMARS.iter().filter(|it| it.tool == grammar.tool).count(), 1);
        }
        assert!(of_tool("cargo").is_none());
    }
}
