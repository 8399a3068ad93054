//! In pipes and files: the same bytes, the same end.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use super::{bare, run, wrapped};
use crate::support::home::TestHome;
use crate::support::process::signal;
use crate::support::scale;

#[test]
fn what_it_writes_and_how_it_ends_is_the_same() {
    let home = TestHome::new();
    for (name, script, input) in [
        ("both streams", "echo out; echo err >&2; exit 3", ""),
        ("nothing", "exit 0", ""),
        ("no end of line", "printf a; printf b >&2; exit 255", ""),
        ("input", "cat; cat >&2", "one\ntwo"),
        ("unread input", "exit 1", "one\ntwo"),
        ("one stream for both", "exec 2>&1; for i in 1 2 3; do echo o$i; echo e$i >&2; done", ""),
        (
            "all bytes",
            r"i=0; while [ $i -lt 256 ]; do printf \\$(printf %03o $i); i=$((i+1)); done",
            "",
        ),
        ("binary", "head -c 300000 /proc/self/exe; head -c 70000 /dev/zero >&2", ""),
        ("colours in a pipe", r"printf '\033[31mred\033[0m\r\n10%%\r20%%\n'", ""),
        ("a crash", "echo before; kill -SEGV $$", ""),
        ("an abort", "kill -ABRT $$", ""),
        ("killed", "kill -KILL $$", ""),
        ("terminated", "kill -TERM $$", ""),
        ("interrupted", "kill -INT $$", ""),
        ("hung up", "kill -HUP $$", ""),
        (
            "what it sees",
            "for f in 0 1 2; do test -t $f; echo $?; test -p /dev/fd/$f; echo $?; done",
            "",
        ),
        ("its place", "pwd; echo $0 $HOME $TERM; umask", ""),
        ("a stray process", "(sleep 0.3; echo late) & echo early", ""),
    ] {
        let words = ["sh", "-c", script];
        let expected = run(bare(&home, &words), input.as_bytes());
        assert_eq!(run(wrapped(&home, &[], &words), input.as_bytes()), expected, "{name}");
    }
}

#[test]
fn the_order_of_both_streams_is_kept_where_they_are_one() {
    let home = TestHome::new();
    let script = "i=0; while [ $i -lt 500 ]; do echo o$i; echo e$i >&2; i=$((i+1)); done";
    let file = home.tmp().join("both");
    let pairs: Vec<_> = (0..500).map(|number| format!("o{number}\ne{number}\n")).collect();
    let expected = pairs.concat();
    let both = fs_err::File::create(&file).unwrap().into_parts().0;
    let mut command = wrapped(&home, &[], &["sh", "-c", script]);
    command.stdin(Stdio::null()).stdout(both.try_clone().unwrap()).stderr(both);
    assert!(command.status().unwrap().success());
    assert_eq!(fs_err::read_to_string(&file).unwrap(), expected);
}

#[test]
fn a_command_that_can_not_be_run_ends_as_in_a_shell() {
    let home = TestHome::new();
    let path = home.project().join("plain");
    fs_err::write(&path, "echo plain $1\n").unwrap();
    let plain = path.to_str().unwrap();
    let said = |ended: &super::Ended| String::from_utf8(ended.stderr.clone()).unwrap();
    let ended = run(wrapped(&home, &[], &["no-such-command", "x"]), b"");
    assert_eq!(ended.status, Some(127), "{ended:?}");
    assert_eq!(said(&ended), "tma1 build: no-such-command: command not found\n");
    let ended = run(wrapped(&home, &[], &[plain]), b"");
    assert_eq!(ended.status, Some(126), "{ended:?}");
    assert!(said(&ended).contains("Permission denied"), "{ended:?}");
    assert_eq!(run(wrapped(&home, &[], &["/no/such"]), b"").status, Some(127));
    // A script that names no interpreter is the shell's.
    fs_err::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let ended = run(wrapped(&home, &[], &[plain, "arg"]), b"");
    assert_eq!((ended.status, &*ended.stdout), (Some(0), &b"plain arg\n"[..]));
    for usage in
        [&["build"][..], &["build", "make"], &["build", "--filter-regex", "(", "--", "make"]]
    {
        assert_eq!(home.tma1(usage).status, Some(2), "{usage:?}");
    }
}

