//! `tma1 service`: the daemon as a service of the user's session.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use serde::Serialize;
use serde_json::json;

use crate::cli::adapters::{self, Output};
use crate::cli::{Context, ExitStatus, Failure};
use crate::clock;
use crate::daemon::lifecycle::{self, Launcher, Presence};
use crate::platform;
use crate::process::{self, NoRun};
use crate::setup::Task;
use crate::setup::adapter::Artifact;
use crate::setup::diff::PlanJson;
use crate::setup::install::Options;
use crate::setup::plan::Plan;
use crate::setup::service::{self, Call, Manager};

/// How long a command of the manager may take. To end the service takes as long as the daemon does.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long the daemon may take until it answers.
const STARTING: Duration = Duration::from_secs(10);

const PAUSE: Duration = Duration::from_millis(50);

/// Have the daemon started whenever you log in.
///
/// It is a systemd user unit on Linux and a launchd agent on macOS. You do not need it: hooks start
/// the daemon when they find none.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Subcommand,
}

#[derive(Debug, clap::Subcommand)]
enum Subcommand {
    /// Write the service and start it.
    ///
    /// It gets the `TMA1_…` settings of this shell, but for secrets. A daemon that runs makes room.
    Install(InstallArguments),
    /// End the service and take it away.
    Uninstall(Output),
    /// Tell whether the service is there, and whether it runs.
    ///
    /// The exit status is 1 if it does not.
    Status(StatusArguments),
}

#[derive(Debug, clap::Args)]
struct InstallArguments {
    /// Replace a service of ours that you have changed.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    output: Output,
}

#[derive(Debug, clap::Args)]
struct StatusArguments {
    /// Print it as JSON.
    #[arg(long)]
    json: bool,
}

/// What was done, or would be, for programs.
#[derive(Serialize)]
struct ServiceJson {
    #[serde(flatten)]
    plan: PlanJson,
    /// What the manager was told, or would be.
    commands: Vec<String>,
}

pub(super) fn run(arguments: &Arguments, context: &Context) -> Result<ExitStatus, Failure> {
    let Some(manager) = Manager::of_system() else {
        return Err(by_hand(context));
    };
    let service = Service { manager, user: platform::current_user(), context };
    match &arguments.command {
        Subcommand::Install(arguments) => service.install(arguments),
        Subcommand::Uninstall(output) => service.uninstall(*output),
        Subcommand::Status(arguments) => service.status(arguments),
    }
}

/// What a user of a system does whose manager we do not know.
fn by_hand(context: &Context) -> Failure {
    let error = anyhow::anyhow!("this system has no manager of services that tma1 knows");
    let program = context.program.to_string_lossy();
    let hint = if cfg!(windows) {
        format!(
            "the Task Scheduler does it: schtasks /Create /SC ONLOGON /TN tma1 /TR \"{program} start\""
        )
    } else {
        format!("have `{program} start` run when you log in")
    };
    Failure::new(error, Some(hint))
}

/// The service, if it is installed and starts what `launcher` would start, and its manager can be
/// talked to.
pub(super) fn starting<'a>(launcher: &Launcher, context: &'a Context) -> Option<Service<'a>> {
    let manager = Manager::of_system()?;
    let definition = manager.installed(&launcher.paths)?;
    let real = |path: &Path| fs_err::canonicalize(path).ok();
    let is_same = definition.is_of(&launcher.paths.root, launcher.port)
        && real(&definition.program)? == real(&launcher.program)?;
    let service = Service { manager, user: platform::current_user(), context };
    (is_same && service.require_manager().is_ok()).then_some(service)
}

/// The service of this user.
#[derive(Debug)]
pub(super) struct Service<'a> {
    manager: Manager,
    user: u32,
    context: &'a Context,
}

