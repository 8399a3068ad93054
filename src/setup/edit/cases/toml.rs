//! The file that names the servers of Codex, and without which Codex does not start.

use std::time::Duration;

use crate::setup::edit::hooks::{Dialect, HookEntries, OwnScript};
use crate::setup::edit::json::MAX_BYTES;
use crate::setup::edit::literal::Literal;
use crate::setup::edit::toml::trust::TrustRecords;
use crate::setup::edit::toml::{TableEntry, TomlError};

const OURS: &str = "[mcp_servers.tma1]\ncommand = \"/usr/bin/tma1\"\nargs = [\"mcp-serve\"]\n";

pub(in crate::setup::edit) fn server() -> TableEntry {
    TableEntry {
        parent: "mcp_servers",
        name: "tma1",
        values: vec![("command", "/usr/bin/tma1".into()), ("args", Literal::texts(["mcp-serve"]))],
    }
}

fn install(before: &str) -> Result<String, TomlError> {
    let after = server().install_into(before.as_bytes())?;
    Ok(String::from_utf8(after).unwrap())
}

fn remove(before: &str) -> Result<String, TomlError> {
    let after = server().remove_from(before.as_bytes())?;
    Ok(String::from_utf8(after).unwrap())
}

#[test]
fn a_table_is_appended_and_taken_out_again() {
    for (before, added) in [
        ("", OURS.to_owned()),
        ("\u{feff}", OURS.to_owned()),
        ("\n", format!("\n{OURS}")),
        ("# only a comment", format!("\n\n{}", OURS.trim_end())),
        ("model = \"x\"\n\n\n", format!("\n{OURS}")),
        ("a.b = 1\n# the end\n", format!("\n{OURS}")),
        ("a = 1\r\n[b]\r\n", format!("\n{OURS}").replace('\n', "\r\n")),
        ("a = 1\r\nb = 2", format!("\n\n{}", OURS.trim_end()).replace('\n', "\r\n")),
        ("a = 1\nb = 2\r\n", format!("\n{OURS}")),
        ("[mcp_servers]\n", format!("\n{OURS}")),
        ("[mcp_servers.files] # mine\ncommand = 'x'\n", format!("\n{OURS}")),
        ("mcp_servers.files.command = 'x'\n", format!("\n{OURS}")),
        ("[[a]]\nb = 1\n[[a]]\n[a.c]\n", format!("\n{OURS}")),
        (
            "[hooks.state.'/home/dev/.codex/hooks.json:stop:0:0']\ntrusted_hash = 'x'\n",
            format!("\n{OURS}"),
        ),
    ] {
        let after = install(before).unwrap();
        assert_eq!(after, format!("{before}{added}"));
        assert_eq!(install(&after).unwrap(), after);
        assert_eq!(remove(&after).unwrap(), before);
    }
}

#[test]
fn an_inline_parent_takes_an_inline_table() {
    let ours = r#"tma1 = { command = "/usr/bin/tma1", args = ["mcp-serve"] }"#;
    for (before, after) in [
        ("mcp_servers = {}", format!("mcp_servers = {{{ours}}}")),
        ("mcp_servers = { }\n[x]\n", format!("mcp_servers = {{{ours} }}\n[x]\n")),
        (
            "mcp_servers = { a = { command = 'x' } } # c\n",
            format!("mcp_servers = {{ a = {{ command = 'x' }}, {ours} }} # c\n"),
        ),
        (
            "mcp_servers = { b.c = 1, a.command = 'x',  }\n",
            format!("mcp_servers = {{ b.c = 1, a.command = 'x', {ours},  }}\n"),
        ),
        // Several lines, as of TOML 1.1.
        (
            "mcp_servers = {\n  # b, c\n  a = 1, # d, e\n}\n",
            format!("mcp_servers = {{\n  # b, c\n  a = 1, {ours}, # d, e\n}}\n"),
        ),
    ] {
        assert_eq!(install(before).unwrap(), after);
        assert_eq!(install(&after).unwrap(), after);
        assert_eq!(remove(&after).unwrap(), before);
    }
    for (before, after) in [
        ("m = 1\nmcp_servers = { tma1 = {}, a = 1 }\n", "m = 1\nmcp_servers = { a = 1 }\n"),
        ("mcp_servers = { tma1 = {}, }\n", "mcp_servers = {  }\n"),
        ("mcp_servers = { a = 1 , tma1 = {} }\n", "mcp_servers = { a = 1  }\n"),
    ] {
        assert_eq!(remove(before).unwrap(), after);
    }
}

