//! Whether what a long-running command watches is all right, by the lines that such commands write when
//! they have looked again.

/// What a line says of a command that goes on and on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It looks again: what was said before is over.
    Begins,
    /// All is right.
    Green,
    /// Something is wrong.
    Red,
}

/// What to look for in a line.
enum Sign {
    /// It begins so.
    Start(&'static str),
    /// It has this in it.
    Part(&'static str),
    /// It begins with the one and has the other in it.
    Both(&'static str, &'static str),
}

impl Sign {
    fn is_in(&self, line: &str) -> bool {
        match self {
            Self::Start(start) => line.starts_with(start),
            Self::Part(part) => line.contains(part),
            Self::Both(start, part) => line.starts_with(start) && line.contains(part),
        }
    }
}

use Sign::{Both, Part, Start};
use Verdict::{Begins, Green, Red};

/// The lines of each tool; the first sign that is found decides.
const SIGNS: [(Verdict, Sign); 53] = [
    // tsc --watch, also behind a time.
    (Begins, Part("Starting compilation in watch mode")),
    (Begins, Part("File change detected. Starting incremental compilation")),
    (Green, Part("Found 0 errors. Watching for file changes")),
    (Red, Both("Found ", " Watching for file changes")),
    (Red, Part(" errors. Watching for file changes")),
    (Red, Part(" error. Watching for file changes")),
    // webpack, webpack-dev-server, create-react-app, vue-cli.
    (Red, Both("webpack ", "compiled with")),
    (Green, Both("webpack ", "compiled successfully")),
    (Red, Start("Failed to compile")),
    (Red, Start("ERROR  Failed to compile")),
    (Begins, Start("Compiling...")),
    (Green, Start("Compiled successfully")),
    (Green, Start("DONE  Compiled successfully")),
    (Green, Start("Compiled with warnings")),
    // vite.
    (Red, Part("[vite] Internal server error")),
    (Red, Part("[vite] (client) Pre-transform error")),
    (Red, Part("[vite] Pre-transform error")),
    (Red, Start("error during build")),
    (Red, Start("✗ Build failed")),
    (Green, Part("[vite] hmr update")),
    (Green, Part("[vite] (client) hmr update")),
    (Green, Part("[vite] page reload")),
    (Green, Part("[vite] (client) page reload")),
    (Green, Both("VITE v", "ready in")),
    (Begins, Start("build started...")),
    (Green, Start("✓ built in")),
    (Green, Start("built in ")),
    // next dev.
    (Begins, Start("○ Compiling")),
    (Green, Start("✓ Compiled")),
    (Green, Start("✓ Ready in")),
    (Red, Start("⨯ ")),
    // cargo watch, bacon, cargo itself.
    (Begins, Start("[Running '")),
    (Green, Start("[Finished running. Exit status: 0]")),
    (Red, Start("[Finished running. Exit status:")),
    (Red, Start("error: could not compile")),
    (Red, Start("error: test failed")),
    (Green, Start("test result: ok")),
    (Red, Start("test result: FAILED")),
    (Green, Start("Finished `")),
    // jest --watch, vitest.
    (Begins, Start("RERUN ")),
    (Red, Both("Test Suites:", " failed")),
    (Green, Both("Test Suites:", " passed")),
    (Red, Both("Tests:", " failed")),
    (Green, Both("Tests:", " passed")),
    (Red, Start("FAIL  Tests failed. Watching")),
    (Green, Start("PASS  Waiting for file changes")),
    // nodemon.
    (Red, Start("[nodemon] app crashed")),
    (Begins, Start("[nodemon] restarting due to changes")),
    (Green, Start("[nodemon] clean exit")),
    // air.
    (Begins, Start("building...")),
    (Red, Start("failed to build")),
    (Green, Start("running...")),
    // esbuild --watch.
    (Green, Start("[watch] build finished")),
];

/// What `line` says, if it is one of those that say something.
pub(super) fn verdict(line: &str) -> Option<Verdict> {
    let line = line.trim_start().trim_start_matches(['➜', '>', '×', '│']).trim_start();
    // `webpack 5.9 compiled with 1 warning in 80 ms`.
    let only_warns =
        line.starts_with("webpack ") && !line.contains("error") && line.contains("warning");
    if only_warns {
        return Some(Green);
    }
    SIGNS.iter().find(|(_, sign)| sign.is_in(line)).map(|(verdict, _)| *verdict)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the tools write, from their start over a fault and its repair, with what it comes to.
    const OUTPUTS: &[(&str, &str, &[Verdict])] = &[
        (
            "vite",
            "  VITE v5.4.2  ready in 312 ms\n\n  ➜  Local:   http://localhost:5173/\n\
             10:21:03 AM [vite] Internal server error: Failed to resolve import \"./nope\"\n\
             10:21:44 AM [vite] hmr update /src/App.tsx\n",
            &[Green, Red, Green],
        ),
        (
            "vite 6",
            "  VITE v6.0.1  ready in 98 ms\n\
             10:21:03 AM [vite] (client) Pre-transform error: Unexpected token (3:1)\n\
             10:21:09 AM [vite] (client) page reload index.html\n",
            &[Green, Red, Green],
        ),
        (
            "vite build --watch",
            "build started...\n✓ 34 modules transformed.\n✓ built in 512ms\nbuild started...\n\
             error during build:\nRollupError: Could not resolve \"./x\"\n",
            &[Begins, Green, Begins, Red],
        ),
        (
            "webpack",
            "asset main.js 1.2 KiB [emitted]\nwebpack 5.91.0 compiled successfully in 812 ms\n\
             ERROR in ./src/index.js 3:7\nwebpack 5.91.0 compiled with 1 error in 90 ms\n\
             webpack 5.91.0 compiled with 1 warning in 80 ms\n",
            &[Green, Red, Green],
        ),
        (
            "react-scripts",
            "Compiling...\nFailed to compile.\n\nModule not found\nCompiling...\n\
             Compiled successfully!\n",
            &[Begins, Red, Begins, Green],
        ),
        (
            "tsc --watch",
            "10:00:01 AM - Starting compilation in watch mode...\n\n\
             src/a.ts:3:5 - error TS2322: Type 'string' is not assignable to type 'number'.\n\n\
             10:00:03 AM - Found 1 error. Watching for file changes.\n\n\
             10:01:00 AM - File change detected. Starting incremental compilation...\n\n\
             10:01:00 AM - Found 0 errors. Watching for file changes.\n",
            &[Begins, Red, Begins, Green],
        ),
        (
            "cargo watch",
            "[Running 'cargo check']\nerror[E0308]: mismatched types\n\
             error: could not compile `shop` (lib) due to 1 previous error\n\
             [Finished running. Exit status: 101]\n[Running 'cargo check']\n\
             \u{20}   Finished `dev` profile [unoptimized] target(s) in 0.3s\n\
             [Finished running. Exit status: 0]\n",
            &[Begins, Red, Red, Begins, Green, Green],
        ),
        (
            "jest --watch",
            "FAIL src/a.test.js\n  ● adds\n\nTest Suites: 1 failed, 1 passed, 2 total\n\
             Tests:       1 failed, 3 passed, 4 total\nRan all test suites.\n\
             PASS src/a.test.js\nTest Suites: 2 passed, 2 total\nTests:       4 passed, 4 total\n",
            &[Red, Red, Green, Green],
        ),
        (
            "vitest",
            " RERUN  src/a.ts x1\n ❯ src/a.test.ts (1)\n\
             \u{20}FAIL  Tests failed. Watching for file changes...\n\
             \u{20}PASS  Waiting for file changes...\n",
            &[Begins, Red, Green],
        ),
        (
            "next dev",
            " ✓ Ready in 2.3s\n ○ Compiling /page ...\n ⨯ ./app/page.tsx:3:1\nModule not found\n\
             \u{20}✓ Compiled /page in 200ms (412 modules)\n",
            &[Green, Begins, Red, Green],
        ),
        (
            "nodemon",
            "[nodemon] starting `node app.js`\nReferenceError: x is not defined\n\
             [nodemon] app crashed - waiting for file changes before starting...\n\
             [nodemon] restarting due to changes...\n[nodemon] clean exit - waiting for changes\n",
            &[Red, Begins, Green],
        ),
        (
            "air",
            "building...\n# shop\n./main.go:7:2: undefined: x\n\
             failed to build, error: exit status 1\nmain.go has changed\nbuilding...\nrunning...\n",
            &[Begins, Red, Begins, Green],
        ),
        ("esbuild --watch", "[watch] build finished, watching for changes...\n", &[Green]),
        ("no such tool", "listening on :8080\nGET / 200\nerror handler installed\n", &[]),
    ];

    #[test]
    fn the_tools_are_understood() {
        for (tool, output, expected) in OUTPUTS {
            let verdicts: Vec<_> = output.lines().filter_map(verdict).collect();
            assert_eq!(verdicts, *expected, "{tool}");
        }
    }
}
