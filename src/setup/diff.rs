//! A plan as the user reads it.

use std::fmt::{self, Display, Formatter};

use console::style;
use similar::udiff::UnifiedDiffHunk;
use similar::{ChangeTag, TextDiff};

use crate::paths::Paths;
use crate::setup::plan::{Change, Plan};

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
            let verb = if change.creates() { "Created" } else { "Updated" };
            write!(f, "{verb} {}", self.paths.display(change.path()))?;
            match change.hooks {
                Some(tally) => writeln!(f, " ({tally})")?,
                None => writeln!(f)?,
            }
        }
        Ok(())
    }
}

impl Display for Diff<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for change in self.plan.changes() {
            let [before, after] = names(change, self.paths);
            writeln!(f, "{}", style(format_args!("--- {before}")).bold())?;
            writeln!(f, "{}", style(format_args!("+++ {after}")).bold())?;
            write_body(f, change)?;
            let why = match change.hooks {
                Some(tally) => format!("# {}: {tally}", change.why),
                None => format!("# {}", change.why),
            };
            writeln!(f, "{}\n", style(why).dim())?;
        }
        write_summary(f, self.plan)
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
    let mode = change.mode;
    match change.former_mode() {
        _ if change.creates() => {
            ["/dev/null".to_owned(), format!("{name}{link} (new file, mode {mode:04o})")]
        }
        Some(former) => [name.clone(), format!("{name}{link} (mode {former:04o} -> {mode:04o})")],
        None => [name.clone(), name + &link],
    }
}

fn write_body(f: &mut Formatter<'_>, change: &Change) -> fmt::Result {
    let before = change.target.before.as_ref();
    let before = before.map_or(&[][..], |before| &before.bytes);
    match (text_of(before), text_of(&change.after)) {
        (Some(before), Some(after)) => TextDiff::from_lines(before, after)
            .unified_diff()
            .context_radius(CONTEXT)
            .iter_hunks()
            .try_for_each(|hunk| write_hunk(f, &hunk)),
        _ => writeln!(f, "binary file, {} bytes", change.after.len()),
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
        let line = value.strip_suffix('\n').unwrap_or(value);
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
    let all = plan.changes().len();
    let created = plan.changes().iter().filter(|c| c.creates()).count();
    let edited = all - created;
    let noun = if all == 1 { "file" } else { "files" };
    write!(f, "{all} {noun} would change: ")?;
    match (created, edited) {
        (created, 0) => write!(f, "{created} created")?,
        (0, edited) => write!(f, "{edited} edited")?,
        (created, edited) => write!(f, "{created} created, {edited} edited")?,
    }
    writeln!(f, ". Nothing was written.")
}
