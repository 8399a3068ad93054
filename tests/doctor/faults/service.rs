//! What can be wrong with a service that starts the daemon.

use super::Mended::Command;
use super::daemon::AWAY;
use super::{Fault, fault};

const UNIT: &str = "~/.config/systemd/user/tma1.service";
const SERVICE_FAIL: &[(&str, &str)] = &[("failure", "service")];

/// With a daemon that runs as a service.
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
