//! What users read of the ten commonest faults.

use super::scene::{CONFIG, HOOKS, SETTINGS, Scene};
use crate::support::snapshot::assert_snapshot;

/// What doctor says in a home in which `make` was done.
fn said(make: impl FnOnce(&mut Scene)) -> String {
    let mut scene = Scene::healthy();
    make(&mut scene);
    let run = scene.doctor(&[]);
    assert_eq!(run.stderr, "");
    scene.home.anonymous(&run.stdout)
}

#[test]
fn the_commonest_faults_read_well() {
    let mut parts = Vec::new();
    let mut add = |title: &str, said: String| parts.push(format!("# {title}\n{said}"));
    add("the daemon does not run", said(|s| s.daemon = None));
    add("the settings were reset", said(|s| s.write(SETTINGS, "{}")));
    add("the settings are no JSON", said(|s| s.write(SETTINGS, "{\n  \"a\": 1,\n}\n")));
    add(
        "hooks are switched off",
        said(|s| s.edit(SETTINGS, |it| it["disableAllHooks"] = true.into())),
    );
    add(
        "Codex has not trusted the hooks",
        said(|s| s.write(CONFIG, s.read(CONFIG).split("\n[hooks").next().unwrap())),
    );
    add(
        "a hook was put before ours",
        said(|s| {
            s.edit(HOOKS, |it| {
                let other = serde_json::json!({"hooks": [{"type": "command", "command": "true"}]});
                it["hooks"]["Stop"].as_array_mut().unwrap().insert(0, other);
            });
        }),
    );
    add(
        "the program was moved",
        said(|s| s.replace("~/.tma1/hooks/tma1-hook.sh", "/.local/bin/tma1", "/old/tma1")),
    );
    add("the script is gone", said(|s| s.remove("~/.tma1/hooks/tma1-hook.sh")));
    add("the MCP entry is gone", said(|s| s.write("~/.claude.json", "{}")));
    add(
        "a block in the project is damaged",
        said(|s| s.write("CLAUDE.md", "<!-- tma1:start -->\n")),
    );
    assert_snapshot("doctor", &parts.join("\n"), &[]);
}
