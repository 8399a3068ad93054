//! On a terminal: colours, its width, a pager.

use std::process::Command;

use super::story::told;
use crate::support::home::TestHome;
use crate::support::terminal::{Seen, run_at_terminal};

/// What is to be seen of `command` at a terminal of this size, with `PAGER` set.
fn seen(home: &TestHome, size: &str, pager: &str, arguments: &str) -> Seen {
    let binary = home.binary();
    let line = format!("stty {size} && exec {} {arguments}", binary.display());
    let mut command: Command = home.command("sh");
    command.args(["-c", &line]).env("TZ", "UTC").env("PAGER", pager);
    run_at_terminal(command, &[])
}

#[test]
fn a_table_fits_the_terminal_and_has_colours() {
    let home = told();
    for columns in [40, 60, 120] {
        let seen = seen(&home, &format!("cols {columns} rows 50"), "false", "sessions");
        assert_eq!(seen.status, Some(0));
        assert!(seen.raw.contains("\u{1b}[36m"), "{}", seen.raw);
        let text = seen.text();
        assert!(text.contains("0199c000"), "{text}");
        for line in text.lines() {
            assert!(console::measure_text_width(line) <= columns, "{columns}: {line}");
        }
    }
}

#[test]
fn what_does_not_fit_goes_through_the_pager() {
    let home = told();
    let paged = seen(&home, "cols 120 rows 3", "tr a-z A-Z", "sessions");
    assert!(paged.text().contains("SESSION") && paged.text().contains("CLAUDE"), "{}", paged.raw);
    let short = seen(&home, "cols 120 rows 50", "tr a-z A-Z", "sessions");
    assert!(short.text().contains("claude"), "{}", short.raw);
    // One that is not there, one that reads nothing, and none.
    for (pager, shown) in [("/no/such/pager", true), ("true", false), ("cat", true), ("'", true)] {
        let seen = seen(&home, "cols 120 rows 3", pager, "show 0199c --agent codex");
        assert_eq!((seen.status, seen.text().contains("prompt")), (Some(0), shown), "{pager}");
    }
}
