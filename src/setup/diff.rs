//! A plan as the user reads it.

use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};

use console::style;
use serde::Serialize;
use similar::udiff::UnifiedDiffHunk;
use similar::{ChangeTag, TextDiff};

use crate::paths::Paths;
use crate::printable::printable;
use crate::setup::plan::{Change, Note, Plan, Step};

/// Lines shown around a change.
const CONTEXT: usize = 3;

/// What a dry run shows: every change as a unified diff, and a summary.
#[derive(Debug)]
pub struct Diff<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// How its files are named.
    pub paths: &'a Paths,
}

/// What would change, a line a file: what a person is asked to confirm.
#[derive(Debug)]
pub struct Summary<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// How its files are named.
    pub paths: &'a Paths,
}

/// What a real run did, a line a change.
#[derive(Debug)]
pub struct Report<'a> {
    /// The plan that was carried out.
    pub plan: &'a Plan,
    /// How its files are named.
    pub paths: &'a Paths,
}

impl Display for Report<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for change in self.plan.changes() {
            let verb = Action::of(change).past();
            write!(f, "{verb} {}", self.paths.display(change.path()))?;
            write_tally(f, change)?;
        }
        for path in purged(self.plan) {
            writeln!(f, "{} {}", Action::Remove.past(), self.paths.display(path))?;
        }
        for note in self.plan.notes() {
            let verb = if note.stays() { "Skipped" } else { "Note on" };
            writeln!(f, "{verb} {} \u{2014} {}", self.paths.display(&note.path), note.reason)?;
        }
        Ok(())
    }
}

impl Display for Summary<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for change in self.plan.changes() {
            let verb = Action::of(change).future();
            write!(f, "{verb} {}", self.paths.display(change.path()))?;
            write_tally(f, change)?;
        }
        Ok(())
    }
}

/// The files and folders that a purge takes, each folder after what is in it.
fn purged(plan: &Plan) -> impl Iterator<Item = &Path> {
    plan.purged().iter().flat_map(|purged| {
        let folder = purged.whole.then_some(&purged.path);
        purged.files.iter().chain(folder).map(PathBuf::as_path)
    })
}

fn write_tally(f: &mut Formatter<'_>, change: &Change) -> fmt::Result {
    match change.hooks {
        Some(tally) => writeln!(f, " ({tally})"),
        None => writeln!(f),
    }
}

/// What becomes of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Action {
    Create,
    Update,
    Remove,
}

impl Action {
    fn of(change: &Change) -> Self {
        match change.after {
            None => Self::Remove,
            Some(_) if change.creates() => Self::Create,
            Some(_) => Self::Update,
        }
    }

    const fn past(self) -> &'static str {
        match self {
            Self::Create => "Created",
            Self::Update => "Updated",
            Self::Remove => "Removed",
        }
    }

    const fn future(self) -> &'static str {
        match self {
            Self::Create => "Would create",
            Self::Update => "Would update",
            Self::Remove => "Would remove",
        }
    }
}

/// A plan for programs. Its fields stay what they are from version to version.
#[derive(Debug, Serialize)]
pub struct PlanJson {
    dry_run: bool,
    changes: Vec<ChangeJson>,
    folders: Vec<FolderJson>,
    /// What a purge takes, each folder after what is in it.
    purged: Vec<String>,
    skipped: Vec<NoteJson>,
    notes: Vec<NoteJson>,
}

#[derive(Debug, Serialize)]
struct ChangeJson {
    path: String,
    /// Where the bytes go, if the path is or goes through a link.
    target: String,
    action: Action,
    why: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    hooks: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<String>,
    diff: String,
}

#[derive(Debug, Serialize)]
struct FolderJson {
    path: String,
    action: Action,
}

#[derive(Debug, Serialize)]
struct NoteJson {
    path: String,
    reason: String,
}

impl PlanJson {
    /// The same plan that a [`Diff`] shows.
    pub fn new(plan: &Plan, paths: &Paths, dry_run: bool) -> Self {
        let folder = |path: &Path, action| FolderJson { path: path.display().to_string(), action };
        Self {
            dry_run,
            changes: plan.changes().map(|change| ChangeJson::new(change, paths)).collect(),
            folders: plan
                .steps()
                .iter()
                .filter_map(|step| match step {
                    Step::CreateFolder(path) => Some(folder(path, Action::Create)),
                    Step::RemoveFolder(path) => Some(folder(path, Action::Remove)),
                    Step::Change(_) => None,
                })
                .collect(),
            purged: purged(plan).map(|path| path.display().to_string()).collect(),
            skipped: plan.notes().iter().filter(|note| note.stays()).map(NoteJson::new).collect(),
            notes: plan.notes().iter().filter(|note| !note.stays()).map(NoteJson::new).collect(),
        }
    }
}

impl NoteJson {
    fn new(note: &Note) -> Self {
        Self { path: note.path.display().to_string(), reason: note.reason.to_string() }
    }
}

impl ChangeJson {
    fn new(change: &Change, paths: &Paths) -> Self {
        let diff = console::strip_ansi_codes(&FileDiff { change, paths }.to_string()).into_owned();
        Self {
            path: change.path().display().to_string(),
            target: change.target.resolved.display().to_string(),
            action: Action::of(change),
            why: change.why,
            hooks: change.hooks.map(|tally| tally.to_string()),
            mode: change.after.as_ref().map(|after| format!("{:04o}", after.mode)),
            diff,
        }
    }
}