impl Service<'_> {
    fn definition(&self) -> PathBuf {
        self.manager.definition(&self.context.paths)
    }

    fn artifacts(&self) -> Result<Vec<Artifact>, Failure> {
        let context = self.context;
        let binary = adapters::binary(context)?;
        let site = adapters::site(context, &binary, None);
        Ok(service::artifacts(&site, self.manager, &context.environment)?)
    }

    fn install(&self, arguments: &InstallArguments) -> Result<ExitStatus, Failure> {
        let (context, output) = (self.context, arguments.output);
        let artifacts = self.artifacts()?;
        let definition = self.definition();
        self.require_manager()?;
        let task = Task::Install(Options { force: arguments.force, ..Options::default() });
        let plan = output.carry_out(task, &artifacts, context)?;
        if let Some(note) = plan.notes().iter().find(|note| note.path == definition && note.stays())
        {
            let error = anyhow::anyhow!("{} stays as it is", definition.display());
            return Err(Failure::new(error, Some(note.reason.to_string())));
        }
        // `launchd` calls active also what has ended.
        let calls = if plan.is_empty() && self.is_active() == Some(true) && self.pid()?.is_some() {
            Vec::new()
        } else {
            self.manager.enable(&definition, self.user)
        };
        if output.dry_run {
            self.show(output, &plan, &calls)?;
            return Ok(ExitStatus::Done);
        }
        let told = self.start(&calls);
        // What was written is told also if it does not start.
        self.show(output, &plan, if told.is_ok() { &calls } else { &[] })?;
        told?;
        let pid = self.await_daemon()?;
        if output.talks() {
            let did = if calls.is_empty() { "Nothing to do: the" } else { "The" };
            let port = context.config.port;
            context.printer.out(format_args!(
                "{did} daemon runs as a service (process {pid}, port {port}).\n"
            ))?;
            self.tell_withheld(&definition);
        }
        Ok(ExitStatus::Done)
    }

    /// Has the manager start the service by `calls`, in the place of the daemon that may run.
    fn start(&self, calls: &[Call]) -> Result<(), Failure> {
        if calls.is_empty() {
            return Ok(());
        }
        lifecycle::allow_autostart(&self.context.paths)?;
        lifecycle::stop(&self.context.paths, self.context.config.port)?;
        if self.is_active() == Some(true) {
            // It runs by an earlier definition.
            self.call(&self.manager.disable(self.user))?;
        }
        calls.iter().try_for_each(|call| self.call(call))
    }

    fn uninstall(&self, output: Output) -> Result<ExitStatus, Failure> {
        let context = self.context;
        let definition = self.definition();
        let artifacts: Vec<_> = (self.artifacts()?.into_iter())
            .filter(|artifact| artifact.path == definition)
            .collect();
        let planned = Task::Uninstall.plan(&artifacts, &context.paths)?;
        let goes = planned.changes().any(|change| change.path() == definition);
        let is_told = goes && self.ask(&self.manager.probe(self.user)).is_ok();
        let disable = is_told.then(|| self.manager.disable(self.user));
        let forget = self.manager.forget().filter(|_| is_told);
        if let Some(disable) = disable.as_ref().filter(|_| !output.dry_run) {
            // Before the file goes: it says where the service is started.
            self.call(disable)?;
        }
        let plan = output.carry_out(Task::Uninstall, &artifacts, context)?;
        if let Some(forget) = forget.as_ref().filter(|_| !output.dry_run) {
            self.call(forget)?;
        }
        let calls: Vec<_> = disable.into_iter().chain(forget).collect();
        self.show(output, &plan, &calls)?;
        if goes && !is_told {
            let name = self.manager.name();
            context.printer.error_line(format_args!(
                "warning: {name} does not answer here, so it was not told; what it has started runs on"
            ));
        }
        if output.talks() && plan.is_empty() {
            context.printer.out("Nothing to do: there is no service of tma1.\n")?;
        }
        Ok(ExitStatus::Done)
    }

    fn status(&self, arguments: &StatusArguments) -> Result<ExitStatus, Failure> {
        let context = self.context;
        let definition = self.definition();
        let plan = Task::Install(Options::default()).plan(&self.artifacts()?, &context.paths)?;
        let installed = definition.is_file();
        let current = installed
            && !plan.notes().iter().any(|note| note.path == definition)
            && !plan.changes().any(|change| change.path() == definition);
        let active = self.is_active();
        let running = self.pid()?;
        if arguments.json {
            let report = json!({
                "manager": self.manager.name(), "definition": definition, "installed": installed,
                "current": current, "active": active, "daemon_pid": running,
            });
            context.printer.out(format_args!("{report:#}\n"))?;
        } else {
            let file = context.paths.display(&definition);
            let service = match (installed, current) {
                (false, _) => "not installed; `tma1 service install` does it".to_owned(),
                (true, true) => file,
                (true, false) => format!(
                    "{file}, which differs from what this version writes; \
                     `tma1 service install --dry-run` shows how"
                ),
            };
            let active = match active {
                Some(true) => "active",
                Some(false) => "not active",
                None => "does not answer here",
            };
            let daemon = running
                .map_or_else(|| "not running".to_owned(), |pid| format!("running (process {pid})"));
            context.printer.out(format_args!(
                "service: {service}\n{}: {active}\ndaemon: {daemon}\n",
                self.manager.name()
            ))?;
        }
        let runs = installed && active == Some(true) && running.is_some();
        Ok(if runs { ExitStatus::Done } else { ExitStatus::Failed })
    }

    fn show(&self, output: Output, plan: &Plan, calls: &[Call]) -> Result<(), Failure> {
        let (printer, paths) = (self.context.printer, &self.context.paths);
        if output.json {
            let plan = PlanJson::new(plan, paths, output.dry_run);
            let commands = calls.iter().map(ToString::to_string).collect();
            let json = serde_json::to_string_pretty(&ServiceJson { plan, commands })?;
            printer.out(format_args!("{json}\n"))?;
            return Ok(());
        }
        output.show(plan, paths, printer)?;
        let ran = if output.dry_run { "Would run" } else { "Ran" };
        calls.iter().try_for_each(|call| printer.out(format_args!("{ran} {call}\n")))?;
        Ok(())
    }

    /// Names the settings that the service does not get, and where the user can put them.
    fn tell_withheld(&self, definition: &Path) {
        let withheld = service::withheld(&self.context.environment);
        if withheld.is_empty() {
            return;
        }
        let how = match self.manager {
            Manager::Systemd => {
                "`systemctl --user edit tma1.service` takes them, as lines of `Environment=` below \
                 `[Service]`; then `tma1 restart`"
            }
            Manager::Launchd => "`tma1 start` in a shell that has them runs the daemon with them",
        };
        self.context.printer.error_line(format_args!(
            "warning: to keep a secret out of {}, the service does not get {}\nhint: {how}",
            self.context.paths.display(definition),
            withheld.join(", "),
        ));
    }

    /// Fails if the manager can't be asked, with what to do instead.
    fn require_manager(&self) -> Result<(), Failure> {
        self.ask(&self.manager.probe(self.user)).map_err(|error| {
            let hint =
                "do without: `tma1 start` runs the daemon, and hooks start it when they find none";
            Failure::new(error, Some(hint.to_owned()))
        })
    }

    /// Whether the manager runs the service; none if it can't be asked.
    fn is_active(&self) -> Option<bool> {
        self.ask(&self.manager.probe(self.user)).ok()?;
        Some(self.ask(&self.manager.is_active(self.user)).is_ok())
    }

    /// Has the manager do something.
    fn call(&self, call: &Call) -> Result<(), Failure> {
        let hint = || Some(format!("`{call}` tells more"));
        self.ask(call).map_err(|error| Failure::new(error, hint()))
    }

    /// Gives the manager a command and says why it did not do it.
    fn ask(&self, call: &Call) -> Result<(), anyhow::Error> {
        let reason = match process::run(command(call), "", PATIENCE) {
            Ok(run) if run.status == Some(0) => return Ok(()),
            Ok(run) => run.stderr.lines().next().unwrap_or("it gives no reason").to_owned(),
            Err(NoRun::NotStarted(reason)) => reason,
            Err(NoRun::TimedOut) => "it did not end in time".to_owned(),
        };
        Err(anyhow::anyhow!("{} refuses `{call}`: {reason}", self.manager.name()))
    }

    /// The process of the daemon, if it answers.
    fn pid(&self) -> Result<Option<u32>, Failure> {
        let (paths, port) = (&self.context.paths, self.context.config.port);
        Ok(match Presence::of(paths, port)? {
            Presence::Running { health, .. } => Some(health.pid),
            Presence::Silent(_) | Presence::Absent => None,
        })
    }

    /// Has the manager start the daemon by the definition that it knows.
    pub(super) fn restart(&self) -> Result<(), anyhow::Error> {
        self.ask(&self.manager.restart(self.user))
    }

    /// Waits until the daemon answers, and gives its process.
    fn await_daemon(&self) -> Result<u32, Failure> {
        let deadline = clock::monotonic() + STARTING;
        loop {
            if let Some(pid) = self.pid()? {
                return Ok(pid);
            }
            if clock::monotonic() > deadline {
                let error =
                    anyhow::anyhow!("the service is in place, but its daemon does not answer");
                let hint = "`tma1 logs` and `tma1 doctor` tell more";
                return Err(Failure::new(error, Some(hint.to_owned())));
            }
            thread::sleep(PAUSE);
        }
    }
}

/// The user's own environment goes with it: by that the manager of the session is found.
fn command(call: &Call) -> Command {
    let mut command = Command::new(call.program);
    command.args(&call.arguments);
    command
}
