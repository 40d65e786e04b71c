//! One row of the table: an option, what comes of it, and what that costs.

use std::collections::{BTreeMap, HashMap};

use crate::names::{FlavorName, QueueName, ResourceName, WorkloadKey};
use crate::plan::curve::{self, Baseline, Scene};
use crate::plan::proposal::{Plan, Quality, Verdict};
use crate::plan::snapshot::{CellId, Policy, Snapshot};
use crate::plan::summary::{self, Ends, Summary};
use crate::units::{Amount, Money, Timestamp};

use super::change::Change;
use super::idle::{Idle, idle};
use super::measured::{Measured, NoUnitCost, cost_per_outcome};

/// What a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// Everything at its earliest start, quota ignored.
    AllAtOnce,
    /// Kueue's own admission with today's quota.
    KueueAlone,
    /// The plan with today's quota.
    Staggered,
    /// The plan with the smallest pool that meets every hard deadline.
    SmallestPool,
    /// An option that somebody named.
    Named,
}

/// One option and what comes of it.
#[derive(Debug, Clone)]
pub struct Row {
    pub option: String,
    pub basis: Basis,
    pub change: Change,
    /// The accelerators that are there, at most, over the horizon.
    pub pool: Vec<PoolSize>,
    pub summary: Summary,
    pub idle: Idle,
    /// Workloads that end in time at p90, or have no due time and run, by outcome class.
    pub in_time: BTreeMap<Option<String>, u64>,
    /// Cost of what ran, over the outcomes expected of it.
    pub cost_per_outcome: Result<Money, NoUnitCost>,
    /// The same with what stood idle in the numerator.
    pub fully_loaded: Result<Money, NoUnitCost>,
    /// What the last GPU brings; filled once its row is planned.
    pub marginal: Option<Marginal>,
    /// How good the plan is; baselines have none.
    pub quality: Option<Quality>,
    /// The probability of being in time, once somebody has sampled it.
    pub chance: Option<Chance>,
    /// What was planned, for pictures and samples; baselines have none.
    pub plan: Option<Plan>,
    /// What it was planned on.
    pub snapshot: Snapshot,
    /// Demand over time, by cell.
    pub demand: Baseline,
}

/// So much of an accelerator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolSize {
    pub flavor: FlavorName,
    pub resource: ResourceName,
    pub quantity: Amount,
}

/// What a row loses with one GPU fewer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marginal {
    pub flavor: FlavorName,
    pub queue: QueueName,
    /// Deadlines met fewer, at p90.
    pub on_time: i64,
    /// Value of hard deadlines missed more.
    pub hard_value: i128,
}

/// The probability that deadlines are met, as sampled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chance {
    /// That every hard deadline of the row is met, in millionths.
    pub all_hard_millionths: u32,
    /// Half the width of its confidence interval, in millionths.
    pub margin_millionths: u32,
    pub samples: u64,
    /// That each workload with a due time meets it, in millionths, in the snapshot's order.
    pub workloads: Vec<(WorkloadKey, u32)>,
}

/// What Kueue on its own does with a snapshot.
#[derive(Debug, Clone)]
pub struct AloneRun {
    pub summary: Summary,
    pub demand: Baseline,
    /// By workload: it ends in time at p90, or has no due time and ends.
    pub in_time: Vec<bool>,
}

/// Everything at its earliest start: the pool is what that takes, where it is more than there is.
#[must_use]
pub fn all_at_once(snapshot: &Snapshot, measured: Option<&Measured>) -> Row {
    let demand: Baseline = cells(snapshot).map(|cell| (cell, curve::at_once(snapshot, cell))).collect();
    let in_time: Vec<bool> = snapshot
        .workloads
        .iter()
        .map(|workload| {
            workload.options.first().is_some_and(|option| {
                let start = workload.earliest_start;
                let ends = Ends { p50: start + option.runtime.p50, p90: start + option.runtime.p90 };
                let verdict = summary::verdict(workload, option.runtime.known, Some(ends));
                matches!(verdict, Verdict::OnTime | Verdict::NoDeadline)
            })
        })
        .collect();
    let mut row = row(Basis::AllAtOnce, "allAtOnce", Change::default(), snapshot.clone(), demand);
    for size in &mut row.pool {
        if let Some(cell) = snapshot.find_cell(&size.flavor, &size.resource) {
            size.quantity = size.quantity.max(row.demand.get(&cell).map_or(Amount::ZERO, curve::Steps::most));
        }
    }
    row.summary = summary::all_at_once(snapshot);
    finish(row, &in_time, true, measured)
}

