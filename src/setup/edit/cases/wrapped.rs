//! Commands of ours that the user has put something around.

use crate::setup::edit::cases::{OURS, THEIRS, converge, entries, ours_with};
use crate::setup::edit::hooks::Edited;

const SCRIPT: &str = "/home/dev/.tma1/hooks/tma1-hook.sh";

/// Commands that do nothing but run the script.
const WRAPPED: [&str; 24] = [
    "timeout 5 @",
    "timeout -k 1s --foreground 5s @",
    "timeout -s KILL 5 @",
    "FOO=1 BAR='a b' @",
    "env @",
    "/usr/bin/env -u FOO BAR=1 @",
    "nice -n 10 ionice -c2 @",
    "exec @",
    "@ || true",
    "@||:",
    "@ ; exit 0",
    "@\ntrue\n",
    "@ &",
    "@ 2>/dev/null",
    "@ >/dev/null 2>&1 || true",
    "@ --x",
    "sh -e @",
    "sh -c @",
    "bash -lc 'exec @'",
    "TMA1=1 timeout 5 sh -c \"FOO=1 @ 2>&- || true\" || exit 0",
    "[ -x @ ] && @",
    "test -f @ && sh @ || true",
    "@ # mine",
    "sh -c \"sh -c 'timeout 5 @'\"",
];

/// Commands that do something else with it, or besides it.
const MIXED: [&str; 15] = [
    "@ && notify-send done",
    "lint;@",
    "lint&@",
    "lint|@",
    "@ | tee log",
    "@ >> log",
    "@\nlint",
    "if true; then @; fi",
    "(@)",
    "echo \"$(@)\" @",
    "flock lock @",
    "watchdog --run '@ --x'",
    "sh -c '@ && notify-send done'",
    "\"$(lint)/hooks/tma1-hook.sh\"",
    "`lint`/hooks/tma1-hook.sh",
];

/// One event with `groups`.
fn of_stop(groups: &[&str]) -> String {
    format!(r#"{{"hooks":{{"Stop":[{}]}}}}"#, groups.join(","))
}

fn remove(groups: &[&str]) -> (String, Vec<String>) {
    let edited = entries(&["Stop"]).remove_from(of_stop(groups).as_bytes(), None).unwrap();
    (String::from_utf8(edited.bytes.clone()).unwrap(), remarks(&edited))
}

fn remarks(edited: &Edited) -> Vec<String> {
    edited.remarks.iter().map(ToString::to_string).collect()
}

fn marked(group: &str) -> String {
    group.replacen('{', "{\"id\":\"tma1\",", 1)
}

#[test]
fn a_wrapper_around_our_script_stays_and_goes_with_it() {
    for (wrapped, script) in WRAPPED.iter().flat_map(|wrapped| {
        [SCRIPT, "~/.tma1/hooks/tma1-hook.sh", "$HOME/.tma1/hooks/tma1-hook.sh"]
            .map(|script| (wrapped, script))
    }) {
        let group = ours_with(&wrapped.replace('@', script));
        for group in [group.clone(), marked(&group)] {
            let (after, done) = converge(&[&group, THEIRS]);
            assert_eq!((after, done.as_str()), (format!("{group},{THEIRS}"), ""), "{group}");
            // A second one, as an earlier version may have added.
            assert_eq!(converge(&[&group, OURS]), (group.clone(), "1 hook removed".to_owned()));
            assert_eq!(remove(&[&group, THEIRS]), (of_stop(&[THEIRS]), vec![]), "{group}");
        }
        // The rest of it is made right all the same.
        let slow = group.replace("5}", "60}");
        assert_eq!(converge(&[&slow]), (group, "1 hook updated".to_owned()));
    }
}

#[test]
fn a_wrapper_around_a_script_of_ours_that_is_another_goes() {
    for wrapped in WRAPPED {
        for script in ["/old/hooks/tma1-hook.sh", "~/old/hooks/tma1-hook.sh", "hooks/tma1-hook.sh"]
        {
            let group = ours_with(&wrapped.replace('@', script));
            let (after, done) = converge(&[THEIRS, &group]);
            let expected = format!("{THEIRS},{}", ours_with(SCRIPT));
            assert_eq!((after, done.as_str()), (expected, "1 hook updated"), "{group}");
        }
    }
}

#[test]
fn a_command_of_the_user_that_runs_our_script_among_others_is_the_only_one() {
    for mixed in MIXED {
        let group = ours_with(&mixed.replace('@', SCRIPT));
        assert_eq!(converge(&[&group]), (group.clone(), String::new()));
        // Under our id it is no more ours.
        assert_eq!(converge(&[&marked(&group)]), (group.clone(), String::new()));
        let installed = entries(&["Stop"]).install_into(of_stop(&[&group]).as_bytes()).unwrap();
        let users = "the hook in line 1, column 42 is yours and runs our script";
        assert_eq!(remarks(&installed), [format!("{users}, so no second one is added")]);
        let left = vec![format!("{users}; it stays, so change or remove it")];
        assert_eq!(remove(&[&group]), (of_stop(&[&group]), left));
    }
}

#[test]
fn all_hooks_of_the_user_that_run_our_script_are_counted_where_they_are_afterwards() {
    let mixed = ours_with(&format!("lint; {SCRIPT}"));
    let (after, remarks) = remove(&[OURS, THEIRS, &mixed, &mixed, &mixed]);
    assert_eq!(after, of_stop(&[THEIRS, &mixed, &mixed, &mixed]));
    let users = "the hook in line 1, column 93 is yours and runs our script (as do 2 more)";
    assert_eq!(remarks, [format!("{users}; it stays, so change or remove it")]);
}

#[test]
fn what_power_shell_runs_is_known_by_its_own_spelling() {
    let script = r"C:\Users\dev\.tma1\hooks\tma1-hook.ps1";
    let mut entries = entries(&["Stop"]);
    entries.command = format!("powershell -NoProfile -File \"{}\"", script.replace('\\', "/"));
    let converge = |group: &str| {
        let edited = entries.install_into(of_stop(&[group]).as_bytes()).unwrap();
        (String::from_utf8(edited.bytes).unwrap(), edited.tally.to_string())
    };
    for kept in [
        format!("pwsh -File \"{script}\" -Mine"),
        format!(r#""C:\Program Files\pwsh.exe" -NoLogo -File "{script}" -Mine"#),
        format!("pwsh -Command \"& '{script}'; lint\""),
        format!("pwsh -Command lint -File {script}"),
    ] {
        let group = ours_with(&kept);
        assert_eq!(converge(&group), (of_stop(&[&group]), String::new()), "{kept}");
    }
}
