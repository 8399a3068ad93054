//! Plans the steps that put every artifact in place. What is in place already is no step.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use bytes::Bytes;

use crate::paths::Paths;
use crate::setup::adapter::{Artifact, Content, Edited, Shared, Whole};
use crate::setup::edit::hooks::Remark;
use crate::setup::known::KnownEdits;
use crate::setup::plan::{After, Change, Plan, PlanError, Reason, edit_whole};
use crate::setup::purge;
use crate::setup::receipt::{Receipt, Record, sha256};
use crate::setup::surroundings::Surroundings;
use crate::setup::sweep;
use crate::setup::target::Target;
use crate::setup::uninstall::remove_folder;

/// Run by an agent.
const EXECUTABLE: u32 = 0o755;
const OWNER_RUNS: u32 = 0o100;

/// Read by an agent; holds nothing that others may not see.
const READABLE: u32 = 0o644;

/// What an install may do.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Whether texts of ours that the user has changed are replaced.
    pub force: bool,
    /// Whether what has vanished beside our entries is still remembered: an install that the user has
    /// asked for takes the state of things for the wanted one, a repair of something else does not.
    pub keeps_losses: bool,
}

/// Plans to put `artifacts` in place, and to keep a receipt of it.
pub(super) fn plan(
    artifacts: &[Artifact],
    paths: &Paths,
    options: Options,
    known: &KnownEdits,
) -> Result<Plan, PlanError> {
    let mut plan = Plan::default();
    let receipt = read_receipt(&mut plan, &paths.receipt())?;
    let mut kept = receipt.clone();
    for artifact in artifacts.iter().filter(|artifact| artifact.wanted) {
        let record = receipt.record(&artifact.path);
        let planned = plan_artifact(&mut plan, artifact, record, options, known);
        let mut planned = planned.map_err(|error| artifact.explained(error))?;
        if let (true, Some(before)) = (options.keeps_losses, record) {
            planned.keep_losses(&before.surroundings, &artifact.path);
        }
        match planned {
            Planned::Stays(reason) => plan.note(&artifact.path, reason),
            // A purge takes it by its name, so an uninstall needs to know nothing of it.
            Planned::InPlace(_) if artifact.is_kept() => {}
            Planned::Change(change, _) if artifact.is_kept() => plan.push(*change),
            Planned::InPlace(record) => {
                kept.look_around(&artifact.path, &record.surroundings);
                note_if_known(&mut kept, artifact, record);
            }
            Planned::Change(change, record) => {
                if is_anew(artifact, &change, receipt.record(&artifact.path)) {
                    kept.forget(&artifact.path);
                }
                kept.note(&artifact.path, record);
                plan.push(*change);
            }
        }
    }
    let swept = sweep::plan(&mut plan, &mut kept, artifacts, paths)?;
    remove_swept(&mut plan, &mut kept, &swept, artifacts);
    // Those on the way to our own folder are made for the lock and go with it, the other one with a
    // purge.
    let goes_otherwise = |folder: &&Path| paths.root.starts_with(folder) || **folder == paths.bin();
    for folder in plan.created_folders().filter(|folder| !goes_otherwise(folder)) {
        kept.note_folder(folder);
    }
    if kept != receipt || !plan.is_empty() {
        plan.record_first(&paths.receipt(), &kept)?;
    }
    Ok(plan)
}

fn plan_artifact(
    plan: &mut Plan,
    artifact: &Artifact,
    record: Option<&Record>,
    options: Options,
    known: &KnownEdits,
) -> Result<Planned, PlanError> {
    let target = plan.inspect(&artifact.path)?;
    if let Some(project) = &artifact.project {
        target.require_in_project(project)?;
    }
    match &artifact.content {
        Content::Whole(whole) => install_whole(artifact, whole, target, record, options),
        Content::Shared(shared) => {
            let (planned, remarks) = install_shared(artifact, shared, target, known)?;
            for remark in remarks {
                plan.note(&artifact.path, Reason::Remark(remark));
            }
            Ok(planned)
        }
    }
}

impl Artifact {
    /// Why the artifact can't be installed, with how to do without it if that is possible.
    fn explained(&self, error: PlanError) -> PlanError {
        if self.project.is_some() { PlanError::Project(Box::new(error)) } else { error }
    }
}

/// Adds the removal of the folders of ours that are left empty by the removal of the `swept` files.
fn remove_swept(plan: &mut Plan, kept: &mut Receipt, swept: &[PathBuf], artifacts: &[Artifact]) {
    let mut gone: BTreeSet<_> = swept.iter().cloned().collect();
    let is_needed = |folder: &Path| artifacts.iter().any(|other| other.path.starts_with(folder));
    let is_left =
        |folder: &&Path| swept.iter().any(|file| file.starts_with(folder)) && !is_needed(folder);
    let left: Vec<_> = kept.folders().filter(is_left).map(Path::to_owned).collect();
    for folder in left {
        if remove_folder(plan, &folder, &mut gone) {
            kept.forget_folder(&folder);
        }
    }
}

/// Reads the receipt of what was installed before.
pub(super) fn read_receipt(plan: &mut Plan, path: &Path) -> Result<Receipt, PlanError> {
    let target = plan.inspect(path)?;
    Ok(target.before.map_or_else(Receipt::default, |file| Receipt::read(&file.bytes)))
}

enum Planned {
    Stays(Reason),
    InPlace(Record),
    Change(Box<Change>, Record),
}

