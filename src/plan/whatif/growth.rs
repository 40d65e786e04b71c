//! More work of the same kind, or less: every workload is repeated by one stated rule.
//!
//! With `q = 100 + percent`, the workload at place `i` in creation order (from 0) stands in the grown load
//! `⌊(i + 1) · q / 100⌋ − ⌊i · q / 100⌋` times. The total is `⌊n · q / 100⌋`, spread evenly over the order; growth keeps every
//! workload, and a larger growth contains a smaller one's count. Copies are called `name+1`, `name+2`, and promise the same.

use std::collections::HashSet;

use crate::names::WorkloadKey;
use crate::plan::snapshot::Snapshot;

/// How many workloads the load has after growing.
#[must_use]
pub fn count(workloads: usize, percent: i32) -> usize {
    usize::try_from(upto(workloads, percent)).unwrap_or(usize::MAX)
}

/// The snapshot with its load grown by so many percent (at least -100); running work stays as it is.
#[must_use]
pub fn grown(snapshot: &Snapshot, percent: i32) -> Snapshot {
    let mut changed = snapshot.clone();
    if percent == 0 {
        return changed;
    }
    changed.workloads.clear();
    for (place, workload) in snapshot.workloads.iter().enumerate() {
        let times = upto(place + 1, percent) - upto(place, percent);
        for copy in 0..times {
            let mut repeated = workload.clone();
            if copy > 0 {
                let name = format!("{}+{copy}", workload.key.name());
                repeated.key = WorkloadKey::new(workload.key.namespace(), &name);
            }
            changed.workloads.push(repeated);
        }
    }
    changed.workloads.sort_by(|a, b| (a.created, &a.key, &a.kind).cmp(&(b.created, &b.key, &b.kind)));
    let kept: HashSet<&WorkloadKey> = changed.workloads.iter().map(|workload| &workload.key).collect();
    changed.previous.retain(|previous| kept.contains(&previous.key));
    changed
}

/// `⌊count · (100 + percent) / 100⌋`.
fn upto(count: usize, percent: i32) -> i128 {
    let count = i128::try_from(count).unwrap_or(i128::MAX / 20_000);
    (count * i128::from(percent.saturating_add(100).max(0))).div_euclid(100)
}
