//! What can be wrong with the daemon and with what is around it.

use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::PermissionsExt;

use super::Mended::{Command, Hand};
use super::{CODEX_SCRIPT, Fault, SCRIPT, TOKEN, fault};
use crate::support::daemon::Daemon;
use crate::support::process::signal;

pub const AWAY: &[(&str, &str)] = &[("failure", "daemon")];
const TOKEN_FAIL: &[(&str, &str)] = &[("failure", "token")];

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