#[test]
fn much_output_comes_whole() {
    let home = TestHome::new();
    let bytes = 20_000_000 * scale();
    let script = format!("yes 'a line of some length, as builds write it' | head -c {bytes}");
    let sum = |command: &str| {
        let line = format!("{command} | cksum");
        let ended = run(bare(&home, &["sh", "-c", &line]), b"");
        String::from_utf8(ended.stdout).unwrap()
    };
    let quoted = shlex::try_quote(&script).unwrap().into_owned();
    let expected = sum(&format!("sh -c {quoted}"));
    assert!(expected.contains(&bytes.to_string()), "{expected}");
    let tma1 = home.binary().display().to_string();
    assert_eq!(sum(&format!("{tma1} build -- sh -c {quoted}")), expected);
}

#[test]
fn parallel_makes_lines_come_whole_and_all() {
    let home = TestHome::new();
    if Command::new("make").arg("-v").output().is_err() {
        crate::support::npm::skip("make is not installed");
        return;
    }
    let targets: Vec<String> = (0..40).map(|number| format!("t{number}")).collect();
    let rule = "@for i in 1 2 3 4 5; do echo out $@ $$i; echo err $@ $$i >&2; done";
    let makefile = format!("all: {0}\n{0}:\n\t{rule}\n", targets.join(" "));
    fs_err::write(home.project().join("Makefile"), makefile).unwrap();
    let lines = |bytes: &[u8]| {
        let mut lines: Vec<_> =
            std::str::from_utf8(bytes).unwrap().lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let words = ["make", "-j8"];
    let (expected, ended) = (run(bare(&home, &words), b""), run(wrapped(&home, &[], &words), b""));
    assert_eq!(ended.status, Some(0));
    assert_eq!(lines(&ended.stdout).len(), 200);
    assert_eq!(lines(&ended.stdout), lines(&expected.stdout));
    assert_eq!(lines(&ended.stderr), lines(&expected.stderr));
}

#[test]
fn output_comes_at_once_and_a_reader_that_goes_ends_the_command() {
    let home = TestHome::new();
    let mut command = wrapped(&home, &[], &["sh", "-c", "echo first; read x; echo second $x"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    assert_eq!(line, "first\n");
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"x\n").unwrap();
    lines.read_line(&mut line).unwrap();
    assert_eq!(line, "first\nsecond x\n");
    assert!(child.wait().unwrap().success());
    let mut child = wrapped(&home, &[], &["yes"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut [0; 100]).unwrap();
    drop(stdout);
    // SIGPIPE, as without us.
    assert_eq!(child.wait().unwrap().signal(), Some(13));
}

#[test]
fn signals_to_us_reach_the_command_once_and_leave_nobody_behind() {
    let home = TestHome::new();
    for (name, number) in [("TERM", 15), ("INT", 2), ("HUP", 1), ("USR1", 10)] {
        let script = format!(
            "n=0; trap 'n=$((n+1))' {name}; echo $$; i=0; \
             while [ $i -lt 60 ]; do sleep 0.05; [ $n -gt 0 ] && i=$((i+6)); done; echo got $n; exit 7"
        );
        let mut child =
            wrapped(&home, &[], &["sh", "-c", &script]).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let pid = lines.next().unwrap().unwrap();
        signal(name, child.id());
        assert_eq!(lines.next().unwrap().unwrap(), "got 1", "{name}");
        assert_eq!(child.wait().unwrap().code(), Some(7), "{name}");
        assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists(), "{name}");
        let mut child = wrapped(&home, &[], &["sh", "-c", "echo on; exec sleep 60"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        lines.next().unwrap().unwrap();
        signal(name, child.id());
        assert_eq!(child.wait().unwrap().signal(), Some(number), "{name}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_is_ignored_stays_ignored() {
    let home = TestHome::new();
    let tma1 = home.binary().display().to_string();
    let probe = "grep SigIgn /proc/self/status";
    let script = |command: &str| format!("trap '' HUP INT USR1; {command}");
    let expected = run(bare(&home, &["sh", "-c", &script(probe)]), b"");
    let through = script(&format!("{tma1} build -- {probe}"));
    let ended = run(bare(&home, &["sh", "-c", &through]), b"");
    // The last 31: those of threads are ignored in all that is spawned.
    let named = |ended: &super::Ended| {
        let text = String::from_utf8(ended.stdout.clone()).unwrap();
        u64::from_str_radix(text.trim_start_matches("SigIgn:").trim(), 16).unwrap() & 0x7fff_ffff
    };
    assert_eq!(named(&ended), named(&expected));
    assert_eq!(named(&ended), 0x203);
}
