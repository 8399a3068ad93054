//! The review of our hooks, recorded by the real Codex.

use std::path::Path;
use std::time::Duration;

use serde_json::json;
use tma1::config::Environment;
use tma1::setup::codex_trust::{AppServer, Listing, TrustStatus};

use super::codex::{Codex, hook, hook_complaints, hooks_run};
use super::mock_openai::{MockOpenai, Turn};
use crate::support::home::TestHome;
use crate::support::process::Run;

/// The command, trust and switch of each hook, in order.
fn states(listing: &Listing) -> Vec<(&str, TrustStatus, bool)> {
    let hooks = listing.hooks.iter();
    hooks.map(|hook| (hook.command.as_deref().unwrap(), hook.trust_status, hook.enabled)).collect()
}

/// The app-server of Codex in the environment of `home`.
fn app_server(codex: &Codex, home: &TestHome) -> AppServer {
    let command = home.command(&codex.program);
    let environment: Environment =
        command.get_envs().filter_map(|(name, value)| Some((name, value?))).collect();
    AppServer::start(&codex.program, &environment).unwrap()
}

#[test]
fn our_hooks_run_once_they_are_trusted_and_those_of_others_do_not() {
    let Some(codex) = Codex::installed() else {
        return;
    };
    let home = TestHome::new();
    let (ours, theirs) = ("echo >> ours", "echo >> theirs");
    let both = json!([hook(theirs)[0], hook(ours)[0]]);
    Codex::configure(&home, &json!({"Stop": both, "UserPromptSubmit": hook(ours)}));
    let config = home.home().join(".codex/config.toml");
    let before = fs_err::read_to_string(&config).unwrap();
    let project = home.project();

    let mut server = app_server(&codex, &home);
    let listing = server.hooks(&project).unwrap();
    let untrusted = |command| (command, TrustStatus::Untrusted, true);
    assert_eq!(states(&listing), [ours, theirs, ours].map(untrusted), "{listing:#?}");
    assert_eq!(listing.warnings, [""; 0]);
    assert_eq!(server.trust(&listing, ours).unwrap(), 2);

    let expected =
        [(ours, TrustStatus::Trusted, true), untrusted(theirs), (ours, TrustStatus::Trusted, true)];
    assert_eq!(states(&server.hooks(&project).unwrap()), expected);
    drop(server);
    let mut server = app_server(&codex, &home);
    assert_eq!(states(&server.hooks(&project).unwrap()), expected);
    let after = fs_err::read_to_string(&config).unwrap();
    assert!(after.starts_with(&before), "{after}");
    assert_eq!(after.matches("trusted_hash").count(), 2, "{after}");
    drop(server);

    let mock = MockOpenai::start([Turn::text("All done.")]);
    let run = codex.exec(&home, &mock, &["go"]).succeeded();
    assert_eq!(hooks_run(&run), ["UserPromptSubmit", "Stop"]);
    assert_eq!(hook_complaints(&run), [""; 0]);
    assert_eq!(fs_err::read_to_string(project.join("ours")).unwrap(), "\n\n");
    assert!(!project.join("theirs").exists());
}

/// `tma1` with this Codex on the PATH.
#[cfg(unix)]
fn tma1_beside(codex: &Codex, home: &TestHome, arguments: &[&str]) -> Run {
    let folder = home.tmp().join("bin");
    fs_err::create_dir_all(&folder).unwrap();
    if !folder.join("codex").exists() {
        fs_err::os::unix::fs::symlink(&codex.program, folder.join("codex")).unwrap();
    }
    let path = format!("{}:/usr/bin:/bin", folder.display());
    Run::of(home.tma1_command(arguments).env("PATH", path), Duration::from_secs(60))
}

