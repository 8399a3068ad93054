//! Plans the steps that take every artifact away again, in reverse order: what is registered goes
//! before what it leads to, so that no agent runs into a gap.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::paths::Paths;
use crate::setup::adapter::{Artifact, Content, Shared, Whole};
use crate::setup::edit::hooks::Remark;
use crate::setup::edit::lines;
use crate::setup::install::read_receipt;
use crate::setup::known::KnownEdits;
use crate::setup::plan::{After, Change, Plan, PlanError, Reason, edit_whole};
use crate::setup::receipt::{Receipt, Record};
use crate::setup::registration::Remaining;
use crate::setup::remains;
use crate::setup::replacement::is_temporary;
use crate::setup::sweep;
use crate::setup::target::Target;

/// Plans to take `artifacts` away.
pub(super) fn plan(
    artifacts: &[Artifact],
    paths: &Paths,
    known: &KnownEdits,
) -> Result<Plan, PlanError> {
    let mut plan = Plan::default();
    let receipt = read_receipt(&mut plan, &paths.receipt())?;
    let mut kept = receipt.clone();
    let remaining = Remaining::beside(artifacts, &receipt, paths);
    for artifact in artifacts.iter().rev() {
        let target = plan.inspect(&artifact.path)?;
        let record = receipt.record(&artifact.path);
        let planned = match &artifact.content {
            Content::Whole(whole) => {
                let user = remaining.user_of(&target.resolved, paths);
                let user = user.map(|user| paths.display(&user.path));
                remove_whole(artifact, whole, target, record, user)?
            }
            Content::Shared(shared) => {
                let (planned, remarks) = remove_shared(artifact, shared, target, record, known)?;
                for remark in remarks {
                    plan.note(&artifact.path, Reason::Remark(remark));
                }
                planned
            }
        };
        match planned {
            Ok(change) => {
                plan.push(change);
                kept.forget(&artifact.path);
            }
            Err(reason) => {
                if !reason.is_remembered() {
                    kept.forget(&artifact.path);
                }
                plan.note(&artifact.path, reason);
            }
        }
    }
    sweep::plan(&mut plan, &mut kept, artifacts, paths)?;
    let mut gone = removed_files(&plan);
    // The lock goes last, when nothing else of ours is there.
    gone.insert(paths.install_lock());
    remains::note_other_root(&mut plan, artifacts, paths);
    remains::note(&mut plan, &mut kept, artifacts, &remaining, paths);
    remove_folders(&mut plan, &mut kept, &mut gone, paths);
    plan.record_last(&paths.receipt(), &kept)?;
    if let (true, Some(folder)) = (kept.is_empty(), paths.receipt().parent()) {
        gone.insert(paths.receipt());
        remove_folder(&mut plan, folder, &mut gone);
    }
    Ok(plan)
}

/// Adds the removal of the folders of ours that are empty by then, and names the others.
fn remove_folders(
    plan: &mut Plan,
    kept: &mut Receipt,
    gone: &mut BTreeSet<PathBuf>,
    paths: &Paths,
) {
    let files: Vec<_> = kept.paths().map(Target::resolved).collect();
    let made: Vec<_> = kept.folders().map(Path::to_owned).collect();
    let mut named: Vec<PathBuf> = Vec::new();
    let receipt = Target::resolved(&paths.receipt());
    let hooks = Some(Target::resolved(&paths.hooks())).filter(|hooks| {
        !paths.hooks().is_symlink() && gone.iter().any(|file| file.starts_with(hooks))
    });
    for folder in hooks.into_iter().chain(made) {
        if remove_folder(plan, &folder, gone) {
            kept.forget_folder(&folder);
            continue;
        }
        let holds = |path: &PathBuf| path.starts_with(&folder);
        // The receipt is there until the end, and that end may be this one.
        let is_explained = holds(&receipt)
            || gone.contains(&folder)
            || files.iter().any(holds)
            || named.iter().any(holds);
        if folder.is_dir() && !is_explained {
            plan.note(&folder, Reason::HoldsOthers);
            named.push(folder);
        }
    }
}

/// A change, or why there is none.
type Planned = Result<Change, Reason>;

fn remove_whole(
    artifact: &Artifact,
    whole: &Whole,
    target: Target,
    record: Option<&Record>,
    user: Option<String>,
) -> Result<Planned, PlanError> {
    let Some(before) = &target.before else { return Ok(Err(Reason::Absent)) };
    let is_own = whole.is_own(&target)
        || record.is_some_and(|record| record.wrote(&before.bytes))
        || matches!(whole, Whole::Text(text) if text.as_bytes() == before.bytes);
    match (whole, is_own) {
        _ if artifact.is_kept() => return Ok(Err(Reason::Kept)),
        (_, true) => {
            if let Some(user) = user {
                return Ok(Err(Reason::InUse(user)));
            }
        }
        (_, false) if record.is_some() => return Ok(Err(Reason::Changed)),
        (_, false) => return Ok(Err(Reason::Foreign)),
    }
    target.require_replaceable()?;
    Ok(Ok(Change { target, after: None, why: artifact.why, hooks: None }))
}

fn remove_shared(
    artifact: &Artifact,
    shared: &Shared,
    target: Target,
    record: Option<&Record>,
    known: &KnownEdits,
) -> Result<(Planned, Vec<Remark>), PlanError> {
    if target.before.is_none() {
        return Ok((Err(Reason::Absent), Vec::new()));
    }
    let trace = record.map(|record| &record.trace);
    let edit = |text: &[u8]| shared.remove_from(text, trace);
    let (target, edited) = edit_whole(target, |text| known.edit(shared, text, trace, edit))?;
    let edited =
        edited.map_err(|reason| PlanError::Edit { path: artifact.path.clone(), reason })?;
    let Some(before) = &target.before else {
        return Ok((Err(Reason::Absent), Vec::new()));
    };
    if before.bytes == edited.bytes {
        let keeps = matches!(shared, Shared::Line(line) if lines::has(&before.bytes, line));
        let reason = if keeps { Reason::Kept } else { Reason::NothingOfOurs };
        return Ok((Err(reason), edited.remarks));
    }
    let is_all_ours = record.is_some_and(|record| record.created);
    let after = if is_all_ours && shared.is_blank(&edited.bytes) {
        target.require_replaceable()?;
        None
    } else {
        target.require_writable()?;
        Some(After { bytes: edited.bytes, mode: before.attributes.mode })
    };
    let change = Change { target, after, why: artifact.why, hooks: edited.hooks };
    Ok((Ok(change), edited.remarks))
}

fn removed_files(plan: &Plan) -> BTreeSet<PathBuf> {
    let removed = plan.changes().filter(|change| change.after.is_none());
    removed.map(|change| change.target.resolved.clone()).collect()
}

/// Adds the removal of `folder` if there is nothing in it but what is `gone` by then.
pub(super) fn remove_folder(plan: &mut Plan, folder: &Path, gone: &mut BTreeSet<PathBuf>) -> bool {
    let is_gone = |entry: std::io::Result<fs_err::DirEntry>| {
        entry.is_ok_and(|entry| gone.contains(&entry.path()) || is_temporary(&entry.path()))
    };
    let is_emptied = !gone.contains(folder)
        && !folder.is_symlink()
        && fs_err::read_dir(folder).is_ok_and(|mut entries| entries.all(is_gone));
    if is_emptied {
        gone.insert(folder.to_owned());
        plan.remove_folder(folder);
    }
    is_emptied
}
