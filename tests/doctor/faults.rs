//! What can be wrong, a row a fault.

use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::{Value, json};

use super::scene::{CONFIG, HOOKS, SETTINGS, Scene};
use crate::support::daemon::Daemon;
use crate::support::process::signal;

/// A way to break a home.
pub struct Fault {
    pub name: &'static str,
    pub make: fn(&mut Scene),
    /// The status and the name of what doctor has to find: nothing else.
    pub named: &'static [(&'static str, &'static str)],
    pub mended: Mended,
}

/// How it is mended.
#[derive(Clone, Copy)]
pub enum Mended {
    /// By `--fix`, and by the command that is suggested.
    Install,
    /// By the command that is suggested.
    Command,
    /// By the user, as here.
    Hand(fn(&mut Scene)),
}

use Mended::{Command, Hand, Install};

const STATE: &str = "~/.claude.json";
const LOCAL: &str = ".claude/settings.local.json";
const SCRIPT: &str = "~/.tma1/hooks/tma1-hook.sh";
const CODEX_SCRIPT: &str = "~/.tma1/hooks/tma1-hook-codex.sh";
const DATABASE: &str = "~/.tma1/data/tma1.db";
const TOKEN: &str = "~/.tma1/token";

const fn fault(
    name: &'static str,
    named: &'static [(&'static str, &'static str)],
    make: fn(&mut Scene),
    mended: Mended,
) -> Fault {
    Fault { name, make, named, mended }
}

fn keep(scene: &Scene, name: &str) {
    fs_err::copy(scene.path(name), scene.path("kept")).unwrap();
}

/// Puts back what was kept.
fn give_back(scene: &Scene, name: &str) {
    fs_err::copy(scene.path("kept"), scene.path(name)).unwrap();
}

fn hooks_of<'v>(settings: &'v mut Value, event: &str) -> &'v mut Vec<Value> {
    settings["hooks"][event].as_array_mut().unwrap()
}

const SETTINGS_FAIL: &[(&str, &str)] = &[("failure", "claude-code settings")];
const HOOKS_FAIL: &[(&str, &str)] = &[("failure", "claude-code hooks")];
const SWITCH: &[(&str, &str)] = &[("failure", "claude-code hooks-enabled")];
const TWICE: &[(&str, &str)] = &[("warning", "claude-code duplicates")];
const SCRIPT_FAIL: &[(&str, &str)] = &[("failure", "claude-code script")];
const ENTRY: &[(&str, &str)] = &[("failure", "claude-code mcp-entry")];
const CODEX_SWITCH: &[(&str, &str)] = &[("failure", "codex hooks-enabled")];
const TRUST: &[(&str, &str)] = &[("failure", "codex trust")];
const CODEX_TWICE: &[(&str, &str)] = &[("warning", "codex duplicates")];

