//! At a terminal: the command sees one, and the user sees the same.

use std::process::Command;

use super::{bare, wrapped};
use crate::support::home::TestHome;
use crate::support::terminal::{Seen, run_at_terminal};

fn at_terminal(command: Command) -> Seen {
    run_at_terminal(command, &[])
}

#[test]
fn every_mix_of_terminal_pipe_and_file_is_seen_as_it_is() {
    let home = TestHome::new();
    let probe = "s=; for f in 0 1 2; do if test -t $f; then s=${s}t; else s=${s}n; fi; done; printf $s >> seen; \
                 echo out; echo err >&2";
    let tma1 = home.binary().display().to_string();
    let probe = shlex::try_quote(probe).unwrap().into_owned();
    let mut bare_saw = String::new();
    for input in ["", "</dev/null", "echo in |"] {
        for redirect in [
            "",
            "> out",
            "2> err",
            "> out 2> err",
            "| cat",
            "2>&1 | cat",
            "> out 2>&1",
            "2> /dev/null",
        ] {
            let saw = |program: &str| {
                drop(fs_err::remove_file(home.project().join("seen")));
                let (before, after) = if input.ends_with('|') { (input, "") } else { ("", input) };
                let line = format!("{before} {program} sh -c {probe} {after} {redirect}");
                let seen = at_terminal(bare(&home, &["sh", "-c", &line]));
                assert_eq!(seen.status, Some(0), "{line}: {seen:?}");
                let mut shown: Vec<_> = seen.raw.lines().map(str::to_owned).collect();
                shown.sort();
                (fs_err::read_to_string(home.project().join("seen")).unwrap(), shown)
            };
            let expected = saw("");
            assert_eq!(saw(&format!("{tma1} build --")), expected, "{input} {redirect}");
            bare_saw += &expected.0;
        }
    }
    assert!(bare_saw.contains("ttt") && bare_saw.contains("tnn"), "{bare_saw}");
}

#[test]
fn the_same_bytes_reach_the_terminal() {
    let home = TestHome::new();
    for (name, script) in [
        ("lines", "echo a; echo b >&2; printf 'c\\r\\nd'"),
        ("colours", "printf '\\033[1;31mred\\033[0m 10%%\\r20%%\\r\\033[Kdone\\n'"),
        ("size", "stty size; stty size <&1; stty size <&2"),
        ("modes", "stty -a | grep -o 'isig\\|.icanon\\|.echo '"),
        ("much", "seq 1 20000"),
    ] {
        let words = ["sh", "-c", script];
        let expected = at_terminal(bare(&home, &words));
        let seen = at_terminal(wrapped(&home, &[], &words));
        assert_eq!((seen.raw, seen.status), (expected.raw, expected.status), "{name}");
    }
}

#[test]
fn a_program_reads_the_terminal() {
    let home = TestHome::new();
    let ask = "printf 'name? '; read name; printf 'again? ' >&2; read more < /dev/tty || read more; \
               echo \"hello $name and $more\"";
    let script = shlex::try_quote(ask).unwrap().into_owned();
    let tma1 = home.binary().display().to_string();
    let answers = [("name? ", "Ada\n"), ("again? ", "Bob\n")];
    // With a terminal that is its own, so that `/dev/tty` is there.
    for program in ["", &format!("{tma1} build -- ")] {
        let line = format!("{program}sh -c {script}");
        let seen = run_at_terminal(bare(&home, &["sh", "-c", &line]), &answers);
        assert!(seen.text().contains("hello Ada and Bob"), "{program}: {seen:?}");
        assert_eq!(seen.status, Some(0));
    }
}

/// A crate that compiles, and fails to once `broken` is in it.
fn cargo_build(home: &TestHome, options: &[&str], wraps: bool) -> Seen {
    drop(fs_err::remove_dir_all(home.project().join("target")));
    let cargo = std::path::Path::new(env!("CARGO"));
    let words = [cargo.to_str().unwrap(), "build", "--offline"];
    let mut command = if wraps { wrapped(home, options, &words) } else { bare(home, &words) };
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", cargo.parent().unwrap().display());
    command.env("PATH", path).env("CARGO_TERM_PROGRESS_WHEN", "always");
    command.env("CARGO_TERM_PROGRESS_WIDTH", "80").env("CARGO_BUILD_JOBS", "1");
    at_terminal(command)
}

/// What stays on the screen; times differ.
fn lasting(seen: &Seen) -> Vec<String> {
    let text = console::strip_ansi_codes(&seen.raw).into_owned();
    let lines = text.split('\n').map(|line| {
        let line = line.trim_end_matches('\r');
        line.rsplit('\r').next().unwrap_or(line).trim().to_owned()
    });
    let timeless = |line: String| line.split(" in ").next().unwrap_or_default().to_owned();
    lines.map(timeless).filter(|line| !line.is_empty()).collect()
}

#[test]
fn cargo_shows_its_colours_and_progress() {
    let home = TestHome::new();
    let source = home.project().join("src");
    fs_err::create_dir_all(&source).unwrap();
    let manifest = "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    fs_err::write(home.project().join("Cargo.toml"), manifest).unwrap();
    for (text, status) in [("fn main() {}\n", 0), ("fn main() { let x: u8 = \"\"; }\n", 101)] {
        fs_err::write(source.join("main.rs"), text).unwrap();
        let (expected, seen) = (cargo_build(&home, &[], false), cargo_build(&home, &[], true));
        assert_eq!((seen.status, expected.status), (Some(status), Some(status)), "{seen:?}");
        assert_eq!(lasting(&seen), lasting(&expected));
        for sign in ["\u{1b}[", "Building", "Compiling"] {
            assert!(seen.raw.contains(sign) && expected.raw.contains(sign), "{sign}: {seen:?}");
        }
        let plain = cargo_build(&home, &["--no-color"], true);
        assert!(!plain.raw.contains("\u{1b}[1m"), "{plain:?}");
    }
}
