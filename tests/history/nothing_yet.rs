//! Before anything was recorded.

use crate::support::home::TestHome;

const COMMANDS: [&[&str]; 5] =
    [&["sessions"], &["show", "x"], &["search", "x"], &["anomalies"], &["query", "SELECT 1"]];

#[test]
fn there_is_a_friendly_word_and_no_error() {
    let home = TestHome::new();
    for command in COMMANDS {
        let run = home.tma1(command).succeeded();
        assert!(run.stdout.starts_with("There is nothing here yet"), "{command:?}: {run:#?}");
        let run = home.tma1(&[command, &["--json"]].concat()).succeeded();
        assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("[]\n", ""), "{command:?}");
    }
    assert_eq!(home.tma1(&["export"]).succeeded().stdout, "");
    // Nothing was made by looking.
    assert!(!home.home().join(".tma1").exists());
}

#[test]
fn the_context_needs_the_daemon() {
    let home = TestHome::new();
    let run = home.tma1(&["context"]);
    assert_eq!((run.status, run.stdout.as_str()), (Some(1), ""));
    assert!(run.stderr.contains("hint: `tma1 start` starts it"), "{}", run.stderr);
}