pub const ADAPTERS: &[Fault] = &[
    fault("settings gone", HOOKS_FAIL, |s| s.remove(SETTINGS), Install),
    fault("settings reset", HOOKS_FAIL, |s| s.write(SETTINGS, "{}"), Install),
    fault(
        "settings with a last comma",
        SETTINGS_FAIL,
        |s| {
            keep(s, SETTINGS);
            s.write(
                SETTINGS,
                s.read(SETTINGS).trim_end().strip_suffix('}').unwrap().to_owned() + ",}",
            );
        },
        Hand(|s| give_back(s, SETTINGS)),
    ),
    fault(
        "settings with a comment",
        SETTINGS_FAIL,
        |s| {
            keep(s, SETTINGS);
            s.write(SETTINGS, "// mine\n".to_owned() + &s.read(SETTINGS));
        },
        Hand(|s| give_back(s, SETTINGS)),
    ),
    fault(
        "settings in another encoding",
        SETTINGS_FAIL,
        |s| {
            keep(s, SETTINGS);
            s.write(SETTINGS, b"{\"a\": \"\xe4\"}");
        },
        Hand(|s| give_back(s, SETTINGS)),
    ),
    fault(
        "a hook for which the whole file is ignored",
        SETTINGS_FAIL,
        |s| {
            keep(s, SETTINGS);
            s.edit(SETTINGS, |it| hooks_of(it, "PreToolUse").push(json!({"matcher": "Bash"})));
        },
        Hand(|s| give_back(s, SETTINGS)),
    ),
    fault(
        "an event without us",
        HOOKS_FAIL,
        |s| s.edit(SETTINGS, |it| drop(it["hooks"].as_object_mut().unwrap().remove("Stop"))),
        Install,
    ),
    fault(
        "an event with us twice",
        &[("warning", "claude-code hooks")],
        |s| {
            let own = s.own_group();
            s.edit(SETTINGS, |it| hooks_of(it, "Stop").push(own));
        },
        Install,
    ),
    fault(
        "an entry for one tool alone",
        HOOKS_FAIL,
        |s| s.edit(SETTINGS, |it| it["hooks"]["PreToolUse"][0]["matcher"] = json!("Bash")),
        Install,
    ),
    fault(
        "an entry nobody waits for",
        HOOKS_FAIL,
        |s| s.edit(SETTINGS, |it| it["hooks"]["Stop"][0]["hooks"][0]["async"] = json!(true)),
        Install,
    ),
    fault(
        "entries of another home",
        HOOKS_FAIL,
        |s| s.replace(SETTINGS, "/.tma1/hooks/", "/.old/hooks/"),
        Install,
    ),
    fault(
        "an entry where an observer does harm",
        HOOKS_FAIL,
        |s| {
            let own = s.own_group();
            s.edit(SETTINGS, |it| it["hooks"]["WorktreeCreate"] = json!([own]));
        },
        Install,
    ),
    fault(
        "hooks off for the user",
        SWITCH,
        |s| s.edit(SETTINGS, |it| it["disableAllHooks"] = json!(true)),
        Hand(|s| s.edit(SETTINGS, |it| it["disableAllHooks"] = json!(false))),
    ),
    fault(
        "hooks off for the project",
        SWITCH,
        |s| s.write(".claude/settings.json", r#"{"disableAllHooks": true}"#),
        Hand(|s| s.remove(".claude")),
    ),
    fault(
        "hooks off in the project for one user",
        SWITCH,
        |s| s.write(LOCAL, r#"{"disableAllHooks": true}"#),
        Hand(|s| s.remove(".claude")),
    ),
    fault(
        "hooks in the project too",
        TWICE,
        |s| s.write(LOCAL, json!({"hooks": {"Stop": [s.own_group()]}}).to_string()),
        Hand(|s| s.remove(".claude")),
    ),
    fault(
        "hooks in a plugin too",
        TWICE,
        |s| {
            let hooks = json!({"hooks": {"Stop": [s.own_group()]}});
            let file = "~/.claude/plugins/cache/market/loop/1.0.0/hooks/hooks.json";
            s.write(file, hooks.to_string());
            s.edit(SETTINGS, |it| it["enabledPlugins"] = json!({"loop@market": true}));
        },
        Hand(|s| s.edit(SETTINGS, |it| it["enabledPlugins"] = json!({"loop@market": false}))),
    ),
    fault("no script", SCRIPT_FAIL, |s| s.remove(SCRIPT), Install),
    fault(
        "a script that may not run",
        SCRIPT_FAIL,
        |s| fs_err::set_permissions(s.path(SCRIPT), PermissionsExt::from_mode(0o644)).unwrap(),
        Install,
    ),
    fault(
        "an older script",
        &[("warning", "claude-code script")],
        |s| s.replace(SCRIPT, "An agent must not", "An older must not"),
        Install,
    ),
    fault(
        "a script that sends elsewhere",
        SCRIPT_FAIL,
        |s| s.replace(SCRIPT, &format!("port={}", s.home.port()), "port=1"),
        Install,
    ),
    fault(
        "a script of somebody else",
        SCRIPT_FAIL,
        |s| s.write(SCRIPT, "#!/bin/sh\necho mine\n"),
        Hand(|s| {
            s.remove(SCRIPT);
            s.shell("tma1 install --adapter claude-code --skip-project-files").succeeded();
        }),
    ),
    fault(
        "a script whose program is gone",
        &[("warning", "claude-code program")],
        |s| s.replace(SCRIPT, "/.local/bin/tma1", "/.local/gone/tma1"),
        Install,
    ),
    fault(
        "a script whose program is of another version",
        &[("warning", "claude-code program")],
        |s| {
            let real = s.home.binary();
            let older = "~/.local/older/tma1";
            let text = "#!/bin/sh\n[ \"$1\" = --version ] && echo tma1 0.0.1 && exit\nexec ";
            s.write(older, format!("{text}{} \"$@\"\n", real.display()));
            fs_err::set_permissions(s.path(older), PermissionsExt::from_mode(0o755)).unwrap();
            s.replace(SCRIPT, "/.local/bin/tma1", "/.local/older/tma1");
        },
        Install,
    ),
    fault(
        "a script whose program does not work",
        &[("failure", "claude-code program")],
        |s| {
            s.write("~/.local/bad/tma1", "#!/bin/sh\nexit 1\n");
            let bad = s.path("~/.local/bad/tma1");
            fs_err::set_permissions(bad, PermissionsExt::from_mode(0o755)).unwrap();
            s.replace(SCRIPT, "/.local/bin/tma1", "/.local/bad/tma1");
        },
        Install,
    ),
    fault(
        "no skills",
        &[("warning", "claude-code texts")],
        |s| s.remove("~/.claude/skills"),
        Install,
    ),
    fault(
        "no command",
        &[("warning", "claude-code texts")],
        |s| s.remove("~/.claude/commands/tma1-recall.md"),
        Install,
    ),
    fault(
        "no MCP entry",
        ENTRY,
        |s| s.edit(STATE, |it| drop(it.as_object_mut().unwrap().remove("mcpServers"))),
        Install,
    ),
    fault(
        "an MCP entry whose program is gone",
        ENTRY,
        |s| s.replace(STATE, "/.local/bin/tma1", "/.local/gone/tma1"),
        Install,
    ),
    fault(
        "an MCP entry that asks elsewhere",
        ENTRY,
        |s| s.replace(STATE, &s.home.port().to_string(), "1"),
        Install,
    ),
    fault(
        "a broken file of MCP servers",
        &[("failure", "claude-code mcp-settings")],
        |s| {
            keep(s, STATE);
            s.write(STATE, "{");
        },
        Hand(|s| give_back(s, STATE)),
    ),
    fault(
        "a file of MCP servers that comes before ours",
        ENTRY,
        |s| s.write("~/.claude/.config.json", "{}"),
        Install,
    ),
    fault("Codex without hooks", &[("failure", "codex hooks")], |s| s.remove(HOOKS), Install),
    fault(
        "Codex hooks with a key that it does not know",
        &[("failure", "codex settings")],
        |s| s.edit(HOOKS, |it| it["version"] = json!(1)),
        Hand(|s| s.edit(HOOKS, |it| drop(it.as_object_mut().unwrap().remove("version")))),
    ),
    fault(
        "Codex hooks with a byte order mark",
        &[("failure", "codex settings")],
        |s| {
            keep(s, HOOKS);
            s.write(HOOKS, "\u{feff}".to_owned() + &s.read(HOOKS));
        },
        Hand(|s| give_back(s, HOOKS)),
    ),
    fault(
        "Codex hooks off",
        CODEX_SWITCH,
        |s| s.write(CONFIG, "features.hooks = false\n".to_owned() + &s.read(CONFIG)),
        Hand(|s| s.replace(CONFIG, "features.hooks = false\n", "")),
    ),
    fault(
        "Codex hooks off by the old name",
        CODEX_SWITCH,
        |s| s.write(CONFIG, "features.codex_hooks = false\n".to_owned() + &s.read(CONFIG)),
        Hand(|s| s.replace(CONFIG, "features.codex_hooks = false\n", "")),
    ),
    fault(
        "Codex hooks off in the project",
        CODEX_SWITCH,
        |s| s.write(".codex/config.toml", "[features]\nhooks = false\n"),
        Hand(|s| s.remove(".codex")),
    ),
    fault(
        "Codex hooks never trusted",
        TRUST,
        |s| s.write(CONFIG, s.read(CONFIG).split("\n[hooks").next().unwrap()),
        Hand(|s| s.trust()),
    ),
    fault(
        "a hook before ours",
        TRUST,
        |s| {
            let other = json!({"hooks": [{"type": "command", "command": "true"}]});
            s.edit(HOOKS, |it| hooks_of(it, "Stop").insert(0, other));
        },
        Hand(|s| s.trust()),
    ),
    fault(
        "a trusted hook that is another now",
        TRUST,
        |s| s.replace(CONFIG, "trusted_hash = \"sha256:", "trusted_hash = \"sha256:0"),
        Hand(|s| s.trust()),
    ),
    fault(
        "a hook switched off in Codex",
        TRUST,
        |s| s.replace(CONFIG, "trusted_hash", "enabled = false\ntrusted_hash"),
        Hand(|s| s.replace(CONFIG, "enabled = false\n", "")),
    ),
    fault(
        "hooks in config.toml too",
        CODEX_TWICE,
        |s| {
            let script = s.path(CODEX_SCRIPT);
            let inline = format!(
                "\n[[hooks.Stop]]\nhooks = [{{ type = \"command\", command = \"{}\" }}]\n",
                script.display()
            );
            keep(s, CONFIG);
            s.write(CONFIG, s.read(CONFIG) + &inline);
        },
        Hand(|s| give_back(s, CONFIG)),
    ),
    fault(
        "Codex hooks in the project too",
        CODEX_TWICE,
        |s| s.write(".codex/hooks.json", s.read(HOOKS)),
        Hand(|s| s.remove(".codex")),
    ),
    fault(
        "a broken config.toml",
        &[("failure", "codex mcp-settings")],
        |s| {
            keep(s, CONFIG);
            s.write(CONFIG, "model = = 1\n");
        },
        Hand(|s| give_back(s, CONFIG)),
    ),
    fault(
        "no MCP table",
        &[("failure", "codex mcp-entry")],
        |s| {
            let config = s.read(CONFIG);
            s.write(CONFIG, config.get(config.find("[hooks").unwrap()..).unwrap());
        },
        Install,
    ),
    fault(
        "an MCP table that is switched off",
        &[("warning", "codex mcp-entry")],
        |s| s.replace(CONFIG, "[mcp_servers.tma1]\n", "[mcp_servers.tma1]\nenabled = false\n"),
        Hand(|s| s.replace(CONFIG, "enabled = false\n", "")),
    ),
    fault(
        "no script for Codex",
        &[("failure", "codex script")],
        |s| s.remove(CODEX_SCRIPT),
        Install,
    ),
    fault(
        "no skills for Codex",
        &[("warning", "codex texts")],
        |s| s.remove("~/.agents/skills"),
        Install,
    ),
];

const AWAY: &[(&str, &str)] = &[("failure", "daemon")];
const TOKEN_FAIL: &[(&str, &str)] = &[("failure", "token")];

/// A hook of the user, and an install that has seen it.
fn with_a_hook_of_the_user(s: &Scene) {
    let theirs =
        json!({"matcher": "Bash", "hooks": [{"type": "command", "command": "/opt/ring -k x"}]});
    s.edit(SETTINGS, |it| hooks_of(it, "Stop").insert(0, theirs));
    s.shell("tma1 install --adapter claude-code --skip-project-files").succeeded();
}

/// Settings that are kept among the dotfiles, and an install that has seen that.
fn with_linked_settings(s: &Scene) {
    fs_err::rename(s.path(SETTINGS), s.path("~/dotfiles.json")).unwrap();
    symlink(s.path("~/dotfiles.json"), s.path(SETTINGS)).unwrap();
    s.shell("tma1 install --adapter claude-code --skip-project-files").succeeded();
}

pub const SURROUNDINGS: &[Fault] = &[
    fault(
        "a hook of the user has gone",
        &[("warning", "claude-code other-hooks")],
        |s| {
            with_a_hook_of_the_user(s);
            keep(s, SETTINGS);
            s.edit(SETTINGS, |it| drop(hooks_of(it, "Stop").remove(0)));
        },
        Hand(|s| give_back(s, SETTINGS)),
    ),
    fault(
        "a hook of the user was taken out by the user",
        &[("warning", "claude-code other-hooks")],
        |s| {
            with_a_hook_of_the_user(s);
            s.edit(SETTINGS, |it| drop(hooks_of(it, "Stop").remove(0)));
        },
        Hand(|s| {
            s.shell("tma1 install --adapter claude-code").succeeded();
        }),
    ),
    fault(
        "a link became a file",
        &[("warning", "links")],
        |s| {
            with_linked_settings(s);
            let text = s.read(SETTINGS);
            s.remove(SETTINGS);
            s.write(SETTINGS, text);
        },
        Hand(|s| {
            fs_err::rename(s.path(SETTINGS), s.path("~/dotfiles.json")).unwrap();
            symlink(s.path("~/dotfiles.json"), s.path(SETTINGS)).unwrap();
        }),
    ),
    fault(
        "a link became a file, as the user wants it",
        &[("warning", "links")],
        |s| {
            with_linked_settings(s);
            let text = s.read(SETTINGS);
            s.remove(SETTINGS);
            s.write(SETTINGS, text);
        },
        Hand(|s| {
            s.shell("tma1 install --adapter claude-code").succeeded();
        }),
    ),
];

pub const DAEMON: &[Fault] = &[
    fault("no daemon", AWAY, |s| s.daemon = None, Command),
    fault(
        "a stranger in its place",
        AWAY,
        |s| {
            s.daemon = None;
            let stranger = TcpListener::bind((Ipv4Addr::LOCALHOST, s.home.port())).unwrap();
            let listener = stranger.try_clone().unwrap();
            std::thread::spawn(move || {
                use std::io::{Read, Write};
                for mut stream in listener.incoming().take(40).flatten() {
                    drop(stream.read(&mut [0; 4096]));
                    drop(stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"));
                }
            });
        },
        // It is there to the end of the test: another port, as is suggested.
        Hand(|s| {
            let port = s.home.port();
            for script in [SCRIPT, CODEX_SCRIPT] {
                assert!(s.read(script).contains(&port.to_string()));
            }
            s.move_to_new_port();
        }),
    ),
    fault(
        "something that says nothing in its place",
        AWAY,
        |s| {
            s.daemon = None;
            s.stranger = Some(TcpListener::bind((Ipv4Addr::LOCALHOST, s.home.port())).unwrap());
        },
        Hand(|s| {
            s.stranger = None;
            s.shell("tma1 start").succeeded();
        }),
    ),
    fault(
        "a daemon that hangs",
        AWAY,
        |s| signal("STOP", s.daemon.as_ref().unwrap().pid()),
        Hand(|s| {
            let daemon = s.daemon.take().unwrap();
            signal("CONT", daemon.pid());
            daemon.kill();
            s.shell("tma1 start").succeeded();
        }),
    ),
    fault(
        "a daemon on another port than the hooks",
        AWAY,
        |s| {
            s.daemon = None;
            s.start_on_another_port();
        },
        Hand(|s| {
            // The shell has the port of the hooks; the daemon follows.
            s.shell("tma1 stop && tma1 start").succeeded();
        }),
    ),
    fault("no token", TOKEN_FAIL, |s| s.remove(TOKEN), Command),
    fault("another token", TOKEN_FAIL, |s| s.write(TOKEN, "0".repeat(64)), Command),
    fault(
        "a daemon that says nothing to agents",
        &[("warning", "injection")],
        |s| {
            s.daemon = None;
            let mut command = s.home.tma1_command(&["serve"]);
            command.env("TMA1_DISABLE_INJECTION", "1");
            s.daemon = Some(Daemon::start_command(&s.home, command));
        },
        Hand(|s| {
            s.shell("tma1 restart").succeeded();
        }),
    ),
    fault(
        "a daemon that looks elsewhere",
        &[("warning", "daemon-environment")],
        |s| {
            s.environment.push(("CLAUDE_CONFIG_DIR", s.path("~/elsewhere")));
            s.shell("tma1 install --adapter claude-code --skip-project-files").succeeded();
        },
        Command,
    ),
    fault(
        "another tma1 on the PATH",
        &[("warning", "path")],
        |s| {
            let older = s.home.tmp().join("tma1");
            fs_err::write(&older, "#!/bin/sh\n").unwrap();
            fs_err::set_permissions(&older, PermissionsExt::from_mode(0o755)).unwrap();
            s.path.push(s.home.tmp());
        },
        Hand(|s| s.path.clear()),
    ),
];

#[cfg(target_os = "linux")]
const UNIT: &str = "~/.config/systemd/user/tma1.service";
#[cfg(target_os = "linux")]
const SERVICE_FAIL: &[(&str, &str)] = &[("failure", "service")];

/// With a daemon that runs as a service.
#[cfg(target_os = "linux")]
pub const SERVICE: &[Fault] = &[
    fault(
        "a service whose program is gone",
        SERVICE_FAIL,
        |s| {
            s.serve_by_manager();
            s.replace(UNIT, "/.local/bin/tma1", "/.local/gone/tma1");
        },
        Command,
    ),
    fault(
        "a service on another port than the hooks",
        SERVICE_FAIL,
        |s| {
            s.serve_by_manager();
            s.replace(UNIT, &s.home.port().to_string(), "1");
        },
        Command,
    ),
    fault(
        "a service of another data directory",
        SERVICE_FAIL,
        |s| {
            s.serve_by_manager();
            s.replace(UNIT, "/.tma1\"", "/.other\"");
        },
        Command,
    ),
    fault(
        "a service that was stopped",
        AWAY,
        |s| {
            s.serve_by_manager();
            s.shell("tma1 stop").succeeded();
        },
        Command,
    ),
];

const STORE_FAIL: &[(&str, &str)] = &[("failure", "store")];
const PRIVATE: &[(&str, &str)] = &[("warning", "private")];

fn sql(scene: &Scene, statement: &str) {
    let log = rusqlite::Connection::open(scene.path(DATABASE)).unwrap();
    log.execute_batch(statement).unwrap();
}

/// Moves the log out of the way, as is suggested.
fn begin_anew(scene: &mut Scene) {
    let commands = format!(
        "tma1 stop && mkdir ~/aside && mv {DATABASE} ~/aside && rm -f {DATABASE}-* && tma1 start"
    );
    scene.shell(&commands).succeeded();
}

/// Has the daemon move the damaged log aside, as is suggested; it says so until it is started again.
fn replace_log(scene: &mut Scene) {
    scene.shell("tma1 restart").succeeded();
    let told = scene.faults();
    assert_eq!(told.names(), [("warning".to_owned(), "events".to_owned())], "{told:#?}");
    scene.shell("tma1 restart").succeeded();
}

pub const STORE: &[Fault] = &[
    fault(
        "a log that is no database",
        STORE_FAIL,
        |s| {
            sql(s, "PRAGMA wal_checkpoint(TRUNCATE)");
            s.write(DATABASE, "x".repeat(8192));
        },
        Hand(replace_log),
    ),
    fault(
        "a log of a later version",
        STORE_FAIL,
        |s| sql(s, "PRAGMA user_version = 99"),
        Hand(|s| sql(s, "PRAGMA user_version = 3")),
    ),
    fault("a log that was removed", STORE_FAIL, |s| s.remove(DATABASE), Command),
    fault(
        "a log with a damaged page",
        STORE_FAIL,
        |s| {
            sql(s, "PRAGMA wal_checkpoint(TRUNCATE)");
            let mut bytes = fs_err::read(s.path(DATABASE)).unwrap();
            bytes[4096..8192].fill(7);
            s.write(DATABASE, bytes);
        },
        Hand(begin_anew),
    ),
    fault(
        "events of tomorrow",
        &[("warning", "events-time")],
        |s| {
            sql(
                s,
                "INSERT INTO tma1_hook_events (ts, agent_source, session_id, event_type, payload)
                    VALUES (9999999999999, 'claude-code', 's', 'Stop', '{}')",
            );
        },
        Hand(|s| sql(s, "DELETE FROM tma1_hook_events")),
    ),
    fault(
        "a log that others can read",
        PRIVATE,
        |s| fs_err::set_permissions(s.path(DATABASE), PermissionsExt::from_mode(0o644)).unwrap(),
        Command,
    ),
    fault(
        "a token that others can read",
        PRIVATE,
        |s| fs_err::set_permissions(s.path(TOKEN), PermissionsExt::from_mode(0o640)).unwrap(),
        Command,
    ),
];

const BLOCK: &[(&str, &str)] = &[("failure", "project")];

pub const PROJECT: &[Fault] = &[
    fault(
        "half a block",
        BLOCK,
        |s| s.write("CLAUDE.md", "# x\n<!-- tma1:start -->\ntext\n"),
        Hand(|s| s.remove("CLAUDE.md")),
    ),
    fault(
        "a block within a block",
        BLOCK,
        |s| s.write("AGENTS.md", "<!-- tma1:start -->\n<!-- tma1:start -->\n<!-- tma1:end -->\n"),
        Hand(|s| s.remove("AGENTS.md")),
    ),
    fault(
        "a block of another version",
        &[("warning", "project")],
        |s| s.write("CLAUDE.md", "# x\n<!-- tma1:start -->\nolder\n<!-- tma1:end -->\n"),
        Install,
    ),
    fault(
        "instructions behind a link that are damaged",
        BLOCK,
        |s| {
            s.write("docs/agents.md", "<!-- tma1:end -->\n<!-- tma1:start -->\n");
            symlink("docs/agents.md", s.path("AGENTS.md")).unwrap();
        },
        Hand(|s| s.write("docs/agents.md", "# x\n")),
    ),
];
