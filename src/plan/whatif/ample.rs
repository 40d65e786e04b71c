//! Pools as large as anyone could ask, and the lowest peaks of the work in them.
//!
//! Pools of the size of their own peaks are enough, and no set of pools is smaller than the bound on the peaks: one plan
//! often gives both ends of the bracket. With several pools the peaks are weighted as the pools are paid, so that the plan
//! is the cheapest set.
//!
//! A peak is one number for all trees and windows of a cell; a pool is that number only without others beside it.

use crate::plan::check::capacity_ok;
use crate::plan::proposal::{LevelName, Plan};
use crate::plan::snapshot::{NodeId, Objective, Policy, Snapshot};
use crate::units::Amount;

use super::pool::{self, Axis};
use super::smallest::ceil;
use super::target::{Target, missed};

/// What the lowest peaks are known to be.
pub(super) struct Lowest {
    /// By axis, in whole devices; together they are enough.
    pub(super) sizes: Vec<Amount>,
    /// Σ weight × peak, and what it cannot be below.
    pub(super) value: i128,
    pub(super) bound: Option<i128>,
    pub(super) plan: Plan,
}

/// The lowest peaks of all pools together, weighted by price where `priced`, else by number; `None` where a peak is not a
/// pool, or none was found.
pub(super) fn lowest_peaks(target: &Target<'_>, priced: bool) -> Option<Lowest> {
    let snapshot = &target.snapshot;
    if !target.axes.iter().all(|axis| is_alone(snapshot, axis)) || !covers(snapshot, &target.axes) {
        return None;
    }
    let ample: Vec<Amount> = target.axes.iter().map(|axis| axis.ample).collect();
    let mut wide = target.with(snapshot, &ample);
    if !priced {
        wide.prices.clear();
        wide.currency = None;
    }
    let policy = Policy { objective: Objective::LowestPeak, gap_permille: 0, ..target.policy.clone() };
    let plan = target.propose(&wide, &policy).filter(|plan| missed(&wide, plan).is_empty())?;
    let level = plan.quality.levels.iter().find(|level| level.name == LevelName::Peak)?;
    let (value, bound) = (level.value, level.bound);
    let size = |axis: &Axis| {
        let of_axis =
            |peak: &&crate::plan::proposal::Peak| (&peak.flavor, &peak.resource) == (&axis.flavor, &axis.resource);
        plan.peaks.iter().find(of_axis).map(|peak| Amount(ceil(peak.peak.0, axis.unit)))
    };
    let sizes: Vec<Amount> = target.axes.iter().map(size).collect::<Option<_>>()?;
    let fits = capacity_ok(&target.with(snapshot, &sizes), &target.policy, &plan.releases).is_ok();
    fits.then_some(Lowest { sizes, value, bound, plan })
}

/// No window and no other tree shares the axis' cell.
fn is_alone(snapshot: &Snapshot, axis: &Axis) -> bool {
    let nodes = (0_u32..).take(snapshot.nodes.len()).map(NodeId);
    snapshot.cell(axis.cell).resource.is_accelerator()
        && snapshot.windows.iter().all(|window| window.cell != axis.cell)
        && snapshot.path_to_root(axis.root).count() == 1
        && nodes.into_iter().all(|node| {
            pool::root_of(snapshot, node) == axis.root || pool::nominal(snapshot, node, axis.cell) == Amount::ZERO
        })
}

/// Every accelerator is one of the pools, or the peaks would count something else too.
fn covers(snapshot: &Snapshot, axes: &[Axis]) -> bool {
    let accelerators = snapshot.cells.iter().filter(|cell| cell.resource.is_accelerator()).count();
    accelerators == axes.len()
}
