//! What a project is made of: asked for over HTTP, and kept in the log.

use std::time::Duration;

use serde_json::{Value, json};
use tma1::clock;

use crate::support::daemon::Daemon;
use crate::support::home::TestHome;
use crate::support::http;

fn tell(home: &TestHome, event: &str) {
    let body = json!({
        "hook_event_name": event, "session_id": "0f1e2d3c", "cwd": home.project(),
        "source": "startup", "prompt": "go",
    });
    let body = body.to_string();
    let (status, _) = http::request(home.port(), "POST", "/api/hooks", body.as_bytes()).unwrap();
    assert_eq!(status, 200);
}

fn state(home: &TestHome) -> Value {
    let query: String = form_urlencoded::Serializer::new(String::new())
        .append_pair("cwd", home.project().join("web").to_str().unwrap())
        .finish();
    let target = format!("/api/project-state?{query}");
    let (status, body) = http::request(home.port(), "GET", &target, b"").unwrap();
    assert_eq!(status, 200, "{body}");
    serde_json::from_str(&body).unwrap()
}

/// The build systems of each row, once there are `count` or more.
fn rows(home: &TestHome, count: usize) -> Vec<String> {
    let database = rusqlite::Connection::open(home.home().join(".tma1/data/tma1.db")).unwrap();
    let deadline = clock::monotonic() + Duration::from_secs(10);
    loop {
        let mut rows = database
            .prepare("SELECT build_system || ' ' || branch FROM tma1_project_state ORDER BY id")
            .unwrap();
        let rows = rows.query_map([], |row| row.get(0)).unwrap();
        let rows = rows.collect::<Result<Vec<String>, _>>().unwrap();
        if rows.len() >= count || clock::monotonic() > deadline {
            return rows;
        }
        tell(home, "UserPromptSubmit");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_project_is_indexed_again_when_a_marker_changes_and_not_after_a_restart() {
    let home = TestHome::new();
    let project = home.project();
    for (path, content) in [
        (".git/HEAD", "ref: refs/heads/main"),
        ("Cargo.toml", "[package]\nname = 'shop'"),
        ("web/package.json", r#"{"name": "web", "scripts": {"test": "vitest"}}"#),
    ] {
        let path = project.join(path);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, content).unwrap();
    }
    let daemon = Daemon::start(&home);
    tell(&home, "SessionStart");
    assert_eq!(rows(&home, 1), ["cargo, npm main"]);
    let told = state(&home);
    assert_eq!(told["project_root"], project.to_str().unwrap());
    assert_eq!(told["test_runners"], json!([{"name": "cargo test", "command": "cargo test"}]));
    assert_eq!(told["members"][0]["path"], "web");
    assert_eq!((&told["branch"], &told["head_commit"]), (&json!("main"), &Value::Null));

    fs_err::write(project.join("web/package.json"), r#"{"packageManager": "pnpm@10"}"#).unwrap();
    assert_eq!(state(&home)["members"][0]["build_systems"], json!(["pnpm"]));
    assert_eq!(rows(&home, 2), ["cargo, npm main", "cargo, pnpm main"]);

    daemon.kill();
    let _daemon = Daemon::start(&home);
    tell(&home, "SessionStart");
    state(&home);
    tell(&home, "UserPromptSubmit");
    assert_eq!(rows(&home, 0).len(), 2);
    fs_err::write(project.join(".git/HEAD"), "ref: refs/heads/fix").unwrap();
    tell(&home, "SessionStart");
    assert_eq!(rows(&home, 3)[2], "cargo, pnpm fix");
}