#[test]
fn a_table_that_is_right_is_left_as_it_is() {
    let right = "command = '/usr/bin/tma1' # ours\nargs = [\n  \"mcp-\\u0073erve\", # one\n]\n";
    for before in [
        format!("[ mcp_servers . \"tma1\" ]\n{right}env = {{ A = '1' }}\n"),
        format!("[mcp_servers.tma1]\r\n{}", right.replace('\n', "\r\n")),
        format!(
            "[mcp_servers.tma1]\n{right}[mcp_servers.tma1.tools.x]\napproval_mode = 'approve'\n"
        ),
        "[mcp_servers]\ntma1 = { args = ['mcp-serve'], command = '/usr/bin/tma1' }\n".to_owned(),
        "mcp_servers.tma1.command = '/usr/bin/tma1'\nmcp_servers.tma1.args = ['mcp-serve']"
            .to_owned(),
        "[mcp_servers]\ntma1.args = ['mcp-serve']\ntma1.command = '/usr/bin/tma1'\n".to_owned(),
    ] {
        assert_eq!(install(&before).unwrap(), before);
    }
}

#[test]
fn what_is_outdated_is_updated_in_place() {
    for (before, after) in [
        (
            "[mcp_servers.tma1]\n# mine\ncommand = '/old' # c\nargs = []\nenv = {}\n[x]\n",
            "[mcp_servers.tma1]\n# mine\ncommand = \"/usr/bin/tma1\" # c\nargs = [\"mcp-serve\"]\nenv = {}\n[x]\n",
        ),
        (
            "[mcp_servers.tma1] # c\r\n  env.A = '1'\r\n",
            "[mcp_servers.tma1] # c\r\n  command = \"/usr/bin/tma1\"\r\n  args = [\"mcp-serve\"]\r\n  env.A = '1'\r\n",
        ),
        (
            "a = 1\n\n[mcp_servers.tma1]",
            "a = 1\n\n[mcp_servers.tma1]\ncommand = \"/usr/bin/tma1\"\nargs = [\"mcp-serve\"]",
        ),
        // Line ends of both kinds.
        (
            "a = 1\r\n\r\n[mcp_servers.tma1]\n[x]\r\n",
            "a = 1\r\n\r\n[mcp_servers.tma1]\ncommand = \"/usr/bin/tma1\"\nargs = [\"mcp-serve\"]\n[x]\r\n",
        ),
        (
            "mcp_servers.tma1.args = 1\n[x]\n",
            "mcp_servers.tma1.command = \"/usr/bin/tma1\"\nmcp_servers.tma1.args = [\"mcp-serve\"]\n[x]\n",
        ),
        (
            "mcp_servers = { tma1 = { args = ['x'] } }",
            "mcp_servers = { tma1 = { command = \"/usr/bin/tma1\", args = [\"mcp-serve\"] } }",
        ),
        (
            "[mcp_servers]\ntma1 = {}\n",
            "[mcp_servers]\ntma1 = {command = \"/usr/bin/tma1\", args = [\"mcp-serve\"]}\n",
        ),
        (
            "[mcp_servers.tma1.tools.x]\napproval_mode = 'approve'\n",
            &format!("{OURS}\n[mcp_servers.tma1.tools.x]\napproval_mode = 'approve'\n"),
        ),
    ] {
        assert_eq!(install(before).unwrap(), after);
        assert_eq!(install(after).unwrap(), after);
    }
}

#[test]
fn ours_is_removed_however_it_is_written() {
    for (before, after) in [
        // As Codex writes all of these tables when it adds a server.
        (
            format!("[mcp_servers.a]\ncommand = \"x\"\n\n{OURS}\n[mcp_servers.z]\ncommand = \"y\"\n"),
            "[mcp_servers.a]\ncommand = \"x\"\n\n[mcp_servers.z]\ncommand = \"y\"\n".to_owned(),
        ),
        // Comments of others, before and after.
        (
            format!("# before\n{OURS}# after\n[x]\n"),
            "# before\n# after\n[x]\n".to_owned(),
        ),
        (
            format!("{OURS}\n[mcp_servers.tma1.env]\nA = '1'\n[x]\n[mcp_servers.tma1.tools.y]\nz = 1\n"),
            "[x]\n".to_owned(),
        ),
        (
            "a = 1\nmcp_servers.tma1.command = 'x'\nmcp_servers.b.command = 'y'\nmcp_servers.tma1.args = [\n]\n".to_owned(),
            "a = 1\nmcp_servers.b.command = 'y'\n".to_owned(),
        ),
        ("[mcp_servers]\ntma1 = {} # c\nb = {}\n".to_owned(), "[mcp_servers]\nb = {}\n".to_owned()),
        // An editor has added the last line end.
        (
            format!("{}\n", install("a = 1").unwrap()),
            "a = 1\n".to_owned(),
        ),
        // Or has taken it away, which stays so.
        (install("a = 1\n").unwrap().trim_end().to_owned(), "a = 1".to_owned()),
    ] {
        assert_eq!(remove(&before).unwrap(), after);
    }
}

#[test]
fn where_nothing_is_ours_nothing_changes() {
    for before in ["", "\u{feff}\r\n", "a = 1", "[mcp_servers]", "mcp_servers = {}", "[tma1]\n"] {
        assert_eq!(remove(before).unwrap(), before);
    }
}

