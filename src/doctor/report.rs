//! The findings as users and programs read them.

use std::fmt::{self, Display, Formatter};

use console::style;
use serde::Serialize;

use crate::doctor::finding::{Finding, Fix, Status};

/// How a user types the commands that mend things.
#[derive(Debug, Clone)]
pub struct FixText {
    /// What starts this program, with what it has to be told by a variable.
    pub program: String,
}

impl FixText {
    fn of(&self, fix: &Fix) -> String {
        let program = &self.program;
        match fix {
            Fix::Install(agent) => {
                format!("{program} install --adapter {agent} --skip-project-files")
            }
            Fix::InstallProject(agent) => format!("{program} install --adapter {agent}"),
            Fix::Tma1(arguments) => format!("{program} {arguments}"),
            Fix::Shell(command) => command.clone(),
            Fix::ByHand(words) => words.clone(),
        }
    }
}

/// What doctor prints: the faults, and a summary; with `verbose` every check.
#[derive(Debug)]
pub struct Report<'a> {
    /// What was found.
    pub findings: &'a [Finding],
    /// How fixes are written.
    pub fixes: &'a FixText,
    /// Whether what is fine is shown too.
    pub verbose: bool,
}

impl Display for Report<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let count = |status| self.findings.iter().filter(|it| it.status == status).count();
        for finding in self.findings {
            if self.verbose || finding.status >= Status::Warning {
                self.write(f, finding)?;
            }
        }
        let (warnings, failures) = (count(Status::Warning), count(Status::Failure));
        let fine = count(Status::Ok);
        if warnings + failures == 0 {
            return writeln!(f, "All {fine} checks are fine.");
        }
        let counted = [(failures, "failure"), (warnings, "warning")];
        let counted = counted.into_iter().filter(|(count, _)| *count > 0);
        let counted = counted.map(|(count, noun)| format!("{count} {noun}{}", plural(count)));
        let counted = counted.collect::<Vec<_>>().join(", ");
        writeln!(f, "{counted}; {fine} checks are fine.")?;
        if self.findings.iter().any(Finding::is_repairable) {
            let program = &self.fixes.program;
            writeln!(f, "`{program} doctor --fix` shows what install would mend, and asks.")?;
        }
        Ok(())
    }
}

impl Report<'_> {
    fn write(&self, f: &mut Formatter<'_>, finding: &Finding) -> fmt::Result {
        let word = style(format!("{:<8}", finding.status.word()));
        let word = match finding.status {
            Status::Ok => word.green(),
            Status::Skipped => word.dim(),
            Status::Warning => word.yellow().bold(),
            Status::Failure => word.red().bold(),
        };
        let agent = finding.agent.map(|agent| format!("{agent} ")).unwrap_or_default();
        writeln!(f, "{word} {agent}{}: {}", finding.check, finding.what)?;
        if !finding.meaning.is_empty() {
            writeln!(f, "         {}.", capitalized(finding.meaning))?;
        }
        if let Some(fix) = &finding.fix {
            let label = style("fix:").cyan().bold();
            writeln!(f, "         {label} {}", self.fixes.of(fix))?;
        }
        Ok(())
    }
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

fn capitalized(text: &str) -> String {
    let mut characters = text.chars();
    characters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

/// The findings for programs. Its fields stay what they are from version to version.
#[derive(Debug, Serialize)]
pub struct ReportJson<'a> {
    version: &'static str,
    /// The worst of all.
    status: Status,
    checks: Vec<CheckJson<'a>>,
}

#[derive(Debug, Serialize)]
struct CheckJson<'a> {
    name: &'static str,
    adapter: Option<&'static str>,
    status: Status,
    what: &'a str,
    meaning: Option<&'static str>,
    fix: Option<String>,
    /// Whether `fix` is a command as it stands.
    fix_is_command: bool,
    /// Whether `--fix` mends it.
    repairable: bool,
}

impl<'a> ReportJson<'a> {
    /// The same findings.
    pub fn new(findings: &'a [Finding], fixes: &FixText) -> Self {
        let check = |finding: &'a Finding| CheckJson {
            name: finding.check,
            adapter: finding.agent.map(crate::agent::Agent::name),
            status: finding.status,
            what: &finding.what,
            meaning: Some(finding.meaning).filter(|meaning| !meaning.is_empty()),
            fix: finding.fix.as_ref().map(|fix| fixes.of(fix)),
            fix_is_command: !matches!(finding.fix, None | Some(Fix::ByHand(_))),
            repairable: finding.is_repairable(),
        };
        Self {
            version: env!("CARGO_PKG_VERSION"),
            status: super::worst(findings),
            checks: findings.iter().map(check).collect(),
        }
    }
}
