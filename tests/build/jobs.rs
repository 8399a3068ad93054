//! In a shell with job control: what the user types does what it does without us.

use std::process::Command;

use crate::support::home::TestHome;
use crate::support::tui::Tui;

/// An interactive shell in a terminal of its own, and the terminal's name.
fn shell(home: &TestHome) -> (Tui, String) {
    let mut bash = home.command("bash");
    bash.args(["--norc", "--noprofile", "-i"]).env("PS1", "$ ");
    let mut shell = Tui::start(&bash);
    let name = home.tmp().join("tty");
    shell.enter(&format!(
        "tma1={}; tty > {}; stty -a | cksum > before",
        home.binary().display(),
        name.display()
    ));
    shell.wait_until("the shell", || home.project().join("before").exists());
    let read = || fs_err::read_to_string(&name).unwrap_or_default().trim().to_owned();
    shell.wait_until("the name of the terminal", || !read().is_empty());
    let terminal = read();
    (shell, terminal)
}

/// Waits until the terminal is as it was in the beginning.
fn assert_restored(home: &TestHome, shell: &mut Tui) {
    shell.enter("stty -a | cksum > after; echo looked''again");
    shell.wait_until("a look at the modes", || shell.text().contains("lookedagain"));
    let read = |name: &str| fs_err::read_to_string(home.project().join(name)).unwrap();
    assert_eq!(read("after"), read("before"));
}

#[test]
fn interrupt_ends_a_whole_pipeline() {
    let home = TestHome::new();
    let (mut shell, _) = shell(&home);
    shell.enter("$tma1 build -- sh -c 'echo be''gun; sleep 60' | cat");
    shell.wait_until("the command", || shell.text().contains("begun"));
    shell.press(b"\x03");
    shell.enter("echo ended''by ${PIPESTATUS[*]}");
    shell.wait_until("its end", || shell.text().contains("endedby130130"));
    // And one that goes on after it, once for each time.
    shell.enter(
        "$tma1 build -- bash -c 'trap \"echo gotit\" INT; echo no''w; sleep 60; sleep 60; exit 5'",
    );
    shell.wait_until("the command", || shell.text().contains("now"));
    shell.press(b"\x03");
    shell.wait_until("its answer", || shell.text().matches("gotit").count() == 2);
    shell.press(b"\x03");
    shell.enter("echo stat''us $?");
    shell.wait_until("its status", || shell.text().contains("status5"));
    // Twice typed as a part of the trap, and twice said.
    assert_eq!(shell.text().matches("gotit").count(), 3);
    assert_restored(&home, &mut shell);
}

#[test]
fn suspend_stops_both_and_fg_goes_on_with_both() {
    let home = TestHome::new();
    let (mut shell, _) = shell(&home);
    shell.enter("$tma1 build -- bash -c 'echo wai''ting; read x; echo \"re''ad $x\"; exit 4'");
    shell.wait_until("the command", || shell.text().contains("waiting"));
    shell.press(b"\x1a");
    shell.wait_until("the stop", || shell.text().contains("Stopped"));
    shell.enter("jobs -s | wc -l | sed s/^/stopped:/; fg");
    shell.wait_until("the jobs", || shell.text().contains("stopped:1"));
    shell.enter("something");
    shell.wait_until("what it read", || shell.text().contains("readsomething"));
    shell.enter("echo stat''us $?");
    shell.wait_until("its status", || shell.text().contains("status4"));
    assert_restored(&home, &mut shell);
}

#[test]
fn a_new_size_reaches_the_command() {
    let home = TestHome::new();
    let (mut shell, terminal) = shell(&home);
    let wait = "trap \"stty size <&1; exit\" WINCH; echo rea''dy; while :; do sleep 0.1; done";
    shell.enter(&format!("$tma1 build -- bash -c '{wait}'"));
    shell.wait_until("the command", || shell.text().contains("ready"));
    let resized = Command::new("stty").args(["-F", &terminal, "rows", "22", "cols", "77"]).status();
    assert!(resized.unwrap().success());
    shell.wait_until("the size", || shell.text().contains("2277"));
}

#[test]
fn a_pager_works_and_gives_the_terminal_back() {
    let home = TestHome::new();
    if Command::new("less").arg("-V").output().is_err() {
        crate::support::npm::skip("less is not installed");
        return;
    }
    let (mut shell, _) = shell(&home);
    shell.enter("seq -f 'line%g.' 1 500 > long; $tma1 build -- less long");
    shell.wait_until("the first page", || shell.text().contains("line5."));
    assert!(!shell.text().contains("line500."), "{}", shell.text());
    shell.press(b"G");
    shell.wait_until("the last page", || shell.text().contains("line500."));
    shell.press(b"q");
    shell.wait_until("the prompt", || shell.text().ends_with('$'));
    assert_restored(&home, &mut shell);
}

#[test]
fn a_program_that_draws_with_curses_gets_its_keys_one_by_one() {
    let home = TestHome::new();
    if !Command::new("python3")
        .args(["-c", "import curses"])
        .output()
        .is_ok_and(|it| it.status.success())
    {
        crate::support::npm::skip("there is no curses");
        return;
    }
    let script = "import curses\ndef main(screen):\n    screen.addstr('press')\n    screen.refresh()\n    \
                  key = screen.getkey()\n    open('key', 'w').write(key)\ncurses.wrapper(main)\n";
    fs_err::write(home.project().join("draw.py"), script).unwrap();
    let (mut shell, _) = shell(&home);
    shell.enter("clear; $tma1 build -- python3 draw.py");
    shell.wait_until("its screen", || shell.text().contains("press"));
    shell.press(b"k");
    let key = || fs_err::read_to_string(home.project().join("key")).unwrap_or_default();
    shell.wait_until("the key", || key() == "k");
    assert_restored(&home, &mut shell);
}
