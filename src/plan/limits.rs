//! How large an input may be. Past a limit there is a refusal that says so, never a hang.

use crate::plan::snapshot::Snapshot;

/// Workloads per plan: twice what the benchmarks cover; memory stays under a few hundred MiB.
pub const WORKLOADS_MAX: usize = 20_000;
/// Days from now to the end of the horizon: slots of four hours at the longest, coarser ones would mean nothing.
pub const HORIZON_DAYS_MAX: i64 = 366;
/// (flavor, resource) pairs with quota: each is a set of arrays over time.
pub const CELLS_MAX: usize = 2_000;
/// ClusterQueues and Cohorts.
pub const NODES_MAX: usize = 5_000;

/// What exceeds a limit, as a sentence without a full stop; `None` when nothing does.
#[must_use]
pub fn exceeded(snapshot: &Snapshot) -> Option<String> {
    let days = (snapshot.horizon_end - snapshot.now).0 / 86_400;
    let counts = [
        (snapshot.workloads.len(), WORKLOADS_MAX, "workloads to plan"),
        (snapshot.cells.len(), CELLS_MAX, "pairs of flavor and resource"),
        (snapshot.nodes.len(), NODES_MAX, "ClusterQueues and Cohorts"),
    ];
    let over = counts.into_iter().find(|(count, limit, _)| count > limit);
    over.map(|(count, limit, what)| format!("{count} {what} are more than the {limit} that one plan may have")).or_else(
        || (days > HORIZON_DAYS_MAX).then(|| format!("a horizon of {days} days is longer than {HORIZON_DAYS_MAX}")),
    )
}
