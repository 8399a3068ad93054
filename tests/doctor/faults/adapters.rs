//! What can be wrong with an adapter: settings, switches, trust, scripts, skills, the MCP entry.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use super::Mended::{Hand, Install};
use super::{CODEX_SCRIPT, Fault, LOCAL, SCRIPT, STATE, fault, give_back, hooks_of, keep};
use crate::doctor::scene::{CONFIG, HOOKS, SETTINGS};

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
