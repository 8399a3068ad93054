//! The daemon: whether it runs, is ours and of this version, and what it says of itself.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::PathBuf;
use std::time::Duration;

use crate::clock;
use crate::daemon::Holder;
use crate::daemon::client::{self, Health, Status};
use crate::daemon::lifecycle::Presence;
use crate::daemon::token::Token;
use crate::doctor::finding::{Check, Finding, Fix};
use crate::doctor::subject::Subject;
use crate::platform::{self, SocketOwner};
use crate::printable::printable;

/// What starts it.
const START: Fix = Fix::Tma1("start");

/// What puts this version in its place.
const RESTART: Fix = Fix::Tma1("restart");

/// How long it may take to answer. It does so from memory.
const PATIENCE: Duration = Duration::from_secs(1);

/// It stays far below. In bytes.
const MUCH_MEMORY: u64 = 512 * 1024 * 1024;

/// Its messages are few. In bytes.
const LARGE_LOG: u64 = 256 * 1024 * 1024;

const SILENT: &str = "nothing that agents do is recorded, and they are told nothing";

const STALLS: &str = "each hook waits for half a second, and nothing is recorded";

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What is at the port of the daemon.
#[derive(Debug)]
pub(super) enum Daemon {
    /// A daemon.
    Answers(Health),
    /// A program that is none, or one of another protocol.
    Stranger,
    /// Something that takes connections and says nothing.
    Mute,
    /// The daemon, which does not answer.
    Hangs(Option<Holder>),
    /// Nothing: the daemon has another port.
    Elsewhere(u16),
    /// Nothing.
    Away,
}

impl Daemon {
    /// Whether there is one that hooks can talk to.
    pub(super) const fn answers(&self) -> bool {
        matches!(self, Self::Answers(_))
    }

    /// Whether there is one that may not know what this version asks.
    pub(super) fn is_other_version(&self) -> bool {
        matches!(self, Self::Answers(health) if health.version != VERSION)
    }
}

/// Asks who is at the port.
pub(super) fn look(subject: &Subject<'_>) -> Daemon {
    match client::health(subject.port(), clock::monotonic() + PATIENCE) {
        Ok(health) => Daemon::Answers(health),
        Err(error) => match (Presence::of(subject.paths, subject.port()), error.kind()) {
            (Ok(Presence::Running { port, .. }), _) if port != subject.port() => {
                Daemon::Elsewhere(port)
            }
            (Ok(Presence::Silent(holder)), _) => Daemon::Hangs(holder),
            (_, ErrorKind::TimedOut | ErrorKind::WouldBlock) => Daemon::Mute,
            (_, ErrorKind::ConnectionRefused) => Daemon::Away,
            _ => Daemon::Stranger,
        },
    }
}

/// Looks at the daemon.
pub(super) fn check(subject: &Subject<'_>, daemon: &Daemon) -> Vec<Finding> {
    let mut found = vec![running(subject, daemon)];
    let names = ["daemon-version", "daemon-owner", "daemon-memory"];
    let Daemon::Answers(health) = daemon else {
        let others =
            names.into_iter().chain(["token", "daemon-environment", "injection", "events"]);
        found.extend(others.map(|name| Check::new(name).skipped("there is no daemon to ask")));
        found.push(log(subject));
        return found;
    };
    let report = report(subject);
    let memory = memory(report.as_ref().ok());
    found.extend([version(health), owner(subject, health), memory]);
    found.push(token(subject, daemon, &report));
    let report = report.ok();
    found.push(environment(subject, report.as_ref()));
    found.push(injection(report.as_ref()));
    found.push(events(health));
    found.push(log(subject));
    found
}

