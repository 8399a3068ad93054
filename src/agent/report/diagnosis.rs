//! The line that says what is wrong, and the place that it is about.

use crate::agent::report::location::{Place, has_extension, leading, of_frame};
use crate::agent::report::numbered;
use crate::agent::report::stack::{is_own, panic_of, place_in_stack};

/// What is wrong, and where.
type Diagnosis<'a> = (Option<&'a str>, Option<(String, u32)>);

/// How far below a message its place stands, in lines.
const REACH: usize = 60;

/// How long a traceback of Python is at most, in lines; it leaves out what repeats.
const MAX_TRACEBACK: usize = 400;

/// What is wrong by the first error of a compiler; if there is none, by the first failure of a test
/// or a program; if there is none either, by the first line that calls itself an error, or the last.
pub(super) fn diagnosis<'a>(lines: &[&'a str]) -> Diagnosis<'a> {
    let owned = |place: Option<Place<'_>>| place.map(|(path, line)| (path.to_owned(), line));
    let from = |index: usize| lines.get(index..).unwrap_or_default();
    if let Some((error, place)) = (0..lines.len()).find_map(|index| of_compiler(from(index))) {
        return (Some(error), owned(place));
    }
    if let Some((error, place)) = (0..lines.len()).find_map(|index| of_failure(from(index))) {
        return (Some(error), owned(place));
    }
    let is_error = |line: &&&str| {
        const BEGINNINGS: [&str; 9] = [
            "error:",
            "error[",
            "[error] ",
            "fatal:",
            "fatal error",
            "ld: ",
            "make: *** ",
            "npm error ",
            "panic: ",
        ];
        let line = line.trim_start().to_ascii_lowercase();
        BEGINNINGS.iter().any(|beginning| line.starts_with(beginning))
    };
    let last = || lines.iter().rev().find(|line| says_something(line));
    let error = lines.iter().find(is_error).or_else(last);
    (error.copied(), None)
}

/// Whether a line without a mark may say what is wrong: not a lone `PASS`, a number, or how far it got.
fn says_something(line: &str) -> bool {
    const PROGRESS: [&str; 10] = [
        "building",
        "compiling",
        "downloading",
        "fetching",
        "finished",
        "installing",
        "pass",
        "passed",
        "running",
        "test result: ok",
    ];
    const ALONE: [&str; 3] = ["aborted", "killed", "terminated"];
    let line = line.trim().to_lowercase();
    let words = line.split_whitespace();
    let words = words.filter(|word| word.chars().filter(|c| c.is_alphabetic()).count() > 1).count();
    ALONE.iter().any(|word| line.starts_with(word))
        || words == 1 && line.contains("error")
        || words > 1 && !PROGRESS.iter().any(|beginning| line.starts_with(beginning))
}

type Found<'a> = Option<(&'a str, Option<Place<'a>>)>;

/// The error of a compiler or a checker that begins at the first of these lines.
fn of_compiler<'a>(lines: &[&'a str]) -> Found<'a> {
    let (line, below) = lines.split_first()?;
    // Long lines are no messages, and there can be many of them.
    if line.len() > 4096 {
        return None;
    }
    of_marked_line(line)
        .or_else(|| of_header(line, below))
        .or_else(|| of_eslint(line, below))
        .or_else(|| of_own_words(line, below))
}

/// `path:line: error: message` and the like, of most compilers.
fn of_marked_line(line: &str) -> Found<'_> {
    let start = line.trim_start();
    // Of Maven, sbt, go vet, Kotlin, webpack.
    let marks = ["[ERROR] ", "[error] ", "vet: ", "e: file://", "e: ", "ERROR in "];
    let mark = marks.iter().find_map(|mark| Some((*mark, start.strip_prefix(mark)?)));
    let (place, rest) = leading(mark.map_or(start, |(_, rest)| rest))?;
    let (path, _) = place;
    let message = rest.trim_start_matches([':', ' ', '-']);
    let lower = message.get(..12).unwrap_or(message).to_ascii_lowercase();
    // A frame of a stack is indented.
    let is_go = has_extension(path, "go") && start.len() == line.len() && !message.is_empty();
    let is_error = mark.is_some()
        || lower.starts_with("error")
        || lower.starts_with("fatal error")
        || message.starts_with("*** ")
        || is_go
        || is_code(message);
    let is_note = lower.starts_with("warning") || lower.starts_with("note");
    (is_error && !is_note).then_some((line, Some(place)))
}