/// One file of a [`Diff`].
struct FileDiff<'a> {
    change: &'a Change,
    paths: &'a Paths,
}

impl Display for FileDiff<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let [before, after] = names(self.change, self.paths);
        writeln!(f, "{}", style(format_args!("--- {before}")).bold())?;
        writeln!(f, "{}", style(format_args!("+++ {after}")).bold())?;
        write_body(f, self.change)
    }
}

impl Display for Diff<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for step in self.plan.steps() {
            match step {
                Step::CreateFolder(path) => self.write_folder(f, "new", path)?,
                Step::Change(change) => self.write_change(f, change)?,
                Step::RemoveFolder(path) => self.write_folder(f, "removed", path)?,
            }
        }
        for path in purged(self.plan) {
            let name = printable(&self.paths.display(path));
            writeln!(f, "{} {name}", Action::Remove.future())?;
        }
        for note in self.plan.notes() {
            let name = self.paths.display(&note.path);
            let verb = if note.stays() { " stays" } else { "" };
            writeln!(f, "{name}{verb}: {}", note.reason)?;
        }
        write_summary(f, self.plan)
    }
}

impl Diff<'_> {
    fn write_folder(&self, f: &mut Formatter<'_>, what: &str, path: &Path) -> fmt::Result {
        let name = self.paths.display(path);
        writeln!(f, "{}\n", style(format_args!("{what} folder {name}/")).bold())
    }

    fn write_change(&self, f: &mut Formatter<'_>, change: &Change) -> fmt::Result {
        write!(f, "{}", FileDiff { change, paths: self.paths })?;
        let why = match change.hooks {
            Some(tally) => format!("# {}: {tally}", change.why),
            None => format!("# {}", change.why),
        };
        writeln!(f, "{}\n", style(why).dim())
    }
}

/// What the file is called before and after, with what is to be known about it.
fn names(change: &Change, paths: &Paths) -> [String; 2] {
    let name = paths.display(change.path());
    let link = if change.target.through_link {
        format!(" -> {}", paths.display(&change.target.resolved))
    } else {
        String::new()
    };
    let Some(after) = &change.after else {
        return [format!("{name}{link}"), "/dev/null".to_owned()];
    };
    match change.modes() {
        _ if change.creates() => {
            ["/dev/null".to_owned(), format!("{name}{link} (new file, mode {:04o})", after.mode)]
        }
        Some((before, after)) => {
            [name.clone(), format!("{name}{link} (mode {before:04o} -> {after:04o})")]
        }
        None => [name.clone(), name + &link],
    }
}

fn write_body(f: &mut Formatter<'_>, change: &Change) -> fmt::Result {
    let before = change.target.before.as_ref();
    let before = before.map_or(&[][..], |before| &before.bytes);
    let after = change.after.as_ref().map_or(&[][..], |after| &after.bytes);
    match (text_of(before), text_of(after)) {
        (Some(before), Some(after)) => TextDiff::from_lines(before, after)
            .unified_diff()
            .context_radius(CONTEXT)
            .iter_hunks()
            .try_for_each(|hunk| write_hunk(f, &hunk)),
        _ => writeln!(f, "binary file, {} bytes", after.len().max(before.len())),
    }
}

/// The text of a file, unless it is binary.
fn text_of(bytes: &[u8]) -> Option<&str> {
    str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

fn write_hunk(f: &mut Formatter<'_>, hunk: &UnifiedDiffHunk<'_, '_, '_, str>) -> fmt::Result {
    writeln!(f, "{}", style(hunk.header()).cyan())?;
    for change in hunk.iter_changes() {
        let value = change.value();
        let line = printable_line(value.strip_suffix('\n').unwrap_or(value));
        let line = style(format!("{}{line}", change.tag()));
        let line = match change.tag() {
            ChangeTag::Equal => line,
            ChangeTag::Delete => line.red(),
            ChangeTag::Insert => line.green(),
        };
        writeln!(f, "{line}")?;
        if change.missing_newline() {
            writeln!(f, "\\ No newline at end of file")?;
        }
    }
    Ok(())
}

fn write_summary(f: &mut Formatter<'_>, plan: &Plan) -> fmt::Result {
    let count = |action| plan.changes().filter(|change| Action::of(change) == action).count();
    let [created, updated, removed] = [Action::Create, Action::Update, Action::Remove].map(count);
    let removed = removed + plan.purged().iter().map(|folder| folder.files.len()).sum::<usize>();
    let all = created + updated + removed;
    if all == 0 {
        return writeln!(f, "Nothing would change.");
    }
    let noun = if all == 1 { "file" } else { "files" };
    write!(f, "{all} {noun} would change: ")?;
    let parts = [(created, "created"), (updated, "updated"), (removed, "removed")];
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    let parts: Vec<_> = parts.map(|(count, what)| format!("{count} {what}")).collect();
    writeln!(f, "{}. Nothing was written.", parts.join(", "))
}

/// A line of a file with what would steer the terminal made visible. A tab stays, and so does a
/// carriage return at the end: both are harmless there.
fn printable_line(line: &str) -> String {
    let body = line.strip_suffix('\r').unwrap_or(line);
    let parts: Vec<_> = body.split('\t').map(printable).collect();
    parts.join("\t") + line.get(body.len()..).unwrap_or_default()
}