impl Planned {
    /// Takes over what is lost of the surroundings `before` of the file at `path`.
    fn keep_losses(&mut self, before: &Surroundings, path: &Path) {
        if let Self::InPlace(record) | Self::Change(_, record) = self {
            record.surroundings.keep_losses(before, path);
        }
    }
}

/// What is in place without a record was there before us, or its record is lost: all that is known is
/// what it holds.
fn note_if_known(kept: &mut Receipt, artifact: &Artifact, record: Record) {
    if kept.record(&artifact.path).is_none() {
        kept.note(&artifact.path, Record { created: false, ..record });
    }
}

/// Whether a file that we created once is another one by now: with nothing of ours in it, it is the
/// user's own.
fn is_anew(artifact: &Artifact, change: &Change, record: Option<&Record>) -> bool {
    let Content::Shared(shared) = &artifact.content else { return false };
    let Some(before) = &change.target.before else { return false };
    let holds_nothing = |edited: Edited| edited.bytes == before.bytes;
    record.is_some_and(|record| record.created)
        && shared.remove_from(&before.bytes, None).is_ok_and(holds_nothing)
}

fn install_whole(
    artifact: &Artifact,
    whole: &Whole,
    target: Target,
    record: Option<&Record>,
    options: Options,
) -> Result<Planned, PlanError> {
    let bytes = whole.bytes().map_err(PlanError::Program)?;
    let written = Record {
        created: target.before.is_none(),
        sha256: Some(sha256(&bytes)),
        ..Record::default()
    };
    let mode = whole.mode(&target);
    if let Some(before) = &target.before {
        if before.bytes == bytes && before.attributes.mode == mode {
            return Ok(Planned::InPlace(written));
        }
        let is_known = before.bytes == bytes
            || whole.is_own(&target)
            || artifact.is_kept() && artifact.path.with_file_name(purge::MARKER).is_file()
            || record.is_some_and(|record| record.wrote(&before.bytes));
        match (whole, record) {
            _ if is_known => {}
            (Whole::Text(_), Some(_)) if options.force => {}
            (Whole::Text(_), Some(_)) => return Ok(Planned::Stays(Reason::Modified)),
            (Whole::Text(_), None) => return Ok(Planned::Stays(Reason::Foreign)),
            (Whole::Program(_) | Whole::Marker | Whole::Script(_), _) => {
                return Err(PlanError::Foreign(artifact.path.clone()));
            }
        }
    }
    target.require_replaceable()?;
    let after = Some(After { bytes, mode });
    let change = Change { target, after, why: artifact.why, hooks: None };
    Ok(Planned::Change(Box::new(change), written))
}

fn install_shared(
    artifact: &Artifact,
    shared: &Shared,
    target: Target,
    known: &KnownEdits,
) -> Result<(Planned, Vec<Remark>), PlanError> {
    let edit = |text: &[u8]| shared.install_into(text);
    let (target, edited) = edit_whole(target, |text| known.edit(shared, text, None, edit))?;
    let edited =
        edited.map_err(|reason| PlanError::Edit { path: artifact.path.clone(), reason })?;
    let surroundings = Surroundings::of(&artifact.path, shared, &edited.bytes);
    let created = target.before.is_none();
    let record = Record { created, sha256: None, trace: edited.trace, surroundings };
    if target.before.as_ref().is_some_and(|before| before.bytes == edited.bytes) {
        return Ok((Planned::InPlace(record), edited.remarks));
    }
    target.require_writable()?;
    let mode = target.before.as_ref().map_or(shared.mode_of_new(), |before| before.attributes.mode);
    let after = Some(After { bytes: edited.bytes, mode });
    let change = Change { target, after, why: artifact.why, hooks: edited.hooks };
    Ok((Planned::Change(Box::new(change), record), edited.remarks))
}

impl Whole {
    fn bytes(&self) -> std::io::Result<Bytes> {
        Ok(match self {
            Self::Program(path) => fs_err::read(path)?.into(),
            Self::Script(text) => text.clone().into(),
            Self::Marker => purge::MARKER_TEXT.into(),
            Self::Text(text) => text.clone().into_owned().into(),
        })
    }

    /// The mode of the file: as the user has set it, if the file serves its purpose that way.
    fn mode(&self, target: &Target) -> u32 {
        let before = target.before.as_ref().map(|before| before.attributes.mode);
        match self {
            Self::Program(_) | Self::Script(_) => {
                before.filter(|mode| mode & OWNER_RUNS != 0).unwrap_or(EXECUTABLE)
            }
            Self::Text(_) | Self::Marker => before.unwrap_or(READABLE),
        }
    }

    /// Whether the file that is there is ours by what it is, or by where.
    ///
    /// A script at our own path is ours whatever is in it, as the agents run it for us: an earlier
    /// version or half of one. What a link leads to is elsewhere, and ours only by its head.
    pub(super) fn is_own(&self, target: &Target) -> bool {
        const SCRIPT_HEAD: &[u8] = b"Written by `tma1 install";
        let has_head =
            |bytes: &[u8]| bytes.windows(SCRIPT_HEAD.len()).any(|part| part == SCRIPT_HEAD);
        match self {
            Self::Script(_) => {
                !target.through_link
                    || target.before.as_ref().is_some_and(|file| has_head(&file.bytes))
            }
            Self::Program(_) | Self::Text(_) | Self::Marker => false,
        }
    }
}
