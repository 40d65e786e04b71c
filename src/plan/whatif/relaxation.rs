//! What relaxing would do instead of buying: which promise, by how much, shown by planning again.
//!
//! First the conflicts' own fixes are taken, one for each, and tried together. Failing that, each missed deadline is moved
//! to where the plan ends it anyway, which the plan itself shows to be enough.

use crate::plan::conflict::TOLERANT;
use crate::plan::proposal::{Fix, Plan};
use crate::plan::snapshot::Snapshot;
use crate::units::Seconds;

use super::bench::Bench;
use super::target::missed;

/// More promises than this are no small favour to ask.
const SMALL_COUNT: usize = 3;
/// A deadline moved by more than this share of the time it has is another deadline.
const SMALL_PERCENT: i64 = 50;

/// Changes of promises after which today's pool is enough.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relaxation {
    pub fixes: Vec<Fix>,
    /// At most three changes, none moving a deadline by more than half of the time it has.
    pub is_small: bool,
}

/// The smaller of the two ways, if either works.
pub(super) fn find(bench: &Bench<'_>, snapshot: &Snapshot, plan: &Plan) -> Option<Relaxation> {
    let moved = moved_to_planned_ends(snapshot, plan);
    let chosen = chosen(plan).filter(|fixes| moved.as_ref().is_none_or(|moved| size(fixes) < size(moved)));
    let verified = chosen.filter(|fixes| {
        let mut relaxed = snapshot.clone();
        let known = fixes.iter().all(|fix| apply(&mut relaxed, fix));
        known && !bench.stopped() && missed(&relaxed, &(bench.tools.solve)(&relaxed, bench.policy)).is_empty()
    });
    let fixes = verified.or(moved)?;
    let is_small = fixes.len() <= SMALL_COUNT && fixes.iter().all(|fix| is_small(snapshot, fix));
    Some(Relaxation { fixes, is_small })
}

/// One fix that buys nothing for each conflict; `None` when a conflict has none.
fn chosen(plan: &Plan) -> Option<Vec<Fix>> {
    if plan.infeasible.is_empty() {
        return None;
    }
    let free = |fix: &&Fix| !matches!(fix, Fix::AddCapacity { .. } | Fix::UseFlavor { .. });
    plan.infeasible.iter().map(|conflict| conflict.fixes.iter().find(free).cloned()).collect()
}

fn moved_to_planned_ends(snapshot: &Snapshot, plan: &Plan) -> Option<Vec<Fix>> {
    let late = missed(snapshot, plan);
    late.into_iter()
        .map(|at| {
            let workload = &snapshot.workloads[at];
            let release = plan.releases.iter().find(|release| release.workload == workload.key)?;
            let (due, to) = (workload.hard_due()?, release.pieces.last()?.end);
            Some(Fix::MoveDeadline { workload: workload.key.clone(), by: to - due, to })
        })
        .collect()
}

/// Number of changes, then seconds asked for.
fn size(fixes: &[Fix]) -> (usize, i64) {
    let seconds = |fix: &Fix| match fix {
        Fix::MoveDeadline { by, .. } | Fix::StartEarlier { by, .. } => by.0,
        _ => 0,
    };
    (fixes.len(), fixes.iter().map(seconds).sum())
}

fn is_small(snapshot: &Snapshot, fix: &Fix) -> bool {
    let Fix::MoveDeadline { workload, by, .. } = fix else { return true };
    let Some(found) = snapshot.workloads.iter().find(|one| one.key == *workload) else { return false };
    let room = found.hard_due().map_or(Seconds::ZERO, |due| due - found.earliest_start.max(snapshot.now));
    by.0.saturating_mul(100) <= room.0.saturating_mul(SMALL_PERCENT)
}

/// Whether the fix is one that can be applied here, and was.
fn apply(snapshot: &mut Snapshot, fix: &Fix) -> bool {
    let (Fix::MoveDeadline { workload: key, .. }
    | Fix::AllowInterruption { workload: key }
    | Fix::StartEarlier { workload: key, .. }) = fix
    else {
        return false;
    };
    let Some(workload) = snapshot.workloads.iter_mut().find(|workload| workload.key == *key) else { return false };
    match fix {
        Fix::MoveDeadline { to, .. } => {
            if let Some(due) = &mut workload.due {
                due.at = *to;
            }
        }
        Fix::StartEarlier { by, .. } => workload.earliest_start = workload.earliest_start - *by,
        _ => workload.interruption = TOLERANT,
    }
    true
}