/// Kueue's own admission.
#[must_use]
pub fn kueue_alone(snapshot: &Snapshot, alone: AloneRun, measured: Option<&Measured>) -> Row {
    let mut row = row(Basis::KueueAlone, "kueueAlone", Change::default(), snapshot.clone(), alone.demand);
    row.summary = alone.summary;
    finish(row, &alone.in_time, false, measured)
}

/// A plan on a snapshot.
#[must_use]
pub fn planned(
    (basis, option): (Basis, &str),
    change: Change,
    snapshot: Snapshot,
    plan: Plan,
    policy: &Policy,
    measured: Option<&Measured>,
) -> Row {
    let by_key: HashMap<&str, usize> =
        snapshot.workloads.iter().enumerate().map(|(at, workload)| (workload.key.as_str(), at)).collect();
    let mut in_time = vec![false; snapshot.workloads.len()];
    for release in &plan.releases {
        if let Some(at) = by_key.get(release.workload.as_str()) {
            in_time[*at] = matches!(release.verdict, Verdict::OnTime | Verdict::NoDeadline);
        }
    }
    let scene = Scene { snapshot: &snapshot, plan: &plan, promise: policy.promise, kueue: None };
    let demand: Baseline = cells(&snapshot).map(|cell| (cell, curve::planned(&scene, cell))).collect();
    let mut row = row(basis, option, change, snapshot.clone(), demand);
    row.summary = plan.summary.clone();
    row.quality = Some(plan.quality.clone());
    row.plan = Some(plan);
    finish(row, &in_time, false, measured)
}

fn row(basis: Basis, option: &str, change: Change, snapshot: Snapshot, demand: Baseline) -> Row {
    let capacities = summary::capacities(&snapshot);
    let sizes = snapshot.cells.iter().zip(capacities).filter(|(cell, _)| cell.resource.is_accelerator());
    let pool = sizes
        .map(|(cell, quantity)| PoolSize { flavor: cell.flavor.clone(), resource: cell.resource.clone(), quantity })
        .collect();
    Row {
        option: option.to_owned(),
        basis,
        change,
        pool,
        summary: Summary::default(),
        idle: Idle::default(),
        in_time: BTreeMap::new(),
        cost_per_outcome: Err(NoUnitCost::NoPrice),
        fully_loaded: Err(NoUnitCost::NoPrice),
        marginal: None,
        quality: None,
        chance: None,
        plan: None,
        snapshot,
        demand,
    }
}

fn finish(mut row: Row, in_time: &[bool], owned: bool, measured: Option<&Measured>) -> Row {
    let held = |cell: CellId| row.demand.get(&cell).cloned().unwrap_or_default();
    row.idle = idle(&row.snapshot, &held, owned);
    for (workload, in_time) in row.snapshot.workloads.iter().zip(in_time) {
        if *in_time {
            *row.in_time.entry(workload.class.clone()).or_default() += 1;
        }
    }
    let loaded = row.summary.cost.zip(row.idle.cost).map(|(cost, idle)| cost + idle);
    row.cost_per_outcome = cost_per_outcome(row.summary.cost, &row.in_time, measured);
    row.fully_loaded = cost_per_outcome(loaded, &row.in_time, measured);
    row
}

fn cells(snapshot: &Snapshot) -> impl Iterator<Item = CellId> + use<> {
    (0_u32..).take(snapshot.cells.len()).map(CellId)
}

impl Row {
    /// The last end, where anything was placed.
    #[must_use]
    pub fn ends_at(&self) -> Option<Timestamp> {
        (self.summary.makespan.0 > 0).then(|| self.snapshot.now + self.summary.makespan)
    }

    /// The value of hard deadlines missed, and its bound; `None` for a baseline.
    #[must_use]
    pub fn hard_missed(&self) -> Option<(i128, Option<i128>)> {
        let levels = &self.quality.as_ref()?.levels;
        let level = levels.iter().find(|level| level.name == crate::plan::proposal::LevelName::HardMissed)?;
        Some((level.value, level.bound))
    }
}