/// Whether a message begins with the code of a check, such as `F401 ` of ruff.
fn is_code(message: &str) -> bool {
    let code = message.split([' ', ':']).next().unwrap_or_default();
    let letters = code.trim_end_matches(|c: char| c.is_ascii_digit());
    letters.len() < code.len()
        && (1..=4).contains(&letters.len())
        && code.len() - letters.len() >= 3
        && letters.chars().all(|c| c.is_ascii_uppercase())
}

/// A message whose place is in a line of its own below: of rustc, ruff, Elixir, esbuild, OCaml.
fn of_header<'a>(line: &'a str, below: &[&'a str]) -> Found<'a> {
    const SUMMARIES: [&str; 5] = [
        "error: could not compile",
        "error: aborting due to",
        "error: test failed",
        "error: doctest failed",
        "error: test run failed",
    ];
    let is_header = line.starts_with("error")
        || line.starts_with("✘ [ERROR]")
        || line.trim_start_matches("    ").starts_with("error: ")
        || is_code(line);
    if is_header && !SUMMARIES.iter().any(|summary| line.starts_with(summary)) {
        // Before the message that comes next.
        let own = below
            .iter()
            .take(REACH)
            .take_while(|line| !line.starts_with("error") && !line.starts_with("warning"));
        let place = own.map(|line| line.trim_start()).find_map(|line| {
            let arrow = ["--> ", "└─ "].iter().find_map(|arrow| line.strip_prefix(arrow));
            let is_esbuild = || line.ends_with(':').then_some(line);
            Some(leading(arrow.or_else(is_esbuild)?)?.0)
        });
        return place.map(|place| (line, Some(place)));
    }
    let place = of_frame(line).filter(|_| line.contains(", characters "))?;
    let error = below.iter().take(REACH).find(|line| line.starts_with("Error"))?;
    Some((error, Some(place)))
}

/// `  3:5  error  message  rule` below the name of its file.
fn of_eslint<'a>(line: &'a str, below: &[&'a str]) -> Found<'a> {
    let is_path = !line.is_empty() && !line.starts_with(' ') && line.contains(['/', '\\', '.']);
    let problems = below.iter().take(REACH).take_while(|line| line.starts_with("  "));
    let found = problems.filter(|_| is_path && !line.contains(' ')).find_map(|problem| {
        let (position, message) = problem.trim_start().split_once(' ')?;
        let (row, _column) = position.split_once(':')?;
        Some((*problem, row.parse().ok()?)).filter(|_| message.trim_start().starts_with("error "))
    });
    let (error, row) = found?;
    Some((error, Some((line, row))))
}

/// Errors in words of their own: of CMake, Elixir, PHP.
fn of_own_words<'a>(line: &'a str, below: &[&'a str]) -> Found<'a> {
    if let Some(rest) = line.strip_prefix("CMake Error at ") {
        let message = below.iter().find(|line| !line.trim().is_empty()).unwrap_or(&line);
        return leading(rest).map(|(place, _)| (*message, Some(place)));
    }
    if let Some((_, rest)) = line.split_once("Error) ").filter(|_| line.starts_with("** (")) {
        return leading(rest).map(|(place, _)| (line, Some(place)));
    }
    let php = ["PHP Parse error:", "PHP Fatal error:", "Parse error:", "Fatal error:"];
    if php.iter().any(|beginning| line.starts_with(beginning)) {
        let place = line.rsplit_once(" in ").and_then(|(_, place)| {
            let (path, row) = place.split_once(" on line ")?;
            Some((path, row.trim().parse().ok()?))
        });
        return Some((line, place));
    }
    None
}

/// What made a test or a program fail, if it begins at the first of these lines.
fn of_failure<'a>(lines: &[&'a str]) -> Found<'a> {
    let (line, below) = lines.split_first()?;
    if line.len() > 4096 {
        return None;
    }
    let first_below = || below.iter().find(|line| !line.trim().is_empty()).copied();
    let own = || below.iter().take(REACH).take_while(|line| !is_next(line));
    let place_below = || own().find_map(|line| place_in_stack(line));
    if let Some((place, message)) = panic_of(line) {
        let place = Some(place).filter(|(path, _)| is_own(path));
        return Some((message.or_else(first_below).unwrap_or(line), place));
    }
    if let Some(message) = line.strip_prefix("E   ") {
        return Some((message, place_below()));
    }
    if *line == "Traceback (most recent call last):" || of_frame(line).is_some() {
        return of_traceback(line, below);
    }
    if line.starts_with("  ● ") && !line.ends_with("Console") {
        return first_below().map(|message| (message, place_below()));
    }
    if let Some(message) = line.trim_start().strip_prefix("Failure/Error: ") {
        return Some((message, place_below()));
    }
    // phpunit and mix.
    if let Some(title) = numbered(line) {
        if title.contains("::") && !line.starts_with(' ') {
            return first_below().map(|message| (message, place_below()));
        }
        if title.starts_with("test ") && title.ends_with(')') {
            let message = below.iter().find(|line| place_in_stack(line).is_none());
            return message.map(|message| (*message, place_below()));
        }
    }
    if let Some((place, _)) = leading(line.trim_start()) {
        // What `t.Errorf` says.
        if line.starts_with("    ") && place.0.ends_with("_test.go") {
            return Some((line, Some(place)));
        }
    }
    is_exception(line.trim_start()).then(|| (*line, place_below()))
}