#[cfg(unix)]
#[test]
fn install_records_trust_only_when_it_is_told_to() {
    let Some(codex) = Codex::installed() else {
        return;
    };
    let home = TestHome::new();
    Codex::configure(&home, &json!({"Stop": hook("echo >> theirs")}));
    let config = home.home().join(".codex/config.toml");
    let before = fs_err::read_to_string(&config).unwrap();
    let install = ["install", "--adapter", "codex"];
    let run = tma1_beside(&codex, &home, &install).succeeded();
    assert!(run.stdout.contains("Codex runs no new hook before you trust it"), "{run:#?}");
    let ours = |listing: &Listing, status| {
        let hooks = listing.hooks.iter();
        hooks
            .filter(|hook| {
                let command = hook.command.as_deref().unwrap();
                command.contains("tma1-hook-codex.sh") && hook.trust_status == status
            })
            .count()
    };
    let listing = app_server(&codex, &home).hooks(&home.home()).unwrap();
    assert_eq!(ours(&listing, TrustStatus::Untrusted), 5, "{listing:#?}");

    let trusting = [&install[..], &["--trust-codex-hooks"]].concat();
    tma1_beside(&codex, &home, &trusting).succeeded();
    let listing = app_server(&codex, &home).hooks(&home.home()).unwrap();
    assert_eq!(ours(&listing, TrustStatus::Trusted), 5, "{listing:#?}");
    let theirs = listing.running("echo >> theirs").next().unwrap();
    assert_eq!(theirs.trust_status, TrustStatus::Untrusted);
    // Installing again changes no position and no hash.
    tma1_beside(&codex, &home, &install).succeeded();
    let listing = app_server(&codex, &home).hooks(&home.home()).unwrap();
    assert_eq!(ours(&listing, TrustStatus::Trusted), 5, "{listing:#?}");

    let uninstall = ["uninstall", "--adapter", "codex"];
    tma1_beside(&codex, &home, &uninstall).succeeded();
    let listing = app_server(&codex, &home).hooks(&home.home()).unwrap();
    assert_eq!(states(&listing), [("echo >> theirs", TrustStatus::Untrusted, true)]);
    assert_eq!(listing.warnings, [""; 0]);
    assert_eq!(fs_err::read_to_string(&config).unwrap(), before);
}

#[test]
fn a_hook_that_was_changed_or_switched_off_is_told_apart() {
    let Some(codex) = Codex::installed() else {
        return;
    };
    let home = TestHome::new();
    Codex::configure(&home, &json!({"Stop": hook("true")}));
    let mut server = app_server(&codex, &home);
    let listing = server.hooks(&home.project()).unwrap();
    assert_eq!(server.trust(&listing, "true").unwrap(), 1);
    let config = home.home().join(".codex/config.toml");
    let off = fs_err::read_to_string(&config).unwrap() + "enabled = false # too loud\n";
    fs_err::write(&config, &off).unwrap();
    let mut slower = hook("true");
    slower[0]["hooks"][0]["timeout"] = json!(6);
    let file = json!({"hooks": {"Stop": slower}}).to_string();
    fs_err::write(home.home().join(".codex/hooks.json"), file).unwrap();

    let mut server = app_server(&codex, &home);
    let changed = server.hooks(&home.project()).unwrap();
    assert_eq!(states(&changed), [("true", TrustStatus::Modified, false)]);
    // What the user saw is no longer there.
    assert_eq!(server.trust(&listing, "true").unwrap(), 0);
    assert_eq!(server.trust(&changed, "true").unwrap(), 1);
    let listing = server.hooks(&home.project()).unwrap();
    assert_eq!(states(&listing), [("true", TrustStatus::Trusted, false)]);
    assert!(fs_err::read_to_string(&config).unwrap().contains("enabled = false # too loud\n"));
}

#[test]
fn files_that_codex_can_not_read_are_named() {
    let Some(codex) = Codex::installed() else {
        return;
    };
    let warnings = |file: &str, text: &str| {
        let home = TestHome::new();
        Codex::configure(&home, &json!({}));
        fs_err::write(home.home().join(".codex").join(file), text).unwrap();
        let listing = app_server(&codex, &home).hooks(Path::new("/")).unwrap();
        assert_eq!(listing.hooks, []);
        listing.warnings
    };
    for (file, text) in [("hooks.json", r#"{"version": 1}"#), ("config.toml", "model = = 1\n")] {
        let warnings = warnings(file, text);
        assert!(matches!(&warnings[..], [one] if one.contains(file)), "{warnings:?}");
    }
}