fn running(subject: &Subject<'_>, daemon: &Daemon) -> Finding {
    let (check, port) = (Check::new("daemon"), subject.port());
    match daemon {
        Daemon::Answers(health) => {
            check.ok(format!("it answers on port {port}, as process {}", health.pid))
        }
        Daemon::Away => check.failure(format!("nothing answers on port {port}"), SILENT, START),
        Daemon::Elsewhere(other) => check.failure(
            format!("it listens on port {other}; TMA1_PORT is {port} here"),
            "what is started or installed from this shell does not find it",
            Fix::ByHand(format!("set TMA1_PORT to {other}, or unset it")),
        ),
        Daemon::Stranger => check.failure(
            format!("what answers on port {port} is not a tma1 daemon that this version knows"),
            SILENT,
            Fix::ByHand(format!(
                "end the program on port {port}, or set TMA1_PORT to another port and install \
                 again; then run `tma1 start`"
            )),
        ),
        Daemon::Mute => check.failure(
            format!("what listens on port {port} is not tma1 and does not answer"),
            STALLS,
            Fix::ByHand(format!("end the program on port {port}, then run `tma1 start`")),
        ),
        Daemon::Hangs(holder) => {
            let pid = holder.map_or_else(String::new, |holder| format!(" {}", holder.pid));
            check.failure(
                format!("it runs as process{pid} and does not answer"),
                STALLS,
                Fix::ByHand(format!("end process{pid}, then run `tma1 start`")),
            )
        }
    }
}

fn version(health: &Health) -> Finding {
    let check = Check::new("daemon-version");
    let Health { version, .. } = health;
    if version == VERSION {
        return check.ok(format!("it is of version {version}, as this program"));
    }
    let what = format!("the daemon is of version {version}, this program of {VERSION}");
    check.warning(what, "it goes on as the other version until it is started anew", RESTART)
}

fn owner(subject: &Subject<'_>, health: &Health) -> Finding {
    let check = Check::new("daemon-owner");
    let address = SocketAddrV4::new(Ipv4Addr::LOCALHOST, subject.port());
    match platform::listener_owner(address) {
        SocketOwner::User(user) if user == platform::current_user() => {
            check.ok("it runs as this user")
        }
        SocketOwner::User(_) => {
            let what = format!("process {}, which answers, is another user's", health.pid);
            let meaning = "that user sees what your agents do";
            let fix = "set TMA1_PORT to a port of your own, install again, and run `tma1 start`";
            check.failure(what, meaning, Fix::ByHand(fix.to_owned()))
        }
        SocketOwner::Nobody | SocketOwner::Untold => {
            check.skipped("this system does not say whose process it is")
        }
    }
}

fn memory(status: Option<&Status>) -> Finding {
    let check = Check::new("daemon-memory");
    match status.and_then(|status| status.memory_bytes) {
        None => check.skipped("the daemon does not say how much it uses"),
        Some(bytes) if bytes < MUCH_MEMORY => check.ok(format!("it uses {} MiB", bytes >> 20)),
        Some(bytes) => {
            let what = format!("the daemon uses {} MiB of memory", bytes >> 20);
            check.warning(what, "that is far more than it should need", RESTART)
        }
    }
}

/// Why it tells nothing of itself.
enum Untold {
    NoToken,
    OtherToken,
    Failed,
}

fn report(subject: &Subject<'_>) -> Result<Status, Untold> {
    let token = Token::read(&subject.paths.token()).map_err(|_| Untold::NoToken)?;
    let deadline = clock::monotonic() + PATIENCE;
    let (method, target) = ("GET", "/api/status");
    let question = client::Question { method, target, token: Some(&token), paths: subject.paths };
    let response = question.ask(subject.port(), deadline);
    match response.map_err(|_| Untold::Failed)? {
        client::Response { status: 200, body } => {
            serde_json::from_slice(&body).map_err(|_| Untold::Failed)
        }
        client::Response { status: 401, .. } => Err(Untold::OtherToken),
        client::Response { .. } => Err(Untold::Failed),
    }
}

