//! The value of each objective level for work as it stands.

use std::collections::HashMap;

use crate::plan::proposal::{LevelName, Peak};
use crate::plan::snapshot::{CellId, Objective, Policy, Snapshot};
use crate::plan::stand::{self, Stands};
use crate::plan::summary::Summary;

/// Levels in strict order for a policy; stability only against a previous plan, backfill only when there is any.
#[must_use]
pub fn names(snapshot: &Snapshot, policy: &Policy) -> Vec<LevelName> {
    let mut names = vec![LevelName::HardMissed, LevelName::SoftLost];
    match policy.objective {
        Objective::EarliestFinish => {}
        Objective::LowestPeak => names.push(LevelName::Peak),
        Objective::LowestCost => names.push(LevelName::Cost),
    }
    names.push(LevelName::Completion);
    if !snapshot.previous.is_empty() {
        names.push(LevelName::Stability);
    }
    if snapshot.workloads.iter().any(|workload| !policy.in_objective(workload)) {
        names.push(LevelName::Backfill);
    }
    names
}

/// Values in the order of [`names`]. A cost that cannot be told (a price is missing) counts as 0 and is never proven.
#[must_use]
pub fn values(snapshot: &Snapshot, policy: &Policy, stands: &Stands, summary: &Summary) -> Vec<(LevelName, i128)> {
    let (hard, soft) = stand::losses(snapshot, stands);
    names(snapshot, policy)
        .into_iter()
        .map(|name| {
            let value = match name {
                LevelName::HardMissed => hard,
                LevelName::SoftLost => soft,
                LevelName::Completion => completion(snapshot, policy, stands, true),
                LevelName::Backfill => completion(snapshot, policy, stands, false),
                LevelName::Peak => peak(snapshot, &summary.peak),
                LevelName::Cost => summary.cost.map_or(0, |cost| cost.nanos),
                LevelName::Stability => moved(snapshot, stands),
            };
            (name, value)
        })
        .collect()
}

fn completion(snapshot: &Snapshot, policy: &Policy, stands: &Stands, in_objective: bool) -> i128 {
    let of = snapshot.workloads.iter().zip(stands).filter(|(w, _)| policy.in_objective(w) == in_objective);
    of.filter_map(|(workload, stand)| {
        let weight = if in_objective { workload.value } else { 1 };
        Some(i128::from(weight) * i128::from((stand.as_ref()?.end() - snapshot.now).0))
    })
    .sum()
}

/// Billionths per GPU of peak; without any price every accelerator weighs 1.
#[must_use]
pub fn peak_weights(snapshot: &Snapshot) -> Vec<i128> {
    let price = |cell: usize| {
        let id = CellId(u32::try_from(cell).unwrap_or(u32::MAX));
        snapshot.prices.iter().find(|price| price.cell == id).map(|price| price.per_unit_hour.nanos)
    };
    let accelerator = |cell: usize| snapshot.cells[cell].resource.is_accelerator();
    let priced = (0..snapshot.cells.len()).any(|cell| accelerator(cell) && price(cell).is_some());
    (0..snapshot.cells.len())
        .map(|cell| match (accelerator(cell), priced) {
            (false, _) => 0,
            (true, true) => price(cell).unwrap_or(0),
            (true, false) => 1,
        })
        .collect()
}

fn peak(snapshot: &Snapshot, peaks: &[Peak]) -> i128 {
    peak_weights(snapshot).iter().zip(peaks).map(|(weight, peak)| weight * i128::from(peak.peak.0)).sum()
}

fn moved(snapshot: &Snapshot, stands: &Stands) -> i128 {
    let by_key: HashMap<&str, usize> =
        snapshot.workloads.iter().enumerate().map(|(index, workload)| (workload.key.as_str(), index)).collect();
    let moved = snapshot.previous.iter().filter(|previous| {
        by_key.get(previous.key.as_str()).and_then(|index| Some((*index, stands[*index].as_ref()?))).is_some_and(
            |(index, stand)| {
                stand.start() != previous.start
                    || snapshot.workloads[index].options[stand.option].flavor != previous.flavor
            },
        )
    });
    i128::try_from(moved.count()).unwrap_or(i128::MAX)
}
