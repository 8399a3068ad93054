//! What starts the daemon when the user logs in, where that is installed.

use std::path::Path;

use crate::doctor::finding::{Check, Finding, Fix};
use crate::doctor::subject::Subject;
use crate::platform;
use crate::setup::service::Manager;

const NOT_STARTED: &str = "no daemon that hooks find is started when you log in";

/// Looks whether the service starts the daemon that the hooks talk to.
pub(super) fn check(subject: &Subject<'_>) -> Finding {
    let check = Check::new("service");
    let Some(manager) = Manager::of_system() else {
        return check.skipped("this system has no manager of services that tma1 knows");
    };
    let path = manager.definition(subject.paths);
    let Some(definition) = manager.installed(subject.paths) else {
        return check.skipped("the daemon is not installed as a service");
    };
    let name = subject.display(&path);
    let fix = || install(subject, &path);
    let program = subject.display(&definition.program);
    if !definition.program.is_file() || !platform::is_executable(&definition.program) {
        let what = format!("{name} starts {program}, which is not there or not executable");
        return check.failure(what, NOT_STARTED, fix());
    }
    if !definition.is_of(&subject.paths.root, definition.port) {
        let other = subject.display(&definition.data_dir);
        let what = format!("{name} starts a daemon of {other}, and not of this data directory");
        return check.failure(what, NOT_STARTED, fix());
    }
    let (port, wanted) = (definition.port, subject.port());
    if port != wanted {
        let what = format!("{name} starts a daemon on port {port}, and not on {wanted}");
        return check.failure(what, NOT_STARTED, fix());
    }
    check.ok(format!("{name} starts {program}"))
}

/// What writes it anew. One that the user has changed is replaced only if that is asked for.
fn install(subject: &Subject<'_>, path: &Path) -> Fix {
    let receipt = subject.receipt();
    match (receipt.record(path), fs_err::read(path)) {
        (Some(record), Ok(bytes)) if record.wrote(&bytes) => Fix::Tma1("service install"),
        (Some(_), _) => Fix::Tma1("service install --force"),
        (None, _) => {
            let name = subject.display(path);
            Fix::ByHand(format!("remove {name}, then run `tma1 service install`"))
        }
    }
}