fn token(subject: &Subject<'_>, daemon: &Daemon, report: &Result<Status, Untold>) -> Finding {
    const UNASKED: &str = "agents can't ask it what their sessions did";
    let check = Check::new("token");
    let name = subject.display(&subject.paths.token());
    match report {
        Ok(_) => check.ok(format!("it knows the token in {name}")),
        Err(Untold::NoToken) => {
            check.failure(format!("{name}, by which it knows its user, is lost"), UNASKED, RESTART)
        }
        Err(Untold::OtherToken) if has_our_data(subject) => check.failure(
            format!(
                "the daemon does not know the token in {name}, which was changed since it started"
            ),
            UNASKED,
            RESTART,
        ),
        Err(Untold::OtherToken) => check.failure(
            format!("the daemon does not know the token in {name}: it has another data directory"),
            UNASKED,
            Fix::ByHand(
                "set TMA1_DATA_DIR as where the daemon was started, or end that daemon and run \
                 `tma1 start`"
                    .to_owned(),
            ),
        ),
        Err(Untold::Failed) if daemon.is_other_version() => {
            check.skipped("a daemon of another version need not say how it is")
        }
        Err(Untold::Failed) => check.failure("the daemon does not say how it is", UNASKED, RESTART),
    }
}

/// Whether what answers is the daemon of our data directory.
fn has_our_data(subject: &Subject<'_>) -> bool {
    let presence = Presence::of(subject.paths, subject.port());
    matches!(presence, Ok(Presence::Running { port, .. }) if port == subject.port())
}

/// The agents may be started from shells like this one; the daemon looks where its own says.
fn environment(subject: &Subject<'_>, report: Option<&Status>) -> Finding {
    let check = Check::new("daemon-environment");
    let Some(report) = report else { return check.skipped("the daemon has to say how it is") };
    let places = [
        ("CLAUDE_CONFIG_DIR", &report.claude_config, &subject.paths.claude_config),
        ("CODEX_HOME", &report.codex_home, &subject.paths.codex_home),
    ];
    let other = places.into_iter().find_map(|(variable, of_daemon, own)| {
        let of_daemon = PathBuf::from(of_daemon.as_ref()?);
        (of_daemon != *own).then_some((variable, of_daemon, own))
    });
    let Some((variable, of_daemon, own)) = other else {
        return check.ok("it looks for the agents where this shell does");
    };
    let what = format!(
        "{variable} is not the same for the daemon: it looks in {}, this shell in {}",
        subject.display(&of_daemon),
        subject.display(own)
    );
    let meaning = "the daemon does not find the transcripts and settings of agents started here";
    check.warning(what, meaning, RESTART)
}

fn injection(report: Option<&Status>) -> Finding {
    let check = Check::new("injection");
    match report.and_then(|report| report.injection) {
        None => check.skipped("the daemon has to say how it is"),
        Some(true) => check.ok("agents are told what they should know"),
        Some(false) => check.warning(
            "the daemon was started with TMA1_DISABLE_INJECTION",
            "it records, and tells agents nothing",
            Fix::ByHand("unset TMA1_DISABLE_INJECTION, then run `tma1 restart`".to_owned()),
        ),
    }
}

fn events(health: &Health) -> Finding {
    let check = Check::new("events");
    if let Some(problem) = &health.log_problem {
        let meaning = "the daemon may forget what agents did when it ends";
        let fix = Fix::ByHand("see to what it says, then run `tma1 restart`".to_owned());
        return check.warning(printable(problem), meaning, fix);
    }
    if health.events_lost == 0 {
        return check.ok("every event was logged");
    }
    let what = format!("{} events were answered and not logged", health.events_lost);
    let fix = Fix::ByHand("look at the free space and the speed of the disk".to_owned());
    check.warning(what, "the daemon will not know of them after its next start", fix)
}

fn log(subject: &Subject<'_>) -> Finding {
    let check = Check::new("daemon-log");
    let root = &subject.paths.root;
    let folders = [root.clone(), root.join("logs"), subject.paths.data()];
    let files = folders.iter().flat_map(fs_err::read_dir).flatten().flatten();
    let logs = files.filter(|file| file.path().extension().is_some_and(|it| it == "log"));
    let sized = logs.filter_map(|file| Some((file.metadata().ok()?.len(), file.path())));
    match sized.max() {
        Some((size, path)) if size > LARGE_LOG => {
            let name = subject.display(&path);
            let what = format!("{name} has {} MiB", size / (1024 * 1024));
            check.warning(what, "it fills the disk", Fix::Shell(format!("rm {name}")))
        }
        _ => check.ok("its messages take little space"),
    }
}