/// Whether another test or another failure begins at this line.
fn is_next(line: &str) -> bool {
    const BEGINNINGS: [&str; 8] =
        ["---- ", "====", "____", "thread '", "● ", "FAIL ", "⎯⎯", "failures:"];
    let line = line.trim_start();
    BEGINNINGS.iter().any(|beginning| line.starts_with(beginning)) || numbered(line).is_some()
}

/// The exception and the last frame in the project's own code.
fn of_traceback<'a>(line: &'a str, below: &[&'a str]) -> Found<'a> {
    let is_frame = |line: &str| line.starts_with(' ') || line.is_empty();
    let below = below.get(..below.len().min(MAX_TRACEBACK)).unwrap_or_default();
    let frames = below.iter().take_while(|line| is_frame(line));
    let error = below.iter().find(|line| !is_frame(line))?;
    let places = std::iter::once(&line).chain(frames).filter_map(|line| of_frame(line));
    let place = places.filter(|(path, _)| is_own(path)).last();
    is_exception(error).then_some((*error, place))
}

/// Whether a line begins with the name of an exception, such as `TypeError: `,
/// `AssertionError [ERR_ASSERTION]: ` or `java.io.IOException: `.
fn is_exception(line: &str) -> bool {
    let Some((name, _)) = line.split_once(": ").or_else(|| line.split_once(':')) else {
        return false;
    };
    let name = name.split(" [").next().unwrap_or(name);
    let last = name.rsplit(['.', ':', '\\']).next().unwrap_or(name);
    let is_name = name.chars().all(|c| c.is_alphanumeric() || "._$:\\".contains(c));
    is_name
        && last.starts_with(|c: char| c.is_ascii_uppercase())
        && ["Error", "Exception", "Failure"].iter().any(|end| last.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn says(output: &str, error: &str, place: Option<(&str, u32)>) {
        let lines: Vec<&str> = output.lines().map(str::trim_end).collect();
        let found = diagnosis(&lines);
        let place = place.map(|(path, line)| (path.to_owned(), line));
        assert_eq!((found.0.map(str::trim), found.1), (Some(error), place), "{output}");
    }

    #[test]
    fn compilers_and_checkers_say_what_is_wrong_and_where() {
        let rustc = "   Compiling shop v0.1.0 (/p)\nwarning: unused variable: `x`\n --> src/w.rs:1:1\n\n\
                     error[E0599]: no method named `summ` found\n --> src/lib.rs:4:51\n  |\n\n\
                     error[E0308]: mismatched types\n  --> src/lib.rs:16:32\n\n\
                     error: could not compile `shop` (lib) due to 2 previous errors";
        says(rustc, "error[E0599]: no method named `summ` found", Some(("src/lib.rs", 4)));
        let clippy = "error: this could be simpler\n   --> a.rs:3:5\n\nerror: aborting due to 1";
        says(clippy, "error: this could be simpler", Some(("a.rs", 3)));
        let gcc = "cc -c b.c\nb.c: In function ‘main’:\nb.c:1:9: warning: unused\n\
                   b.c:1:20: error: ‘x’ undeclared\nmake: *** [Makefile:3: b.o] Error 1";
        says(gcc, "b.c:1:20: error: ‘x’ undeclared", Some(("b.c", 1)));
        let ruff = "F401 [*] `os` imported but unused\n --> c.py:2:8\n  |\nFound 1 error.";
        says(ruff, "F401 [*] `os` imported but unused", Some(("c.py", 2)));
        let eslint = "\n/p/js/bad.js\n  1:1  warning  w  a\n  2:1  error  'foo' is not defined  no-undef\n\n✖ 2 problems";
        says(eslint, "2:1  error  'foo' is not defined  no-undef", Some(("/p/js/bad.js", 2)));
        let elixir =
            "error: undefined variable \"x\"\n  │\n 3 │   x\n  │   ^\n  └─ lib/a.ex:3:3: A.b/0";
        says(elixir, "error: undefined variable \"x\"", Some(("lib/a.ex", 3)));
        let esbuild = "✘ [ERROR] Expected \";\"\n\n    src/a.ts:1:2:\n      1 │ x y";
        says(esbuild, "✘ [ERROR] Expected \";\"", Some(("src/a.ts", 1)));
        let ocaml = "File \"bin/main.ml\", line 3, characters 5-8:\n3 | x\nError: Unbound value x";
        says(ocaml, "Error: Unbound value x", Some(("bin/main.ml", 3)));
        let cmake = "CMake Error at CMakeLists.txt:5 (add_x):\n  Unknown CMake command \"add_x\".";
        says(cmake, "Unknown CMake command \"add_x\".", Some(("CMakeLists.txt", 5)));
        for (line, place) in [
            ("bad.ts(1,7): error TS2322: Type 'string' is not assignable", ("bad.ts", 1)),
            ("bad.ts:1:7 - error TS2322: Type", ("bad.ts", 1)),
            ("./main.go:5:2: undefined: x", ("./main.go", 5)),
            ("vet: ./a.go:5:2: undefined: x", ("./a.go", 5)),
            ("a.c:1:10: fatal error: nope.h: No such file", ("a.c", 1)),
            ("c.py:1: error: Incompatible types  [assignment]", ("c.py", 1)),
            ("  /p/c.py:1:10 - error: Type", ("/p/c.py", 1)),
            ("a.py:1:1: F401 'os' imported but unused", ("a.py", 1)),
            ("Program.cs(5,13): error CS0103: The name", ("Program.cs", 5)),
            ("[ERROR] /x/App.java:[5,10] cannot find symbol", ("/x/App.java", 5)),
            ("/x/App.java:5: error: cannot find symbol", ("/x/App.java", 5)),
            ("e: file:///x/App.kt:5:10 Unresolved reference", ("/x/App.kt", 5)),
            ("[error] /x/A.scala:5:10: not found", ("/x/A.scala", 5)),
            ("ERROR in ./src/a.ts:5:3", ("./src/a.ts", 5)),
            ("Makefile:3: *** missing separator.  Stop.", ("Makefile", 3)),
            ("** (CompileError) lib/a.ex:3: undefined function x/0", ("lib/a.ex", 3)),
            ("PHP Parse error:  syntax error in /app/a.php on line 5", ("/app/a.php", 5)),
        ] {
            says(&format!("before\n{line}\nafter"), line.trim(), Some(place));
        }
    }

    #[test]
    fn tests_and_programs_say_why_they_failed_and_where() {
        let cargo = "test a ... FAILED\n\nthread 'a' (3) panicked at src/lib.rs:8:27:\n\
                     assertion `left == right` failed: no\n  left: 3\nerror: test failed, to rerun pass `--lib`";
        says(cargo, "assertion `left == right` failed: no", Some(("src/lib.rs", 8)));
        let pytest = ">   def test_a(): assert 1 == 3\nE   AssertionError: no\nE   assert (1 + 1) == 3\n\ntests/test_cart.py:3: AssertionError";
        says(pytest, "AssertionError: no", Some(("tests/test_cart.py", 3)));
        let python = "Traceback (most recent call last):\n  File \"/p/a.py\", line 13, in f\n    g()\n  \
                      File \"/usr/lib/python3.11/json/__init__.py\", line 346, in loads\n    x\nKeyError: 'x'";
        says(python, "KeyError: 'x'", Some(("/p/a.py", 13)));
        let syntax =
            "  File \"/p/b.py\", line 3\n    def f(\n         ^\nSyntaxError: '(' was never closed";
        says(syntax, "SyntaxError: '(' was never closed", Some(("/p/b.py", 3)));
        let jest = "FAIL jt/a.test.js\n  ● cart › adds\n\n    expect(received).toBe(expected)\n\n      at f (node_modules/x.js:1:2)\n      at Object.toBe (jt/a.test.js:2:38)";
        says(jest, "expect(received).toBe(expected)", Some(("jt/a.test.js", 2)));
        let vitest = " FAIL  vt/a.test.ts > adds\nAssertionError: expected 2 to be 3\n\n ❯ vt/a.test.ts:3:38";
        says(vitest, "AssertionError: expected 2 to be 3", Some(("vt/a.test.ts", 3)));
        let mocha = "  2) cart\n       adds:\n\n      AssertionError [ERR_ASSERTION]: no:\n      at Context.<anonymous> (mt/cart.js:3:29)";
        says(mocha, "AssertionError [ERR_ASSERTION]: no:", Some(("mt/cart.js", 3)));
        let go = "--- FAIL: TestTotal (0.00s)\n    cart_test.go:7: got 3, want 4\nFAIL";
        says(go, "cart_test.go:7: got 3, want 4", Some(("cart_test.go", 7)));
        let rspec = "  1) Cart adds\n     Failure/Error: expect(2).to eq(3)\n     # ./spec/cart_spec.rb:5:in `x'";
        says(rspec, "expect(2).to eq(3)", Some(("./spec/cart_spec.rb", 5)));
        let phpunit = "1) A::testB\nFailed asserting that 2 is 3.\n\n/app/tests/ATest.php:12";
        says(phpunit, "Failed asserting that 2 is 3.", Some(("/app/tests/ATest.php", 12)));
        let mix =
            "  1) test adds (CartTest)\n     test/cart_test.exs:5\n     Assertion with == failed";
        says(mix, "Assertion with == failed", Some(("test/cart_test.exs", 5)));
        let java = "org.opentest4j.AssertionFailedError: expected: <3>\n\tat CartTest.adds(CartTest.java:8)";
        says(
            java,
            "org.opentest4j.AssertionFailedError: expected: <3>",
            Some(("CartTest.java", 8)),
        );
    }

    #[test]
    fn else_it_is_the_line_that_calls_itself_an_error_or_the_last() {
        for (output, error) in [
            (
                "/usr/bin/python3: No module named pytest\n\n",
                "/usr/bin/python3: No module named pytest",
            ),
            ("a\nerror: no such command: `tset`\nsee help", "error: no such command: `tset`"),
            (
                "make: *** No rule to make target 'x'.  Stop.",
                "make: *** No rule to make target 'x'.  Stop.",
            ),
            (
                "[ERROR] Plugin x could not be resolved\n[ERROR] \n[ERROR] [Help 1] http://x",
                "[ERROR] Plugin x could not be resolved",
            ),
            ("[INFO] 12:30:45: error in the kitchen\nthe last", "the last"),
        ] {
            says(output, error, None);
        }
        for (last, said) in [
            ("PASS", false),
            ("running", false),
            ("running 3 tests", false),
            ("0", false),
            ("12 %", false),
            ("ok", false),
            ("✓ Compiled", false),
            ("Compiling shop v0.1.0", false),
            ("Killed", true),
            ("TypeError", true),
            ("Segmentation fault", true),
            ("sh: 1: jset: not found", true),
        ] {
            let error = if said { last } else { "no such target" };
            says(&format!("no such target\n{last}\n"), error, None);
        }
        assert_eq!(diagnosis(&["PASS", "0"]), (None, None));
        assert_eq!(diagnosis(&["", " "]), (None, None));
        assert_eq!(diagnosis(&[]), (None, None));
    }
}
