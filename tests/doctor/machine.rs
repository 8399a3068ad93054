//! Settings of the machine, which a test can't write where they are.

use std::path::Path;

use tma1::config::{Config, Environment};
use tma1::doctor::{Status, Subject, examine};
use tma1::paths::Paths;

use super::scene::Scene;

/// The faults that are found where the machine has `text` in its `file`.
fn faults(file: &str, text: &str) -> Vec<(String, Status)> {
    let scene = Scene::healthy();
    let system = scene.home.tmp().join("system");
    let path = system.join(file);
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    fs_err::write(path, text).unwrap();
    let home = scene.home.home();
    let port = scene.home.port().to_string();
    let environment = Environment::from_iter([
        ("HOME", home.to_str().unwrap()),
        ("TMA1_PORT", &port),
        ("PATH", "/usr/bin:/bin"),
    ]);
    let subject = Subject {
        paths: &Paths::resolve(&environment).unwrap(),
        config: &Config::from_environment(&environment).unwrap(),
        environment: &environment,
        working_dir: &scene.home.project(),
        project: None,
        only: None,
        system: Path::new(&system),
    };
    let found = examine(&subject).into_iter().filter(|it| it.status >= Status::Warning);
    found.map(|finding| (finding.what, finding.status)).collect()
}

#[test]
fn an_administrator_who_turns_hooks_off_is_named() {
    for (file, switch) in [
        ("etc/claude-code/managed-settings.json", "disableAllHooks"),
        ("etc/claude-code/managed-settings.json", "allowManagedHooksOnly"),
        ("etc/claude-code/managed-settings.d/10-hooks.json", "disableAllHooks"),
    ] {
        let found = faults(file, &format!("{{\"{switch}\": true}}"));
        let [(what, Status::Failure)] = found.as_slice() else { panic!("{found:?}") };
        assert!(what.contains(file) && what.contains(switch), "{what}");
    }
}

#[test]
fn a_machine_on_which_few_files_can_be_watched_is_warned_of() {
    let limit = "proc/sys/fs/inotify/max_user_watches";
    assert_eq!(faults(limit, "524288\n"), []);
    let found = faults(limit, "1024\n");
    assert!(matches!(&found[..], [(what, Status::Warning)] if what.contains("1024")), "{found:?}");
}