#[test]
fn a_value_is_written_so_that_it_reads_back() {
    let mut server = server();
    server.values = vec![
        ("command", "C:\\a \"b\"\t\u{7f}\u{1}\n'é'".into()),
        ("env", Literal::Table(vec![("A", "".into()), ("B", Literal::Table(Vec::new()))])),
        ("enabled", Literal::Flag(true)),
        ("startup_timeout_sec", Literal::Number(20)),
    ];
    let after = server.install_into(b"").unwrap();
    assert_eq!(server.install_into(&after).unwrap(), after);
    assert_eq!(
        str::from_utf8(&after).unwrap(),
        "[mcp_servers.tma1]\ncommand = \"C:\\\\a \\\"b\\\"\\t\\u007F\\u0001\\n'é'\"\n\
         env = { A = \"\", B = {} }\nenabled = true\nstartup_timeout_sec = 20\n"
    );
    assert_eq!(server.remove_from(&after).unwrap(), b"");
}

#[test]
fn what_codex_would_not_start_with_is_refused_with_its_place() {
    for (before, message) in [
        (
            "a = 1\né = \n",
            "it is not valid TOML: invalid unquoted key, expected letters, numbers, `-`, `_` (line 2, column 1)",
        ),
        ("a = 1\na = 2\n", "it is not valid TOML: duplicate key (line 2, column 1)"),
        (
            "é = '",
            "it is not valid TOML: invalid unquoted key, expected letters, numbers, `-`, `_` (line 1, column 1)",
        ),
        ("mcp_servers = 1", "`mcp_servers` is not a table (line 1, column 15)"),
        ("[[mcp_servers]]", "`mcp_servers` is not a table (line 1, column 1)"),
        ("[mcp_servers]\ntma1 = ''", "`mcp_servers.tma1` is not a table (line 2, column 8)"),
        ("[[mcp_servers.tma1]]", "`mcp_servers.tma1` is not a table (line 1, column 1)"),
        (
            "mcp_servers = { tma1.command = 'x' }",
            "`mcp_servers.tma1` is not written as one table (line 1, column 17)",
        ),
        ("[mcp_servers.tma1.args]", "`args` is not a value (line 1, column 1)"),
    ] {
        let error = install(before).unwrap_err();
        assert_eq!(error.to_string(), message, "{before}");
        assert_ne!(error.hint(), "");
    }
    let error = server().install_into(b"a = 1\n\xff").unwrap_err();
    assert_eq!(error.to_string(), "it is not UTF-8 text (line 2, column 1)");
    assert_eq!(install(&" ".repeat(MAX_BYTES + 1)), Err(TomlError::TooLarge));
    assert_eq!(install(&" ".repeat(MAX_BYTES)), Err(TomlError::WouldBeTooLarge));
}

#[test]
fn the_trust_in_our_hooks_goes_with_them() {
    let entries = HookEntries {
        dialect: Dialect::Codex,
        events: &["SessionStart", "Stop"],
        command: "'/home/dev/.tma1/hooks/tma1-hook-codex.sh'".to_owned(),
        timeout: Duration::from_secs(5),
        script: OwnScript { names: ["tma1-hook-codex.sh", "tma1-hook-codex.ps1"] },
    };
    let records = TrustRecords::of(&entries);
    let remove =
        |before: &str| String::from_utf8(records.remove_from(before.as_bytes()).unwrap()).unwrap();
    let record = |event: &str, place: &str, hash: &str| {
        format!(
            "[hooks.state.\"/home/dev/.codex/hooks.json:{event}:{place}\"]\ntrusted_hash = \"sha256:{hash}\"\n"
        )
    };
    // As Codex computes them.
    let start = "15493126a2ae99498830364c81cd30f200db84affef6a4d5bffc7d2254ec9004";
    let stop = "0d54a12c4895a5c38945528d5c37cdf97820fe9960f76ee9f4cd79127b6ee352";
    let own = [record("session_start", "0:0", start), record("stop", "12:1", stop)];
    let theirs = record("stop", "0:0", &"0".repeat(64));
    for (before, after) in [
        (format!("a = 1\n\n[hooks.state]\n\n{}\n{}", own[0], own[1]), "a = 1\n".to_owned()),
        (
            format!(
                "[hooks.state] # mine\n\n{}\n{theirs}\n{}enabled = false\n\n[x]\n",
                own[0], own[1]
            ),
            format!("[hooks.state] # mine\n\n{theirs}\n[x]\n"),
        ),
        (format!("{}{theirs}", own[0]).replace('\n', "\r\n"), theirs.replace('\n', "\r\n")),
    ] {
        assert_eq!(remove(&before), after);
    }
    let inline =
        format!("[hooks]\nstate = {{ \"x:stop:0:0\" = {{ trusted_hash = \"sha256:{stop}\" }} }}\n");
    let other_event = record("stop", "0:0", start);
    for stays in
        [theirs, inline, other_event, "[hooks.state]\n".to_owned(), "hooks = 1\n".to_owned()]
    {
        assert_eq!(remove(&stays), stays);
    }
}
