//! Planning again on a changed snapshot, a bounded number of times, believing only what was checked.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use crate::failure::Severity;
use crate::names::WorkloadKey;
use crate::plan::check::check;
use crate::plan::proposal::{LevelName, Plan};
use crate::plan::snapshot::{Objective, Policy, Snapshot, Workload};
use crate::units::Timestamp;

use super::Solve;

pub(super) struct Trials<'a> {
    pub snapshot: &'a Snapshot,
    /// The policy of the plan, but for the preset: deadlines come first in all of them, and this one is solved fastest.
    pub policy: &'a Policy,
    solve: &'a Solve<'a>,
    left: Cell<usize>,
}

/// What a trial showed.
pub(super) struct Outcome {
    pub plan: Plan,
    /// Indices of the trial's workloads whose hard deadline the plan misses.
    pub missed: Vec<usize>,
    /// No plan at all misses none.
    pub proven: bool,
}

impl<'a> Trials<'a> {
    pub(super) fn new(snapshot: &'a Snapshot, policy: &'a Policy, solve: &'a Solve<'a>, solves_max: usize) -> Self {
        Self { snapshot, policy, solve, left: Cell::new(solves_max) }
    }

    /// Plans `snapshot`. `None` when the budget is spent, or when the answer does not pass its check.
    pub(super) fn plan(&self, snapshot: &Snapshot) -> Option<Outcome> {
        self.left.set(self.left.get().checked_sub(1)?);
        let policy = Policy { objective: Objective::EarliestFinish, ..self.policy.clone() };
        let plan = (self.solve)(snapshot, &policy);
        if check(snapshot, &policy, &plan).iter().any(|finding| finding.severity == Severity::Error) {
            return None;
        }
        let missed = missed(snapshot, &plan);
        let hard = plan.quality.levels.iter().find(|level| level.name == LevelName::HardMissed);
        let proven = !missed.is_empty() && hard.and_then(|level| level.bound).is_some_and(|bound| bound > 0);
        Some(Outcome { plan, missed, proven })
    }

    /// The snapshot with no other workloads than these (ascending indices): work with later or no deadlines can wait, so
    /// it never decides whether these are met.
    pub(super) fn only(&self, set: &[usize]) -> Snapshot {
        let mut snapshot = self.snapshot.clone();
        snapshot.workloads = set.iter().map(|at| self.snapshot.workloads[*at].clone()).collect();
        let kept: HashSet<&WorkloadKey> = snapshot.workloads.iter().map(|workload| &workload.key).collect();
        snapshot.previous.retain(|previous| kept.contains(&previous.key));
        snapshot
    }
}

/// Workloads whose hard deadline the plan misses at the promised quantile, by due time, then in the snapshot's order.
pub(super) fn missed(snapshot: &Snapshot, plan: &Plan) -> Vec<usize> {
    let ends: HashMap<&str, Timestamp> = plan
        .releases
        .iter()
        .filter_map(|release| Some((release.workload.as_str(), release.pieces.last()?.end)))
        .collect();
    let is_missed = |workload: &Workload| {
        let due = workload.hard_due()?;
        Some(*ends.get(workload.key.as_str())? > due)
    };
    let mut missed: Vec<_> =
        (0..snapshot.workloads.len()).filter(|at| is_missed(&snapshot.workloads[*at]) == Some(true)).collect();
    missed.sort_by_key(|at| (snapshot.workloads[*at].hard_due(), *at));
    missed
}

/// The promised end of a workload in a plan.
pub(super) fn end_of(plan: &Plan, workload: &Workload) -> Option<Timestamp> {
    let release = plan.releases.iter().find(|release| release.workload == workload.key)?;
    release.pieces.last().map(|piece| piece.end)
}
