//! Another snapshot's plan taken over: same starts, figures of its own.
//!
//! This is what makes rows monotone: whatever fits a smaller pool fits a larger one, so the larger one's row is never
//! worse than the best plan known for any pool whose plan fits it. Nothing is taken on trust: an adopted plan has passed
//! `plan::check` against the snapshot it now answers.

use std::collections::HashMap;

use crate::failure::Severity;
use crate::plan::check::{capacity_ok, check};
use crate::plan::proposal::{Before, Level, LevelName, Plan, Proof, Quality, Release};
use crate::plan::snapshot::{Policy, Snapshot};
use crate::plan::stand::{self, Stand, Stands};
use crate::plan::{explain, levels, summary};

/// Work without any place first, then every level in its order: the order in which plans of one load are compared.
#[must_use]
pub fn rank(snapshot: &Snapshot, plan: &Plan) -> Vec<i128> {
    let unplaced = snapshot.workloads.len().saturating_sub(plan.releases.len());
    let unplaced = i128::try_from(unplaced).unwrap_or(i128::MAX);
    std::iter::once(unplaced).chain(plan.quality.levels.iter().map(|level| level.value)).collect()
}

/// `from`'s starts as an answer to this snapshot, with the bounds of `own`, which was planned for it. `None` when they do
/// not fit, or do not pass the check.
#[must_use]
pub fn adopt(snapshot: &Snapshot, policy: &Policy, from: &Plan, own: &Plan) -> Option<Plan> {
    capacity_ok(snapshot, policy, &from.releases).ok()?;
    let stands = stands(snapshot, &from.releases)?;
    let summary = stand::summarize(snapshot, policy, &stands);
    let values = levels::values(snapshot, policy, &stands, &summary);
    let quality = quality(own, &values);
    let mut plan = stand::draft(snapshot, policy, &stands, quality.levels.clone(), quality);
    plan.input_digest.clone_from(&own.input_digest);
    plan.before = Before { all_at_once: summary::all_at_once(snapshot), kueue_alone: None };
    explain::reasons(snapshot, policy, &mut plan.releases);
    let sound = check(snapshot, policy, &plan).iter().all(|finding| finding.severity != Severity::Error);
    sound.then_some(plan)
}

/// Where the releases put each workload of the snapshot; `None` when one of them is about none of its options.
pub(super) fn stands(snapshot: &Snapshot, releases: &[Release]) -> Option<Stands> {
    let by_key: HashMap<&str, usize> =
        snapshot.workloads.iter().enumerate().map(|(at, workload)| (workload.key.as_str(), at)).collect();
    let mut stands: Stands = vec![None; snapshot.workloads.len()];
    for release in releases {
        let at = *by_key.get(release.workload.as_str())?;
        let option = snapshot.workloads[at].options.iter().position(|option| {
            let uses = option.uses.iter().map(|(cell, amount)| {
                let cell = snapshot.cell(*cell);
                (&cell.flavor, &cell.resource, *amount)
            });
            uses.eq(release.uses.iter().map(|(flavor, resource, amount)| (flavor, resource, *amount)))
        })?;
        stands[at] = Some(Stand { option, pieces: release.pieces.clone() });
    }
    Some(stands)
}

/// The bounds of the snapshot's own plan, as far as they are about this one too: a level's bound holds among plans that are
/// no worse in all earlier levels, so after the first level that is worse nothing is known.
fn quality(own: &Plan, values: &[(LevelName, i128)]) -> Quality {
    let mut comparable = true;
    let mut levels = Vec::with_capacity(values.len());
    for (name, value) in values {
        let known = own.quality.levels.iter().find(|level| level.name == *name);
        let bound = known.and_then(|level| level.bound).filter(|bound| comparable && bound <= value);
        let proof = known.filter(|_| bound.is_some()).map_or(Proof::Heuristic, |level| level.proof);
        levels.push(Level { name: *name, value: *value, bound, proof });
        comparable &= known.is_some_and(|level| *value <= level.value);
    }
    Quality { stopped_by: own.quality.stopped_by, ..Quality::of(levels, own.quality.millis, own.quality.seed) }
}
