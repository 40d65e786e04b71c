//! What one GPU more or fewer is worth: deadlines met over the size of a pool.

use crate::names::FlavorName;
use crate::plan::snapshot::{CellId, Snapshot};
use crate::units::{Amount, Seconds};

use super::bench::Bench;
use super::pool::{self, Axis, resized};
use super::row::{Basis, Marginal, Row};
use super::target::missed;
use super::{Alone, rank_hard};

/// Sizes on the curve: a picture with more points is not read better.
const POINTS_MAX: i64 = 10;

/// Plans that the curve takes, about: its points and the sizes that are always on it.
pub(super) const POINTS_TYPICAL: usize = 13;

/// Deadlines met by one size of the pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CurvePoint {
    pub quantity: Amount,
    pub on_time: u64,
    pub at_risk: u64,
    pub late: u64,
    pub hard_missed: i128,
    pub makespan: Seconds,
    /// Every level in order, unplaced work first: never larger for a larger pool.
    pub rank: Vec<i128>,
}

/// The curve of one pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Curve {
    pub flavor: FlavorName,
    pub cell: CellId,
    pub unit: i64,
    pub today: Amount,
    pub points: Vec<CurvePoint>,
}

/// What a row's last GPU brings; `None` where the question makes no sense.
pub(super) fn of_row(bench: &Bench<'_>, alone: &Alone<'_>, row: &Row, axes: &[Axis]) -> Option<Marginal> {
    if bench.stopped() {
        return None;
    }
    // The option's own pool first, then the one most asked for; one that is empty has no last GPU.
    let own = row.change.edits.first().map(|edit| (pool::root_of(&row.snapshot, edit.node), edit.cell));
    let pools = own.into_iter().chain(axes.iter().map(|axis| (axis.root, axis.cell)));
    let mut sized = pools.map(|(root, cell)| pool::axis(&row.snapshot, bench.policy.promise, root, cell));
    let axis = sized.find(|axis| axis.today.0 >= axis.unit)?;
    let root = axis.root;
    let fewer = resized(&row.snapshot, &axis, axis.today - Amount(axis.unit));
    let (before, lost) = match row.basis {
        Basis::AllAtOnce => return None,
        Basis::KueueAlone => (alone(&fewer).summary.on_time, 0),
        _ => {
            let plan = bench.plan(&fewer, row.change.growth_percent);
            (plan.summary.on_time, rank_hard(&plan) + unplaced_value(&fewer, &plan) - row.hard_missed()?.0)
        }
    };
    let count = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    Some(Marginal {
        flavor: axis.flavor.clone(),
        queue: row.snapshot.node(root).name.clone(),
        on_time: count(row.summary.on_time) - count(before),
        hard_value: lost,
    })
}

/// Hard value of work that has no place at all, which no level counts.
fn unplaced_value(snapshot: &Snapshot, plan: &crate::plan::proposal::Plan) -> i128 {
    let released = |at: &usize| {
        let key = &snapshot.workloads[*at].key;
        plan.releases.iter().any(|release| release.workload == *key)
    };
    let late = missed(snapshot, plan);
    late.iter().filter(|at| !released(at)).map(|at| i128::from(snapshot.workloads[*at].value)).sum()
}

/// Plans every size of the pool in a range around today's and the smallest, smallest first.
pub(super) fn curve(bench: &Bench<'_>, snapshot: &Snapshot, axis: &Axis, smallest: Option<Amount>) -> Curve {
    let mut points = Vec::new();
    for quantity in sizes(axis, smallest) {
        if bench.stopped() {
            break;
        }
        let changed = resized(snapshot, axis, quantity);
        let plan = bench.plan(&changed, 0);
        points.push(CurvePoint {
            quantity,
            on_time: plan.summary.on_time,
            at_risk: plan.summary.at_risk,
            late: plan.summary.late,
            hard_missed: rank_hard(&plan) + unplaced_value(&changed, &plan),
            makespan: plan.summary.makespan,
            rank: super::adopt::rank(&changed, &plan),
        });
    }
    Curve { flavor: axis.flavor.clone(), cell: axis.cell, unit: axis.unit, today: axis.today, points }
}

fn sizes(axis: &Axis, smallest: Option<Amount>) -> Vec<Amount> {
    let known = smallest.map_or(axis.today.0, |smallest| smallest.0);
    let least = (known.min(axis.today.0) - 2 * axis.unit).max(axis.unit);
    let most = (known.max(axis.today.0) + 2 * axis.unit).min(axis.ample.0.max(axis.today.0)).max(least);
    let step = crate::units::div_ceil(((most - least) / axis.unit).max(1), POINTS_MAX).saturating_mul(axis.unit);
    let mut sizes: Vec<i64> = Vec::new();
    let mut size = least;
    while size <= most {
        sizes.push(size);
        size += step;
    }
    sizes.extend([axis.today.0, known, known - axis.unit, most]);
    sizes.retain(|size| (axis.unit..=most).contains(size));
    sizes.sort_unstable();
    sizes.dedup();
    sizes.into_iter().map(Amount).collect()
}
